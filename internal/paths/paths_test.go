package paths

import (
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestRelative(t *testing.T) {
	dir := must.Get(filepath.Abs("/home/project"))(t) // on Windows, below the drive of the working directory
	disk, memory := Root{Dir: dir, OnOS: true}, Root{Dir: "/home/project"}
	relative, top := Root{Dir: "project"}, Root{Dir: "/"}
	for _, tt := range []struct {
		name  string
		root  Root
		given string
		want  string // "" if the path leads out of the root
	}{
		{"the root", disk, "", "."},
		{"the root as a dot", disk, ".", "."},
		{"a path", disk, "src/a.go", "src/a.go"},
		{"a path with dots", disk, "src/./b/../a.go", "src/a.go"},
		{"a slash at the end", disk, "src//", "src"},
		{"a name that begins with dots", disk, "..a/...", "..a/..."},
		{"above the root", disk, "..", ""},
		{"above the root and back", disk, "../project/a.go", ""},
		{"above the root in the middle", disk, "src/../../a.go", ""},
		{"the root as a full path", disk, "/home/project", "."},
		{"a full path", disk, "/home/project/src/../a.go", "a.go"},
		{"a sibling with the same prefix", disk, "/home/project2/a.go", ""},
		{"a full path that leaves the root", disk, "/home/project/../a.go", ""},
		{"another full path", disk, "/etc/passwd", ""},

		{"a full path in memory", memory, "/home/project/a.go", "a.go"},
		{"a sibling in memory", memory, "/home/project2/a.go", ""},
		{"a full path in memory that leaves the root", memory, "/home/project/../x", ""},
		{"above the root in memory", memory, "../x", ""},
		{"a full path below a relative root", relative, "/project/a.go", ""},
		{"a path below a relative root", relative, "a.go", "a.go"},
		{"a full path below the top", top, "/etc/passwd", "etc/passwd"},
		{"above the top", top, "../x", ""},
	} {
		got, ok := tt.root.Relative(tt.given)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %q gives %q, %v; want %q", tt.name, tt.given, got, ok, tt.want)
		}
	}
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

func TestBelow(t *testing.T) {
	for _, tt := range []struct{ name, dir, shown, full, want string }{
		{"a file", "/home/u/.claude/commands", "commands", "/home/u/.claude/commands/a.md", "commands/a.md"},
		{"the directory", "/home/u", "layer", "/home/u", "layer"},
		{"no shown directory", "/home/u", "", "/home/u/a.md", "a.md"},
		{"a sibling with the same prefix", "/home/u", "layer", "/home/u2/a.md", ""},
		{"above the directory", "/home/u", "layer", "/home", ""},
		{"a path with dots", "/home/u", "layer", "/home/u/../v/a.md", ""},
		{"a relative path", "/home/u", "layer", "a.md", ""},
	} {
		got, ok := Below(tt.dir, tt.shown, tt.full)
		if ok != (tt.want != "") || got != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, ok, tt.want)
		}
	}
}

func TestHiderShortensPathsInMessages(t *testing.T) {
	for _, tt := range []struct{ root, text, want string }{
		{"/srv/app", "Commands folder not found at path: /srv/app/commands", "Commands folder not found at path: commands"},
		{"/srv/app", "/srv/app", "."},
		{"/srv/app", "/srv/app/", "."},
		{"/srv/app", "the root '/srv/app' is missing", "the root '.' is missing"},
		{"/srv/app", "there is no root /srv/app.", "there is no root .."},
		{"/srv/app", "there is no root /srv/app/, and no /srv/app", "there is no root ., and no ."},
		{"/srv/app", `"/srv/app/commands/a.md" (/srv/app/b)`, `"commands/a.md" (b)`},
		{"/srv/app", "Path '/srv/app/../etc' is outside project root", "Path '../etc' is outside project root"},
		{"/srv/app", "/srv/app//x", "x"},
		{"/srv/app", "/srv/app/.hidden", ".hidden"},
		{"/srv/app", "/srv/app/ä", "ä"},
		{"/srv/app", "file:///srv/app/x", "file://x"},
		{"/srv/app", "/srv/app-old/x /srv/app2 /srv/app.d /srv/app_", "/srv/app-old/x /srv/app2 /srv/app.d /srv/app_"},
		{"/srv/app", "/home/srv/app/x", "/home/srv/app/x"},
		{"/srv/app", "no path", "no path"},
		{"/srv/app", "", ""},
		{`/srv/a"b`, `the folder "/srv/a\"b/reports" and '/srv/a"b/x'`, `the folder "reports" and 'x'`},
		{"/", "/commands", "/commands"},
		{"project", "project/commands", "project/commands"},
		{".", "a.b", "a.b"},
	} {
		if runtime.GOOS == "windows" {
			tt.root = filepath.ToSlash(tt.root)
		}
		if got := HiderOf(tt.root).Text(tt.text); got != tt.want {
			t.Errorf("root %s: %q becomes %q, want %q", tt.root, tt.text, got, tt.want)
		}
	}
}
