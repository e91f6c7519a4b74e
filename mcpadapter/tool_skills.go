package mcpadapter

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/promptblock"
	"github.com/toolshelf-go/toolshelf/internal/shown"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

var listSkills = definition{
	name:  "list_skills",
	title: "List skills",
	description: []sentence{
		{text: "List all available skills in the skills folder. Returns skill names as a JSON array."}, // the tool contract
		{text: "The object has the array skills, and descriptions of the names."},
	},
	parameters: []schema.Parameter{skillsFor},
	errors:     errorString,
	output: outputSchema(errorString, `"skills":{"type":"array","items":{"type":"string"}},`+
		`"descriptions":{"type":"object","additionalProperties":{"type":"string"}},`+
		`"not_loadable":{"type":"array","items":{"type":"string"}}`,
		"skills"),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		list, prompt := t.ListSkills, t.SkillsPrompt
		if path := args.String("path"); path != "" {
			list = func(ctx context.Context) ([]toolshelf.SkillInfo, error) { return t.ListSkillsFor(ctx, path) }
			prompt = func(ctx context.Context, opts ...toolshelf.PromptOption) (toolshelf.PromptList, error) {
				return t.SkillsPrompt(ctx, append(opts, toolshelf.ForPath(path))...)
			}
		}
		skills, err := list(ctx)
		if err != nil {
			return Result{}, err
		}
		rows := make([]listRow, len(skills))
		for i, skill := range skills {
			rows[i] = listRow{skill.Name, skill.Description, skill.Loadable}
			if skill.Exposure == toolshelf.ExposeName {
				rows[i].description = ""
			}
		}
		names, descriptions, notLoadable, err := described(ctx, rows, prompt)
		if err != nil {
			return Result{}, err
		}
		return jsonResult(struct {
			Skills       []string          `json:"skills"`
			Descriptions map[string]string `json:"descriptions,omitempty"` // without skills, the tool contract allows only the member skills
			NotLoadable  []string          `json:"not_loadable,omitempty"`
		}{names, descriptions, notLoadable})
	},
}

// The limits of the descriptions of list_skills and list_agents, in characters.
const (
	maxDescription  = 200    // of one entry
	maxDescriptions = 20_000 // of all entries
)

// A listRow is an entry of list_skills or list_agents.
type listRow struct {
	name, description string
	loadable          bool
}

// described returns the names of all entries, one line for each entry, by name, and the names of
// the entries that cannot be loaded. If the lines together are too long, described keeps the
// entries that the prompt of the entries keeps within a budget of maxDescriptions, and shortens the
// longest lines to a common length.
func described(ctx context.Context, rows []listRow, prompt func(context.Context, ...toolshelf.PromptOption) (toolshelf.PromptList, error)) (names []string, lines map[string]string, notLoadable []string, err error) {
	names, lines = make([]string, len(rows)), make(map[string]string, len(rows))
	for i, row := range rows {
		names[i] = row.name
		if !row.loadable {
			notLoadable = append(notLoadable, row.name)
		}
		if line := strings.Join(strings.Fields(row.description), " "); line != "" {
			lines[row.name] = line
		}
	}
	if !promptblock.LinesFit(lines, maxDescription, maxDescriptions) {
		prompt, err := prompt(ctx, toolshelf.Budget(maxDescriptions), bridge.WithElements.(toolshelf.PromptOption))
		if err != nil {
			return nil, nil, nil, err
		}
		kept := make(map[string]string, len(prompt.Included))
		for _, name := range prompt.Included {
			if line, ok := lines[name]; ok {
				kept[name] = line
			}
		}
		lines = kept
	}
	promptblock.ShortenLines(lines, maxDescription, maxDescriptions)
	return names, lines, notLoadable, nil
}

var skillName = schema.Parameter{Name: "skill_name", Kind: schema.String, Required: true,
	Description: "Name of the skill", Code: toolshelf.CodeInvalidSkillName}

// skillsFor selects the skills of Catalog.ListSkillsFor.
var skillsFor = schema.Parameter{Name: "path", Kind: schema.String,
	Description: "File to work on"}

var getSkill = definition{
	name:  "get_skill",
	title: "Get a skill",
	description: []sentence{
		{text: "Load a skill by its name. Returns SKILL.md and the list of files."},
		{text: "Use a name that ", tools: []string{"list_skills", "search_skills"}, after: " has returned."},
		{text: "Then follow the instructions."},
		{text: "Read other files with ", tools: []string{"read_skill_file"}, after: "."},
	},
	parameters: []schema.Parameter{skillName, skillsFor},
	errors:     errorObject,
	text:       true,
	output:     skillOutput("Full file path to the skill's SKILL.md"),
	relative:   skillOutput("File path to the skill's SKILL.md" + relativeNote),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		var opts []toolshelf.SkillOption
		if path := args.String("path"); path != "" {
			opts = append(opts, toolshelf.ForPath(path))
		}
		skill, err := t.GetSkill(ctx, args.String("skill_name"), opts...)
		if err != nil {
			return Result{}, err
		}
		if t.relativePaths {
			skill.Path = t.RelativePath(skill.Layer, skill.Path)
			skill.Layer, skill.Shadows = t.hider.Text(skill.Layer), t.hider.Texts(skill.Shadows)
			t.hider.diagnostics(skill.Diagnostics)
		}
		return t.textResult(skillText(skill), skill)
	},
}

