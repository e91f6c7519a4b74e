package mcpadapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"testing"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/goleak"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// modified is the modification time of all test files.
var modified = time.Date(2026, 1, 20, 14, 3, 11, 0, time.UTC)

// project contains the files of most tests.
var project = map[string]string{
	"commands/analyze_log.md":               "---\ndescription: Analyze a log\nargument-hint: \"[file]\"\n---\nRead $1 and say what is wrong.\n",
	"commands/commit.md":                    "---\ndescription: Commit what is staged\n---\nWrite one line.\n",
	"commands/hidden.md":                    "---\nis_dependency: true\n---\nA part of others.\n",
	"commands/README.md":                    "About the commands.\n",
	"skills/calculator/SKILL.md":            "---\nname: calculator\ndescription: Adds and multiplies.\n---\n# Calculator\n",
	"skills/calculator/references/table.md": "äb",
	"skills/calculator/logo.png":            "\x89PNG",
	"skills/weather/SKILL.md":               "---\nname: weather\ndescription: Tells the weather.\n---\n",
	"src/agent.lisp":                        "(agent)\n",
	"src/tools/buffer.lisp":                 "(buffer)\n",
	".hidden":                               "x",
}

// memory returns a filesystem in memory with the files.
func memory(t testing.TB, files map[string]string) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, content := range files {
		must.Do(t, afero.WriteFile(fsys, name, []byte(content), 0o644))
		for ; name != "."; name = path.Dir(name) {
			must.Do(t, fsys.Chtimes(name, modified, modified))
		}
	}
	return fsys
}

// catalog returns a catalog over a filesystem. The end of the test closes the catalog.
func catalog(t testing.TB, fsys afero.Fs, opts ...toolshelf.Option) *toolshelf.Catalog {
	t.Helper()
	c := must.Get(toolshelf.New(append([]toolshelf.Option{toolshelf.WithFs(fsys)}, opts...)...))(t)
	t.Cleanup(func() { c.Close() })
	return c
}

// adapter returns an adapter of the project.
func adapter(t testing.TB, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	return adapterOf(t, catalog(t, memory(t, project)), opts...)
}

func adapterOf(t testing.TB, c *toolshelf.Catalog, opts ...mcpadapter.Option) *mcpadapter.Adapter {
	t.Helper()
	return must.Get(mcpadapter.New(c, opts...))(t)
}

// deny is a filesystem that denies opening some paths.
type deny struct {
	afero.Fs
	paths []string
}

func (d deny) Open(name string) (afero.File, error) {
	for _, p := range d.paths {
		if path.Clean(name) == p {
			return nil, &fs.PathError{Op: "open", Path: name, Err: os.ErrPermission}
		}
	}
	return d.Fs.Open(name)
}

// decoded decodes JSON for cmp.
func decoded(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	must.Do(t, d.Decode(&v))
	return v
}

func sameJSON(t testing.TB, got []byte, want string) {
	t.Helper()
	must.Match(t, "JSON differs", decoded(t, []byte(want)), decoded(t, got))
}

// rpcError returns the *RPCError in an error, and fails the test without an *RPCError.
func rpcError(t testing.TB, err error) *mcpadapter.RPCError {
	t.Helper()
	var e *mcpadapter.RPCError
	if !errors.As(err, &e) {
		t.Fatalf("got error %v; want an *RPCError", err)
	}
	return e
}
