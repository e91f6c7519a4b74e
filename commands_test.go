package toolshelf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestContractListExamples(t *testing.T) {
	at := func(s string) time.Time {
		return must.Get(time.Parse(time.RFC3339, s))(t)
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
		must.Do(t, errors.Join(afero.WriteFile(fsys, path, []byte(text), 0o644), fsys.Chtimes(path, at(f.modified), at(f.modified))))
	}
	c := catalog(t, toolshelf.WithFs(fsys))
	// The times of the contract have ".000", which JSON times may omit.
	for file, page := range map[string]toolshelf.Page{
		"list_example_1.json": {Number: 1, Size: 10}, "list_example_2.json": {Number: 100, Size: 50},
	} {
		list := must.Get(c.List(t.Context(), page))(t)
		got := must.Get(json.MarshalIndent(list, "", "  "))(t)
		want := string(must.Get(os.ReadFile("testdata/" + file))(t))
		must.Match(t, file, strings.ReplaceAll(want, ".000Z", "Z"), string(got)+"\n")
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
			must.Do(t, err)
			got[info.Name] = info.Description
			command := must.Get(c.Get(t.Context(), info.Name))(t)
			must.Equal(t, "Description", info.Description, command.Metadata.Description)
			must.Equal(t, "Size", info.Size, command.Metadata.Size)
			must.Equal(t, "Equal", true, command.Metadata.LastModified.Equal(info.LastModified))
		}
		must.Match(t, "descriptions", want, got)
	})
}

func TestDependencies(t *testing.T) {
	for _, tt := range []struct {
		name, header string
		hidden       bool
	}{
		{"true", "is_dependency: true", true},
		{"false", "is_dependency: false", false},
		{"no value", "is_dependency:", false},
		{"not a truth value", "is_dependency: perhaps", true},
		{"in a broken header", "hint: [a] [b]\nis_dependency: true", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/x.md": "---\n" + tt.header + "\n---\nText.\n"})))
			must.Equal(t, "hidden", tt.hidden, len(names(t, c)) == 0)
			must.Get(c.Get(t.Context(), "x"))(t)
		})
	}
	t.Run("in an unterminated header", func(t *testing.T) {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/x.md": "---\nis_dependency: true\nText.\n"})))
		must.Len(t, "names", 0, names(t, c))
	})
}

