package toolshelf_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func lint(t testing.TB, files map[string]string, options ...toolshelf.Option) []toolshelf.Diagnostic {
	t.Helper()
	c := catalog(t, append(options, toolshelf.WithFs(memoryOf(t, files)))...)
	diagnostics := must.Get(c.Lint(t.Context()))(t)
	checkCodes(t, diagnostics)
	return diagnostics
}

func TestLintOnEveryFilesystem(t *testing.T) {
	want := []string{
		"commands/broken.md:3 warning FRONTMATTER_RECOVERED",
		"commands/deploy_app.md:0 warning NO_DESCRIPTION",
		"commands/empty.md:0 warning NO_DESCRIPTION",
		"commands/my command.md:0 error INVALID_COMMAND_NAME",
		"commands/x.md:0 warning NOT_A_FILE",
		"commands/zeta.MD:0 warning NO_DESCRIPTION",
		"skills/lower-case/skill.md:2 error SKILL_NAME_MISMATCH",
		"skills/no-file/SKILL.md:0 error SKILL_FILE_MISSING",
	}
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		diagnostics := must.Get(open(toolshelf.WithNestedCommands()).Lint(t.Context()))(t)
		var got []string
		for _, d := range diagnostics {
			path := strings.NewReplacer("/srv/project/", "", "built in/", "").Replace(d.Path)
			if kind := "commands/"; strings.HasPrefix(d.Path, "built in") {
				if strings.EqualFold(filepath.Base(path), "SKILL.md") {
					kind = "skills/"
				}
				path = kind + path
			}
			got = append(got, fmt.Sprintf("%s:%d %s %s", path, d.Line, d.Severity, d.Code))
		}
		slices.Sort(got) // the layers of the embedded catalog have the same name
		must.Match(t, "diagnostics", want, got)
	})
}

// The directory of a layer may be a skill.
func TestLintSkillThatIsALayer(t *testing.T) {
	for _, tt := range []struct {
		dir  string
		want []string
	}{
		{"pdf", nil},
		{"tools/pdf", nil},
		{"tools", []string{"SKILL_NAME_MISMATCH tools/SKILL.md"}},
	} {
		var got []string
		for _, d := range lint(t, map[string]string{tt.dir + "/SKILL.md": skillNamed("pdf")}, toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(tt.dir)) {
			got = append(got, string(d.Code)+" "+d.Path)
		}
		must.Match(t, tt.dir, tt.want, got)
	}
	c := catalog(t, toolshelf.WithCommandsDir(), toolshelf.WithSkillsFS("built in", fstest.MapFS{"SKILL.md": {Data: []byte(skillNamed("pdf"))}}))
	must.Len(t, "the top of a filesystem, which has no name", 0, must.Get(c.Lint(t.Context()))(t))
}

func TestLintReportsIgnoredSkills(t *testing.T) {
	pdf := skillNamed("pdf")
	deep := []toolshelf.Option{toolshelf.WithSkillDepth(3)}
	for _, tt := range []struct {
		behaviour string
		options   []toolshelf.Option
		files     map[string]string // below skills
		want      []string
	}{
		{"a skill without a directory", nil, map[string]string{"flat.md": pdf, "pdf/SKILL.md": pdf, "README.md": "Skills.", "CONTRIBUTING.md": "---\ndescription: Rules.\n---\n", "notes.md": "---\ntitle: x\n---\n", "x.txt": pdf},
			[]string{"warning SKILL_NOT_A_DIRECTORY skills/flat.md"}},
		{"files of a skill that is a layer", nil, map[string]string{"SKILL.md": skillNamed("skills"), "flat.md": pdf, "pdf/Skill.md": pdf}, nil},
		{"the file name in other letter case", nil, map[string]string{"pdf/Skill.md": pdf, "b/SKILL.MD": pdf, "c/skill.md": skillNamed("c"), "d/x.md": ""},
			[]string{"error SKILL_FILE_MISSING skills/b/SKILL.MD", "error SKILL_FILE_MISSING skills/d/SKILL.md", "error SKILL_FILE_MISSING skills/pdf/Skill.md"}},
		{"the file name in other letter case, in a group", deep, map[string]string{"group/a/SKILL.md": skillNamed("a"), "group/b/Skill.md": pdf, "group/sub/c/Skill.md": pdf, "group/sub/c/d/Skill.md": pdf},
			[]string{"error SKILL_FILE_MISSING skills/group/b/Skill.md", "error SKILL_FILE_MISSING skills/group/sub/c/Skill.md"}},
		{"files of a skill", deep, map[string]string{"pdf/SKILL.md": pdf, "pdf/references/Skill.md": pdf, "pdf/flat.md": pdf}, nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files["skills/"+name] = text
			}
			must.Match(t, "diagnostics", tt.want, ignoredFiles(lint(t, files, append(tt.options, toolshelf.WithCommandsDir())...)))
		})
	}
}

// Files that a list ignores cost a list nothing.
func TestOnlyLintReadsIgnoredFiles(t *testing.T) {
	files := memoryOf(t, map[string]string{"commands/a.md": "", "commands/git/b.md": "", "commands/c.toml": "prompt = 'x'", "skills/flat.md": "", "skills/pdf/SKILL.md": ""})
	var names []string
	var mu sync.Mutex // goroutines of a scan
	c := catalog(t, toolshelf.WithFs(onOpen(files, func(name string) {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, name)
	})))
	must.Get(c.ListSkills(t.Context()))(t)
	must.Get(c.List(t.Context(), toolshelf.Page{}))(t)
	must.Contain(t, "opened files", names, "a.md")
	must.NotContain(t, "opened files", names, "git", ".toml", "flat")
}

// skillNamed returns a SKILL.md in which only the name can be invalid.
func skillNamed(name string) string { return "---\ndescription: d\nname: " + name + "\n---\n" }

