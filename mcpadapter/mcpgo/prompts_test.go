package mcpgo_test

import (
	"context"
	"fmt"
	"path"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/mcpgo"
)

func prompts(t testing.TB, s *server.MCPServer) []string {
	t.Helper()
	all, _ := names(t, s, "prompts/list", `{}`)
	return all
}

func TestChangedDescriptionsAreListed(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"commands/commit.md": "Old.\n"})
	s := serverOf(t, adapterOf(t, fsys))
	write(t, fsys, "commands/commit.md", "Newer.\n")
	var list struct {
		Prompts []struct{ Description string }
	}
	request(t, s, "prompts/list", `{}`).into(t, &list)
	must.Len(t, list, 1, list.Prompts)
	must.Equal(t, list, "Newer.", list.Prompts[0].Description)
}

func TestDirectoryOfCommandsMayBeMissing(t *testing.T) {
	fsys := afero.NewMemMapFs()
	s := serverOf(t, adapterOf(t, fsys))
	s.AddPrompt(ownPrompt("own"))
	must.Match(t, "result", []string{"own"}, prompts(t, s))
	write(t, fsys, "commands/commit.md", "Commit.\n")
	must.Match(t, "after it was made", []string{"commit", "own"}, prompts(t, s))
}

func TestPromptsStayIfTheDirectoryCannotBeRead(t *testing.T) {
	fsys := &deniable{Fs: catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"}), path: "commands"}
	s := serverOf(t, adapterOf(t, fsys))
	fsys.deny(true)
	write(t, fsys.Fs, "commands/review.md", "x\n")
	must.Match(t, "while denied", []string{"commit"}, prompts(t, s))
	fsys.deny(false)
	must.Match(t, "afterwards", []string{"commit", "review"}, prompts(t, s))
}

func TestRegisterSucceedsIfTheDirectoryCannotBeRead(t *testing.T) {
	fsys := &deniable{Fs: catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"}), path: "commands", denied: true}
	s := serverOf(t, adapterOf(t, fsys))
	must.Len(t, "prompts", 0, prompts(t, s))
	fsys.deny(false)
	must.Match(t, "afterwards", []string{"commit"}, prompts(t, s))
}

// TestFailuresOfAnAdapterAreNotAnswersOfOthers tests three adapters of a server, of which the
// filesystem of one fails.
func TestFailuresOfAnAdapterAreNotAnswersOfOthers(t *testing.T) {
	s := server.NewMCPServer("test", "1")
	var filesystems [3]*deniable
	for i, name := range []string{"first", "second", "third"} {
		filesystems[i] = &deniable{Fs: catalogtest.Memory(t, map[string]string{
			"commands/both.md": "Both.\n", "commands/" + name + ".md": "Only $1.\n",
			"skills/both/SKILL.md": skillText("both"), "skills/" + name + "/SKILL.md": skillText(name),
		})}
		must.Do(t, mcpgo.Register(s, adapterOf(t, filesystems[i])))
	}
	completion := func(prompt string) [2]string {
		return [2]string{"completion/complete", fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"none","value":""}}`, prompt)}
	}
	prompt := func(name string) [2]string { return [2]string{"prompts/get", fmt.Sprintf(`{"name":%q}`, name)} }
	file := func(skill string) [2]string {
		return [2]string{"resources/read", fmt.Sprintf(`{"uri":"skill://%s/SKILL.md"}`, skill)}
	}
	const failed = "Permission denied"
	for fails, want := range map[int]map[[2]string]string{ // a part of the error; "" for a result
		-1: {completion("first"): `no argument "none"`, completion("third"): `no argument "none"`},
		0: {
			prompt("first"): failed, prompt("second"): "", prompt("both"): "", completion("first"): failed, completion("second"): "no argument",
			file("first"): failed, file("second"): "", file("both"): "",
		},
		2: {
			prompt("first"): "", prompt("third"): failed, prompt("both"): failed, completion("first"): "no argument", completion("third"): failed,
			file("first"): "", file("third"): failed, file("both"): failed,
		},
	} {
		for i, fsys := range filesystems {
			fsys.deny(i == fails)
		}
		for params, want := range want {
			got := request(t, s, params[0], params[1])
			must.Equal(t, fails, want == "", got.Error.Code == 0)
			must.Contain(t, fails, got.Error.Message, want)
		}
	}
}

func TestClientsReceiveOneNotificationForSimultaneousChanges(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"commands/commit.md": "Commit.\n"})
	s := serverOf(t, adapterOf(t, fsys))
	c := connect(t, s)
	told := make(chan string, 100)
	c.OnNotification(func(n mcp.JSONRPCNotification) { told <- n.Method })
	for round := range 2 {
		for i := range 5 {
			write(t, fsys, fmt.Sprintf("commands/c%d-%d.md", round, i), "x\n")
		}
		// The catalog detects the changes without prompts/list, as with WithWatch.
		must.Get(c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: "list_commands"}}))(t)
		select {
		case method := <-told:
			must.Equal(t, "told", "notifications/prompts/list_changed", method)
		case <-time.After(10 * time.Second):
			t.Fatalf("round %d: not told", round)
		}
		must.Equal(t, "round", 6+5*round, len(s.ListPrompts()))
	}
	prompts(t, s) // no prompt has changed
	must.Equal(t, "told", 0, len(told))
}

// gatedFs blocks each Open of the directory of commands until the gate channel is closed.
type gatedFs struct {
	afero.Fs
	waiting chan struct{} // has a token after the first Open
	gate    atomic.Pointer[chan struct{}]
}

func (f *gatedFs) Open(name string) (afero.File, error) {
	if gate := f.gate.Load(); gate != nil && path.Clean(name) == "commands" {
		select {
		case f.waiting <- struct{}{}:
		default:
		}
		<-*gate
	}
	return f.Fs.Open(name)
}

func TestHangingRequestsDoNotBlockOthers(t *testing.T) {
	fsys := &gatedFs{Fs: catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n"}), waiting: make(chan struct{}, 1)}
	s := serverOf(t, adapterOf(t, fsys))
	gate := make(chan struct{})
	fsys.gate.Store(&gate)
	var hanging sync.WaitGroup
	hanging.Go(func() { prompts(t, s) })
	<-fsys.waiting
	ended, cancel := context.WithCancel(ctx)
	cancel()
	answered := make(chan struct{})
	hanging.Go(func() {
		s.HandleMessage(ended, []byte(`{"jsonrpc":"2.0","id":2,"method":"prompts/list","params":{}}`))
		close(answered)
	})
	select {
	case <-answered:
	case <-time.After(10 * time.Second):
		t.Error("a request whose context has ended waits for another request")
	}
	close(gate)
	hanging.Wait()
}

type completions struct{}

func (completions) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"the server's"}}, nil
}

func TestArgumentsAreCompleted(t *testing.T) {
	a := adapterOf(t, catalogtest.Memory(t, map[string]string{"commands/commit.md": "x\n", "commands/review.md": "x\n"}))
	tests := []struct {
		name, prompt string
		opts         []mcpgo.Option
		want         []string
		code         int
	}{
		{"a tool's argument", "get_command", nil, []string{"commit"}, 0},
		{"the server's own prompt", "own", nil, []string{}, 0},
		{"the server's own prompt, with a provider", "own", []mcpgo.Option{mcpgo.WithPromptCompletions(completions{})}, []string{"the server's"}, 0},
		{"a command without such an argument", "commit", []mcpgo.Option{mcpgo.WithPromptCompletions(completions{})}, nil, -32603},
		{"no such prompt", "none", []mcpgo.Option{mcpgo.WithPromptCompletions(completions{})}, nil, -32603},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := server.NewMCPServer("test", "1")
			must.Do(t, mcpgo.Register(s, a, tt.opts...))
			s.AddPrompt(ownPrompt("own"))
			got := request(t, s, "completion/complete", fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":"command_name","value":"com"}}`, tt.prompt))
			must.Equal(t, "Code", tt.code, got.Error.Code)
			if tt.code != 0 {
				return
			}
			var result struct{ Completion struct{ Values []string } }
			got.into(t, &result)
			must.Match(t, "result", tt.want, result.Completion.Values)
		})
	}
}

func TestANilProviderOfCompletionsCompletesNothing(t *testing.T) {
	s := server.NewMCPServer("test", "1")
	s.AddPrompt(ownPrompt("own"))
	must.Do(t, mcpgo.Register(s, adapterOf(t, afero.NewMemMapFs()), mcpgo.WithPromptCompletions(nil)))
	got := request(t, s, "completion/complete", `{"ref":{"type":"ref/prompt","name":"own"},"argument":{"name":"a","value":""}}`)
	must.Equal(t, "Code", 0, got.Error.Code)
	must.Contain(t, "Result", string(got.Result), `"values":[]`)
}
