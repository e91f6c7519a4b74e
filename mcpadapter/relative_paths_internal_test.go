package mcpadapter

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestRootHiderShortensPathsInMessages(t *testing.T) {
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
		if got := newRootHider(tt.root).text(tt.text); got != tt.want {
			t.Errorf("root %s: %q becomes %q, want %q", tt.root, tt.text, got, tt.want)
		}
	}
}

func TestRootHiderShortensPathsInErrors(t *testing.T) {
	h := newRootHider("/srv/app")
	err := error(&toolshelf.Error{Code: toolshelf.CodeFileRead, Path: "/srv/app/x", Message: "/srv/app/x cannot be read", Err: fs.ErrPermission})
	h.error(&err)
	var ours *toolshelf.Error
	if !errors.As(err, &ours) || ours.Message != "x cannot be read" || ours.Path != "x" || !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %#v", err)
	}
	err = invalidParams("there is no /srv/app/x")
	h.error(&err)
	if e := asRPCError(err); e.Message != "there is no x" || e.Code != CodeInvalidParams {
		t.Errorf("got %#v", e)
	}
	err = fs.ErrInvalid
	if h.error(&err); err != fs.ErrInvalid {
		t.Errorf("got %v", err)
	}
	err = nil
	if h.error(&err); err != nil {
		t.Errorf("got %v", err)
	}
}
