package servertest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
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
	closed := catalog(t, catalogtest.Memory(t, project))
	closed.Close()
	denied := map[string]error{}
	for _, name := range []string{"commands", "skills", "agents", "src"} {
		denied[name] = os.ErrPermission
	}
	large := map[string]string{"commands/commit.md": strings.Repeat("x", 100)}
	agents, instructions := toolshelf.WithAgentsDir("agents"), toolshelf.WithInstructions(client.Codex())
	all := map[string]*mcpadapter.Adapter{"panic": panicking(t)}
	for name, c := range map[string]*toolshelf.Catalog{
		"project": catalog(t, catalogtest.Memory(t, project), agents, instructions, toolshelf.WithReports("reports", "")),
		"empty":   catalog(t, catalogtest.Memory(t, map[string]string{"a.txt": ""}), agents, instructions),
		"denied":  catalog(t, faulty(t, denied), agents, instructions),
		"file":    catalog(t, faulty(t, map[string]error{"commit.md": os.ErrPermission})),
		"large":   catalog(t, catalogtest.Memory(t, large), toolshelf.WithMaxFileSize(10)),
		"closed":  closed,
	} {
		all[name] = adapter(t, c)
	}
	return all
}

func faulty(t testing.TB, opens map[string]error) afero.Fs {
	return catalogtest.Faulty{Fs: catalogtest.Memory(t, project), Opens: opens}
}

// panicking returns an adapter with tools that panic, over a filesystem that panics.
func panicking(t testing.TB) *mcpadapter.Adapter {
	t.Helper()
	function := must.Get(mcpadapter.ToolFor("function", "", func(context.Context, struct{}) (string, error) { panic("no ink") }))(t)
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
	return adapter(t, catalog(t, panicFs{catalogtest.Memory(t, project)}), mcpadapter.WithExtraTools(tools...))
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
	return must.Get(mcpadapter.New(c, opts...))(t)
}

// catalog returns a catalog over a filesystem. The end of the test closes the catalog.
func catalog(t testing.TB, fsys afero.Fs, opts ...toolshelf.Option) *toolshelf.Catalog {
	return catalogtest.Open(t, append([]toolshelf.Option{toolshelf.WithFs(fsys)}, opts...)...)
}