func TestLintOrder(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = "---\nmodel: a\nmodel: b\n---\nSee [one](one.md) and [two](two.md).\n"
		files[fmt.Sprintf("skills/s%02d/SKILL.md", i)] = "---\nname: -A_--\nz: x\ny: [x]\n---\n"
	}
	all := lint(t, files)
	if len(all) < 40*10 {
		t.Fatalf("only %d diagnostics", len(all))
	}
	key := func(d toolshelf.Diagnostic) string {
		return fmt.Sprintf("%s\x00%05d\x00%05d\x00%s\x00%s\x00%s", d.Path, d.Line, d.Column, d.Code, d.Key, d.Message)
	}
	if !slices.IsSortedFunc(all, func(a, b toolshelf.Diagnostic) int { return strings.Compare(key(a), key(b)) }) {
		t.Error("not sorted by path, line, column, code, key and message")
	}
	for range 5 {
		if again := lint(t, files); !slices.Equal(all, again) {
			t.Fatal("the same files give other diagnostics")
		}
	}
}

func TestLintJSON(t *testing.T) {
	all := lint(t, map[string]string{"commands/a.md": "---\ndescription: a: b\n---\n", "commands/b \u2028.md": ""}, toolshelf.WithSkillsDir())
	text, err := json.Marshal(all)
	must.Do(t, err)
	var back []toolshelf.Diagnostic
	must.Do(t, json.Unmarshal(text, &back))
	must.Match(t, "it changed on the way", all, back)
	const want = `{"code":"FRONTMATTER_RECOVERED","severity":"warning","path":"commands/a.md","line":2,"column":1,"key":"description",` +
		`"message":"the value is not valid YAML and is read as text","suggestion":"write description: \"a: b\""}`
	if !bytes.Contains(text, []byte(want)) {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	if text, err = json.Marshal(lint(t, map[string]string{"commands/a.md": "---\ndescription: d\n---\n"}, toolshelf.WithSkillsDir())); err != nil || string(text) != "[]" {
		t.Errorf("nothing wrong is %s, %v", text, err)
	}
}

func TestLintMissingDirectories(t *testing.T) {
	var got []string
	must.Len(t, "default directories may be missing", 0, lint(t, map[string]string{"README.md": ""}))
	for _, d := range lint(t, map[string]string{"README.md": ""}, toolshelf.WithCommandsDir("commands"), toolshelf.WithSkillsDir("skills")) {
		got = append(got, string(d.Severity)+" "+string(d.Code)+" "+d.Path)
	}
	must.Match(t, "diagnostics", []string{"warning DIRECTORY_NOT_FOUND commands", "warning DIRECTORY_NOT_FOUND skills"}, got)
}

func TestLintOfAMissingRootIsAnError(t *testing.T) {
	root := filepath.Join(t.TempDir(), "none")
	c := must.Get(toolshelf.New(toolshelf.WithRoot(root)))(t)
	defer c.Close()
	must.Fail(c.Lint(t.Context()))(t, "Lint", toolshelf.ErrDirectoryNotFound, strconv.Quote(root))
}

func TestLintChecksEveryFile(t *testing.T) {
	const broken = "---\ndescription: a\nmodel: x\nmodel: y\n---\n"
	all := lint(t, map[string]string{
		"own/a.md": broken, "team/a.md": broken, "team/hidden.md": "---\nis_dependency: true\nmodel: x\nmodel: y\n---\n", "team/refused.md": broken,
	}, toolshelf.WithCommandsDir("own", "team"), toolshelf.WithSkillsDir(),
		toolshelf.WithCommandFilter(func(c toolshelf.CommandInfo) bool { return c.Name != "refused" }))
	var got []string
	for _, d := range all {
		if d.Code == "DUPLICATE_KEY" {
			got = append(got, d.Path)
		}
	}
	must.Match(t, "files with a key twice", []string{"own/a.md", "team/a.md", "team/hidden.md", "team/refused.md"}, got)
}

// The check of a hostile file is as fast as reading the file, reports a diagnostic,
// and does not affect other files.
func TestLintHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("long files")
	}
	const good = "---\nname: good\ndescription: d\n---\n"
	header := func(text string) string { return "---\nname: bad\ndescription: d\n" + text + "\n---\n" }
	var fields, flow, keys, references strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&fields, "f%d: x\n", i)
		fmt.Fprintf(&flow, "f%d: []\n", i)
		fmt.Fprintf(&keys, "  a: %d\n", i)
	}
	for i := range 200_000 {
		fmt.Fprintf(&references, "run /dev:x-%d [a](dev/x%d.md) ", i, i)
		if i%50 == 0 {
			references.WriteByte('\n')
		}
	}
	for _, tt := range []struct{ behaviour, text, want string }{
		{"10,000 nested lists", header("x: " + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), "FRONTMATTER_REFUSED"},
		{"10,000 nested lists in lines", header("x:\n" + strings.Repeat("- ", 10_000) + "a"), "FRONTMATTER_REFUSED"},
		{"aliases of aliases", header("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]"), "FRONTMATTER_REFUSED"},
		{"a NUL", header("x: a\x00b"), "CONTROL_CHARACTER"},
		{"5 MB of description", "---\nname: bad\ndescription: " + strings.Repeat("x", 5<<20) + "\n---\n", "FRONTMATTER_UNTERMINATED"},
		{"thousands of fields", header(fields.String()), "SKILL_FIELD_UNEXPECTED"},
		{"thousands of lists in brackets", header(flow.String()), "SKILL_YAML_FLOW_STYLE"},
		{"thousands of equal keys", header("metadata:\n" + keys.String()), "DUPLICATE_KEY"},
		{"a name of 60 KB that grows 18 times", "---\nname: " + strings.Repeat("\uFDFA", 20_000) + "\ndescription: d\n---\n", "SKILL_NAME_TOO_LONG"},
		{"many references", header("") + references.String(), "REFERENCE_NOT_FOUND"},
		{"a line of backticks", header("") + strings.Repeat("` `` ``` ", 500_000), ""},
		{"slashes", header("") + strings.Repeat("run /a-b:", 500_000), ""},
		{"fences", header("") + strings.Repeat("```a\n", 500_000), ""},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			all := lint(t, map[string]string{
				"commands/bad.md": tt.text, "commands/good.md": good, "commands/dev/good.md": good,
				"skills/bad/SKILL.md": tt.text, "skills/good/SKILL.md": good,
			}, toolshelf.WithNestedCommands())
			found, references := tt.want == "", 0
			for _, d := range all {
				must.NotContain(t, "a sibling is harmed", d.Path, "good")
				if len(d.Message)+len(d.Suggestion) > 2000 {
					t.Errorf("a diagnostic of %d bytes", len(d.Message)+len(d.Suggestion))
				}
				found = found || string(d.Code) == tt.want
				if d.Code == "REFERENCE_NOT_FOUND" {
					references++
				}
			}
			if references > 100 {
				t.Errorf("%d references", references)
			}
			must.Equal(t, tt.want, true, found)
		})
	}
}

