package instruction_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/instruction"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func memory(t testing.TB, files map[string]string, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	return catalogtest.Open(t, append([]toolshelf.Option{toolshelf.WithFs(catalogtest.Memory(t, files)), toolshelf.WithRoot("/repo"), toolshelf.WithHome("/home/me")}, opts...)...)
}

// codesOf returns the codes of the diagnostics of an instruction.
func codesOf(i toolshelf.Instruction) (codes []string) {
	for _, d := range i.Diagnostics {
		codes = append(codes, string(d.Code))
	}
	return codes
}

// A row with Below has precedence over a row of the place without.
func TestAPlaceThatOneOfTwoRowsReadsBelowTheRoot(t *testing.T) {
	files := map[string]string{"/repo/AGENTS.md": "root", "/repo/x/.windsurf/rules/always.md": "---\ntrigger: always_on\n---\na"}
	row := client.Windsurf()
	row.Instructions[1].Below = false
	for want, rows := range map[int][]client.Client{1: {row}, 2: {row, client.Windsurf()}} {
		must.Equal(t, "pathsOf", want,
			len(pathsOf(t, memory(t, files, toolshelf.WithInstructions(rows...)), "x/y/a.go")))
	}
}

func TestANewSnapshotKeepsTheTextsOfRulesBelowTheRoot(t *testing.T) {
	var f instruction.Finder
	f.Texts.Max = 1 << 20
	f.AddRules(client.Place{Dir: ".cursor/rules", Pattern: "*.mdc", Below: true}, "")
	file := index.File{Layer: 1, Path: "x/.cursor/rules/r.mdc"}
	f.Texts.Put(&index.Cached[instruction.File]{File: file})
	f.Retain(new(index.Snapshot))
	if f.Texts.Get(file) == nil {
		t.Error("the text is not kept")
	}
}

func TestFieldsOfAnInstruction(t *testing.T) {
	c := memory(t, map[string]string{"/repo/.cursor/rules/go.mdc": "---\ndescription: Go code\nglobs: **/*.go, go.{mod,sum}\n---\nUse gofmt.\n", "/home/me/.claude/CLAUDE.md": "Mine.\n"},
		toolshelf.WithInstructions(client.Cursor(), client.Claude()))
	want := []toolshelf.Instruction{
		{Path: "~/.claude/CLAUDE.md", Layer: "~/.claude", Scope: "~", Text: "Mine.\n", Mode: toolshelf.Always},
		{Path: ".cursor/rules/go.mdc", Layer: ".cursor/rules", Scope: ".", Text: "Use gofmt.\n", Description: "Go code", Mode: toolshelf.OnMatch, Globs: []string{"**/*.go", "go.{mod,sum}"}},
	}
	got := instructions(t, c, "go.mod")
	for i := range got {
		must.Equal(t, fmt.Sprintf("digest %q", got[i].Digest), len("sha256:")+64,
			len(got[i].Digest))
		got[i].Digest, got[i].Diagnostics = "", nil
	}
	must.Match(t, "result", want, got)
}

func TestACopyHasTheImportsAndTheLimitOfTheClientThatReadsMost(t *testing.T) {
	text := strings.Repeat("a", 40<<10) + " @x.md"
	files := map[string]string{"/repo/AGENTS.md": text, "/repo/CLAUDE.md": text, "/repo/x.md": "imported"}
	for _, clients := range [][]client.Client{{client.Codex(), client.Claude()}, {client.Claude(), client.Codex()}} {
		list := instructions(t, memory(t, files, toolshelf.WithInstructions(clients...)), ".", toolshelf.Imports(0))
		if len(list) != 1 || !strings.HasSuffix(list[0].Text, "a imported") || list[0].Diagnostics != nil {
			t.Errorf("%s first: %d instructions, %d bytes, %v", clients[0].Name, len(list), len(list[0].Text), list[0].Diagnostics)
		}
	}
}

func TestExceptOmitsWhatWasShown(t *testing.T) {
	fsys := catalogtest.Memory(t, map[string]string{"/repo/AGENTS.md": "a", "/repo/x/AGENTS.md": "b"})
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"))
	shown := instructions(t, c, ".")
	must.Match(t, `pathsOf(t, c, "x/f.go", toolshelf.Except(shown...))`, []string{"x/AGENTS.md"},
		pathsOf(t, c, "x/f.go", toolshelf.Except(shown...)))
	must.Do(t, afero.WriteFile(fsys, "/repo/AGENTS.md", []byte("changed"), 0o644))
	if got := pathsOf(t, c, "x/f.go", toolshelf.Except(shown...), toolshelf.Except(instructions(t, c, "x")[1])); !slices.Equal(got, []string{"AGENTS.md"}) {
		t.Errorf("after a change: %q", got)
	}
}

