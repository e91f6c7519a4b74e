package toolshelf

import (
	"bytes"
	"context"
	"iter"
	"path"
	"slices"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/search"
)

// AgentInfo describes an agent in a list: a Markdown file whose text is the prompt of a model, and
// whose frontmatter describes the task, the tools and the model. The fields come from the
// frontmatter. A field is empty if the frontmatter lacks the field or cannot be read.
// [Frontmatter.Fields] of Frontmatter has the other fields that clients document, with types.
type AgentInfo struct {
	Name         string   `json:"name"`                    // by the rule of the layer: the name in the frontmatter, or the name of the file; as accepted by GetAgent
	DeclaredName string   `json:"declared_name,omitempty"` // the name in the frontmatter
	Description  string   `json:"description"`             // may contain line breaks
	Model        string   `json:"model,omitempty"`         // the first of a list
	Tools        []string `json:"tools,omitzero"`          // one item per tool, as written; nil, and omitted in JSON, without the field, which usually means all tools; empty means none

	DisableModelInvocation bool `json:"disable_model_invocation,omitempty"` // only the user may choose the agent
	UserInvocable          bool `json:"user_invocable"`                     // the user may choose the agent; false only for user-invocable: false

	Loadable    bool         `json:"loadable"`              // GetAgent can load the agent; false for an unreadable file
	Path        string       `json:"path"`                  // full path on the filesystem of the file
	Layer       string       `json:"layer"`                 // the directory or the FS name, as given to the option
	Plugin      string       `json:"plugin,omitempty"`      // the name of the plugin, which begins Name; "" for an agent of no plugin
	Shadows     []string     `json:"shadows,omitempty"`     // lower-precedence agents with the same name, as the layer and the path below the layer
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // defects of the file; see DiagnosticCode
	Frontmatter Frontmatter  `json:"-"`                     // the complete frontmatter; in JSON only as a member of an Agent
}

// An Agent is the complete content of the file of an agent.
type Agent struct {
	AgentInfo
	Content string `json:"content"` // the Markdown after the frontmatter, unchanged
	Raw     []byte `json:"-"`       // the bytes of the file; the caller may modify them
	Source  source `json:"-"`       // for WithObserver
}

// MarshalJSON returns a JSON object with the fields of a and the member "frontmatter". The JSON
// form of an AgentInfo has no such member.
func (a Agent) MarshalJSON() ([]byte, error) {
	return escape.Marshal(struct {
		AgentInfo
		Frontmatter Frontmatter `json:"frontmatter"`
		Content     string      `json:"content"`
	}{a.AgentInfo, a.Frontmatter, a.Content})
}

// WithAgentsDir reads agents from these directories and their subdirectories, highest precedence
// first. The name of an agent is the name in the frontmatter, or else the name of the file without
// ".md". Subdirectories are not part of a name. README.md, hidden files, and the files beside a
// SKILL.md are no agents. A relative directory is below the root. There is no default directory. If
// every directory of agents is missing, the rules of [WithSkillsDir] apply.
func WithAgentsDir(dirs ...string) Option {
	place := index.Place{Place: client.Place{Pattern: "**/*.md", Name: client.FromHeader}}
	return optionFunc(func(c *config) { c.check(c.agents.AddDirs("WithAgentsDir", dirs, place)) })
}

// WithAgentFilter shows only the agents for which keep returns true. The rules of
// [WithCommandFilter] apply.
func WithAgentFilter(keep func(AgentInfo) bool) Filter {
	return func(f *filterFuncs) error { return addFilter(&f.agents, keep, "WithAgentFilter", "agents") }
}

// ListAgents returns the agents of [WithAgentsDir], [WithClient] and [WithPlugins] in
// case-insensitive name order. An agent that cannot be loaded has Loadable false, and the reason in
// Diagnostics. If several files have the same name, the first layer wins, and in a layer the first
// path; Shadows names the other files. Without agents, the list is empty.
//
// In a place of Claude Code, a file without a name in the frontmatter is no agent, and
// [Catalog.Lint] reports the file. In a plugin, the file has the name of the file.
//
// ListAgents returns [ErrDirectoryNotFound] if WithAgentsDir names directories and none exists.
// [Catalog.List] describes the other errors and the cost.
func (c *Catalog) ListAgents(ctx context.Context) ([]AgentInfo, error) {
	const op = "ListAgents"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	_, snapshot, err := c.agents.list(ctx, op)
	if err != nil {
		return nil, err
	}
	list := make([]AgentInfo, len(snapshot.Entries))
	for i, e := range snapshot.Entries {
		list[i] = c.listedAgent(snapshot, e)
	}
	return list, nil
}

// GetAgent returns the agent with a name of ListAgents, in the same letter case. The name of a
// plugin may be missing: see [WithPlugins] and [ErrAmbiguousName]. The result describes one state
// of the file.
//
// GetAgent returns [ErrInvalidAgentName] for a name that no agent can have, [ErrAgentNotFound] if
// no layer has the name, [ErrFileTooLarge], and [ErrFileRead] if the file cannot be read.
// [Catalog.List] describes the errors of unreadable directories.
//
// GetAgent stats the directories and the files of agents that could take the name, and reads the
// file. In a layer of more than 64 files, GetAgent stats the other files once a second. For a new
// name, GetAgent also costs as much as ListAgents.
func (c *Catalog) GetAgent(ctx context.Context, name string) (Agent, error) {
	const op = "GetAgent"
	if err := c.begin(ctx, op); err != nil {
		return Agent{}, err
	}
	o := c.observer.Begin(ctx)
	now, err := lookup[Agent]{catalog: c, from: c.agents, op: op, name: name, stem: name,
		reader: agentReader{}, direct: true}.find(ctx)
	return now.sent(o, c.agents, Event{Action: EventLoaded, Name: name}, err)
}

