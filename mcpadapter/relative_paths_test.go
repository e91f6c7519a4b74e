package mcpadapter_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// onDisk creates a directory with the files. The path has no symbolic link.
func onDisk(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	for name, content := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(content), 0o644))
	}
	return dir
}

func opened(t testing.TB, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := must.Get(toolshelf.New(opts...))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// allTexts returns all texts of the responses to the calls and requests: results, structured
// content and errors.
func allTexts(t testing.TB, a *mcpadapter.Adapter, root string) (texts []string) {
	t.Helper()
	quoted := must.Get(json.Marshal(root))(t)
	in := func(below string) string { return strings.TrimSuffix(string(quoted), `"`) + below + `"` } // JSON of a path in the root
	for tool, calls := range map[string][]string{
		"list_commands":    {`{}`, `{"page":0}`, `{` + in("") + `:1}`},
		"search_commands":  {`{"query":"analyze"}`, `{"query":""}`, `{"query":` + in("") + `}`},
		"get_command":      {`{"command_name":"analyze_log"}`, `{"command_name":"outer"}`, `{"command_name":"embedded"}`, `{"command_name":"nothing"}`, `{"command_name":` + in("/commands/analyze_log") + `}`},
		"list_skills":      {`{}`, `{"x":1}`},
		"search_skills":    {`{"query":"calculator"}`, `{"query":""}`},
		"get_skill":        {`{"skill_name":"calculator"}`, `{"skill_name":"broken"}`, `{"skill_name":"nothing"}`, `{"skill_name":` + in("/skills/calculator") + `}`},
		"list_agents":      {`{}`, `{"x":1}`},
		"get_instructions": {`{"path":"src/agent.lisp"}`, `{"path":` + in("/src") + `}`, `{"path":` + in("/../other") + `}`, `{"path":"link/x"}`, `{"path":7}`},
		"get_agent":        {`{"agent_name":"a"}`, `{"agent_name":"broken"}`, `{"agent_name":"nothing"}`, `{"agent_name":` + in("/agents/a.md") + `}`},
		"read_skill_file":  {`{"skill_name":"calculator","path":"SKILL.md"}`, `{"skill_name":"calculator","path":"nothing"}`, `{"skill_name":"calculator","path":` + in("/skills/calculator/SKILL.md") + `}`},
		"list_directory":   {`{"path":"."}`, `{"path":` + in("") + `}`, `{"path":` + in("/src") + `}`, `{"path":` + in("/nothing") + `}`, `{"path":` + in("/src/agent.lisp") + `}`, `{"path":` + in("/../other") + `}`, `{"path":"link"}`, `{"path":7}`},
		"directory_tree":   {`{}`, `{"path":` + in("/skills") + `}`, `{"path":` + in("/nothing") + `}`, `{"path":` + in("/../other") + `}`},
		"get_file_info":    {`{"path":"src"}`, `{"path":` + in("/src/agent.lisp") + `}`, `{"path":"link"}`, `{"path":` + in("/nothing") + `}`, `{"path":` + in("/../other") + `}`},
		"search_files":     {`{"pattern":"*.md"}`, `{"pattern":"*","path":` + in("/src") + `}`, `{"pattern":` + in("/[") + `}`, `{"pattern":"*","path":` + in("/nothing") + `}`},
		"search_text":      {`{"pattern":"agent"}`, `{"pattern":"agent","path":` + in("/src/agent.lisp") + `}`, `{"pattern":"agent","path":` + in("/nothing") + `}`, `{"pattern":"agent","path":` + in("/../other") + `}`, `{"pattern":` + in("(") + `}`, `{"pattern":"a","files":[` + in("[") + `]}`, `{"pattern":"a","path":"link"}`},
		"read_file":        {`{"path":` + in("/src/agent.lisp") + `}`, `{"path":` + in("/src") + `}`, `{"path":` + in("/nothing") + `}`, `{"path":` + in("/../other") + `}`, `{"path":"link"}`, `{"path":"src/agent.lisp","end_line":` + in("") + `}`},
		"report_feedback": {`{"command_name":"analyze_log","report_content":"x","user_wants_upload":true}`, `{"command_name":"analyze_log","report_content":"x","user_wants_upload":false}`,
			`{"command_name":` + in("") + `,"report_content":"x","user_wants_upload":true}`, `{"command_name":"analyze_log","report_content":"","user_wants_upload":true}`},
	} {
		for _, arguments := range calls {
			got := must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t)
			texts = append(texts, fmt.Sprintf("%s(%s): %s", tool, strings.ReplaceAll(arguments, strings.Trim(string(quoted), `"`), "ROOT"), got.Text), string(got.Structured))
		}
	}
	add := func(what string, v any, err error) {
		texts = append(texts, fmt.Sprintf("%s: %+v, %v", what, v, err))
	}
	all, err := a.Prompts(ctx)
	add("Prompts", all, err)
	page, err := a.ListPrompts(ctx, nil)
	add("ListPrompts", page.Prompts, err)
	for _, name := range []string{"analyze_log", "nothing", root} {
		prompt, err := a.GetPrompt(ctx, name, map[string]string{})
		add("GetPrompt", prompt, err)
		prompt, err = a.GetPrompt(ctx, name, map[string]string{root: "x"})
		add("GetPrompt", prompt, err)
		completion, err := a.Complete(ctx, name, root, "")
		add("Complete", completion, err)
	}
	completion, err := a.Complete(ctx, "get_command", "command_name", "")
	add("Complete", completion, err)
	completion, err = a.Complete(ctx, "get_skill", "skill_name", "")
	add("Complete", completion, err)
	completion, err = a.Complete(ctx, "get_agent", "agent_name", "")
	add("Complete", completion, err)
	_, err = a.Call(ctx, "nothing", nil)
	add("Call", nil, err)
	s := ready(t, a)
	for method, params := range map[string]string{"prompts/list": `{}`, "prompts/get": `{"name":"analyze_log"}`, "tools/list": `{}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"get_skill"},"argument":{"name":"skill_name","value":""}}`} {
		result, err := s.Handle(ctx, method, json.RawMessage(params))
		add(method, string(result), err)
	}
	return texts
}