func TestEveryListedNameCanBeFetched(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string]string{"commands/.keep": ""}
		element := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_-]{1,3}`),
			rapid.StringMatching(`[a-b .:]{1,4}`),
			rapid.SampledFrom([]string{"README", ".x", "é", "x.md", "a:b", " a", "x.", "..", "..."}),
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
			must.Do(rt, afero.WriteFile(fsys, path, []byte(content), 0o644))
		}
		c := must.Get(toolshelf.New(append(options, toolshelf.WithFs(fsys))...))(rt)
		defer c.Close()
		for info, err := range c.All(t.Context()) {
			must.Do(rt, err)
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
	must.Do(t, fsys.Chtimes("commands/a.md", written, time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)))
	for name, c := range map[string]*toolshelf.Catalog{
		"the year 12000": catalog(t, toolshelf.WithFs(fsys)),
		"no time":        catalog(t, toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("built in", fstest.MapFS{"a.md": {Data: []byte("a")}})),
	} {
		t.Run(name, func(t *testing.T) {
			list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
			command := must.Get(c.Get(t.Context(), "a"))(t)
			must.Equal(t, "the time is", true, list.Commands[0].LastModified.IsZero())
			must.Equal(t, "the time is", true, command.Metadata.LastModified.IsZero())
			must.NotContain(t, "text", string(must.Get(json.Marshal([]any{list, command}))(t)),
				"last_modified")
		})
	}
}

func TestADirectoryInPlaceOfAFileClaimsNoName(t *testing.T) {
	root := diskOf(t, map[string]string{"high/x.md": "high", "low/x.md": "low"})
	options := []toolshelf.Option{toolshelf.WithRoot(root), toolshelf.WithCommandsDir("high", "low")}
	before := catalog(t, options...)
	names(t, before)
	must.Do(t, errors.Join(os.Remove(filepath.Join(root, "high", "x.md")), os.Mkdir(filepath.Join(root, "high", "x.md"), 0o755)))
	for name, c := range map[string]*toolshelf.Catalog{"a catalog that knew the file": before, "a new catalog": catalog(t, options...)} {
		must.Equal(t, name, "low", must.Get(c.Get(t.Context(), "x"))(t).Content)
		must.Equal(t, name, "NOT_A_FILE high/x.md", problems(t, c)[0])
	}
}

func TestBrokenFilesDoNotAffectOtherFiles(t *testing.T) {
	files := map[string]string{
		"commands/good.md":            "Good.",
		"commands/not-utf8.md":        "---\ndescription: caf\xe9\n---\nBody \xff.",
		"commands/zero.md":            "A\x00B",
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
			want := []string{"a-list", "bomb", "deep", "empty", "good", "long-header", "not-utf8", "unterminated", "zero"}
			got := names(t, c)
			must.Match(t, "names", want, got)
			for _, name := range got {
				command, err := c.Get(t.Context(), name)
				if err != nil {
					t.Errorf("Get(%q): %v", name, err)
				} else if file := files["commands/"+name+".md"]; string(command.Raw) != file || !strings.HasSuffix(file, command.Content) {
					t.Errorf("Get(%q) changed the file: raw %.40q, content %.40q", name, command.Raw, command.Content)
				}
			}
			must.Fail(c.Get(t.Context(), "huge"))(t, "a file of 20 MB", toolshelf.ErrFileTooLarge)
			reported := strings.Join(problems(t, c), "\n")
			for _, file := range []string{"not-utf8", "unterminated", "a-list", "bomb", "deep", "huge", "long-header", "directory", "bad name"} {
				must.Contain(t, "ReplaceAll", strings.ReplaceAll(reported, "NO_DESCRIPTION commands/"+file, ""),
					"commands/"+file+".md")
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
			got := must.Get(json.Marshal(must.Get(c.Get(t.Context(), tt.name))(t)))(t)
			must.Match(t, "JSON", tt.want, string(got))
		})
	}
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
				must.Match(t, "names", tt.want, got)
				for _, name := range got {
					must.Get(c.Get(t.Context(), name))(t)
				}
			})
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
			must.Equal(t, name, name, got.Name)
			must.Equal(t, name, content, got.Content)
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
		for name, want := range map[string]string{
			"Build": "Build", "Build.md": "Build", "Build.MD": "Build", "zeta.md": "zeta",
			"shared-rules": "shared-rules",
		} {
			must.Equal(t, name, want, must.Get(strict.Get(t.Context(), name))(t).Name)
		}
		for name, want := range map[string]string{
			"frontend:component": "frontend:component", "frontend:component.md": "frontend:component",
			"my command": "my command", "my command.md": "my command",
		} {
			must.Equal(t, name, want, must.Get(free.Get(t.Context(), name))(t).Name)
		}
		for _, name := range []string{"build", "missing", "README", "x"} {
			must.Fail(strict.Get(t.Context(), name))(t, name, toolshelf.ErrCommandNotFound)
		}
		for _, name := range []string{
			"Build.md.md", "", ".md", ".hidden", "my command", "frontend:component", "frontend/component",
			`frontend\component`, "../project/commands/Build", "..", "Build\x00", "Büild",
		} {
			must.Fail(strict.Get(t.Context(), name))(t, name, toolshelf.ErrInvalidCommandName)
		}
		for _, name := range []string{"frontend/component", "..:component", "frontend:..", ".hidden"} {
			must.Fail(free.Get(t.Context(), name))(t, name, toolshelf.ErrInvalidCommandName)
		}
	})
}

func TestAnInvalidNameNeverReachesTheFilesystem(t *testing.T) {
	var touched []string
	c := catalog(t, toolshelf.WithFs(recording(memory(t, "."), &touched)))
	for _, name := range []string{"../secret", "/etc/passwd", "a/b", `a\b`, "", ".", "..", "a b", "nul\x00", strings.Repeat("/", 5000)} {
		must.Fail(c.Get(t.Context(), name))(t, name, toolshelf.ErrInvalidCommandName)
	}
	must.Len(t, "the filesystem received", 0, touched)
}

// recording records every call that reaches a filesystem, as "open commands/a.md".
func recording(fsys afero.Fs, touched *[]string) afero.Fs {
	var mu sync.Mutex // goroutines of a scan
	return hook{Fs: fsys, before: func(op, name string) error {
		mu.Lock()
		defer mu.Unlock()
		*touched = append(*touched, op+" "+strings.TrimPrefix(name, "/"))
		return nil
	}}
}

// TestGetOfALinkedCommand changes a command file that is a link, and the target,
// after the catalog has cached the command. Each change keeps the size of the
// file, and the modification time where a file system allows this.
func TestGetOfALinkedCommand(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(root, link string) error
		want   string
		err    error
	}{
		{"the target changes", func(root, link string) error { return rewrite(filepath.Join(root, "lib", "one.md"), "New") }, "New", nil},
		{"another file replaces the target", func(root, link string) error {
			return os.Rename(filepath.Join(root, "lib", "two.md"), filepath.Join(root, "lib", "one.md"))
		}, "Two", nil},
		{"the link leads to another file", func(root, link string) error { return relink("../lib/two.md", link) }, "Two", nil},
		{"a file replaces the link", func(root, link string) error {
			return os.Rename(filepath.Join(root, "lib", "two.md"), link)
		}, "Two", nil},
		{"a link between leads to another file", func(root, link string) error {
			return relink("two.md", filepath.Join(root, "lib", "between.md"))
		}, "Two", nil},
		{"a directory on the way is replaced", func(root, link string) error {
			return errors.Join(os.Rename(filepath.Join(root, "lib"), filepath.Join(root, "old")), os.Rename(filepath.Join(root, "other"), filepath.Join(root, "lib")))
		}, "Else", nil},
		{"the target is gone", func(root, link string) error { return os.Remove(filepath.Join(root, "lib", "one.md")) }, "", toolshelf.ErrFileRead},
		{"the link leads out of the root", func(root, link string) error { return relink("../../outside.md", link) }, "", toolshelf.ErrFileRead},
		{"the target becomes a link out of the root", func(root, link string) error {
			return relink("../../outside.md", filepath.Join(root, "lib", "one.md"))
		}, "", toolshelf.ErrFileRead},
		{"the link leads to a directory", func(root, link string) error { return relink("../lib", link) }, "", toolshelf.ErrFileRead},
		{"the link is gone", func(root, link string) error { return os.Remove(link) }, "", toolshelf.ErrCommandNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := filepath.Join(diskOf(t, map[string]string{
				"root/lib/one.md": "One", "root/lib/two.md": "Two", "root/other/between.md": "Else", "root/commands/b.md": "", "outside.md": "Out",
			}), "root")
			link := filepath.Join(root, "commands", "a.md")
			hosttest.Symlink(t, "one.md", filepath.Join(root, "lib", "between.md"))
			hosttest.Symlink(t, filepath.FromSlash("../lib/between.md"), link)
			needsChangeTimes(t)
			c := catalog(t, toolshelf.WithRoot(root))
			for deadline := time.Now().Add(time.Minute); ; {
				must.Equal(t, "command.Content", "One", must.Get(c.Get(t.Context(), "a"))(t).Content)
				if toolshelf.Cached(c, "a") {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("never cached")
				}
			}
			must.Do(t, tt.change(root, link))
			for range 2 {
				command, err := c.Get(t.Context(), "a")
				must.Equal(t, "command.Content", tt.want, command.Content)
				must.Is(t, "Get", tt.err, err)
			}
		})
	}
}

// A cached command behind a link is served without opening the file.
func TestGetOfACachedLinkedCommandOpensNoFile(t *testing.T) {
	root := diskOf(t, map[string]string{"lib/one.md": "One"})
	link := filepath.Join(root, "commands", "a.md")
	must.Do(t, os.Mkdir(filepath.Dir(link), 0o755))
	hosttest.Symlink(t, filepath.FromSlash("../lib/one.md"), link)
	files := new(opened)
	c := catalog(t, toolshelf.WithFs(onOpen(afero.NewOsFs(), files.add)), toolshelf.WithRoot(root))
	opens := func() int {
		t.Helper()
		must.Equal(t, "command.Content", "One", must.Get(c.Get(t.Context(), "a"))(t).Content)
		return len(files.files())
	}
	for deadline := time.Now().Add(time.Minute); opens() > 0; {
		if time.Now().After(deadline) {
			t.Fatal("never served from the cache")
		}
	}
}

// rewrite replaces the content of a file and sets the modification time back.
func rewrite(file, text string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, []byte(text), 0o644), os.Chtimes(file, info.ModTime(), info.ModTime()))
}

func relink(target, link string) error {
	return errors.Join(os.Remove(link), os.Symlink(filepath.FromSlash(target), link))
}

func TestFrontmatterAfterBlankLines(t *testing.T) {
	const text = "\ufeff\n \r\n---\nname: x\ndescription: d\nis_dependency: false\n---\n\nText.\n"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"commands/x.md": text, "skills/x/SKILL.md": text})))
	check := func(what, description, content string, raw []byte, diagnostics []toolshelf.Diagnostic) {
		if description != "d" || content != "\nText.\n" || string(raw) != text {
			t.Errorf("%s has the description %q, the content %q and the bytes %q", what, description, content, raw)
		}
		must.Len(t, what, 1, diagnostics)
		must.Equal(t, what, "FRONTMATTER_AFTER_BLANK_LINES", diagnostics[0].Code)
	}
	list := must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	must.Len(t, "List", 1, list.Commands)
	must.Equal(t, "List", "d", list.Commands[0].Description)
	command := must.Get(c.Get(t.Context(), "x"))(t)
	check("the command", command.Metadata.Description, command.Content, command.Raw, command.Diagnostics)
	skill := must.Get(c.GetSkill(t.Context(), "x"))(t)
	check("the skill", skill.Description, skill.Content, skill.Raw, skill.Diagnostics)
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
		got := must.Get(c.Get(t.Context(), tt.name))(t)
		must.Equal(t, tt.name, tt.want, got.NextSteps != "")
		must.NotContain(t, "next steps name a missing tool", got.NextSteps, "report_feedback")
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

func TestNextStepsNameReportFeedbackIfConfigured(t *testing.T) {
	for _, tt := range []struct {
		shared, local string
		want          bool
	}{{"", "", false}, {"reports", "", true}, {"", "reports", true}} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, reported)), toolshelf.WithReports(tt.shared, tt.local))
		command, err := c.Get(t.Context(), "analyze")
		if got := strings.Contains(command.NextSteps, "be sure to call the 'report_feedback' tool"); got != tt.want || err != nil {
			t.Errorf("%q, %q: %q, %v", tt.shared, tt.local, command.NextSteps, err)
		}
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, reported)), toolshelf.WithReports("reports", ""))
	must.Equal(t, "for a command without reports", "",
		must.Get(c.Get(t.Context(), "hidden"))(t).NextSteps)
}

// A program needs no Get for each row of a list.
func TestRowsOfListHaveTheValuesOfGet(t *testing.T) {
	files := map[string]string{
		"high/list.md":    "---\ndescription: d\nargument-hint: [issue] [branch]\n---\n$1\n",
		"low/nested/x.md": "---\nargument-hint: \"<a: b>\"\n---\n$1\n",
		"low/toml.md":     "+++\nargument-hint = \"<level>\"\n+++\n",
		"low/long.md":     "---\nargument-hint: " + strings.Repeat("word ", 1000) + "\n---\n",
		"low/broken.md":   "---\ndescription: a: b\nargument-hint: [a] | [b]\n---\n",
		"low/none.md":     "Plain.\n",
	}
	embedded := fstest.MapFS{"own.md": {Data: []byte("---\nargument-hint: <x>\n---\n")}}
	for name, fsys := range map[string]toolshelf.Option{"memory": toolshelf.WithFs(memoryOf(t, files)), "disk": toolshelf.WithRoot(diskOf(t, files))} {
		t.Run(name, func(t *testing.T) {
			filtered := 0
			c := catalog(t, fsys, toolshelf.WithCommandsDir("high", "low"), toolshelf.WithCommandsFS("built in", embedded), toolshelf.WithNestedCommands(),
				toolshelf.WithCommandFilter(func(i toolshelf.CommandInfo) bool {
					if i.Layer != "" && i.Path != "" {
						filtered++
					}
					return i.ArgumentHint != "never"
				}))
			list, err := c.List(t.Context(), toolshelf.Page{})
			if err != nil || len(list.Commands) != len(files)+1 || filtered == 0 {
				t.Fatalf("%d commands, %d filtered, %v", len(list.Commands), filtered, err)
			}
			var all []toolshelf.CommandInfo
			for info, err := range c.All(t.Context()) {
				must.Do(t, err)
				all = append(all, info)
			}
			must.Match(t, "(-List +All)", list.Commands, all)
			for _, row := range list.Commands {
				command := must.Get(c.Get(t.Context(), row.Name))(t)
				want := [3]string{command.Frontmatter.Text("argument-hint"), command.Layer, command.Metadata.Path}
				must.Equal(t, row.Name, want, [3]string{row.ArgumentHint, row.Layer, row.Path})
				text, err := json.Marshal(row)
				var fields map[string]any
				if err := errors.Join(err, json.Unmarshal(text, &fields)); err != nil || len(fields) != 4 || fields["last_modified"] == nil {
					// fstest.MapFS has no modification times
					must.Equal(t, row.Name, "built in", row.Layer)
					must.Equal(t, row.Name, 3, len(fields))
				}
			}
		})
	}
}

func self(s string) string { return s }

// letters is a list of n rows in byte order.
func letters(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("row%07d", i)
	}
	return rows
}

func TestPaginateByNumber(t *testing.T) {
	pages := string(must.Get(os.ReadFile("testdata/pages.txt"))(t))
	must.Answer(t, pages, map[string]func(t *testing.T, a ...string) string{
		"page": func(t *testing.T, a ...string) string {
			total, size := must.Get(strconv.Atoi(a[0]))(t), must.Get(strconv.Atoi(a[2]))(t)
			page := toolshelf.Page{Number: math.MaxInt, Size: size}
			if a[1] != "max" {
				page.Number = must.Get(strconv.Atoi(a[1]))(t)
			}
			rows, got, err := toolshelf.Paginate(letters(total), page, self)
			must.Do(t, err)
			must.Equal(t, "next cursor where HasNext", got.HasNext, got.NextCursor != "")
			got.NextCursor = ""
			text := strings.ReplaceAll(string(must.Get(json.Marshal(got))(t)), strconv.Itoa(math.MaxInt), "max")
			return strings.Join(append([]string{strconv.Itoa(len(rows))}, append(rows[:min(1, len(rows))], text)...), " ")
		},
	})
}

func TestPaginateRejectsInvalidPages(t *testing.T) {
	_, first, err := toolshelf.Paginate(letters(9), toolshelf.Page{Size: 3}, self)
	must.Do(t, err)
	cursor := first.NextCursor
	for _, tt := range []struct {
		name string
		page toolshelf.Page
		key  func(string) string
		want error
	}{
		{"page -1", toolshelf.Page{Number: -1}, self, toolshelf.ErrInvalidPage},
		{"the smallest page number there is", toolshelf.Page{Number: math.MinInt}, self, toolshelf.ErrInvalidPage},
		{"size -1", toolshelf.Page{Size: -1}, self, toolshelf.ErrInvalidPageSize},
		{"size 101", toolshelf.Page{Size: 101}, self, toolshelf.ErrInvalidPageSize},
		{"a cursor beside a number", toolshelf.Page{Number: 1, Cursor: cursor}, self, toolshelf.ErrInvalidCursor},
		{"a cursor where there are none", toolshelf.Page{Cursor: cursor}, nil, toolshelf.ErrInvalidCursor},
		{"a number as cursor", toolshelf.Page{Cursor: "50"}, self, toolshelf.ErrInvalidCursor},
		{"base64 of something else", toolshelf.Page{Cursor: "YWJj"}, self, toolshelf.ErrInvalidCursor},
		{"a padded cursor", toolshelf.Page{Cursor: cursor + "="}, self, toolshelf.ErrInvalidCursor},
		{"a cursor with a line break", toolshelf.Page{Cursor: cursor[:4] + "\n" + cursor[4:]}, self, toolshelf.ErrInvalidCursor},
		{"half a cursor", toolshelf.Page{Cursor: cursor[:len(cursor)/2]}, self, toolshelf.ErrInvalidCursor},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := toolshelf.Paginate(letters(9), tt.page, tt.key); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestEveryAlteredByteOfACursorIsRejected(t *testing.T) {
	for _, total := range []int{2, 20, 200} { // keys of a length that leaves 0, 2 and 4 bits of base64 unused
		rows := make([]string, total)
		for i := range rows {
			rows[i] = fmt.Sprintf("%0*d", len(fmt.Sprint(total)), i)
		}
		_, first, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 1}, self)
		must.Do(t, err)
		for i := range first.NextCursor {
			for c := range 256 {
				altered := []byte(first.NextCursor)
				altered[i] = byte(c)
				if string(altered) == first.NextCursor {
					continue
				}
				if _, _, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 1, Cursor: string(altered)}, self); !errors.Is(err, toolshelf.ErrInvalidCursor) {
					t.Fatalf("cursor %q altered to %q: %v", first.NextCursor, altered, err)
				}
			}
		}
	}
}

func TestPagesCoverEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := letters(rapid.IntRange(0, 400).Draw(t, "total"))
		size := rapid.IntRange(1, 100).Draw(t, "size")
		byCursor := rapid.Bool().Draw(t, "by cursor")

		var seen []string
		page := toolshelf.Page{Size: size}
		for n := 1; ; n++ {
			if !byCursor {
				page.Number = n
			}
			got, p, err := toolshelf.Paginate(rows, page, self)
			must.Do(t, err)
			must.Equal(t, n, n, p.Page)
			seen = append(seen, got...)
			if !p.HasNext {
				must.Equal(t, "n", max(1, p.TotalPages), n)
				break
			}
			page.Cursor = p.NextCursor
			if !byCursor {
				page.Cursor = ""
			}
		}
		must.Match(t, "seen", rows, seen, cmpopts.EquateEmpty())
	})
}

func TestCursorWalkUnderChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}`), 0, 60, rapid.ID).Draw(t, "rows")
		slices.Sort(names)
		stays := slices.Clone(names) // rows that are there from the begin to the end
		size := rapid.IntRange(1, 10).Draw(t, "size")

		times := map[string]int{}
		page := toolshelf.Page{Size: size}
		for range 10_000 {
			rows, p, err := toolshelf.Paginate(names, page, self)
			must.Do(t, err)
			for _, r := range rows {
				times[r]++
			}
			if !p.HasNext {
				break
			}
			page.Cursor = p.NextCursor
			for range rapid.IntRange(0, 4).Draw(t, "changes") {
				name := rapid.StringMatching(`[a-z]{1,3}`).Draw(t, "row")
				if i, found := slices.BinarySearch(names, name); found {
					names = slices.Delete(slices.Clone(names), i, i+1)
					stays = slices.DeleteFunc(stays, func(s string) bool { return s == name })
				} else if name > rows[len(rows)-1] || rapid.Bool().Draw(t, "before") {
					names = slices.Insert(slices.Clone(names), i, name)
				}
			}
		}
		for name, n := range times {
			if n > 1 && slices.Contains(stays, name) {
				t.Fatalf("%q was seen %d times", name, n)
			}
		}
		for _, name := range stays {
			must.Equal(t, name, 1, times[name])
		}
	})
}

