package paths

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// driveOf returns the drive of the working directory and a drive that no test uses.
func driveOf(t *testing.T) (drive, other string) {
	t.Helper()
	dir := must.Get(filepath.Abs("."))(t)
	drive, other = filepath.VolumeName(dir), "Q:"
	if strings.EqualFold(drive, other) {
		other = "R:"
	}
	return drive, other
}

func TestRelativeOnWindows(t *testing.T) {
	drive, other := driveOf(t)
	disk, memory := Root{Dir: drive + `\home\project`, OnOS: true}, Root{Dir: "/home/project"}
	share, long := Root{Dir: `\\server\share\project`, OnOS: true}, Root{Dir: `\\?\` + drive + `\home\project`, OnOS: true}
	top, program := Root{Dir: drive + `\`, OnOS: true}, Root{Dir: drive + `\home\project`}
	for _, tt := range []struct {
		name  string
		root  Root
		given string
		want  string // "" if the path leads out of the root
	}{
		{"backslashes", disk, `src\a.go`, "src/a.go"},
		{"backslashes and slashes", disk, `src\b/..\a.go`, "src/a.go"},
		{"a backslash at the end", disk, `src\`, "src"},
		{"above the root", disk, `..\a`, ""},
		{"above the root in the middle", disk, `src\..\..\a`, ""},
		{"the root as a full path", disk, drive + `\home\project\`, "."},
		{"a full path", disk, drive + `\home\project\src\a.go`, "src/a.go"},
		{"a full path with slashes", disk, drive + "/home/project/src/a.go", "src/a.go"},
		{"a full path in another letter case", disk, strings.ToLower(drive) + `\HOME\Project\a.go`, "a.go"},
		{"a full path that leaves the root", disk, drive + `\home\project\..\a.go`, ""},
		{"a sibling with the same prefix", disk, drive + `\home\project2\a.go`, ""},
		{"no drive", disk, `\home\project\a.go`, "a.go"},
		{"no drive, with slashes", disk, "/home/project/a.go", "a.go"},
		{"no drive, outside", disk, `\home\a.go`, ""},
		{"another drive", disk, other + `\home\project\a.go`, ""},
		{"the working directory of another drive", disk, other + "a.go", ""},
		{"a share", disk, `\\server\share\home\project\a.go`, ""},
		{"a device path", disk, `\\?\` + drive + `\home\project\..\a.go`, ""},

		{"a path below a share", share, `\\server\share\project\src\a.go`, "src/a.go"},
		{"a path below a share in another letter case", share, `\\SERVER\Share\project\a.go`, "a.go"},
		{"another share", share, `\\server\other\project\a.go`, ""},
		{"above the root of a share", share, `\\server\share\project\..\a.go`, ""},
		{"a path below a device path", long, `\\?\` + drive + `\home\project\a.go`, "a.go"},
		{"a full path below the top of a drive", top, drive + `\etc\a`, "etc/a"},
		{"the top of another drive", top, other + `\etc\a`, ""},

		{"backslashes in memory", memory, `src\a.go`, "src/a.go"},
		{"above the root in memory", memory, `..\a`, ""},
		{"a full path in memory", memory, `\home\project\a.go`, "a.go"},
		{"a full path in memory that leaves the root", memory, `\home\project\..\a.go`, ""},
		{"a drive in memory", memory, drive + `\home\project\a.go`, ""},
		{"a drive of a filesystem of the program", program, drive + `\home\project\a.go`, "a.go"},
		{"another drive of a filesystem of the program", program, other + `\home\project\a.go`, ""},
		{"no drive on a filesystem of the program", program, `\home\project\a.go`, ""},
	} {
		got, ok := tt.root.Relative(tt.given)
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %q gives %q, %v; want %q", tt.name, tt.given, got, ok, tt.want)
		}
	}
}

func TestAbsoluteOnWindows(t *testing.T) {
	drive, _ := driveOf(t)
	for _, tt := range []struct {
		given string
		onOS  bool
		want  string // "" if the path does not begin at the root
	}{
		{`src\a.go`, true, ""},
		{"src/a.go", false, ""},
		{drive + `/src\a.go`, true, drive + `\src\a.go`},
		{"/src/a.go", true, drive + `\src\a.go`},
		{`\src\a.go`, true, drive + `\src\a.go`},
		{`\\server\share\a.go`, true, `\\server\share\a.go`},
		{"/src/a.go", false, "/src/a.go"},
		{`\src\a.go`, false, `\src\a.go`},
		{drive + `\src\a.go`, false, drive + `\src\a.go`},
		{drive + "a.go", false, ""},
	} {
		if got, ok := Absolute(tt.given, tt.onOS); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%q, on the operating system %t: got %q, %v; want %q", tt.given, tt.onOS, got, ok, tt.want)
		}
	}
}

func TestBelowOnWindows(t *testing.T) {
	for _, tt := range []struct{ name, dir, full, want string }{
		{"a file", `C:\Users\u\.claude`, `C:\Users\u\.claude\commands\a.md`, "layer/commands/a.md"},
		{"another letter case", `C:\Users\u`, `c:\users\U\a.md`, "layer/a.md"},
		{"slashes", `C:\Users\u`, "C:/Users/u/a.md", "layer/a.md"},
		{"a share", `\\server\share\u`, `\\server\share\u\a.md`, "layer/a.md"},
		{"a sibling with the same prefix", `C:\Users\u`, `C:\Users\u2\a.md`, ""},
		{"another drive", `C:\Users\u`, `D:\Users\u\a.md`, ""},
		{"no drive", `C:\Users\u`, `\Users\u\a.md`, ""},
		{"another share", `\\server\share\u`, `\\server\other\u\a.md`, ""},
		{"above the directory", `C:\Users\u`, `C:\Users\u\..\a.md`, ""},
	} {
		if got, ok := Below(tt.dir, "layer", tt.full); ok != (tt.want != "") || got != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, ok, tt.want)
		}
	}
}