// backslashes are a separator of Windows, which each level of JSON or of quotes doubles.
var backslashes = regexp.MustCompile(`\\+`)

// containing returns the texts that contain the path in any spelling.
func containing(texts []string, path string) (found []string) {
	path = filepath.ToSlash(path)
	for _, text := range texts {
		if strings.Contains(backslashes.ReplaceAllString(text, "/"), path) {
			found = append(found, text)
		}
	}
	return found
}

func TestWithRelativePathsHidesTheRoot(t *testing.T) {
	broken := map[string]func(t *testing.T, root string){
		"whole":                    func(*testing.T, string) {},
		"without commands, skills": func(t *testing.T, root string) { remove(t, root, "commands", "skills", "agents") },
		"without the root":         func(t *testing.T, root string) { remove(t, root, ".") },
		"commands and skills are files": func(t *testing.T, root string) {
			remove(t, root, "commands", "skills", "agents", "reports", "local")
			for _, name := range []string{"commands", "skills", "agents", "reports", "local"} {
				must.Do(t, os.WriteFile(filepath.Join(root, name), nil, 0o644))
			}
		},
		"links out of the root": func(t *testing.T, root string) {
			for _, name := range []string{"commands", "skills", "agents", "reports", "local", "link"} {
				remove(t, root, name)
				hosttest.Symlink(t, t.TempDir(), filepath.Join(root, name))
			}
		},
		"links to nothing in the root": func(t *testing.T, root string) {
			for _, name := range []string{"commands", "skills", "agents", "reports", "local", "link"} {
				remove(t, root, name)
				hosttest.Symlink(t, filepath.Join(root, "nothing"), filepath.Join(root, name))
			}
		},
	}
	for name, change := range broken {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"local/x/.keep": "", "reports/x/.keep": "", "skills/broken/SKILL.md": "---\ndescription: [\n---\n", "link": "",
				"CLAUDE.md": "@missing.md @../x.md\n", ".claude/rules/broken.md": "---\npaths: [\n---\nx\n", "src/CLAUDE.md": "@../../x.md\n", "agents/a.md": "---\ndescription: A\n---\n", "agents/broken.md": "---\ndescription: [\n---\n"}
			for name, content := range project {
				files[name] = content
			}
			root := onDisk(t, files)
			outside := onDisk(t, map[string]string{"a.md": "Another.\n", "outer.md": "Outer.\n", "outer/SKILL.md": "---\ndescription: Outer\n---\n", "calculator/SKILL.md": "---\ndescription: Another\n---\n"})
			c := opened(t, toolshelf.WithRoot(root),
				toolshelf.WithCommandsDir(filepath.Join(root, "commands"), outside), toolshelf.WithCommandsFS("built in", fstest.MapFS{"embedded.md": {Data: []byte("Embedded.\n")}}),
				toolshelf.WithSkillsDir(filepath.Join(root, "skills"), filepath.Join(root, "more"), outside),
				toolshelf.WithAgentsDir(filepath.Join(root, "agents"), outside), toolshelf.WithInstructions(client.Claude()),
				toolshelf.WithReports(filepath.Join(root, "reports"), filepath.Join(root, "local")))
			change(t, root)
			if found := containing(allTexts(t, adapterOf(t, c, mcpadapter.WithStructuredContent()), root), root); len(found) < 3 {
				t.Errorf("without the option, %d texts hold the path; the test shows nothing", len(found))
			}
			for _, text := range containing(allTexts(t, adapterOf(t, c, mcpadapter.WithRelativePaths(), mcpadapter.WithStructuredContent()), root), root) {
				t.Errorf("%s is in %s", root, text)
			}
		})
	}
}

