package adaptertest

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// project contains the files of most calls.
var project = map[string]string{
	"commands/commit.md":                    "---\ndescription: Commit what is staged\n---\nWrite one line.\n",
	"commands/fix.md":                       "---\ndescription: Fix an issue\narguments: [issue, branch]\n---\nFix #$issue on $branch.\n",
	"commands/hidden.md":                    "---\nis_dependency: true\n---\nA part of others.\n",
	"commands/release.md":                   "---\nargument-hint: \"[major|minor|patch]\"\n---\nMake a <$1> release & tell \"all\".\n",
	"commands/README.md":                    "About the commands.\n",
	"skills/calculator/SKILL.md":            "---\nname: calculator\ndescription: Adds and multiplies.\n---\n# Calculator\n",
	"skills/calculator/references/table.md": "äb",
	"skills/calculator/logo.png":            "\x89PNG",
	"skills/weather/SKILL.md":               "---\nname: weather\ndescription: Tells the weather.\n---\n",
	"agents/plan.md":                        "---\nname: planner\ndescription: Plans the work.\n---\nPlan the work.\n",
	"src/agent.lisp":                        "(agent)\n",
	"src/tools/buffer.lisp":                 "(buffer)\n",
	"AGENTS.md":                             "Be brief.\n",
	"src/AGENTS.md":                         "Write Lisp.\n",
	".hidden":                               "x",
}

// adapters returns the adapters of the calls by the name of their project.
func adapters(t testing.TB) map[string]*mcpadapter.Adapter {
	t.Helper()
	closed := catalog(t, memory(t, project))
	closed.Close()
	all := map[string]*mcpadapter.Adapter{}
	for name, c := range map[string]*toolshelf.Catalog{
		"project":   catalog(t, memory(t, project), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Codex()), toolshelf.WithReports("reports", "")),
		"empty":     catalog(t, memory(t, map[string]string{"a.txt": ""}), toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Codex())),
		"denied":    catalog(t, deny{memory(t, project), []string{"commands", "skills", "agents", "src"}}, toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Codex())),
		"file":      catalog(t, deny{memory(t, project), []string{"commands/commit.md"}}),
		"too large": catalog(t, memory(t, map[string]string{"commands/commit.md": strings.Repeat("x", 100)}), toolshelf.WithMaxFileSize(10)),
		"closed":    closed,
	} {
		all[name] = adapter(t, c)
	}
	all["panic"] = panicking(t)
	return all
}

// panicking returns an adapter with tools that panic, over a filesystem that panics.
func panicking(t testing.TB) *mcpadapter.Adapter {
	t.Helper()
	function, err := mcpadapter.ToolFor("function", "", func(context.Context, struct{}) (string, error) { panic("no ink") })
	if err != nil {
		t.Fatal(err)
	}
	tools := []mcpadapter.Tool{function}
	for name, fault := range map[string]func() string{
		"text":  func() string { panic("no ink") },
		"error": func() string { panic(errors.New("no ink")) },
		"index": func() string { return strings.Fields("")[0] },
		"lines": func() string { panic("no ink\nand no \x1b[31mpaper") },
	} {
		tools = append(tools, mcpadapter.Tool{Name: name, Call: func(context.Context, json.RawMessage) (mcpadapter.Result, error) {
			return mcpadapter.Result{Text: fault()}, nil
		}})
	}
	return adapter(t, catalog(t, panicFs{memory(t, project)}), mcpadapter.WithExtraTools(tools...))
}

// panicFs is a filesystem that panics for the directory src.
type panicFs struct{ afero.Fs }

func (p panicFs) Open(name string) (afero.File, error) {
	if path.Clean(name) == "src" {
		panic("broken filesystem")
	}
	return p.Fs.Open(name)
}

func adapter(t testing.TB, c *toolshelf.Catalog, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	a, err := mcpadapter.New(c, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// catalog returns a catalog over a filesystem. The end of the test closes the catalog.
func catalog(t testing.TB, fsys afero.Fs, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c, err := toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(fsys)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// memory returns a filesystem in memory with the files.
func memory(t testing.TB, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	modified := time.Date(2026, 1, 20, 14, 3, 11, 0, time.UTC)
	for name, content := range files {
		if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		for ; name != "."; name = path.Dir(name) {
			if err := fsys.Chtimes(name, modified, modified); err != nil {
				t.Fatal(err)
			}
		}
	}
	return fsys
}

// deny is a filesystem that denies opening some paths.
type deny struct {
	afero.Fs
	paths []string
}

func (d deny) Open(name string) (afero.File, error) {
	if slices.Contains(d.paths, path.Clean(name)) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: os.ErrPermission}
	}
	return d.Fs.Open(name)
}