// On a disk, a cache keeps the texts, and each call sees the files as they are. A watch reports a
// change a moment later.
func TestChangesAreSeenAtOnce(t *testing.T) {
	for name, option := range map[string]toolshelf.Option{"": nil, "WithWatch": toolshelf.WithWatch()} {
		dir := catalogtest.Disk(t, map[string]string{"AGENTS.md": "a", ".cursor/rules/r.mdc": "---\nalwaysApply: true\n---\nb", "x/f.go": "", "x/.cursor/rules/n.mdc": "---\nalwaysApply: true\n---\n1"})
		c := catalogtest.Open(t, toolshelf.WithRoot(dir), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Cursor()), option)
		view := must.Get(c.View())(t)
		text := func() (all string) {
			for _, i := range instructions(t, view, "x/f.go") {
				all += i.Path + ":" + i.Text + " "
			}
			return all
		}
		see := func(want string) {
			t.Helper()
			catalogtest.Eventually(t, func() string {
				if got := text(); got != want {
					return name + ": got " + got + ", want " + want
				}
				return ""
			})
		}
		see("AGENTS.md:a .cursor/rules/r.mdc:b x/.cursor/rules/n.mdc:1 ")
		catalogtest.Write(t, "c", dir, "AGENTS.md")
		catalogtest.Write(t, "---\nglobs: '*.go'\n---\n2", dir, "x", ".cursor", "rules", "n.mdc")
		if got := text(); option == nil && got != "AGENTS.md:c .cursor/rules/r.mdc:b x/.cursor/rules/n.mdc:2 " {
			t.Errorf("got %s", got)
		}
		see("AGENTS.md:c .cursor/rules/r.mdc:b x/.cursor/rules/n.mdc:2 ")
		must.Do(t, os.RemoveAll(filepath.Join(dir, "x", ".cursor")))
		catalogtest.Write(t, "d", dir, "x", "AGENTS.md")
		catalogtest.Write(t, "---\nalwaysApply: false\nglobs: **/*.go\n---\ne", dir, ".cursor", "rules", "r.mdc")
		see("AGENTS.md:c x/AGENTS.md:d .cursor/rules/r.mdc:e ")
		must.Do(t, os.Remove(filepath.Join(dir, ".cursor", "rules", "r.mdc")))
		see("AGENTS.md:c x/AGENTS.md:d ")
	}
}

func TestErrorsOfInstructions(t *testing.T) {
	c := memory(t, map[string]string{"/repo/AGENTS.md": "a"})
	for path, want := range map[string]*toolshelf.Error{"../x": toolshelf.ErrOutsideRoot, "/etc/passwd": toolshelf.ErrOutsideRoot, "x/../../y": toolshelf.ErrOutsideRoot} {
		must.Fail(c.Instructions(t.Context(), path))(t, path, want)
		if _, err := c.InstructionsPrompt(t.Context(), path); !errors.Is(err, want) {
			t.Errorf("%q: the prompt: %v", path, err)
		}
	}
	for _, opt := range []toolshelf.InstructionOption{toolshelf.Imports(-1), toolshelf.Tokens(100, nil)} {
		must.Fail(c.Instructions(t.Context(), ".", opt, nil))(t, "error", toolshelf.ErrInvalidOption)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(c.Instructions(ended, "."))(t, "an ended context", context.Canceled)
	missing := memory(t, nil, toolshelf.WithRoot("/missing"))
	must.Fail(missing.Instructions(t.Context(), "."))(t, "a missing root", toolshelf.ErrDirectoryNotFound)
	must.Do(t, c.Close())
	must.Fail(c.Instructions(t.Context(), "."))(t, "a closed catalog", toolshelf.ErrClosed)
	for _, row := range []client.Client{client.Goose(), {Name: "x", Instructions: []client.Place{{Dir: "../a", Pattern: "*.md"}}}} {
		must.Fail(toolshelf.New(toolshelf.WithInstructions(row)))(t, row.Name, toolshelf.ErrInvalidOption)
	}
}

// A hanging filesystem does not answer for one file.
type hanging struct {
	afero.Fs
	name    string
	release chan struct{}
}

func (h hanging) Open(name string) (afero.File, error) {
	if filepath.ToSlash(name) == h.name {
		<-h.release
	}
	return h.Fs.Open(name)
}

func (h hanging) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if filepath.ToSlash(name) == h.name {
		<-h.release
	}
	return h.Fs.OpenFile(name, flag, perm)
}

