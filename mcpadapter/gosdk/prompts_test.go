package gosdk_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// promptPages returns the names on each page of prompts/list.
func promptPages(t testing.TB, c *mcp.ClientSession) [][]string {
	t.Helper()
	var all [][]string
	for cursor := ""; ; {
		res := must.Get(c.ListPrompts(ctx, &mcp.ListPromptsParams{Cursor: cursor}))(t)
		names := []string{}
		for _, p := range res.Prompts {
			names = append(names, p.Name)
		}
		all = append(all, names)
		if res.NextCursor == "" {
			return all
		}
		cursor = res.NextCursor
	}
}

func TestServersOwnPromptsComeAfterTheCommands(t *testing.T) {
	for _, commands := range []int{0, 1, 50, 51} {
		for _, own := range []int{0, 1, 49, 50} {
			t.Run(fmt.Sprintf("%d commands, %d the server's", commands, own), func(t *testing.T) {
				files := map[string]string{"commands/notes.txt": ""}
				var want []string
				for i := range commands {
					name := fmt.Sprintf("c%03d", i)
					files["commands/"+name+".md"] = "x\n"
					want = append(want, name)
				}
				a, _ := adapterOf(t, catalogtest.Memory(t, files), mcpadapter.WithPageSize(50))
				s := serverOf(t, &mcp.ServerOptions{PageSize: 20}, a)
				for i := range own {
					name := fmt.Sprintf("a%03d", i)
					addPrompt(s, name)
					want = append(want, name)
				}
				got := promptPages(t, connect(t, s, revisions[0], nil))
				must.Equal(t, "pages", max(1, (commands+own+49)/50), len(got))
				must.Match(t, "result", want, slices.Concat(got...), cmp.Transformer("", func(s []string) []string { return append([]string{}, s...) }))
			})
		}
	}
}

func TestCommandsTakePrecedenceOverOwnPrompts(t *testing.T) {
	a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/commit.md": "---\ndescription: A command\n---\n"}))
	s := serverOf(t, nil, a)
	addPrompt(s, "commit")
	addPrompt(s, "other")
	c := connect(t, s, revisions[1], nil)
	must.Match(t, "result", [][]string{{"commit", "other"}}, promptPages(t, c))
	for name, want := range map[string]string{"commit": "A command", "other": "the server's other"} {
		must.Equal(t, name, want,
			must.Get(c.GetPrompt(ctx, &mcp.GetPromptParams{Name: name}))(t).Description)
	}
}

func TestInvalidCursorsOfPromptsAreRejected(t *testing.T) {
	files := map[string]string{}
	for i := range 60 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "x\n"
	}
	a, _ := adapterOf(t, catalogtest.Memory(t, files), mcpadapter.WithExtraTools(tools("tool_%03d", 60)...))
	s := serverOf(t, nil, a)
	addPrompt(s, "own")
	w := dial(t, s)
	for _, cursor := range []string{`0`, `"0"`, `"50"`, `"YWJj"`, `[1]`, `"` + next(t, s) + `"`} {
		if _, err := w.request("prompts/list", `{"cursor":`+cursor+`}`); code(err) != -32602 {
			t.Errorf("cursor %s: got %v, want -32602", cursor, err)
		}
	}
}

func TestDirectoryOfCommandsMayBeMissing(t *testing.T) {
	fsys := afero.NewMemMapFs()
	a, _ := adapterOf(t, fsys)
	s := serverOf(t, nil, a)
	addPrompt(s, "own")
	c := connect(t, s, revisions[0], nil)
	must.Match(t, "result", [][]string{{"own"}}, promptPages(t, c))
	must.Equal(t, "res.Description", "the server's own",
		must.Get(c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "own"}))(t).Description)
	write(t, fsys, "commands/commit.md", "Commit.\n")
	must.Match(t, "after it was made", [][]string{{"commit", "own"}}, promptPages(t, c))
}

func TestUnreadableDirectoryOfCommandsIsAnError(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"})
	a, _ := adapterOf(t, catalogtest.Faulty{Fs: fsys, Opens: map[string]error{"commands": os.ErrPermission}})
	s := serverOf(t, nil, a)
	addPrompt(s, "own")
	c := connect(t, s, revisions[0], nil)
	if _, err := c.ListPrompts(ctx, nil); code(err) != -32603 {
		t.Errorf("got %v, want -32603", err)
	}
	must.Equal(t, "the server's own", "the server's own",
		must.Get(c.GetPrompt(ctx, &mcp.GetPromptParams{Name: "own"}))(t).Description)
}

func TestAnnouncerIsNotListed(t *testing.T) {
	a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"}))
	c := connect(t, serverOf(t, &mcp.ServerOptions{PageSize: 1}, a, a), revisions[0], nil)
	must.Match(t, "result", [][]string{{"commit"}}, promptPages(t, c))
	if _, err := c.GetPrompt(ctx, &mcp.GetPromptParams{}); code(err) != -32602 {
		t.Errorf("got %v, want -32602", err)
	}
}

