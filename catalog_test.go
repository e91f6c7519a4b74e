package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
)

// names returns the names of all pages of List.
func names(t testing.TB, c *toolshelf.Catalog) []string {
	t.Helper()
	var all []string
	for info, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Name)
	}
	return all
}

// problems returns "CODE path" for each diagnostic that concerns files.
func problems(t testing.TB, c *toolshelf.Catalog) []string {
	t.Helper()
	diagnostics, err := c.Lint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range diagnostics {
		all = append(all, string(d.Code)+" "+d.Path)
	}
	return all
}

func TestGetFindsEveryListedCommand(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		for _, tt := range []struct {
			name    string
			options []toolshelf.Option
			want    []string
		}{
			{"by default", nil,
				[]string{"analyze-logs", "broken", "Build", "crlf", "deploy_app", "empty", "zeta"}},
			{"nested", []toolshelf.Option{toolshelf.WithNestedCommands()},
				[]string{"analyze-logs", "broken", "Build", "crlf", "deploy_app", "empty", "frontend:component", "zeta"}},
			{"with loose names", []toolshelf.Option{toolshelf.WithLooseNames()},
				[]string{"analyze-logs", "broken", "Build", "crlf", "deploy_app", "empty", "my command", "zeta"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				c := open(tt.options...)
				got := names(t, c)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("names (-want +got):\n%s", diff)
				}
				for _, name := range got {
					if _, err := c.Get(t.Context(), name); err != nil {
						t.Errorf("Get of the listed command %q: %v", name, err)
					}
				}
			})
		}
	})
}

func TestDescriptions(t *testing.T) {
	want := map[string]string{
		"analyze-logs": "Find the cause of a failure in log files",
		"broken":       "Compare two branches",
		"Build":        "Build everything: all targets",
		"crlf":         "Lines end in CR LF",
		"deploy_app":   "Roll the *current* branch out to staging.",
		"empty":        "",
		"zeta":         "An ending in capitals.",
	}
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open()
		got := map[string]string{}
		for info, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			got[info.Name] = info.Description
			command, err := c.Get(t.Context(), info.Name)
			if err != nil {
				t.Fatal(err)
			}
			if command.Metadata.Description != info.Description || command.Metadata.Size != info.Size ||
				!command.Metadata.LastModified.Equal(info.LastModified) {
				t.Errorf("List has %+v, Get has %+v", info, command.Metadata)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("descriptions (-want +got):\n%s", diff)
		}
	})
}

func TestGetReturnsTheFileUnchanged(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open()
		for name, content := range map[string]string{
			"analyze-logs": "\n# Analyze logs\n\nRead $1 and name the first error.\n",
			"Build":        "Run the build and list the warnings.\n",
			"broken":       "Compare $1 with $2.\n",
			"crlf":         "Body\r\n",
			"empty":        "",
			"shared-rules": "Write in the active voice.\n",
			"zeta":         "An ending in capitals.\n",
		} {
			got, err := c.Get(t.Context(), name)
			if err != nil {
				t.Errorf("Get(%q): %v", name, err)
				continue
			}
			if got.Name != name || got.Content != content {
				t.Errorf("Get(%q) = %q with %q, want %q", name, got.Name, got.Content, content)
			}
			if !strings.HasSuffix(string(got.Raw), content) || int64(len(got.Raw)) != got.Metadata.Size {
				t.Errorf("Get(%q): Raw is %q, Size %d", name, got.Raw, got.Metadata.Size)
			}
		}
	})
}