// AgentsPrompt returns the agents that a model may choose as an <available_agents> block with an
// <agent> element for each agent, by the rules of [Catalog.SkillsPrompt]. [Catalog.GetAgent] takes
// the names.
func (c *Catalog) AgentsPrompt(ctx context.Context, opts ...PromptOption) (PromptList, error) {
	return promptOf(ctx, c, c.agents, "AgentsPrompt", opts)
}

// Agents ranges over the agents of ListAgents with their texts, in the same order. An agent that
// cannot be loaded has Loadable false, no text, and the reason in Diagnostics. [Catalog.Skills]
// describes changes during the range, errors, cost and memory.
func (c *Catalog) Agents(ctx context.Context) iter.Seq2[Agent, error] {
	return loadAll(ctx, c, c.agents, "Agents", agentReader{}, func(s *index.Snapshot, e *index.Entry, err error) Agent {
		info := c.listedAgent(s, e)
		info.Loadable, info.Diagnostics = false, newDiagnostics(c.agents.unread(e, err))
		return Agent{AgentInfo: info}
	})
}

// An agentReader is the reader of agents.
type agentReader struct{}

func (agentReader) read(ctx context.Context, c *Catalog, s *index.Snapshot, e *index.Entry,
	kept *index.Cached[string]) (now reading[Agent], err error) {
	a, err := c.caches.agents.Load(ctx, e, kept)
	if err != nil {
		return now, err
	}
	a.Shadows, a.Raw = c.agents.shadows(s, e), bytes.Clone(a.Raw) // the cache has the original
	a.Tools, a.Diagnostics = slices.Clone(a.Tools), slices.Clone(a.Diagnostics)
	now.value, now.passes = a, keepsRow(c.keep.agents, a.AgentInfo)
	now.outcome = outcome{digest: a.Source.digest, bytes: len(a.Raw)}
	return now, nil
}

// parseAgent converts a file to an agent, and returns the memory of the agent in bytes.
func (c *Catalog) parseAgent(e *index.Entry, raw []byte, _ confine.Info) (Agent, int) {
	doc, _ := matter.Parse(raw, true)
	var problems []problem.Problem
	for _, p := range doc.Problems {
		problems = append(problems, p.In(c.agents.Place(e)))
	}
	info := c.agentInfo(e, agentmd.NewFrontmatter(doc.Frontmatter), problems)
	info.Loadable = true // the scan that found the entry can have failed
	agent := Agent{AgentInfo: info, Content: string(raw[doc.Body:]), Raw: raw, Source: source{digest: c.observer.Digest(e.Seal(), path.Base(e.Path), raw)}}
	return agent, len(raw) + len(agent.Content) + doc.Memory()
}

// listedAgent returns the AgentInfo of an entry for a list.
func (c *Catalog) listedAgent(s *index.Snapshot, e *index.Entry) AgentInfo {
	info := c.agentInfo(e, agentmd.NewFrontmatter(e.Header()), e.Problems())
	info.Shadows = c.agents.shadows(s, e)
	return info
}

// agentInfo returns the AgentInfo of a file with a header and problems.
func (c *Catalog) agentInfo(e *index.Entry, header Frontmatter, problems []problem.Problem) AgentInfo {
	fields, layer := header.Fields(), c.agents.LayerOf(e)
	a := AgentInfo{Name: e.Name, DeclaredName: header.Text("name"), Description: fields.Description, Model: fields.Model,
		DisableModelInvocation: fields.DisableModelInvocation, UserInvocable: fields.UserInvocable,
		Loadable: e.Broken() == nil, Path: layer.FS.Path(e.Spelled()), Layer: layer.Name, Plugin: e.Plugin(),
		Diagnostics: newDiagnostics(problems), Frontmatter: header}
	if fields.Tools != nil {
		a.Tools = []string{}
	}
	for _, rule := range fields.Tools {
		a.Tools = append(a.Tools, rule.String())
	}
	if fields.Err != nil {
		a.Tools = toolsIn(header, "tools") // an agent with tools that no program can read does not have all tools
	}
	return a
}

// newAgents returns the agents of a new catalog. The error is the error of the watch.
func (c *Catalog) newAgents(user userDirs) (*collection, error) {
	agents := &collection{
		filter:      &filter{Keeps: keepsEntries(c.keep.agents, c.listedAgent)},
		layers:      c.config.agents.All,
		description: headerDescription,
		texts:       &c.caches.agents.Texts,
		noun:        "agent",
		file:        "the file",
		invalid:     CodeInvalidAgentName,
		names: names.Rule{Loose: true, Plugins: len(c.config.plugins.All) > 0,
			Advice: "use a listed name, without separators, control characters and leading dot"},
		notFound: CodeAgentNotFound,
		hint: func(shown []*index.Entry, name string) string {
			if len(c.config.agents.All) == 0 {
				return "the program reads no agents; add WithAgentsDir or WithClient"
			}
			return suggestion(shown, name, "list the agents for the names")
		},
	}
	opened, err := agents.open(c, user, client.Agents, c.caches.agents.Retain, index.Config{Broken: true}, search.Config{})
	c.caches.agents.Index, c.caches.agents.Parse = agents.Index, c.parseAgent
	return opened, err
}