func TestClientsReceiveOneNotificationForSimultaneousChanges(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			fsys := catalogtest.Memory(t, map[string]string{"commands/commit.md": "Commit.\n"})
			a, catalog := adapterOf(t, fsys)
			told := make(chan struct{}, 100)
			c := connect(t, serverOf(t, nil, a), revision, &mcp.ClientOptions{
				PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { told <- struct{}{} },
			})
			promptPages(t, c) // detects changes from now on
			for round := range 2 {
				for i := range 5 {
					write(t, fsys, fmt.Sprintf("commands/c%d-%d.md", round, i), "x\n")
				}
				promptPages(t, c) // detects the changes
				select {
				case <-told:
				case <-time.After(10 * time.Second):
					t.Fatalf("round %d: not told", round)
				}
			}
			catalog.Close()
			must.Equal(t, "told", 0, len(told))
		})
	}
}

func TestServerDeclaresCapabilities(t *testing.T) {
	for _, revision := range revisions {
		got := connect(t, serverOf(t, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{}}, manyTools(t, 0, mcpadapter.WithPrompts())), revision, nil).InitializeResult().Capabilities
		want := &mcp.ServerCapabilities{
			Tools:       &mcp.ToolCapabilities{ListChanged: true},
			Prompts:     &mcp.PromptCapabilities{ListChanged: true},
			Completions: &mcp.CompletionCapabilities{},
		}
		must.Match(t, revision, want, got)
	}
}

func TestOwnCapabilitiesAreKept(t *testing.T) {
	s := serverOf(t, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}}}, manyTools(t, 1))
	got := connect(t, s, revisions[0], nil).InitializeResult().Capabilities
	must.Equal(t, "ListChanged", false, got.Tools.ListChanged)
	must.Equal(t, "ListChanged", false, got.Prompts.ListChanged)
}

func TestCompletionOfSeveralAdaptersNamesTheArguments(t *testing.T) {
	first, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/first.md": "First $1.\n"}))
	second, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/second.md": "Second $1.\n"}))
	c := connect(t, serverOf(t, nil, first, second), revisions[0], nil)
	for _, name := range []string{"first", "second"} {
		_, err := c.Complete(ctx, &mcp.CompleteParams{
			Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: name}, Argument: mcp.CompleteParamsArgument{Name: "none"},
		})
		if err == nil || !strings.Contains(err.Error(), `no argument "none"`) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCompletionForwardsOtherRequests(t *testing.T) {
	a, _ := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n", "commands/review.md": "x\n"}))
	handler := &mcp.ServerOptions{CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"the server's"}}}, nil
	}}
	tests := []struct {
		name    string
		options *mcp.ServerOptions
		ref     mcp.CompleteReference
		want    []string
		code    int64
	}{
		{"a tool's argument", nil, mcp.CompleteReference{Type: "ref/prompt", Name: "get_command"}, []string{"commit"}, 0},
		{"a tool's argument, with a handler", handler, mcp.CompleteReference{Type: "ref/prompt", Name: "get_command"}, []string{"commit"}, 0},
		{"no such prompt", nil, mcp.CompleteReference{Type: "ref/prompt", Name: "none"}, nil, -32602},
		{"no such prompt, with a handler", handler, mcp.CompleteReference{Type: "ref/prompt", Name: "none"}, []string{"the server's"}, 0},
		{"a resource", nil, mcp.CompleteReference{Type: "ref/resource", URI: "file:///a"}, nil, -32601},
		{"a resource, with a handler", handler, mcp.CompleteReference{Type: "ref/resource", URI: "file:///a"}, []string{"the server's"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := connect(t, serverOf(t, tt.options, a), revisions[0], nil).Complete(ctx, &mcp.CompleteParams{
				Ref: &tt.ref, Argument: mcp.CompleteParamsArgument{Name: "command_name", Value: "com"},
			})
			must.Equal(t, "code", tt.code, code(err))
			must.Equal(t, "result", tt.code != 0, err != nil)
			if err == nil {
				must.Match(t, "result", tt.want, res.Completion.Values)
			}
		})
	}
}

// Several clients read one page.
func TestTheFirstPageHas120Prompts(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "---\nargument-hint: <issue>\n---\nTag $1.\n"
	}
	a, _ := adapterOf(t, catalogtest.Memory(t, files))
	s := serverOf(t, nil, a)
	addPrompt(s, "own")
	page, err := connect(t, s, revisions[0], nil).ListPrompts(ctx, nil)
	if err != nil || len(page.Prompts) != 121 || page.NextCursor != "" || !page.Prompts[0].Arguments[0].Required {
		t.Errorf("%+v, %v", page, err)
	}
}