func TestGetTakesNames(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		strict := open()
		free := open(toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
		for _, tt := range []struct {
			catalog *toolshelf.Catalog
			name    string
			want    string // the command's name
			err     error
		}{
			{strict, "Build", "Build", nil},
			{strict, "Build.md", "Build", nil},
			{strict, "Build.MD", "Build", nil},
			{strict, "zeta.md", "zeta", nil},
			{strict, "shared-rules", "shared-rules", nil},
			{strict, "build", "", toolshelf.ErrCommandNotFound},
			{strict, "missing", "", toolshelf.ErrCommandNotFound},
			{strict, "README", "", toolshelf.ErrCommandNotFound},
			{strict, "x", "", toolshelf.ErrCommandNotFound},
			{strict, "Build.md.md", "", toolshelf.ErrInvalidCommandName},
			{strict, "", "", toolshelf.ErrInvalidCommandName},
			{strict, ".md", "", toolshelf.ErrInvalidCommandName},
			{strict, ".hidden", "", toolshelf.ErrInvalidCommandName},
			{strict, "my command", "", toolshelf.ErrInvalidCommandName},
			{strict, "frontend:component", "", toolshelf.ErrInvalidCommandName},
			{strict, "frontend/component", "", toolshelf.ErrInvalidCommandName},
			{strict, `frontend\component`, "", toolshelf.ErrInvalidCommandName},
			{strict, "../project/commands/Build", "", toolshelf.ErrInvalidCommandName},
			{strict, "..", "", toolshelf.ErrInvalidCommandName},
			{strict, "Build\x00", "", toolshelf.ErrInvalidCommandName},
			{strict, "Büild", "", toolshelf.ErrInvalidCommandName},
			{free, "frontend:component", "frontend:component", nil},
			{free, "frontend:component.md", "frontend:component", nil},
			{free, "my command", "my command", nil},
			{free, "my command.md", "my command", nil},
			{free, "frontend/component", "", toolshelf.ErrInvalidCommandName},
			{free, "..:component", "", toolshelf.ErrInvalidCommandName},
			{free, "frontend:..", "", toolshelf.ErrInvalidCommandName},
			{free, ".hidden", "", toolshelf.ErrInvalidCommandName},
		} {
			got, err := tt.catalog.Get(t.Context(), tt.name)
			if !errors.Is(err, tt.err) || got.Name != tt.want {
				t.Errorf("Get(%q) = %q, %v; want %q, %v", tt.name, got.Name, err, tt.want, tt.err)
			}
		}
	})
}

// recording records every name that reaches a filesystem.
type recording struct {
	afero.Fs
	touched *[]string
}

func (r recording) Open(name string) (afero.File, error) {
	*r.touched = append(*r.touched, name)
	return r.Fs.Open(name)
}

func (r recording) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	*r.touched = append(*r.touched, name)
	return r.Fs.OpenFile(name, flag, perm)
}

func (r recording) Stat(name string) (os.FileInfo, error) {
	*r.touched = append(*r.touched, name)
	return r.Fs.Stat(name)
}

func TestAnInvalidNameNeverReachesTheFilesystem(t *testing.T) {
	var touched []string
	c := catalog(t, toolshelf.WithFs(recording{memory(t, "."), &touched}))
	for _, name := range []string{"../secret", "/etc/passwd", "a/b", `a\b`, "", ".", "..", "a b", "nul\x00", strings.Repeat("/", 5000)} {
		if _, err := c.Get(t.Context(), name); !errors.Is(err, toolshelf.ErrInvalidCommandName) {
			t.Errorf("Get(%q): %v", name, err)
		}
	}
	if len(touched) > 0 {
		t.Errorf("the filesystem received %q", touched)
	}
}