// skillText returns SKILL.md and the files of a skill as text for a model. The frontmatter and the
// Markdown are as the author wrote them.
func skillText(skill toolshelf.Skill) string {
	var b strings.Builder
	b.WriteString("Skill: " + escape.Name(skill.Name) + "\nPath: " + escape.Path(skill.Path) + "\n\n")
	writeAuthored(&b, skill.Frontmatter, skill.Content)
	b.WriteString("\n\nFiles, relative to the directory of the skill:")
	for _, file := range skill.Files {
		b.WriteString("\n  " + escape.Path(file.Path) + " (" + shown.Size(file.Size) + ")")
	}
	if skill.FilesTruncated {
		b.WriteString("\n  … and more files")
	}
	writeWarnings(&b, skill.Diagnostics)
	return b.String()
}

// writeAuthored writes the frontmatter and the Markdown of a file as the author wrote them.
func writeAuthored(b *strings.Builder, header toolshelf.Frontmatter, content string) {
	if raw := header.Raw; raw != "" {
		fence := map[string]string{"yaml": "---\n", "toml": "+++\n"}[header.Format]
		b.WriteString(fence + strings.TrimSuffix(raw, "\n") + "\n" + fence)
	}
	b.WriteString(strings.TrimRight(content, "\r\n"))
}

// writeWarnings writes a line for each diagnostic.
func writeWarnings(b *strings.Builder, diagnostics []toolshelf.Diagnostic) {
	for i, d := range diagnostics {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\nWarning: ")
		if d.Key != "" {
			b.WriteString(escape.Name(d.Key) + ": ")
		}
		b.WriteString(d.Message)
	}
}

// skillOutput returns the output schema of get_skill with a description of the path.
func skillOutput(path string) string {
	return outputSchema(errorObject, `"name":{"type":"string","description":"Name of the skill's directory"},`+
		`"declared_name":{"type":"string","description":"Name in the frontmatter"},`+
		`"description":{"type":"string","description":"What the skill does and when to use it"},`+
		`"content":{"type":"string","description":"The instructions, in Markdown"},`+
		`"frontmatter":{"type":"object","description":"All fields of the frontmatter"},`+
		`"files":{"type":"array","items":{"type":"object","properties":{`+
		`"path":{"type":"string","description":"Relative to the skill's directory"},`+
		`"size":{"type":"integer","description":"Size in bytes"}},"required":["path","size"]}},`+
		`"files_truncated":{"type":"boolean","description":"The list of files is incomplete"},`+
		`"path":{"type":"string","description":"`+path+`"},`+
		`"layer":{"type":"string","description":"Directory of skills that contains the skill"},`+
		`"plugin":{"type":"string"},`+
		`"disable_model_invocation":{"type":"boolean","description":"Only the user may choose the skill"},`+
		`"user_invocable":{"type":"boolean","description":"The user may choose the skill"},`+
		`"loadable":{"type":"boolean","description":"Always true"},`+
		`"shadows":{"type":"array","items":{"type":"string"},"description":"Skills of the same name that are not served"},`+
		`"license":{"type":"string"},"compatibility":{"type":"string"},`+
		`"metadata":{"type":"object","additionalProperties":{"type":"string"}},`+
		`"allowed_tools":{"type":"array","items":{"type":"string"}},`+
		`"diagnostics":{"type":"array","items":{"type":"object"},"description":"Problems in the skill's files"}`,
		"name", "description", "content", "frontmatter", "files", "path")
}

// maxRead is the maximum size in bytes of a file that read_skill_file returns. A larger
// file exceeds the context of a model.
const maxRead = 1 << 20

var readSkillFile = definition{
	name:  "read_skill_file",
	title: "Read a file of a skill",
	description: []sentence{
		{text: "Read one file of a skill, such as references/guide.md."},
		{text: "Use a path from the list of files that ", tools: []string{"get_skill"}, after: " returns."},
		{text: "Returns UTF-8 text unchanged, and other content in Base64. Refuses a file of more than 1 MiB."},
	},
	parameters: []schema.Parameter{
		skillName,
		{Name: "path", Kind: schema.String, Required: true, Description: "Path relative to the skill's directory"},
	},
	errors: errorObject,
	text:   true,
	output: outputSchema(errorObject, `"skill_name":{"type":"string"},"path":{"type":"string"},`+
		`"size":{"type":"integer","description":"Size in bytes"},`+
		`"encoding":{"enum":["utf-8","base64"],"description":"Encoding of content"},`+
		`"content":{"type":"string"}`,
		"skill_name", "path", "size", "encoding", "content"),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		skill, path := args.String("skill_name"), args.String("path")
		raw, err := t.ReadSkillFile(ctx, skill, path)
		if err != nil {
			return Result{}, err
		}
		if len(raw) > maxRead {
			return Result{}, &toolshelf.Error{Code: toolshelf.CodeFileTooLarge, Op: "read_skill_file", Path: path,
				Message: fmt.Sprintf("the file has %d bytes, and this tool returns at most %d; use the file without reading the content, for example run a script", len(raw), maxRead)}
		}
		file := struct {
			Skill    string `json:"skill_name"`
			Path     string `json:"path"`
			Size     int    `json:"size"`
			Encoding string `json:"encoding"`
			Content  string `json:"content"`
		}{skill, path, len(raw), "utf-8", string(raw)}
		if !utf8.Valid(raw) {
			file.Encoding, file.Content = "base64", base64.StdEncoding.EncodeToString(raw)
		}
		text := file.Content
		switch {
		case len(raw) == 0:
			text = "The file is empty"
		case file.Encoding == "base64":
			text = "Base64 of " + escape.Path(path) + " (" + shown.Size(int64(len(raw))) + "):\n\n" + text
		}
		return t.textResult(text, file)
	},
}

