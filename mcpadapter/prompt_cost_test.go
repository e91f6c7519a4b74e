package mcpadapter_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/adaptertest"
)

func TestRequestsScanTheCommandsAtMostOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 120 {
		files[fmt.Sprintf("commands/c%03d.md", i)] = "Do $1.\n"
	}
	fsys := &adaptertest.ScanFs{Fs: memory(t, files)}
	a := adapterOf(t, catalog(t, fsys), mcpadapter.WithPageSize(50))
	first := must.Get(a.ListPrompts(ctx, nil))(t)
	requests := map[string]func() error{
		"Prompts":     func() error { _, err := a.Prompts(ctx); return err },
		"ListPrompts": func() error { _, err := a.ListPrompts(ctx, &first.NextCursor); return err },
		"Contains": func() error {
			list, err := a.ListPrompts(ctx, nil)
			for i := range 200 {
				if name := fmt.Sprintf("c%03d", i); list.Contains(name) != (i < 120) {
					return fmt.Errorf("Contains(%q) is %t", name, i >= 120)
				}
			}
			return err
		},
		"GetPrompt":                  func() error { _, err := a.GetPrompt(ctx, "c007", map[string]string{"1": "x"}); return err },
		"Complete a command":         func() error { _, err := a.Complete(ctx, "c007", "1", ""); return err },
		"Complete a tool":            func() error { _, err := a.Complete(ctx, "get_command", "command_name", ""); return err },
		"Complete a tool's own enum": func() error { _, err := a.Complete(ctx, "list_directory", "sort_by", ""); return err },
		"GetPrompt of no command": func() error {
			if _, err := a.GetPrompt(ctx, "none", nil); !errors.Is(err, toolshelf.ErrCommandNotFound) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		},
	}
	for name, request := range requests {
		n := fsys.Scans(t, a, func() {
			if err := request(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 1 {
			t.Errorf("%s scanned the commands %g times, want at most once", name, n)
		}
	}
}

func TestGetPromptRejectsUnknownArgumentsInAShortMessage(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"commands/plain.md": "Nothing.\n",
		"commands/many.md":  inputs(40_000),
	})))
	arguments := func(n int) map[string]string {
		all := make(map[string]string, n)
		for i := range n {
			all[fmt.Sprintf("x%d", i)] = "value"
		}
		return all
	}
	tests := []struct {
		prompt    string
		arguments map[string]string
		want      string
	}{
		{"plain", arguments(1), `the prompt has no argument "x0"; accepted arguments: none`},
		{"plain", arguments(2), `the prompt has no arguments "x0", "x1"; accepted arguments: none`},
		{"plain", arguments(1000), `the prompt has no arguments "x0", "x1", "x10" and 997 more; accepted arguments: none`},
		{"plain", arguments(40_000), `40000 arguments were given for the prompt "plain"; a prompt takes at most 1000`},
		{"many", arguments(1), `the prompt has no argument "x0"; accepted arguments: a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19 and 39980 more`},
	}
	for _, tt := range tests {
		_, err := a.GetPrompt(ctx, tt.prompt, tt.arguments)
		if e := rpcError(t, err); e.Code != mcpadapter.CodeInvalidParams || e.Message != tt.want {
			t.Errorf("%d arguments of %s: got %d %.300q, want %q", len(tt.arguments), tt.prompt, e.Code, e.Message, tt.want)
		}
	}
	_, err := a.Complete(ctx, "many", "x", "")
	if e := rpcError(t, err); len(e.Message) > 300 {
		t.Errorf("completion: got a message of %d bytes", len(e.Message))
	}
}

func inputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "${input:a%d}\n", i)
	}
	return b.String()
}

// A list reads only the beginning of a long file. GetPrompt accepts every listed argument,
// even if the rest of the file changes the meaning of the beginning.
func TestListedArgumentsOfALongFileAreAccepted(t *testing.T) {
	rest := strings.Repeat("x\n", 40_000)
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"commands/all.md":  "Do $ARGUMENTS.\n" + rest + "And $1.\n",
		"commands/span.md": "Do `this ${input:word}\n" + strings.ReplaceAll(rest, "\n", " \n") + "until` then.\n",
	})))
	prompts, err := a.Prompts(ctx)
	if err != nil || len(prompts) != 2 {
		t.Fatal(prompts, err)
	}
	for _, p := range prompts {
		if len(p.Arguments) != 1 {
			t.Fatalf("%s has the arguments %v", p.Name, p.Arguments)
		}
		got, err := a.GetPrompt(ctx, p.Name, map[string]string{p.Arguments[0].Name: "WORD"})
		if err != nil || !strings.Contains(got.Text, "WORD") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func TestPromptEndsWithItsContext(t *testing.T) {
	a := prompter(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.GetPrompt(ended, "fix", map[string]string{"issue": "1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := a.ListPrompts(ended, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