func TestContractListExamples(t *testing.T) {
	at := func(s string) time.Time {
		tm, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return tm
	}
	fsys := afero.NewMemMapFs()
	for _, f := range []struct {
		name, description, modified string
		size                        int
	}{
		{"analyze_plist_avatar_logic_log", "Analyze plist avatar logic logs", "2025-11-15T10:00:00.000Z", 3072},
		{"analyze_zoom_speech_sdk_log", "Analyze Zoom Speech SDK logs", "2025-11-20T10:30:00.000Z", 4096},
		{"proxy-slow-meeting-analysis-command", "Analyze proxy logs for slow meeting joins", "2025-12-01T08:00:00.000Z", 5120},
	} {
		path := "commands/" + f.name + ".md"
		text := "---\ndescription: " + f.description + "\n---\n"
		text += strings.Repeat("x", f.size-len(text))
		if err := errors.Join(afero.WriteFile(fsys, path, []byte(text), 0o644), fsys.Chtimes(path, at(f.modified), at(f.modified))); err != nil {
			t.Fatal(err)
		}
	}
	c := catalog(t, toolshelf.WithFs(fsys))
	for _, tt := range []struct {
		name string
		page toolshelf.Page
		want string // the contract's text; its times have ".000", which JSON times may omit
	}{
		{"example 1", toolshelf.Page{Number: 1, Size: 10}, `{
  "commands": [
    {
      "name": "analyze_plist_avatar_logic_log",
      "description": "Analyze plist avatar logic logs",
      "size": 3072,
      "last_modified": "2025-11-15T10:00:00.000Z"
    },
    {
      "name": "analyze_zoom_speech_sdk_log",
      "description": "Analyze Zoom Speech SDK logs",
      "size": 4096,
      "last_modified": "2025-11-20T10:30:00.000Z"
    },
    {
      "name": "proxy-slow-meeting-analysis-command",
      "description": "Analyze proxy logs for slow meeting joins",
      "size": 5120,
      "last_modified": "2025-12-01T08:00:00.000Z"
    }
  ],
  "pagination": {
    "page": 1,
    "page_size": 10,
    "total": 3,
    "total_pages": 1,
    "has_next": false,
    "has_prev": false
  }
}`},
		{"example 2", toolshelf.Page{Number: 100, Size: 50}, `{
  "commands": [],
  "pagination": {
    "page": 100,
    "page_size": 50,
    "total": 3,
    "total_pages": 1,
    "has_next": false,
    "has_prev": true
  }
}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list, err := c.List(t.Context(), tt.page)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(list, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(tt.want, ".000Z", "Z"), string(got)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestContractGetExamples(t *testing.T) {
	const dir = "/opt/acmt/Commands"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		dir + "/analyze_zoom_speech_sdk_log.md": "---\ndescription: Analyzes Zoom Speech SDK log files for issues and performance problems\n---\n# Zoom Speech SDK Log Analyzer\n",
		dir + "/log-type-identification.md":     "---\ndescription: Rules for identifying different log types\n---\n# Log Type Identification Rules\n",
	})), toolshelf.WithCommandsDir(dir))
	for _, tt := range []struct{ name, want string }{
		{"analyze_zoom_speech_sdk_log", `{"name":"analyze_zoom_speech_sdk_log","content":"# Zoom Speech SDK Log Analyzer\n",` +
			`"metadata":{"path":"/opt/acmt/Commands/analyze_zoom_speech_sdk_log.md","size":123,"last_modified":"2025-11-20T10:30:00Z",` +
			`"description":"Analyzes Zoom Speech SDK log files for issues and performance problems"},` +
			`"next_steps":"Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on."}`},
		{"log-type-identification.md", `{"name":"log-type-identification","content":"# Log Type Identification Rules\n",` +
			`"metadata":{"path":"/opt/acmt/Commands/log-type-identification.md","size":95,"last_modified":"2025-11-20T10:30:00Z",` +
			`"description":"Rules for identifying different log types"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			command, err := c.Get(t.Context(), tt.name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, filepath.ToSlash(string(got))); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNextSteps(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          bool
	}{
		{"plain", "Write a poem.", false},
		{"analyze-this", "", true},
		{"plain", "Do an ANALYSIS of it.", true},
		{"diagnostic", "", true},
		{"plain", "Debugging is fun.", true},
		{"plain", "Inspect it.", true},
		{"plain", "Investigate.", true},
		{"plain", "It is reported.", true},
		{"plain", "An anal ysis.", false},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/" + tt.name + ".md": tt.content})))
		got, err := c.Get(t.Context(), tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if (got.NextSteps != "") != tt.want {
			t.Errorf("%s with %q: next steps %q", tt.name, tt.content, got.NextSteps)
		}
		if strings.Contains(got.NextSteps, "report_feedback") {
			t.Errorf("next steps name a missing tool: %q", got.NextSteps)
		}
	}
	t.Run("the function of WithNextSteps receives the complete command", func(t *testing.T) {
		rule := func(c toolshelf.Command) string {
			return fmt.Sprint("after ", c.Name, " of ", c.Layer, ": ", c.Frontmatter.Text("tags"))
		}
		got, err := catalog(t, toolshelf.WithFs(memory(t, ".")), toolshelf.WithNextSteps(rule)).Get(t.Context(), "analyze-logs")
		if want := "after analyze-logs of commands: [logs, incident]"; err != nil || got.NextSteps != want {
			t.Errorf("got %q, %v; want %q", got.NextSteps, err, want)
		}
	})
	t.Run("a nil function returns no hint", func(t *testing.T) {
		got, err := catalog(t, toolshelf.WithFs(memory(t, ".")), toolshelf.WithNextSteps(nil)).Get(t.Context(), "analyze-logs")
		if err != nil || got.NextSteps != "" {
			t.Errorf("got %q, %v", got.NextSteps, err)
		}
	})
}

func TestDependencies(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		hidden       bool
	}{
		{"true", "is_dependency: true", true},
		{"yes", "is_dependency: yes", true},
		{"quoted", `is_dependency: "True"`, true},
		{"one", "is_dependency: 1", true},
		{"false", "is_dependency: false", false},
		{"off", "is_dependency: off", false},
		{"no value", "is_dependency:", false},
		{"not there", "other: true", false},
		{"not a truth value", "is_dependency: perhaps", true},
		{"in a broken header", "hint: [a] [b]\nis_dependency: true", true},
		{"false in a broken header", "hint: [a] [b]\nis_dependency: false", false},
		{"the last of two", "is_dependency: false\nis_dependency: true", true},
		{"in what cannot be read", "other: a: b\n  is_dependency: true", true},
		{"within another key", "other:\n  is_dependency: true", false},
		{"in a text", "other: |\n  is_dependency: true", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/x.md": "---\n" + tt.header + "\n---\nText.\n"})))
			if hidden := len(names(t, c)) == 0; hidden != tt.hidden {
				t.Errorf("hidden is %v, want %v", hidden, tt.hidden)
			}
			if _, err := c.Get(t.Context(), "x"); err != nil {
				t.Errorf("Get does not return the dependency: %v", err)
			}
		})
	}
	t.Run("in an unterminated header", func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/x.md": "---\nis_dependency: true\nText.\n"})))
		if got := names(t, c); len(got) > 0 {
			t.Errorf("listed %q, although the value of is_dependency is unclear", got)
		}
	})
}

func TestLayers(t *testing.T) {
	files := map[string]string{
		"commands/one.md":          "of the project",
		"commands/hidden.md":       "---\nis_dependency: true\n---\nof the project",
		"/home/commands/one.md":    "of the user",
		"/home/commands/two.md":    "of the user",
		"/home/commands/Two.md":    "of the user",
		"/home/commands/hidden.md": "of the user",
	}
	built := afero.NewIOFS(memoryOf(t, map[string]string{"two.md": "built in", "three.md": "built in"}))
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)),
		toolshelf.WithCommandsDir("commands", "/home/commands"), toolshelf.WithCommandsFS("built in", built))

	if diff := cmp.Diff([]string{"one", "three", "Two", "two"}, names(t, c)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for name, layer := range map[string]string{"one": "commands", "two": "/home/commands", "three": "built in", "hidden": "commands"} {
		got, err := c.Get(t.Context(), name)
		if err != nil || got.Layer != layer {
			t.Errorf("Get(%q) is from %q, %v; want %q", name, got.Layer, err, layer)
		}
	}
	want := []string{
		"SHADOWED /home/commands/hidden.md",
		"SHADOWED /home/commands/one.md",
		"NAME_DIFFERS_IN_CASE /home/commands/two.md",
		"SHADOWED built in/two.md",
	}
	var got []string
	for _, p := range problems(t, c) {
		if !strings.HasPrefix(p, "NO_DESCRIPTION") && !strings.HasPrefix(p, "DIRECTORY_NOT_FOUND") {
			got = append(got, p)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestMissingDirectories(t *testing.T) {
	onDisk := t.TempDir()
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		list    error
		get     error
	}{
		{"in memory", []toolshelf.Option{toolshelf.WithFs(afero.NewMemMapFs())}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"on disk", []toolshelf.Option{toolshelf.WithRoot(onDisk)}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"the root itself", []toolshelf.Option{toolshelf.WithRoot(filepath.Join(onDisk, "nothing"))}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"every layer", []toolshelf.Option{toolshelf.WithRoot(onDisk), toolshelf.WithCommandsDir("a", "b")}, toolshelf.ErrDirectoryNotFound, toolshelf.ErrCommandNotFound},
		{"a file in its place", []toolshelf.Option{toolshelf.WithFs(memoryOf(t, map[string]string{"commands": ""}))}, toolshelf.ErrNotADirectory, toolshelf.ErrNotADirectory},
		{"one layer of two", []toolshelf.Option{toolshelf.WithFs(memory(t, ".")), toolshelf.WithCommandsDir("missing", "commands")}, nil, nil},
		{"no layers", []toolshelf.Option{toolshelf.WithCommandsDir()}, nil, toolshelf.ErrCommandNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, tt.options...)
			if _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, tt.list) {
				t.Errorf("List: %v, want %v", err, tt.list)
			}
			if _, err := c.Get(t.Context(), "Build"); !errors.Is(err, tt.get) {
				t.Errorf("Get: %v, want %v", err, tt.get)
			}
			if tt.list != nil {
				for _, err := range c.All(t.Context()) {
					if !errors.Is(err, tt.list) {
						t.Errorf("All: %v, want %v", err, tt.list)
					}
				}
			}
		})
	}
	t.Run("the error of Get reports the missing directory", func(t *testing.T) {
		_, err := catalog(t, toolshelf.WithRoot(onDisk)).Get(t.Context(), "x")
		if !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			t.Errorf("%v is not ErrDirectoryNotFound as well", err)
		}
	})
	t.Run("a directory created later is found", func(t *testing.T) {
		root := filepath.Join(t.TempDir(), "later")
		c := catalog(t, toolshelf.WithRoot(root))
		if _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrDirectoryNotFound) {
			t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Join(root, "commands"), 0o755), os.WriteFile(filepath.Join(root, "commands", "a.md"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
		if got := names(t, c); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
	t.Run("errors contain no path that the caller did not give", func(t *testing.T) {
		t.Chdir(onDisk)
		c := catalog(t)
		_, list := c.List(t.Context(), toolshelf.Page{})
		_, skills := c.ListSkills(t.Context())
		for _, err := range []error{list, skills} {
			if strings.Contains(err.Error(), onDisk) {
				t.Errorf("%v", err)
			}
		}
	})
}

// failing reports an error for some names of a filesystem.
type failing struct {
	afero.Fs
	errs map[string]error // by base name
}

func (f failing) fail(op, name string) error {
	if err := f.errs[filepath.Base(name)]; err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

func (f failing) Open(name string) (afero.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	return f.Fs.Open(name)
}

func (f failing) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if err := f.fail("open", name); err != nil {
		return nil, err
	}
	return f.Fs.OpenFile(name, flag, perm)
}

func TestUnreadable(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(failing{memory(t, "."), map[string]error{"Build.md": fs.ErrPermission, "crlf.md": errors.New("input/output error")}}))
	want := []string{"analyze-logs", "broken", "deploy_app", "empty", "zeta"}
	if diff := cmp.Diff(want, names(t, c)); diff != "" {
		t.Errorf("one unreadable file, the others (-want +got):\n%s", diff)
	}
	_, err := c.Get(t.Context(), "Build")
	if !errors.Is(err, toolshelf.ErrFileRead) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Get: %v, want ErrFileRead of fs.ErrPermission", err)
	}
	if got := strings.Join(problems(t, c), "\n"); !strings.Contains(got, "FILE_READ_ERROR commands/Build.md") || !strings.Contains(got, "FILE_READ_ERROR commands/crlf.md") {
		t.Errorf("Lint reports\n%s", got)
	}

	c = catalog(t, toolshelf.WithFs(failing{memory(t, "."), map[string]error{"commands": fs.ErrPermission}}))
	for op, call := range map[string]func() error{
		"List": func() error { _, err := c.List(t.Context(), toolshelf.Page{}); return err },
		"Get":  func() error { _, err := c.Get(t.Context(), "Build"); return err },
		"Lint": func() error { _, err := c.Lint(t.Context()); return err },
	} {
		if err := call(); !errors.Is(err, toolshelf.ErrPermissionDenied) || !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s of an unreadable directory: %v", op, err)
		}
	}
}

