package faults_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"regexp"
	"syscall"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// tools are ways through the tools of package mcpadapter. report_feedback writes: see
// writes_linux_test.go.
var tools = []way{
	tool("list_commands", unread, `{}`),
	tool("search_commands", unread, `{"query": "command"}`),
	tool("get_command", nothing, `{"command_name": "c1"}`),
	tool("get_command", nothing, `{"command_name": "one:go"}`),
	tool("list_skills", unread, `{}`),
	tool("search_skills", unread, `{"query": "skill"}`),
	tool("get_skill", nothing, `{"skill_name": "s1"}`),
	tool("get_skill", nothing, `{"skill_name": "one:k-one"}`),
	tool("read_skill_file", nothing, `{"skill_name": "s1", "path": "scripts/run.py"}`),
	tool("list_agents", unread, `{}`),
	tool("get_agent", nothing, `{"agent_name": "one:g-one"}`),
	tool("get_instructions", refused, `{"path": "src/main.go"}`),
	tool("list_directory", nothing, `{"path": "src"}`),
	tool("directory_tree", nothing, `{}`),
	tool("get_file_info", nothing, `{"path": "src/main.go"}`),
	tool("search_files", nothing, `{"pattern": "**/*.md"}`),
	tool("search_text", nothing, `{"pattern": "e"}`),
	tool("read_file", nothing, `{"path": "src/main.go"}`),
	tool("read_file", nothing, `{"paths": ["src/main.go", "docs/style.md"]}`),
}

// tool returns the call of a tool as a way. The result is the text.
func tool(name string, omits omits, arguments string) way {
	return way{name + arguments, omits, func(ctx context.Context, c *toolshelf.Catalog) (any, error) {
		a, err := mcpadapter.New(c)
		if err != nil {
			return nil, err
		}
		r, err := a.Call(ctx, name, json.RawMessage(arguments))
		if err == nil && r.IsError {
			var failed struct{ Error struct{ Code toolshelf.Code } }
			_ = json.Unmarshal(r.Structured, &failed) // list_skills and list_agents have a text without a code
			err = &toolshelf.Error{Code: cmp.Or(failed.Error.Code, "TEXT"), Message: r.Text}
		}
		return toolText(searchTimes.ReplaceAllString(r.Text, "")), err
	}}
}

// A toolText is the text of a tool. Its marks are the words that name a loss, and the missing line
// of get_file_info about a file that cannot be opened.
type toolText string

var (
	searchTimes = regexp.MustCompile(`"search_time[^,}]*`)
	losses      = regexp.MustCompile(`Warning:|more files not listed|cannot|could not|not read|not searched|unknown|\(\?\)|input/output error|permission denied|the filesystem failed|i/o timeout`)
)

func TestADirectoryOfSkillsThatCannotBeDescribedIsServed(t *testing.T) {
	f := &fault{}
	c := must.Get(toolshelf.New(toolshelf.WithFs(faultyFs{memory(files()), f}), toolshelf.WithRoot("/p"), toolshelf.WithHome("")))(t)
	defer c.Close()
	a := must.Get(mcpadapter.New(c))(t)
	for _, tt := range []struct {
		err  error
		want bool
	}{{syscall.EIO, true}, {fs.ErrPermission, true}, {fs.ErrNotExist, false}} {
		f.on, f.err = map[string]bool{"p/skills": true}, tt.err
		if got := a.ServesSkills(); got != tt.want {
			t.Errorf("%v: ServesSkills is %t", tt.err, got)
		}
	}
}

func TestAFaultOfAParentIsAnError(t *testing.T) {
	f := &fault{err: syscall.EIO}
	c := must.Get(toolshelf.New(toolshelf.WithFs(faultyFs{memory(files()), f}), toolshelf.WithRoot("/p/src"), toolshelf.WithParents("/p"), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Codex())))(t)
	defer c.Close()
	if all, err := c.Instructions(t.Context(), "main.go"); err != nil || len(all) != 2 {
		t.Fatalf("%v, %v", all, err)
	}
	f.on = map[string]bool{"p": true}
	if all, err := c.Instructions(t.Context(), "main.go"); toolshelf.CodeOf(err) != toolshelf.CodeFileRead {
		t.Errorf("%v, %v", all, err)
	}
}
