package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// programs are packages that run commands or open network connections.
var programs = []string{"net", "net/http", "net/rpc", "net/smtp", "os/exec", "plugin", "github.com/toolshelf-go/toolshelf/embedding"}

// processCalls are functions that start a process or open a connection.
var processCalls = []string{
	"os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess", "syscall.Socket", "syscall.Connect",
	"unix.Exec", "unix.Socket", "unix.Connect", "windows.CreateProcess", "windows.Socket", "windows.Connect",
}

// TestTheLibraryRunsNoCommandAndOpensNoConnection checks the imports and calls of the
// packages that a program imports, on all platforms. The test does not check dependencies,
// because afero imports net/http for a filesystem that the library does not use.
func TestTheLibraryRunsNoCommandAndOpensNoConnection(t *testing.T) {
	checked := 0
	repositoryFiles(t, ".go", func(file string) {
		name := filepath.ToSlash(file)
		for _, dir := range []string{"examples/", "cmd/", "embedding/", "internal/dev/", "mcpadapter/gosdk/", "mcpadapter/mcpgo/", "internal/hosttest/", "mcpadapter/internal/adaptertest/", "stores/fleet/", "stores/wellknown/"} {
			if strings.HasPrefix(name, dir) {
				return
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			return
		}
		checked++
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution))(t)
		for _, i := range parsed.Imports {
			if imported, _ := strconv.Unquote(i.Path.Value); slices.Contains(programs, imported) {
				t.Errorf("%s imports %s", name, imported)
			}
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := call.X.(*ast.Ident); ok && slices.Contains(processCalls, pkg.Name+"."+call.Sel.Name) {
					t.Errorf("%s uses %s.%s", name, pkg.Name, call.Sel.Name)
				}
			}
			return true
		})
	})
	if checked < 100 {
		t.Errorf("the test checked %d files", checked)
	}
}