// torn returns a filesystem that calls beyond before a read beyond the part of a file that a list
// needs. An error of beyond is the error of the read.
func torn(fsys afero.Fs, beyond func() error) hook {
	return hook{Fs: fsys, file: func(f afero.File) afero.File {
		read := 0
		return reading{f, func(p []byte) (int, error) {
			if read >= 4<<10 {
				if err := beyond(); err != nil {
					return 0, err
				}
			}
			n, err := f.Read(p[:min(len(p), 4<<10)])
			read += n
			return n, err
		}, f.ReadAt}
	}}
}

// long returns a file with more text than a list reads.
func long(name string) string {
	return "---\nname: " + name + "\ndescription: d\n---\n" + strings.Repeat("Text.\n\n", 1000)
}

func TestLintReportsFilesThatItCannotReadCompletely(t *testing.T) {
	fsys := torn(memoryOf(t, map[string]string{"commands/a.md": long("a"), "commands/b.md": "Text.\n"}), func() error { return io.ErrUnexpectedEOF })
	all := must.Get(catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsDir()).Lint(t.Context()))(t)
	if len(all) != 2 || all[0].Code != "FILE_READ_ERROR" || all[0].Path != "commands/a.md" || all[1].Code != "NO_DESCRIPTION" {
		t.Errorf("got %+v", all)
	}
}

// many returns enough files to interrupt Lint.
func many(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("commands/c%02d.md", i)] = long("c")
	}
	return files
}

func TestLintEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var reads atomic.Int64
	fsys := torn(memoryOf(t, many(t)), func() error {
		if reads.Add(1) == 3 {
			cancel()
		}
		return nil
	})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsDir())
	if _, err := c.Lint(ctx); err != context.Canceled {
		t.Errorf("got %v, want the context's error", err)
	}
	must.Do(t, c.Close()) // Close waits for running calls
	if n := reads.Load(); n > 20 {
		t.Errorf("%d reads: the files after the end were read too", n)
	}
}

func TestLintReturnsWhileAFilesystemHangs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hang := make(chan struct{})
	fsys := torn(memoryOf(t, many(t)), func() error { cancel(); <-hang; return nil })
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsDir())
	if _, err := c.Lint(ctx); err != context.Canceled {
		t.Errorf("got %v, want the context's error", err)
	}
	close(hang)
}

func TestCloseEndsLint(t *testing.T) {
	for _, tt := range []struct {
		name string
		ctx  context.Context
	}{{"of a context that ends", t.Context()}, {"of one that never does", context.Background()}} {
		t.Run(tt.name, func(t *testing.T) {
			begun, hang := make(chan struct{}), make(chan struct{})
			var reads atomic.Int64
			fsys := torn(memoryOf(t, many(t)), func() error {
				if reads.Add(1) == 1 {
					close(begun)
				}
				<-hang
				return nil
			})
			c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithSkillsDir())
			lint, closed := make(chan error, 1), make(chan struct{})
			go func() {
				_, err := c.Lint(tt.ctx)
				lint <- err
			}()
			<-begun
			go func() {
				defer close(closed)
				c.Close()
			}()
			for err := error(nil); err == nil; _, err = c.View() { // until Close begins
				runtime.Gosched()
			}
			close(hang)
			must.Is(t, "error", toolshelf.ErrClosed, <-lint)
			<-closed
			after := reads.Load()
			must.Fail(c.Lint(tt.ctx))(t, "after Close", toolshelf.ErrClosed)
			if reads.Load() != after || after > 50 {
				t.Errorf("%d reads, %d when it was closed", reads.Load(), after)
			}
		})
	}
}

func FuzzLint(f *testing.F) {
	f.Add("---\nname: a\ndescription: b: c\n---\nrun /x-y `/dev:z` [a](b.md)\n")
	f.Add("---\nname: &a [x]\nmetadata: {a: *a}\n---\n```\n~~~ `x` ](")
	f.Add("\ufeff---\nname: ﬃ\x00\n---\n\xff")
	f.Add("+++\na = 1\n+++\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, d := range lint(t, map[string]string{"commands/a.md": text, "commands/dev/b.md": "", "skills/a/SKILL.md": text}, toolshelf.WithNestedCommands()) {
			switch {
			case d.Code == "" || d.Path == "" || d.Message == "" || d.Severity != "error" && d.Severity != "warning":
				t.Errorf("an incomplete diagnostic: %+v", d)
			case strings.ContainsAny(d.Message, "\r\n"):
				t.Errorf("a message of several lines: %+v", d)
			case strings.HasSuffix(d.Path, "/b.md"): // an empty file
			case d.Line > lines || d.Column > 0 && (d.Line == 0 || d.Column > len(text)+1):
				t.Errorf("a place that is not in the file of %d lines: %+v", lines, d)
			}
		}
	})
}