func TestPaginateDoesNotGrowIntoItems(t *testing.T) {
	items := letters(10)
	rows, _, err := toolshelf.Paginate(items, toolshelf.Page{Size: 3}, self)
	must.Do(t, err)
	_ = append(rows, "appended")
	must.Equal(t, "appending to a page overwrites the row after it", "row0000003", items[3])
}

func FuzzCursor(f *testing.F) {
	rows := letters(30)
	_, first, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 10}, self)
	must.Do(f, err)
	f.Add(first.NextCursor)
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, cursor string) {
		got, p, err := toolshelf.Paginate(rows, toolshelf.Page{Size: 10, Cursor: cursor}, self)
		switch {
		case err != nil:
			must.Is(t, "err", toolshelf.ErrInvalidCursor, err)
		case len(got) > 10 || p.Page < 1 || p.Total != len(rows):
			t.Fatalf("%d rows, %+v", len(got), p)
		}
	})
}

func ExamplePaginate() {
	rows := []string{"ant", "bee", "cat", "dog", "eel"}
	key := func(s string) string { return s }
	page := toolshelf.Page{Size: 2}
	for {
		got, p, err := toolshelf.Paginate(rows, page, key)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(got, "page", p.Page, "of", p.TotalPages)
		if !p.HasNext {
			return
		}
		page.Cursor = p.NextCursor
	}
	// Output:
	// [ant bee] page 1 of 3
	// [cat dog] page 2 of 3
	// [eel] page 3 of 3
}