func TestBrokenFilesDoNotAffectOtherFiles(t *testing.T) {
	files := map[string]string{
		"commands/good.md":            "Good.",
		"commands/not-utf8.md":        "---\ndescription: caf\xe9\n---\nBody \xff.",
		"commands/nul.md":             "A\x00B",
		"commands/unterminated.md":    "---\ndescription: never closed\n\nBody.",
		"commands/a-list.md":          "---\n- a\n- b\n---\nBody.",
		"commands/bomb.md":            "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n---\nBody.",
		"commands/deep.md":            "---\na: " + strings.Repeat("[", 10_000) + "\n---\nBody.",
		"commands/huge.md":            strings.Repeat("0123456789abcdef", 20<<20/16),
		"commands/long-header.md":     "---\ndescription: " + strings.Repeat("long ", 100_000) + "\n---\nBody.",
		"commands/empty.md":           "",
		"commands/directory.md/a.txt": "",
		"commands/bad name.md":        "",
	}
	for kind, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))},
		"disk":   {toolshelf.WithRoot(diskOf(t, files))},
	} {
		t.Run(kind, func(t *testing.T) {
			c := catalog(t, options...)
			want := []string{"a-list", "bomb", "deep", "empty", "good", "long-header", "not-utf8", "nul", "unterminated"}
			got := names(t, c)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			for _, name := range got {
				command, err := c.Get(t.Context(), name)
				if err != nil {
					t.Errorf("Get(%q): %v", name, err)
				} else if file := files["commands/"+name+".md"]; string(command.Raw) != file || !strings.HasSuffix(file, command.Content) {
					t.Errorf("Get(%q) changed the file: raw %.40q, content %.40q", name, command.Raw, command.Content)
				}
			}
			if _, err := c.Get(t.Context(), "huge"); !errors.Is(err, toolshelf.ErrFileTooLarge) {
				t.Errorf("a file of 20 MB: %v", err)
			}
			reported := strings.Join(problems(t, c), "\n")
			for _, file := range []string{"not-utf8", "unterminated", "a-list", "bomb", "deep", "huge", "long-header", "directory", "bad name"} {
				if !strings.Contains(strings.ReplaceAll(reported, "NO_DESCRIPTION commands/"+file, ""), "commands/"+file+".md") {
					t.Errorf("no diagnostic for %s.md:\n%s", file, reported)
				}
			}
		})
	}
}