func TestLintInvisibleCharacters(t *testing.T) {
	const header = "---\nname: a\ndescription: d\n---\n"
	for _, tt := range []struct{ behaviour, text, want string }{
		{"an instruction in tag characters", header + "Read\U000e0072\U000e006d the file.\n", "5:5 the text contains 2 invisible characters, the first is U+E0072"},
		{"a description in reverse order", "---\nname: a\ndescription: d\u202e\n---\n", "3:15 the text contains the invisible character U+202E"},
		{"a zero width space", header + "\nünd a\u200bb\n", "6:6 the text contains the invisible character U+200B"},
		{"data in variation selectors", header + "☺\ufe0f\U000e0110\U000e0111\n", "5:3 the text contains 2 invisible characters, the first is U+E0110"},
		{"a byte order mark within the text", header + "a\ufeff\n", "5:2 the text contains the invisible character U+FEFF"},
		{"a Hangul filler", header + "\u3164\n", "5:1 the text contains the invisible character U+3164"},
		{"tags after a flag and a letter", header + "\U0001f3f4a\U000e0067\n", "5:3 the text contains the invisible character U+E0067"},
		{"emoji and flags", header + "\U0001f469\u200d\U0001f4bb ☺\ufe0f \U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\n", ""},
		{"Persian, Hebrew and Arabic", header + "می\u200cخواهم א\u200f1 \u0600\n", ""},
		{"invalid UTF-8", header + "\xf3\xa0\x81\n", ""},
		{"behind many other defects", "---\nname: a\ndescription: d\n" + strings.Repeat("x: y\n", 200) + "---\n\u2060", "205:1 the text contains the invisible character U+2060"},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			for _, file := range []string{"commands/a.md", "skills/a/SKILL.md"} {
				var got []string
				for _, d := range lint(t, map[string]string{file: tt.text}) {
					if d.Code == agentmd.DiagInvisibleCharacter {
						got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Message))
					}
				}
				must.Equal(t, file, tt.want, strings.Join(got, "; "))
			}
		})
	}
}

func TestLintDirectoriesWithoutASkillFile(t *testing.T) {
	const text = "---\nname: NAME\ndescription: d\n---\n"
	files := map[string]string{"high/pdf/scripts/x.py": "", "low/pdf/SKILL.md": text, "low/forms/SKILL.md": text, "lowest/forms/x.py": ""}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		files["high/web/"+name+"/SKILL.md"] = text
	}
	delete(files, "high/web/g/SKILL.md")
	files["high/web/g/skill.md"] = text
	files["high/web/scripts/x.py"] = ""
	for file := range files {
		files[file] = strings.ReplaceAll(files[file], "NAME", path.Base(path.Dir(file)))
	}
	for kind, options := range map[string]toolshelf.Option{"memory": toolshelf.WithFs(memoryOf(t, files)), "disk": toolshelf.WithRoot(diskOf(t, files))} {
		t.Run(kind, func(t *testing.T) {
			for depth, want := range map[int][]string{
				1: {
					`high/pdf/SKILL.md: the directory has no SKILL.md; the skill with this name is low/pdf/SKILL.md; remove the directory, or add a SKILL.md, which then hides the other skill`,
					`high/web: not listed: skills one directory deeper: "a", "b", "c", "d", "e" and 2 more; move the skills up one directory, or let the program search two levels (WithSkillDepth(2))`,
					`high/web/SKILL.md: the directory has no SKILL.md; add a SKILL.md with a name and a description in the frontmatter`,
					`lowest/forms/SKILL.md: the directory has no SKILL.md; the skill with this name is low/forms/SKILL.md; remove the directory, or rename the directory and add a SKILL.md`,
				},
				2: {
					`high/pdf/SKILL.md: the directory has no SKILL.md; the skill with this name is low/pdf/SKILL.md; remove the directory, or add a SKILL.md, which then hides the other skill`,
					`lowest/forms/SKILL.md: the directory has no SKILL.md; the skill with this name is low/forms/SKILL.md; remove the directory, or rename the directory and add a SKILL.md`,
				},
			} {
				c := catalog(t, options, toolshelf.WithSkillsDir("high", "low", "lowest"), toolshelf.WithCommandsDir(), toolshelf.WithSkillDepth(depth))
				found := must.Get(c.Lint(t.Context()))(t)
				var got []string
				for _, d := range found {
					got = append(got, filepath.ToSlash(d.Path)+": "+d.Message+"; "+d.Suggestion)
				}
				must.Match(t, depth, want, got)
			}
		})
	}
}

// TestLintOfTexts asks the questions of testdata/lint.txt, which describes the questions.
func TestLintOfTexts(t *testing.T) {
	questions := string(must.Get(os.ReadFile("testdata/lint.txt"))(t))
	must.Answer(t, questions, map[string]func(t *testing.T, a ...string) string{
		"commands": func(t *testing.T, a ...string) string {
			files := map[string]string{}
			for i := 0; i < len(a); i += 2 {
				files["commands/"+a[i]] = a[i+1]
			}
			var got []string
			options := []toolshelf.Option{toolshelf.WithSkillsDir(), toolshelf.WithMaxFileSize(20 << 10)}
			for _, d := range lint(t, files, options...) {
				got = append(got, fmt.Sprintf("%s:%d:%d: %s %s (%s)", strings.TrimPrefix(d.Path, "commands/"),
					d.Line, d.Column, d.Severity, strings.TrimSpace(string(d.Code)+" "+d.Key), d.Suggestion))
			}
			return strings.Join(got, " | ")
		},
		"placeholders": func(t *testing.T, a ...string) string {
			text := a[1]
			if !strings.HasSuffix(a[0], ".toml") {
				text = "---\nname: s\ndescription: d\n---\n" + text
			}
			clients := toolshelf.WithClient(client.Claude(), client.OpenCode(), client.Gemini())
			options := []toolshelf.Option{
				clients, toolshelf.WithHome(""), toolshelf.WithCommandsDir("commands"),
			}
			var got []string
			for _, d := range lint(t, map[string]string{a[0]: text}, options...) {
				if d.Code == agentmd.DiagPlaceholderMiscounted || d.Code == agentmd.DiagPlaceholderBeyondHint {
					got = append(got, fmt.Sprintf("%d:%d: %s %s (%s)", d.Line, d.Column, d.Severity,
						strings.TrimPrefix(d.Message, "the placeholder "), d.Suggestion))
				}
			}
			return strings.Join(got, " | ")
		},
	})
}