func TestInstructionsEndWithTheContextIfTheFilesystemHangs(t *testing.T) {
	for _, name := range []string{"/repo/AGENTS.md", "/repo/.claude/rules/r.md"} {
		fsys := hanging{catalogtest.Memory(t, map[string]string{"/repo/AGENTS.md": "a", "/repo/.claude/rules/r.md": "b"}), name, make(chan struct{})}
		c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Claude()))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := c.Instructions(ctx, ".")
			done <- err
		}()
		cancel()
		must.Is(t, name, context.Canceled, <-done)
		close(fsys.release)
	}
}

// counted counts the calls of a filesystem, by path.
type counted struct {
	afero.Fs
	calls atomic.Int64
	seen  func(name string)
}

func (c *counted) Open(name string) (afero.File, error) { return c.OpenFile(name, os.O_RDONLY, 0) }

func (c *counted) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	c.calls.Add(1)
	c.seen(filepath.ToSlash(name))
	return c.Fs.OpenFile(name, flag, perm)
}

func (c *counted) Stat(name string) (os.FileInfo, error) {
	c.calls.Add(1)
	c.seen(filepath.ToSlash(name))
	return c.Fs.Stat(name)
}

func (c *counted) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	info, err := c.Stat(name)
	return info, false, err
}

// TestACallReadsTheDirectoriesOnTheWayAndTheRulesOnly counts the calls of a project with 10,000
// directories.
func TestACallReadsTheDirectoriesOnTheWayAndTheRulesOnly(t *testing.T) {
	files := map[string]string{"/repo/AGENTS.md": "a", "/repo/d7/e7/AGENTS.md": "b", "/repo/.claude/rules/r.md": "c", "/repo/.claude/rules/sub/s.md": "---\npaths: d7/**\n---\nd",
		"/repo/d7/e7/.claude/rules/n.md": "e"}
	for i := range 100 {
		for j := range 100 {
			files[fmt.Sprintf("/repo/d%d/e%d/f.go", i, j)] = ""
			if i != 7 {
				files[fmt.Sprintf("/repo/d%d/e%d/.claude/rules/r.md", i, j)] = "not read"
			}
		}
	}
	allowed := func(name string) bool {
		name = strings.TrimPrefix(name, "/repo")
		for _, dir := range []string{"", "/d7", "/d7/e7"} {
			if name == dir || name == dir+"/" {
				return true
			}
			for _, file := range []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", ".claude", ".claude/CLAUDE.md", "f.go", ".claude/rules", ".claude/rules/r.md", ".claude/rules/sub", ".claude/rules/sub/s.md", ".claude/rules/n.md", "d7", "e7"} {
				if name == dir+"/"+file {
					return true
				}
			}
		}
		return name == "/" || name == "/D7" // the other letter case of d7, once for a root
	}
	var wrong atomic.Pointer[string]
	fsys := &counted{Fs: catalogtest.Memory(t, files), seen: func(name string) {
		if !allowed(name) {
			wrong.Store(&name)
		}
	}}
	c := catalogtest.Open(t, toolshelf.WithFs(fsys), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Claude()))
	must.Equal(t, `pathsOf(t, c, "d7/e7/f.go")`, 5, len(pathsOf(t, c, "d7/e7/f.go")))
	if name := wrong.Load(); name != nil {
		t.Errorf("the call looks at %s", *name)
	}
	small := &counted{Fs: catalogtest.Memory(t, map[string]string{"/repo/AGENTS.md": "a", "/repo/d7/e7/AGENTS.md": "b", "/repo/d7/e7/f.go": "", "/repo/.claude/rules/r.md": "c", "/repo/.claude/rules/sub/s.md": "---\npaths: d7/**\n---\nd", "/repo/d7/e7/.claude/rules/n.md": "e"}), seen: func(string) {}}
	s := catalogtest.Open(t, toolshelf.WithFs(small), toolshelf.WithRoot("/repo"), toolshelf.WithInstructions(client.Claude()))
	pathsOf(t, s, "d7/e7/f.go")
	if many, few := fsys.calls.Load(), small.calls.Load(); many != few {
		t.Errorf("%d calls with 10,000 directories, %d calls with 5", many, few)
	} else {
		t.Logf("%d calls", many)
	}
}

func TestOwnersOfParents(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() != 0 {
		t.Skip("only root changes owners")
	}
	dir := catalogtest.Disk(t, map[string]string{".git/HEAD": "", "AGENTS.md": "a", "x/AGENTS.md": "b"})
	must.Do(t, os.Chown(filepath.Join(dir, "AGENTS.md"), 4321, 4321))
	t.Setenv("SUDO_UID", "")
	c := catalogtest.Open(t, toolshelf.WithRoot(filepath.Join(dir, "x")), toolshelf.WithHome(""), toolshelf.WithInstructions(client.Codex()), toolshelf.WithParents(""))
	must.Match(t, "the file of another user is read", []string{"AGENTS.md"}, pathsOf(t, c, "."))
}