// TestStoredCursorsStayValid requests the rows after stored cursors. A program may keep a
// cursor while the library is updated, so the stored cursors must not change.
func TestStoredCursorsStayValid(t *testing.T) {
	files := map[string]string{"commands/deploy.md": "Deploy.", "commands/Review.md": "Review.", "commands/ops/restart.md": "Restart.",
		"src/docs/a.md": "", "src/web/a.js": "", "src/b.go": "12", "src/C.go": "1", "src/naïve.txt": "123"}
	fsys := memoryOf(t, files)
	for i, name := range []string{"src/naïve.txt", "src/C.go", "src/b.go", "src/docs", "src/web"} {
		at := written.AddDate(0, 0, -i)
		must.Do(t, fsys.Chtimes(name, at, at))
	}
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithNestedCommands())
	commands := func(cursor string) (rows []string, next string, err error) {
		list, err := c.List(t.Context(), toolshelf.Page{Size: 2, Cursor: cursor})
		for _, command := range list.Commands {
			rows = append(rows, command.Name)
		}
		return rows, list.Pagination.NextCursor, err
	}
	usage := func(cursor string) (rows []string, next string, err error) {
		list, err := bridgeOf(c).ListUsage(t.Context(), 2, cursor, nil)
		for _, command := range list.Rows {
			rows = append(rows, command.Name)
		}
		return rows, list.NextCursor, err
	}
	entries := func(order string, limit int) func(string) ([]string, string, error) {
		return func(cursor string) (rows []string, next string, err error) {
			list, err := c.ListDir(t.Context(), "src", toolshelf.SortedBy(order), toolshelf.Limit(limit), toolshelf.After(cursor))
			for _, entry := range list.Entries {
				rows = append(rows, entry.Name)
			}
			return rows, list.NextCursor, err
		}
	}
	own := func(cursor string) ([]string, string, error) {
		rows, page, err := toolshelf.Paginate([]string{"a", "b", "naïve"}, toolshelf.Page{Size: 2, Cursor: cursor}, self)
		return rows, page.NextCursor, err
	}
	for _, tt := range []struct {
		name         string
		request      func(cursor string) (rows []string, next string, err error)
		stored, want string
	}{
		{"List", commands, "AR_n-RdvcHM6cmVzdGFydA", "Review"},
		{"ListUsage", usage, "AR_n-RdvcHM6cmVzdGFydA", "Review"},
		{"ListDir by name, after a file", entries(toolshelf.ByName, 4), "AYKcUFwAAAAAAAAAAAAAAAAAQy5nbw", "naïve.txt"},
		{"ListDir by name, after a directory", entries(toolshelf.ByName, 1), "AWLuW4YBAAAAAAAAAAAAAAAAZG9jcw", "web"},
		{"ListDir by size, after a file", entries(toolshelf.BySize, 4), "AZ_ro30AAAAAAAAAAAIAAAAAYi5nbw", "C.go"},
		{"ListDir by size, after a directory", entries(toolshelf.BySize, 1), "AZhozPUBAAAAAAAAAAAAAAAAZG9jcw", "web"},
		{"ListDir by time", entries(toolshelf.ByModified, 3), "AUzNHAQAAAAAAGke7agAAAAAbmHDr3ZlLnR4dA", "C.go b.go"},
		{"Paginate", own, "AUXY0pFi", "naïve"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, cursor, err := tt.request(""); err != nil || cursor != tt.stored {
				t.Errorf("got the cursor %q and %v, want %q", cursor, err, tt.stored)
			}
			rows, _, err := tt.request(tt.stored)
			if got := strings.Join(rows, " "); err != nil || got != tt.want {
				t.Errorf("after the stored cursor: got %q and %v, want %q", got, err, tt.want)
			}
		})
	}
}