// ignoredFiles returns the diagnostics of files that no list shows, as "severity CODE path".
func ignoredFiles(diagnostics []toolshelf.Diagnostic) (found []string) {
	for _, d := range diagnostics {
		switch d.Code {
		case "SUBDIRECTORY_NOT_READ", "EXTENSION_NOT_READ", "FILESYSTEM_TOP_EMPTY", "SKILL_NOT_A_DIRECTORY", "SKILL_FILE_MISSING":
			found = append(found, fmt.Sprintf("%s %s %s", d.Severity, d.Code, d.Path))
		}
	}
	return found
}

func TestLintReportsIgnoredCommands(t *testing.T) {
	const command, prompt = "---\ndescription: d\n---\n", "prompt = \"\"\"Do it.\"\"\"\n"
	nested := []toolshelf.Option{toolshelf.WithNestedCommands()}
	for _, tt := range []struct {
		behaviour string
		options   []toolshelf.Option
		files     map[string]string // below commands
		want      []string
	}{
		{"files in subdirectories", nil, map[string]string{"a.md": "", "git/commit.md": "", "git/deep/b.md": "", "x/y/c.md": ""},
			[]string{"warning SUBDIRECTORY_NOT_READ commands/git", "warning SUBDIRECTORY_NOT_READ commands/x"}},
		{"files in subdirectories that the program reads", nested, map[string]string{"a.md": "", "git/commit.md": ""}, nil},
		{"subdirectories without commands", nil, map[string]string{"a.md": "", "doc/README.md": "", "src/a.go": "", ".git/a.md": "", "pdf/SKILL.md": "", "pdf/forms/x.md": "", "group/pdf/SKILL.md": "", "group/pdf/forms/x.md": "", "node_modules/x/a.md": ""}, nil},
		{"Markdown with another extension", nil, map[string]string{"a.markdown": "", "b.MDC": "Text."},
			[]string{"warning EXTENSION_NOT_READ commands/a.markdown", "warning EXTENSION_NOT_READ commands/b.MDC"}},
		{"Markdown with another extension in a subdirectory", nested, map[string]string{"git/a.mdc": "", "b.md": ""}, []string{"warning EXTENSION_NOT_READ commands/git/a.mdc"}},
		{"a TOML file with a prompt", nil, map[string]string{"a.toml": prompt, "b.toml": "description = \"d\"\n", "Cargo.toml": "[package]\nname = \"x\"\n", "broken.toml": "prompt"},
			[]string{"warning EXTENSION_NOT_READ commands/a.toml"}},
		{"a text file that is written as a command", nil, map[string]string{"a.txt": command, "b.txt": "Fix $ARGUMENTS.", "notes.txt": "Buy milk.", "requirements.txt": "flask"},
			[]string{"warning EXTENSION_NOT_READ commands/a.txt", "warning EXTENSION_NOT_READ commands/b.txt"}},
		{"files that resemble no command", nil, map[string]string{"README.markdown": "", "License.txt": command, "CHANGELOG.mdc": "", "a.go": "", "b.json": "", "c.mdx": "", ".d.mdc": "", "e f.mdc": ""}, nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files["commands/"+name] = text
			}
			must.Match(t, "diagnostics", tt.want, ignoredFiles(lint(t, files, append(tt.options, toolshelf.WithSkillsDir())...)))
		})
	}
}

// The files of an embed.FS begin at the directory of the Go file.
func TestLintReportsAFilesystemWithoutFilesAtTheTop(t *testing.T) {
	skill := &fstest.MapFile{Data: []byte(skillNamed("pdf"))}
	for _, tt := range []struct {
		behaviour string
		files     fstest.MapFS
		options   []toolshelf.Option
		want      []string // as "path: suggestion"
	}{
		{"one directory", fstest.MapFS{"commands/a.md": {}, "commands/git/b.md": {}}, nil, []string{`built in/commands: pass the result of fs.Sub(fsys, "commands")`}},
		{"a hidden directory", fstest.MapFS{".claude/commands/a.md": {}, "doc.go": {}}, []toolshelf.Option{toolshelf.WithNestedCommands()},
			[]string{`built in/.claude/commands: pass the result of fs.Sub(fsys, ".claude/commands")`}},
		{"commands and skills", fstest.MapFS{"commands/a.md": {}, "skills/pdf/SKILL.md": skill, "skills/pdf/forms.md": {}}, nil,
			[]string{`built in/commands: pass the result of fs.Sub(fsys, "commands")`, `built in/skills: pass the result of fs.Sub(fsys, "skills")`}},
		{"files of a skill", fstest.MapFS{"skills/pdf/SKILL.md": skill, "skills/pdf/references/forms.md": {}}, nil, []string{`built in/skills: pass the result of fs.Sub(fsys, "skills")`}},
		{"commands at the top", fstest.MapFS{"a.md": {}, "commands/b.md": {}, "pdf/SKILL.md": skill}, nil, nil},
		{"nested commands", fstest.MapFS{"commands/a.md": {}}, []toolshelf.Option{toolshelf.WithNestedCommands()}, nil},
		{"several directories", fstest.MapFS{"a/a.md": {}, "b/b.md": {}}, nil, nil},
		{"nothing", fstest.MapFS{"doc.go": {}}, nil, nil},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			c := catalog(t, append(tt.options, toolshelf.WithCommandsFS("built in", tt.files), toolshelf.WithSkillsFS("built in", tt.files))...)
			diagnostics := must.Get(c.Lint(t.Context()))(t)
			checkCodes(t, diagnostics)
			var got []string
			for _, d := range diagnostics {
				if d.Code == "FILESYSTEM_TOP_EMPTY" {
					got = append(got, d.Path+": "+d.Suggestion)
				}
				if d.Code == "SKILL_FILE_MISSING" && strings.HasPrefix(d.Path, "built in/skills") {
					t.Errorf("a second report of the directory: %v", d)
				}
			}
			must.Match(t, "diagnostics", tt.want, got)
		})
	}
}