func TestMaxFileSizeIsInclusive(t *testing.T) {
	for size, want := range map[int]error{9: nil, 10: nil, 11: toolshelf.ErrFileTooLarge} {
		c := catalog(t, toolshelf.WithMaxFileSize(10), toolshelf.WithFs(memoryOf(t, map[string]string{"commands/a.md": strings.Repeat("x", size)})))
		if _, err := c.Get(t.Context(), "a"); !errors.Is(err, want) {
			t.Errorf("%d bytes where 10 are allowed: %v, want %v", size, err, want)
		}
		if listed := len(names(t, c)) == 1; listed != (want == nil) {
			t.Errorf("%d bytes where 10 are allowed: listed is %v", size, listed)
		}
	}
}

func TestEachCallSeesTheCurrentFiles(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/a.md": "one"})
	file := func(name string) string { return filepath.Join(root, "commands", name) }
	c := catalog(t, toolshelf.WithRoot(root))
	description := func(name string) string {
		command, err := c.Get(t.Context(), name)
		if err != nil {
			return string(toolshelf.CodeOf(err))
		}
		for info := range c.All(t.Context()) {
			if info.Name == name && info.Description != command.Metadata.Description {
				t.Errorf("%s: List has %q, Get has %q", name, info.Description, command.Metadata.Description)
			}
		}
		return command.Metadata.Description
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		want   string // description of a
	}{
		{"as it was", func() {}, "one"},
		{"edited", func() { must(os.WriteFile(file("a.md"), []byte("three"), 0o644)) }, "three"},
		{"edited to the same size", func() { must(os.WriteFile(file("a.md"), []byte("seven"), 0o644)) }, "seven"},
		{"edited to the same size, its time set back", func() {
			info, err := os.Stat(file("a.md"))
			must(err)
			must(os.WriteFile(file("a.md"), []byte("eight"), 0o644))
			must(os.Chtimes(file("a.md"), info.ModTime(), info.ModTime()))
		}, "eight"},
		{"replaced", func() {
			must(os.WriteFile(file("new"), []byte("forty"), 0o644))
			must(os.Rename(file("new"), file("a.md")))
		}, "forty"},
		{"removed", func() { must(os.Remove(file("a.md"))) }, "COMMAND_NOT_FOUND"},
		{"made again", func() { must(os.WriteFile(file("a.md"), []byte("again"), 0o644)) }, "again"},
		{"a replaced directory", func() {
			must(os.Rename(filepath.Join(root, "commands"), filepath.Join(root, "old")))
			must(os.Mkdir(filepath.Join(root, "commands"), 0o755))
			must(os.WriteFile(file("a.md"), []byte("other"), 0o644))
		}, "other"},
	} {
		step.change()
		if got := description("a"); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
}

func TestCancelledContext(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for op, call := range map[string]func() error{
		"List":       func() error { _, err := c.List(ctx, toolshelf.Page{}); return err },
		"Get":        func() error { _, err := c.Get(ctx, "Build"); return err },
		"ListSkills": func() error { _, err := c.ListSkills(ctx); return err },
		"Lint":       func() error { _, err := c.Lint(ctx); return err },
		"All": func() (last error) {
			for _, err := range c.All(ctx) {
				last = err
			}
			return last
		},
	} {
		if err := call(); err != context.Canceled {
			t.Errorf("%s: %v, want the context's error", op, err)
		}
	}
}

func TestClosed(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memory(t, ".")))
	for range 2 {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for op, call := range map[string]func() error{
		"List":       func() error { _, err := c.List(t.Context(), toolshelf.Page{}); return err },
		"Get":        func() error { _, err := c.Get(t.Context(), "Build"); return err },
		"ListSkills": func() error { _, err := c.ListSkills(t.Context()); return err },
		"Lint":       func() error { _, err := c.Lint(t.Context()); return err },
		"All": func() (last error) {
			for _, err := range c.All(t.Context()) {
				last = err
			}
			return last
		},
	} {
		if err := call(); !errors.Is(err, toolshelf.ErrClosed) || !strings.HasPrefix(err.Error(), "toolshelf: "+op+": ") {
			t.Errorf("%s: %v, want ErrClosed of toolshelf: %[1]s", op, err)
		}
	}
}

