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

func (t toolset) listSkills(ctx context.Context, args schema.Arguments) (Result, error) {
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

func (t toolset) getSkill(ctx context.Context, args schema.Arguments) (Result, error) {
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

// maxRead is the maximum size in bytes of a file that read_skill_file returns. A larger
// file exceeds the context of a model.
const maxRead = 1 << 20

func (t toolset) readSkillFile(ctx context.Context, args schema.Arguments) (Result, error) {
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
}

func (t toolset) listAgents(ctx context.Context, _ schema.Arguments) (Result, error) {
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
}

func (t toolset) getAgent(ctx context.Context, args schema.Arguments) (Result, error) {
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
}