func TestLintReferencesOfLayers(t *testing.T) {
	for _, tt := range []struct {
		behaviour string
		options   []toolshelf.Option
		want      int
	}{
		{"the file is in another layer", []toolshelf.Option{toolshelf.WithCommandsDir("own", "team")}, 0},
		{"the file is in no layer", []toolshelf.Option{toolshelf.WithCommandsDir("own")}, 2},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			got := 0
			for _, d := range lint(t, map[string]string{"own/a.md": "[r](rules.md) and [s](the-rules.md)", "team/rules.md": "", "team/the-rules.md": ""}, tt.options...) {
				if d.Code == "REFERENCE_NOT_FOUND" {
					got++
				}
			}
			must.Equal(t, "got", tt.want, got)
		})
	}
}

func TestLintOfPlacesWithOtherEndings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		client client.Client
		files  map[string]string
		want   []string
	}{
		{"a file without .prompt", client.VSCode(), map[string]string{".github/prompts/a.md": "", ".github/prompts/README.md": "", ".github/prompts/b.prompt.md": "---\ndescription: d\n---\n"},
			[]string{"EXTENSION_NOT_READ .github/prompts/a.md"}},
		{"two endings in one directory", client.Qwen(), map[string]string{".qwen/commands/a.toml": "description = 'd'\nprompt = 'x'", ".qwen/commands/b.md": "---\ndescription: d\n---\n"}, nil},
		{"a TOML file beside Markdown files", client.Claude(), map[string]string{".claude/commands/a.toml": "prompt = 'x'"}, []string{"EXTENSION_NOT_READ .claude/commands/a.toml"}},
		{"subdirectories that the client does not read", client.Cursor(), map[string]string{".cursor/commands/git/a.md": ""}, []string{"SUBDIRECTORY_NOT_READ .cursor/commands/git"}},
		{"TOML without a prompt", client.Gemini(), map[string]string{".gemini/commands/a.toml": "description = 'd'"}, []string{"NO_TEXT .gemini/commands/a.toml"}},
		{"arguments in quotes of a command", client.Gemini(), map[string]string{".gemini/commands/a.toml": "description = 'd'\nprompt = 'Run !{grep -e \"x {{args}}\" .}.'", ".gemini/commands/b.toml": "description = 'd'\nprompt = 'Run !{echo \"x\" {{args}}} \"{{args}}\".'"},
			[]string{"PLACEHOLDER_QUOTED .gemini/commands/a.toml"}},
		{"arguments in quotes of a command in Markdown", client.Qwen(), map[string]string{".qwen/commands/a.md": "---\ndescription: d\n---\n!{echo 'it''s {{args}}'}"}, []string{"PLACEHOLDER_QUOTED .qwen/commands/a.md"}},
		{"TOML that is not valid", client.Gemini(), map[string]string{".gemini/commands/git/a.toml": "description = 'd'\nprompt = x"}, []string{"FRONTMATTER_INVALID .gemini/commands/git/a.toml"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := problems(t, catalog(t, toolshelf.WithFs(memoryOf(t, tt.files)), toolshelf.WithClient(tt.client)))
			must.Match(t, "problems", tt.want, got)
		})
	}
}

func TestWatchOfTwoPlacesInOneDirectory(t *testing.T) {
	root := diskOf(t, map[string]string{".qwen/commands/a.md": "", ".qwen/commands/b.toml": "prompt = 'x'"})
	c, err := toolshelf.New(toolshelf.WithRoot(root), toolshelf.WithHome(""), toolshelf.WithClient(client.Qwen()), toolshelf.WithWatch())
	if err != nil {
		t.Skipf("no watch here: %v", err)
	}
	defer c.Close()
	must.Match(t, "names", []string{"a", "b"}, names(t, c))
	for _, file := range []string{"c.md", "d.toml"} {
		must.Do(t, os.WriteFile(filepath.Join(root, ".qwen", "commands", file), []byte("prompt = 'x'"), 0o644))
	}
	for _, name := range []string{"c", "d"} {
		must.Get(c.Get(t.Context(), name))(t)
	}
}

// strictFiles has skills and commands that OpenCode and Gemini CLI reject, and others.
var strictFiles = filesOf("strict")

