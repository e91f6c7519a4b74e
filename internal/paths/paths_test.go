package paths

import (
	_ "embed"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	dir := must.Get(filepath.Abs("/home/project"))(t) // on Windows, below the drive of the working directory
	roots := map[string]Root{"disk": {Dir: dir, OnOS: true}, "memory": {Dir: "/home/project"},
		"relative": {Dir: "project"}, "top": {Dir: "/"}}
	quoted := func(name string, ok bool) string {
		if !ok {
			return ""
		}
		return strconv.Quote(name)
	}
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"relative": func(t *testing.T, a ...string) string { return quoted(roots[a[0]].Relative(a[1])) },
		"below":    func(t *testing.T, a ...string) string { return quoted(Below(a[0], a[1], a[2])) },
		"hide": func(t *testing.T, a ...string) string {
			if runtime.GOOS == "windows" {
				a[0] = filepath.ToSlash(a[0])
			}
			return strconv.Quote(HiderOf(a[0]).Text(a[1]))
		},
	})
}

// TestRelativeAcceptsBothSpellingsOfALinkedRoot: a program finds the directory without links
// as its working directory.
func TestRelativeAcceptsBothSpellingsOfALinkedRoot(t *testing.T) {
	real := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	link := filepath.Join(t.TempDir(), "link")
	hosttest.Symlink(t, real, link)
	for _, dir := range []string{real, link} {
		if got, ok := (Root{Dir: link, OnOS: true}).Relative(dir + "/a.go"); !ok || got != "a.go" {
			t.Errorf("%s: got %q, %v", dir, got, ok)
		}
	}
	if got, ok := (Root{Dir: real, OnOS: true}).Relative(link + "/a.go"); ok {
		t.Errorf("a link to the root is another path, got %q", got)
	}
}