var listAgents = definition{
	name:  "list_agents",
	title: "List agents",
	description: []sentence{
		{text: "List all available agents: agents is the array of the names, and descriptions explains the names."},
	},
	errors: errorString,
	output: outputSchema(errorString, `"agents":{"type":"array","items":{"type":"string"}},`+
		`"descriptions":{"type":"object","additionalProperties":{"type":"string"}},`+
		`"not_loadable":{"type":"array","items":{"type":"string"}}`,
		"agents"),
	run: func(ctx context.Context, t toolset, _ schema.Arguments) (Result, error) {
		agents, err := t.ListAgents(ctx)
		if err != nil {
			return Result{}, err
		}
		rows := make([]listRow, len(agents))
		for i, agent := range agents {
			rows[i] = listRow{agent.Name, agent.Description, agent.Loadable}
		}
		names, descriptions, notLoadable, err := described(ctx, rows, t.AgentsPrompt)
		if err != nil {
			return Result{}, err
		}
		return jsonResult(struct {
			Agents       []string          `json:"agents"`
			Descriptions map[string]string `json:"descriptions,omitempty"`
			NotLoadable  []string          `json:"not_loadable,omitempty"`
		}{names, descriptions, notLoadable})
	},
}

var getAgent = definition{
	name:  "get_agent",
	title: "Get an agent",
	description: []sentence{
		{text: "Get the definition of an agent by its name: its tools, model and instructions."},
		{text: "Use a name that ", tools: []string{"list_agents"}, after: " has returned."},
	},
	parameters: []schema.Parameter{{Name: "agent_name", Kind: schema.String, Required: true,
		Description: "Name of the agent", Code: toolshelf.CodeInvalidAgentName}},
	errors:   errorObject,
	text:     true,
	output:   agentOutput("Full path of the agent's file"),
	relative: agentOutput("Path of the agent's file" + relativeNote),
	run: func(ctx context.Context, t toolset, args schema.Arguments) (Result, error) {
		agent, err := t.GetAgent(ctx, args.String("agent_name"))
		if err != nil {
			return Result{}, err
		}
		if t.relativePaths {
			agent.Path = t.RelativePath(agent.Layer, agent.Path)
			agent.Layer, agent.Shadows = t.hider.Text(agent.Layer), t.hider.Texts(agent.Shadows)
			t.hider.diagnostics(agent.Diagnostics)
		}
		var b strings.Builder
		b.WriteString("Agent: " + escape.Name(agent.Name) + "\nPath: " + escape.Path(agent.Path) + "\n\n")
		writeAuthored(&b, agent.Frontmatter, agent.Content)
		writeWarnings(&b, agent.Diagnostics)
		return t.textResult(b.String(), agent)
	},
}

// agentOutput returns the output schema of get_agent with a description of the path.
func agentOutput(path string) string {
	return outputSchema(errorObject, `"name":{"type":"string","description":"Name of the agent"},`+
		`"declared_name":{"type":"string","description":"Name in the frontmatter"},`+
		`"description":{"type":"string","description":"What the agent does and when to use it"},`+
		`"model":{"type":"string","description":"Model of the agent"},`+
		`"tools":{"type":"array","items":{"type":"string"},"description":"Tools of the agent; without the member usually all tools"},`+
		`"content":{"type":"string","description":"The instructions, in Markdown"},`+
		`"frontmatter":{"type":"object","description":"All fields of the frontmatter"},`+
		`"path":{"type":"string","description":"`+path+`"},`+
		`"layer":{"type":"string","description":"Directory of agents that contains the agent"},`+
		`"plugin":{"type":"string"},`+
		`"disable_model_invocation":{"type":"boolean","description":"Only the user may choose the agent"},`+
		`"user_invocable":{"type":"boolean","description":"The user may choose the agent"},`+
		`"loadable":{"type":"boolean","description":"Always true"},`+
		`"shadows":{"type":"array","items":{"type":"string"},"description":"Agents of the same name that are not served"},`+
		`"diagnostics":{"type":"array","items":{"type":"object"},"description":"Problems in the agent's file"}`,
		"name", "description", "content", "frontmatter", "path")
}