func TestStrictLoadsOnlyTheFilesThatAClientLoads(t *testing.T) {
	gemini := client.Gemini()
	gemini.Skills = []client.Place{{Dir: "skills", Pattern: "*/SKILL.md"}}
	for _, tt := range []struct {
		name     string
		options  []toolshelf.Option
		skills   []string // loadable
		commands []string
	}{
		{"no client", nil, []string{"bare", "good", "odd", "silent"}, []string{"a", "b", "c", "d:e"}},
		{"Claude Code", []toolshelf.Option{toolshelf.WithStrict(client.Claude())}, []string{"bare", "good", "odd", "silent"}, []string{"a", "b", "d:e"}},
		{"Gemini CLI", []toolshelf.Option{toolshelf.WithStrict(gemini)}, []string{"good", "odd"}, []string{"a", "d:e"}},
		{"Agent Skills", []toolshelf.Option{toolshelf.WithStrict(client.AgentSkills())}, []string{"good"}, []string{"a", "b", "d:e"}},
		{"the last of two clients", []toolshelf.Option{toolshelf.WithStrict(client.AgentSkills()), toolshelf.WithStrict(gemini)}, []string{"good", "odd"}, []string{"a", "d:e"}},
	} {
		for system, fsys := range map[string]toolshelf.Option{
			"memory": toolshelf.WithFs(memoryOf(t, strictFiles)), "disk": toolshelf.WithRoot(diskOf(t, strictFiles)),
		} {
			t.Run(tt.name+" "+system, func(t *testing.T) {
				c := catalog(t, append([]toolshelf.Option{fsys, toolshelf.WithClient(gemini), toolshelf.WithHome("")}, tt.options...)...)
				var loadable, commands, found []string
				infos, err := c.ListSkills(t.Context())
				if err != nil || len(infos) != 4 {
					t.Fatalf("%d skills, %v", len(infos), err)
				}
				for _, s := range infos {
					skill, err := c.GetSkill(t.Context(), s.Name)
					must.Equal(t, s.Name, err == nil, s.Loadable)
					must.Equal(t, s.Name, skill.Loadable, s.Loadable)
					if s.Loadable {
						loadable = append(loadable, s.Name)
						continue
					}
					if !errors.Is(err, toolshelf.ErrFileRead) || s.Path == "" || len(s.Diagnostics) == 0 || s.Diagnostics[0].Severity != toolshelf.SeverityError ||
						!strings.Contains(err.Error(), s.Diagnostics[0].Message) {
						t.Errorf("%s: %v, diagnostics %v", s.Name, err, s.Diagnostics)
					}
				}
				for info, err := range c.All(t.Context()) {
					must.Do(t, err)
					commands = append(commands, info.Name)
					must.Get(c.Get(t.Context(), info.Name))(t)
				}
				must.Match(t, "skills and commands", tt.skills, loadable)
				must.Match(t, "skills and commands", tt.commands, commands)
				for skill, err := range c.Skills(t.Context()) {
					if err != nil || skill.Loadable != slices.Contains(tt.skills, skill.Name) || skill.Loadable != (skill.Content != "") || !skill.Loadable && len(skill.Diagnostics) == 0 {
						t.Errorf("Skills: %s is loadable: %t, %v", skill.Name, skill.Loadable, err)
					}
				}
				for command, err := range c.Commands(t.Context()) {
					if err != nil || command.Loadable != slices.Contains(tt.commands, command.Name) || !command.Loadable && len(command.Diagnostics) == 0 {
						t.Errorf("Commands: %s is loadable: %t, %v", command.Name, command.Loadable, err)
					}
				}
				prompt := must.Get(c.SkillsPrompt(t.Context()))(t)
				for _, hit := range must.Get(c.SearchSkills(t.Context(), "words", 10))(t).Results {
					found = append(found, hit.Name)
				}
				for _, s := range infos {
					if listed := strings.Contains(prompt.Text, "<name>"+s.Name+"<"); listed && !s.Loadable {
						t.Errorf("the prompt has %s", s.Name)
					}
					must.Equal(t, "the search", s.Loadable, slices.Contains(found, s.Name))
				}
			})
		}
	}
}

func TestARowThatIsNotValidIsAnError(t *testing.T) {
	row := client.Client{Name: "mine", Fields: []client.Field{{Required: true}}}
	_, err := toolshelf.New(toolshelf.WithStrict(row))
	if want := `WithStrict: the field "" of the client "mine": the field has no name`; !errors.Is(err, toolshelf.ErrInvalidOption) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	found, err := catalog(t, toolshelf.WithFs(memoryOf(t, strictFiles))).Lint(t.Context(), toolshelf.LintFor(row))
	if want := `LintFor: the field "" of the client "mine": the field has no name`; !errors.Is(err, toolshelf.ErrInvalidOption) || !strings.Contains(err.Error(), want) || found != nil {
		t.Errorf("got %v, %v, want %s", found, err, want)
	}
}

func TestAnUnknownKeyIsAWarningInASkillAndInACommandOnlyIfMisspelled(t *testing.T) {
	files := memoryOf(t, map[string]string{"commands/a.md": "---\ndescription: d\nalwaysApply: true\nargument_hint: a\n---\n$1\n", "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: d\nalwaysApply: true\n---\n"})
	found := must.Get(catalog(t, toolshelf.WithFs(files)).Lint(t.Context(), toolshelf.LintFor(client.Claude())))(t)
	var got []string
	for _, d := range found {
		if d.Code != agentmd.DiagPlaceholderMiscounted {
			got = append(got, fmt.Sprint(d.Severity, " ", d.Code, " ", d.Key))
		}
	}
	must.Match(t, "diagnostics", []string{"warning FIELD_MISSPELLED argument_hint", "warning SKILL_FIELD_UNEXPECTED alwaysApply"}, got)
}

func TestStrictJudgesTheHeadAndTheWholeFileAlike(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, strictFiles)), toolshelf.WithCommandsDir(), toolshelf.WithStrict(client.OpenCode()))
	diagnostics := must.Get(c.Lint(t.Context(), toolshelf.LintFor(client.OpenCode())))(t)
	var ofLint, ofList []toolshelf.Diagnostic
	for _, d := range diagnostics {
		if d.Severity == toolshelf.SeverityError {
			ofLint = append(ofLint, d)
		}
	}
	for _, s := range must.Get(c.ListSkills(t.Context()))(t) {
		for _, d := range s.Diagnostics {
			if d.Severity == toolshelf.SeverityError {
				ofList = append(ofList, d)
			}
		}
	}
	slices.SortFunc(ofList, func(a, b toolshelf.Diagnostic) int { return strings.Compare(a.Path, b.Path) })
	must.Match(t, "ofList", ofLint, ofList)
	must.Len(t, "ofLint", 2, ofLint)
}