func remove(t *testing.T, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		must.Do(t, os.RemoveAll(filepath.Join(root, name)))
	}
}

func TestWithRelativePathsShowsPathsInLayers(t *testing.T) {
	root := onDisk(t, map[string]string{"commands/a.md": "A.\n", "skills/s/SKILL.md": "---\ndescription: S\n---\n", "more/s/SKILL.md": "---\ndescription: S\n---\n"})
	outside := onDisk(t, map[string]string{"b.md": "B.\n", "u/SKILL.md": "---\ndescription: U\n---\n"})
	below, err := filepath.Rel(root, outside)
	if err != nil {
		t.Skip(err) // on another volume
	}
	embedded := fstest.MapFS{"c.md": {Data: []byte("C.\n")}, "v/SKILL.md": {Data: []byte("---\ndescription: V\n---\n")}}
	c := opened(t, toolshelf.WithRoot(root),
		toolshelf.WithCommandsDir(filepath.Join(root, "commands"), below), toolshelf.WithCommandsFS("built in", embedded),
		toolshelf.WithSkillsDir(filepath.Join(root, "skills"), filepath.Join(root, "more"), outside), toolshelf.WithSkillsFS("built in", embedded),
		toolshelf.WithReports(filepath.Join(root, "reports"), outside))
	a := adapterOf(t, c, mcpadapter.WithRelativePaths(), mcpadapter.WithStructuredContent())
	get := func(tool, arguments string) map[string]any {
		t.Helper()
		got := must.Get(a.Call(ctx, tool, json.RawMessage(arguments)))(t)
		must.Equal(t, tool, false, got.IsError)
		described, _ := a.Lookup(tool)
		must.Do(t, validate(t, compiled(t, described.OutputSchema), got.Structured))
		return decoded(t, got.Structured).(map[string]any)
	}
	for name, want := range map[string]string{"a": "commands/a.md", "b": filepath.ToSlash(below) + "/b.md", "c": "built in/c.md"} {
		metadata := get("get_command", `{"command_name":"`+name+`"}`)["metadata"].(map[string]any)
		must.Match(t, name, want, metadata["path"])
	}
	for name, want := range map[string]string{"s": "skills/s/SKILL.md", "u": filepath.ToSlash(outside) + "/u/SKILL.md", "v": "built in/v/SKILL.md"} {
		must.Match(t, name, want, get("get_skill", `{"skill_name":"`+name+`"}`)["path"])
	}
	s := get("get_skill", `{"skill_name":"s"}`)
	must.Match(t, "layer and shadows", []any{"skills", []any{"more/s/SKILL.md"}}, []any{s["layer"], s["shadows"]})
	for upload, want := range map[string]string{"true": "reports/a/a_report_", "false": filepath.ToSlash(outside) + "/a/a_report_"} {
		got := get("report_feedback", `{"command_name":"a","report_content":"x","user_wants_upload":`+upload+`}`)["report_path"].(string)
		if !strings.HasPrefix(got, want) {
			t.Errorf("report: %q, want %q…", got, want)
		}
	}
}

// The option changes only messages of the library, not texts of authors. Without the option, the
// results have full paths.
func TestWithRelativePathsKeepsTextsOfAuthors(t *testing.T) {
	root := onDisk(t, nil)
	command := filepath.Join(root, "commands", "a.md")
	must.Do(t, os.Mkdir(filepath.Dir(command), 0o755))
	text := "Run " + filepath.ToSlash(root) + "/run.sh.\n"
	must.Do(t, os.WriteFile(command, []byte(text), 0o644))
	c := opened(t, toolshelf.WithRoot(root))
	for path, options := range map[string][]mcpadapter.Option{command: nil, "commands/a.md": {mcpadapter.WithRelativePaths()}} {
		a := adapterOf(t, c, options...)
		got := must.Get(a.Call(ctx, "get_command", json.RawMessage(`{"command_name":"a"}`)))(t)
		var result toolshelf.Command
		must.Do(t, json.Unmarshal(got.Structured, &result))
		must.Equal(t, "Path", path, result.Metadata.Path)
		must.Equal(t, "result.Content", text, result.Content)
		must.Equal(t, "prompt.Text", text, must.Get(a.GetPrompt(ctx, "a", nil))(t).Text)
	}
}
