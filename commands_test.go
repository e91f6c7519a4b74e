package toolshelf_test

import (
	"encoding/json"
	"errors"
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