// A file that becomes invalid or valid between two calls is judged by its present text.
func TestStrictJudgesAChangedFile(t *testing.T) {
	for name, options := range map[string][]toolshelf.Option{"validated": nil, "for an hour": {toolshelf.WithCacheTTL(time.Hour)}} {
		t.Run(name, func(t *testing.T) {
			dir := diskOf(t, map[string]string{"skills/a/SKILL.md": skillFile("a"), "commands/a.md": "---\nmodel: m\n---\nText.\n"})
			mine := client.Client{Fields: []client.Field{{Name: "description", Files: client.Skills, Required: true}, {Name: "model", Files: client.Commands, Required: true}}}
			c := catalog(t, append(options, toolshelf.WithRoot(dir), toolshelf.WithStrict(mine))...)
			loads := func(want bool) {
				t.Helper()
				if _, err := c.GetSkill(t.Context(), "a"); (err == nil) != want || err != nil && !errors.Is(err, toolshelf.ErrFileRead) {
					t.Errorf("GetSkill: %v", err)
				}
				if _, err := c.Get(t.Context(), "a"); (err == nil) != want || err != nil && !errors.Is(err, toolshelf.ErrFileRead) {
					t.Errorf("Get: %v", err)
				}
			}
			write := func(file, text string) {
				t.Helper()
				must.Do(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644))
			}
			loads(true)
			write("skills/a/SKILL.md", "---\nname: a\n---\nA longer text.\n")
			write("commands/a.md", "---\ndescription: a longer text\n---\n")
			loads(false)
			if options != nil {
				return // the list has the earlier state for an hour
			}
			write("skills/a/SKILL.md", skillFile("a")+"more\n")
			write("commands/a.md", "---\nmodel: m\n---\nText and more.\n")
			loads(true)
			loads(true)
		})
	}
}

// A file that becomes invalid after a list, with the size and the time of the valid file, is not
// served by a call that trusts the list.
func TestStrictJudgesTheTextThatACallReads(t *testing.T) {
	const valid, invalid = "---\nmodel: a\ndescription: d\n---\nValid.\n", "---\nmodel: a\ndescriptiox: d\n---\nOther.\n"
	mine := client.Client{Fields: []client.Field{{Name: "description", Files: client.Skills | client.Commands, Required: true}}}
	fsys := memoryOf(t, nil)
	write := func(text string) {
		t.Helper()
		for _, file := range []string{"skills/a/SKILL.md", "commands/a.md"} {
			must.Do(t, errors.Join(afero.WriteFile(fsys, file, []byte(text), 0o644), fsys.Chtimes(file, time.Unix(1e9, 0), time.Unix(1e9, 0))))
		}
	}
	write(valid)
	must.Do(t, afero.WriteFile(fsys, "skills/a/x.txt", nil, 0o644))
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithStrict(mine), toolshelf.WithCacheTTL(time.Hour))
	skill := must.Get(c.GetSkill(t.Context(), "a"))(t)
	names(t, c)
	write(invalid)
	for s, err := range c.Skills(t.Context()) {
		if err != nil || s.Loadable || s.Content != "" || len(s.Diagnostics) != 1 || s.Diagnostics[0].Code != agentmd.DiagSkillDescriptionMissing {
			t.Errorf("Skills: loadable %t, %q, %v, %v", s.Loadable, s.Content, s.Diagnostics, err)
		}
	}
	for command, err := range c.Commands(t.Context()) {
		if err != nil || command.Loadable || command.Content != "" || len(command.Diagnostics) != 1 || command.Diagnostics[0].Code != agentmd.DiagFieldMissing {
			t.Errorf("Commands: loadable %t, %q, %v, %v", command.Loadable, command.Content, command.Diagnostics, err)
		}
	}
	calls := map[string]func() error{
		"Get":                    func() error { _, err := c.Get(t.Context(), "a"); return err },
		"GetSkill":               func() error { _, err := c.GetSkill(t.Context(), "a"); return err },
		"ReadSkillFile SKILL.md": func() error { _, err := c.ReadSkillFile(t.Context(), "a", "SKILL.md"); return err },
		"ReadSkillFile x.txt":    func() error { _, err := c.ReadSkillFile(t.Context(), "a", "x.txt"); return err },
		"Skill.FS":               func() error { _, err := fs.ReadFile(skill.FS(), "SKILL.md"); return err },
	}
	for name, call := range calls {
		must.Is(t, name, toolshelf.ErrFileRead, call())
	}
	write(valid)
	for name, call := range calls {
		must.Is(t, name, nil, call())
	}
}

func TestOnChangeReportsAFileThatBecomesInvalid(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"skills/a/SKILL.md": skillFile("a")})
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCommandsDir(), toolshelf.WithStrict(client.Codex()))
	changes := make(chan toolshelf.Change, 9)
	list := func() bool {
		t.Helper()
		infos := must.Get(c.ListSkills(t.Context()))(t)
		must.Len(t, "infos", 1, infos)
		return infos[0].Loadable
	}
	must.Equal(t, "list", true, list())
	defer c.OnChange(func(change toolshelf.Change) { changes <- change })()
	for _, text := range []string{"---\nname: a\n---\n", skillFile("a")} {
		must.Do(t, afero.WriteFile(fsys, "skills/a/SKILL.md", []byte(text), 0o644))
		must.Equal(t, text, text == skillFile("a"), list())
		<-changes // the test hangs without a report
	}
}

func TestARejectedFileHidesTheFilesOfItsNameBelow(t *testing.T) {
	files := map[string]string{"above/a/SKILL.md": "---\nname: a\n---\n", "below/a/SKILL.md": skillFile("a")}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir("above", "below"), toolshelf.WithStrict(client.Codex()))
	infos, err := c.ListSkills(t.Context())
	if err != nil || len(infos) != 1 || infos[0].Loadable || infos[0].Layer != "above" {
		t.Errorf("%+v, %v", infos, err)
	}
}

func TestALayerThatIsASkillItselfIsJudgedByItsName(t *testing.T) {
	fsys := fstest.MapFS{"SKILL.md": {Data: []byte(skillFile("pdf"))}}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, nil)), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("team", fsys),
		toolshelf.WithStrict(client.AgentSkills()))
	must.Equal(t, "skill.Loadable", true, must.Get(c.GetSkill(t.Context(), "pdf"))(t).Loadable)
	fsys["SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: PDF\ndescription: d\n---\n")}
	infos := must.Get(c.ListSkills(t.Context()))(t)
	must.Len(t, "infos", 1, infos)
	must.Equal(t, "Loadable", false, infos[0].Loadable)
}