func TestEveryListedNameCanBeFetched(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{"commands/.keep": ""}
		element := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_-]{1,3}`),
			rapid.StringMatching(`[a-b .:]{1,4}`),
			rapid.SampledFrom([]string{"README", ".x", "é", "x.md", "a:b", " a", "..", "..."}),
		)
		for range rapid.IntRange(0, 12).Draw(rt, "files") {
			path := element.Draw(rt, "name") + rapid.SampledFrom([]string{".md", ".MD", ".md.md", ".txt"}).Draw(rt, "ending")
			for range rapid.IntRange(0, 2).Draw(rt, "depth") {
				path = strings.Trim(element.Draw(rt, "directory"), ". ") + "x/" + path
			}
			files["commands/"+path] = rapid.SampledFrom([]string{"Text.", "---\nis_dependency: true\n---\n", ""}).Draw(rt, "content")
		}
		var options []toolshelf.Option
		if rapid.Bool().Draw(rt, "nested") {
			options = append(options, toolshelf.WithNestedCommands())
		}
		if rapid.Bool().Draw(rt, "loose") {
			options = append(options, toolshelf.WithLooseNames())
		}
		fsys := afero.NewMemMapFs()
		for path, content := range files {
			if err := afero.WriteFile(fsys, path, []byte(content), 0o644); err != nil {
				rt.Fatal(err)
			}
		}
		c, err := toolshelf.New(append(options, toolshelf.WithFs(fsys))...)
		if err != nil {
			rt.Fatal(err)
		}
		defer c.Close()
		for info, err := range c.All(t.Context()) {
			if err != nil {
				rt.Fatal(err)
			}
			for _, name := range []string{info.Name, info.Name + ".md"} {
				if got, err := c.Get(t.Context(), name); err != nil || got.Name != info.Name && !strings.HasSuffix(got.Name, ".md") {
					rt.Fatalf("Get(%q) = %q, %v", name, got.Name, err)
				}
			}
		}
	})
}

func TestNewRejectsInvalidOptions(t *testing.T) {
	for name, option := range map[string]toolshelf.Option{
		"no filesystem":                          toolshelf.WithFs(nil),
		"no FS":                                  toolshelf.WithCommandsFS("x", nil),
		"no name":                                toolshelf.WithSkillsFS("", sub(t, "skills")),
		"an empty directory name":                toolshelf.WithCommandsDir("a", ""),
		"no reads":                               toolshelf.WithMaxReads(0),
		"a size of 0":                            toolshelf.WithMaxFileSize(0),
		"trusted directories without the policy": toolshelf.WithSymlinks(toolshelf.SymlinksInside, "/srv"),
		"the policy without directories":         toolshelf.WithSymlinks(toolshelf.SymlinksTrusted),
		"a relative trusted directory":           toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "dotfiles"),
		"no such policy":                         toolshelf.WithSymlinks(7),
	} {
		if _, err := toolshelf.New(option); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("%s: %v, want ErrInvalidOption", name, err)
		}
	}
}

// An embed.FS has no times, and JSON cannot express a time in the year 12000.
func TestAnUnknownTimeIsZeroAndOmittedInJSON(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "a"})
	if err := fsys.Chtimes("commands/a.md", written, time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*toolshelf.Catalog{
		"the year 12000": catalog(t, toolshelf.WithFs(fsys)),
		"no time":        catalog(t, toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("built in", fstest.MapFS{"a.md": {Data: []byte("a")}})),
	} {
		t.Run(name, func(t *testing.T) {
			list, err := c.List(t.Context(), toolshelf.Page{})
			if err != nil {
				t.Fatal(err)
			}
			command, err := c.Get(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if !list.Commands[0].LastModified.IsZero() || !command.Metadata.LastModified.IsZero() {
				t.Errorf("the time is %v and %v", list.Commands[0].LastModified, command.Metadata.LastModified)
			}
			text, err := json.Marshal([]any{list, command})
			if err != nil || strings.Contains(string(text), "last_modified") {
				t.Errorf("%s, %v", text, err)
			}
		})
	}
}

func TestADirectoryInPlaceOfAFileClaimsNoName(t *testing.T) {
	root := diskOf(t, map[string]string{"high/x.md": "high", "low/x.md": "low"})
	options := []toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithCommandsDir("high", "low")}
	before := catalog(t, options...)
	names(t, before)
	if err := errors.Join(os.Remove(filepath.Join(root, "high", "x.md")), os.Mkdir(filepath.Join(root, "high", "x.md"), 0o755)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]*toolshelf.Catalog{"a catalog that knew the file": before, "a new catalog": catalog(t, options...)} {
		if got, err := c.Get(t.Context(), "x"); err != nil || got.Content != "low" {
			t.Errorf("%s: %q, %v", name, got.Content, err)
		}
		if got := problems(t, c); got[0] != "NOT_A_FILE high/x.md" {
			t.Errorf("%s: %q", name, got)
		}
	}
}
