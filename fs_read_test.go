package toolshelf_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// numbered returns the lines from "1" to n, each with the same number of bytes.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%015d\n", i+1)
	}
	return b.String()
}

// readOptions returns the options of the words of a question.
func readOptions(t *testing.T, words []string) (options []toolshelf.ReadOption) {
	for _, word := range words {
		var a, b int
		name, values, _ := strings.Cut(word, "=")
		must.Get(fmt.Sscanf(strings.Replace(values+",0", ",", " ", 1), "%d %d", &a, &b))(t)
		options = append(options, map[string]toolshelf.ReadOption{
			"lines": toolshelf.Lines(a, b), "bytes": toolshelf.MaxBytes(a),
			"column": toolshelf.Column(int64(a)),
		}[name])
	}
	return options
}

// TestReadFile asks the questions of testdata/read_file.txt, which describes the questions.
func TestReadFile(t *testing.T) {
	questions := string(must.Get(os.ReadFile("testdata/read_file.txt"))(t))
	must.Answer(t, questions, map[string]func(t *testing.T, a ...string) string{
		"read": func(t *testing.T, a ...string) string {
			files := map[string]string{"dir/a": a[0]}
			archive := afero.FromIOFS{FS: catalogtest.Archive(t, files)}
			answers := map[string]bool{}
			for _, option := range []toolshelf.Option{
				toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithRoot(diskOf(t, files)),
				toolshelf.WithFs(archive),
			} {
				c := catalog(t, option)
				got := must.Get(c.ReadFile(t.Context(), "dir/a", readOptions(t, a[1:])...))(t)
				answers[string(must.Get(json.Marshal(got))(t))] = true
			}
			return strings.Join(slices.Collect(maps.Keys(answers)), " or ")
		},
		"text": func(t *testing.T, a ...string) string {
			file := strings.Replace(a[0], "numbered", numbered(70_000), 1)
			c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"a": file})))
			text := must.Get(c.ReadFile(t.Context(), "a", readOptions(t, a[1:])...))(t)
			return strconv.Quote(text.String())
		},
	})
}

// withoutReadAt returns a filesystem on which ReadAt of each file fails.
func withoutReadAt(fsys afero.Fs, err error) hook {
	return hook{Fs: fsys, file: func(f afero.File) afero.File {
		return reading{f, f.Read, func([]byte, int64) (int, error) { return 0, err }}
	}}
}

func TestEveryMethodReadsFilesOnWhichReadAtFails(t *testing.T) {
	files := map[string]string{"commands/a.md": "---\ndescription: d\n---\nSome words.\n", "skills/s/SKILL.md": skillFile("s"), ".gitignore": "b\n", "b": "words\n"}
	texts := func(c *toolshelf.Catalog) (all []string) {
		t.Helper()
		list, listErr := c.List(t.Context(), toolshelf.Page{})
		command, commandErr := c.Get(t.Context(), "a")
		skill, skillErr := c.GetSkill(t.Context(), "s")
		tree, treeErr := c.Tree(t.Context(), "", toolshelf.Gitignore())
		lines, grepErr := c.Grep(t.Context(), "", "words")
		text, textErr := c.ReadFile(t.Context(), "b")
		must.Do(t, errors.Join(listErr, commandErr, skillErr, treeErr, grepErr, textErr))
		must.Len(t, "list.Commands", 1, list.Commands)
		return []string{list.Commands[0].Description, command.Content, skill.Content, tree.String(), lines.String(), text.String()}
	}
	want := texts(catalog(t, toolshelf.WithFs(memoryOf(t, files))))
	for _, tt := range []struct {
		err  error
		fsys func(afero.Fs) afero.Fs
	}{
		{errors.ErrUnsupported, func(fsys afero.Fs) afero.Fs { return fsys }},
		{fs.ErrInvalid, func(fsys afero.Fs) afero.Fs { return fsys }},
		{errors.New("not supported"), func(fsys afero.Fs) afero.Fs { return fsys }},
		{errors.ErrUnsupported, func(fsys afero.Fs) afero.Fs { return afero.FromIOFS{FS: afero.NewIOFS(fsys)} }},
		{fs.ErrInvalid, func(fsys afero.Fs) afero.Fs { return afero.FromIOFS{FS: afero.NewIOFS(fsys)} }},
	} {
		fsys := tt.fsys(withoutReadAt(memoryOf(t, files), tt.err))
		must.Match(t, "texts", want, texts(catalog(t, toolshelf.WithFs(fsys))))
	}
}

// TestReadFileOfLargeFiles reads a file whose lines ReadFile does not count.
func TestReadFileAroundALine(t *testing.T) {
	long := "func long() {\n" + strings.Repeat("\tcall()\n", 100) + "}\n"
	files := map[string]string{
		"a.go":     "package a\n\nfunc f() {\n\tif x {\n\t\tg()\n\t}\n}\n\nvar y int\n",
		"old.txt":  "f {\r  g\r}\rh",
		"utf16.go": "\xff\xfef\x00{\x00\n\x00 \x00g\x00\n\x00}\x00\n\x00",
		"long.go":  long,
		"far.go":   strings.Repeat("x\n", 5000) + "f {\n\tg\n}\n",
		"wide.txt": strings.Repeat("x", 2<<20) + "\nf {\n\tg\n}\n",
	}
	for name, c := range map[string]*toolshelf.Catalog{
		"memory": catalog(t, toolshelf.WithFs(memoryOf(t, files))),
		"disk":   catalog(t, toolshelf.WithRoot(diskOf(t, files))),
	} {
		for _, tt := range []struct {
			file        string
			line, max   int
			first, last int
			truncated   bool
		}{
			{"a.go", 5, 0, 3, 7, false},
			{"a.go", 9, 0, 9, 9, false},
			{"a.go", 10, 0, 0, 0, false},
			{"old.txt", 2, 0, 1, 3, false},
			{"utf16.go", 2, 0, 1, 3, false},
			{"long.go", 90, 0, 1, 102, false},
			{"long.go", 90, 100, 85, 96, true},
			{"far.go", 5002, 0, 5001, 5003, false},
			{"wide.txt", 3, 0, 3, 3, false}, // the window ends in the first line
		} {
			text, err := c.ReadFile(t.Context(), tt.file, toolshelf.Around(tt.line), toolshelf.MaxBytes(tt.max))
			if err != nil || text.First != tt.first || text.Last != tt.last || text.Truncated != tt.truncated {
				t.Errorf("%s: %s around %d: lines %d to %d, truncated %t, %v; want %d to %d", name, tt.file, tt.line, text.First, text.Last, text.Truncated, err, tt.first, tt.last)
			}
		}
		_, err := c.ReadFile(t.Context(), "a.go", toolshelf.Around(5), toolshelf.Lines(1, 2))
		checkError(t, name, err, toolshelf.ErrInvalidOption, "Around: Lines and Column select other lines; omit these options")
	}
}

func TestReadFileOfLargeFiles(t *testing.T) {
	const n = 100_000
	content := numbered(n)
	line := func(i int) string { return fmt.Sprintf("%015d\n", i) }
	for _, kind := range []struct {
		name    string
		options []toolshelf.Option
		inOrder bool
	}{
		{"memory", []toolshelf.Option{toolshelf.WithFs(memoryOf(t, map[string]string{"a": content}))}, false},
		{"disk", []toolshelf.Option{toolshelf.WithRoot(diskOf(t, map[string]string{"a": content}))}, false},
		{"archive", []toolshelf.Option{toolshelf.WithFs(afero.FromIOFS{FS: catalogtest.Archive(t, map[string]string{"a": content})})}, true},
		{"ReadAt fails", []toolshelf.Option{toolshelf.WithFs(withoutReadAt(memoryOf(t, map[string]string{"a": content}), errors.New("not supported")))}, true},
		{"ReadAt fails as beyond the end", []toolshelf.Option{toolshelf.WithFs(withoutReadAt(memoryOf(t, map[string]string{"a": content}), fs.ErrInvalid))}, true},
	} {
		t.Run(kind.name, func(t *testing.T) {
			c := catalog(t, kind.options...)
			read := func(options ...toolshelf.ReadOption) toolshelf.FileText {
				t.Helper()
				return must.Get(c.ReadFile(t.Context(), "a", options...))(t)
			}
			ignore := cmpopts.IgnoreFields(toolshelf.FileText{}, "Path", "Size", "Encoding", "LineEnding")
			want := toolshelf.FileText{Text: line(n-1) + line(n), First: -2, Last: -1, Total: -1}
			if kind.inOrder {
				want.First, want.Last, want.Total = n-1, n, n
			}
			must.Match(t, "the last lines", want, read(toolshelf.Lines(-2, 0)), ignore)
			want = toolshelf.FileText{Text: line(n - 2), First: -3, Last: -3, Total: -1, NextLine: -2, Truncated: true}
			if kind.inOrder {
				want.First, want.Last, want.Total, want.NextLine = n-2, n-2, n, n-1
			}
			must.Match(t, "a page of the last lines", want, read(toolshelf.Lines(-3, -2), toolshelf.MaxBytes(16)), ignore)
			want = toolshelf.FileText{Text: line(70_000), First: 70_000, Last: 70_000, Total: -1, NextLine: 70_001}
			if diff := cmp.Diff(want, read(toolshelf.Lines(70_000, 70_000)), ignore); diff != "" && !kind.inOrder {
				t.Errorf("a line in the middle (-want +got):\n%s", diff)
			}
			want.Text, want.Last, want.NextLine, want.Total = line(70_000)+line(70_001), 70_001, 70_002, n
			must.Match(t, "a range between both ends", want, read(toolshelf.Lines(-(n-69_999), 70_001)), ignore)
			joined, next := "", 1
			for next != 0 {
				text := read(toolshelf.Lines(next, 0), toolshelf.MaxBytes(400_000))
				joined, next = joined+text.Text, text.NextLine
			}
			must.Equal(t, "joined", content, joined)
			if last := read(toolshelf.Lines(n, n)); last.Text != line(n) || last.Total != n {
				t.Errorf("the last line: %+v", last)
			}
		})
	}
}

func TestReadFileErrors(t *testing.T) {
	files := map[string]string{
		"src/a.go": "package a\n", "logo.png": "\x89PNG\x0D\x0A\x1A\x0A\x00\x00", "data.bin": "a\x00b", "utf32": "\xff\xfe\x00\x00a\x00\x00\x00",
		"locked": "x", "broken": "x",
	}
	fsys := catalogtest.Faulty{Fs: memoryOf(t, files), Opens: map[string]error{"locked": fs.ErrPermission, "broken": errors.New("disk on fire")}}
	c := catalog(t, toolshelf.WithFs(fsys))
	for _, tt := range []struct {
		path    string
		want    *toolshelf.Error
		message string
	}{
		{"logo.png", toolshelf.ErrNotText, "'logo.png' is not text: image/png, 10 B; use a tool for this type of file"},
		{"data.bin", toolshelf.ErrNotText, "'data.bin' is not text: application/octet-stream, 3 B; use a tool for this type of file"},
		{"utf32", toolshelf.ErrNotText, "'utf32' is not text: application/octet-stream, 8 B; use a tool for this type of file"},
		{"src", toolshelf.ErrFileRead, "'src/' is a directory, not a file; list the directory and choose a file"},
		{".", toolshelf.ErrFileRead, "'./' is a directory, not a file; list the directory and choose a file"},
		{"src/b.go", toolshelf.ErrNotFound, "File 'src/b.go' not found; did you mean 'src/a.go'?"},
		{"locked", toolshelf.ErrPermissionDenied, "Cannot read 'locked'"},
		{"broken", toolshelf.ErrFileRead, "Cannot read 'broken': disk on fire"},
		{"../a", toolshelf.ErrOutsideRoot, "Path '../a' is outside project root"},
	} {
		_, err := c.ReadFile(t.Context(), tt.path)
		checkError(t, fmt.Sprintf("ReadFile(%q)", tt.path), err, tt.want, tt.message)
	}
	_, err := catalog(t, toolshelf.WithRoot(filepath.Join(t.TempDir(), "missing"))).ReadFile(t.Context(), "a")
	must.Is(t, "without a root", toolshelf.ErrDirectoryNotFound, err)
}

func TestReadFileFollowsLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows makes a symbolic link only with a privilege")
	}
	root, outside := diskOf(t, map[string]string{"dir/a": "inside\n"}), diskOf(t, map[string]string{"a": "outside"})
	for link, target := range map[string]string{"link": "dir/a", "linked": "dir", "out": filepath.Join(outside, "a"), "outdir": outside, "missing": filepath.Join(outside, "b")} {
		hosttest.Symlink(t, target, filepath.Join(root, link))
	}
	c := catalog(t, toolshelf.WithRoot(root))
	for _, name := range []string{"link", "linked/a", filepath.Join(root, "link")} {
		must.Equal(t, name, "inside\n", must.Get(c.ReadFile(t.Context(), name))(t).Text)
	}
	for _, name := range []string{"out", "outdir/a", "outdir/b", "missing"} {
		_, err := c.ReadFile(t.Context(), name)
		checkError(t, name, err, toolshelf.ErrOutsideRoot, "Path '"+name+"' is outside project root")
	}
	denied := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSymlinks(toolshelf.SymlinksDeny))
	_, err := denied.ReadFile(t.Context(), "link")
	checkError(t, "link", err, toolshelf.ErrOutsideRoot, "Path 'link' contains a symbolic link that is not followed; use a path without links")
	for _, policy := range []toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, outside), toolshelf.WithSymlinks(toolshelf.SymlinksAll)} {
		trusted := catalog(t, toolshelf.WithRoot(root), policy)
		must.Equal(t, "a link to a trusted directory", "outside",
			must.Get(trusted.ReadFile(t.Context(), "out"))(t).Text)
		must.Fail(trusted.ReadFile(t.Context(), outside))(t, "a path outside without a link", toolshelf.ErrOutsideRoot)
	}
}

// changing returns a filesystem that counts the reads, and calls a function before each read.
func changing(fsys afero.Fs, reads *int, change func(read int)) hook {
	return hook{Fs: fsys, file: func(f afero.File) afero.File {
		return reading{f, f.Read, func(p []byte, offset int64) (int, error) {
			*reads++
			change(*reads)
			return f.ReadAt(p, offset)
		}}
	}}
}

func TestReadFileOfAFileThatChanges(t *testing.T) {
	content := numbered(20_000) // 320 KB
	for _, tt := range []struct {
		rule    string
		change  func(fsys afero.Fs) error
		want    string
		changed bool
	}{
		{"the file grows", func(fsys afero.Fs) error {
			f, err := fsys.OpenFile("a", os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("more\n")
			}
			return errors.Join(err, f.Close())
		}, content, true},
		{"the file shrinks", func(fsys afero.Fs) error {
			f, err := fsys.OpenFile("a", os.O_WRONLY, 0)
			if err == nil {
				err = f.Truncate(100_008)
			}
			return errors.Join(err, f.Close())
		}, content[:100_008], true},
		{"the file vanishes", func(fsys afero.Fs) error { return fsys.Remove("a") }, content, false},
		{"another file replaces the file", func(fsys afero.Fs) error {
			return errors.Join(afero.WriteFile(fsys, "b", []byte("other\n"), 0o644), fsys.Rename("b", "a"))
		}, content, false},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			fsys := memoryOf(t, map[string]string{"a": content})
			reads := 0
			c := catalog(t, toolshelf.WithFs(changing(fsys, &reads, func(read int) {
				if read == 3 { // after the probe and the first chunk
					must.Do(t, tt.change(fsys))
				}
			})))
			text := must.Get(c.ReadFile(t.Context(), "a", toolshelf.MaxBytes(1<<20)))(t)
			if text.Text != tt.want || text.Changed != tt.changed || text.NextLine != 0 {
				t.Errorf("%d bytes, changed: %v, next line %d; want %d bytes, changed: %v", len(text.Text), text.Changed, text.NextLine, len(tt.want), tt.changed)
			}
			must.Equal(t, "the text has a warning", tt.changed, strings.Contains(text.String(), "changed"))
		})
	}
}

// The context is checked between two reads.
func TestReadFileEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	c := catalog(t, toolshelf.WithFs(changing(memoryOf(t, map[string]string{"a": numbered(100_000)}), &reads, func(read int) {
		if read == 4 {
			cancel()
		}
	})))
	if _, err := c.ReadFile(ctx, "a", toolshelf.Lines(90_000, 0)); err != context.Canceled {
		t.Error(err)
	}
	c.Close() // waits for the read
	if reads > 5 {
		t.Errorf("%d reads", reads)
	}
}

// hostilePaths returns the names of the table "Names of Windows" in docs/platforms.md, with the
// answer of a catalog on this system.
func hostilePaths(t *testing.T) map[string]string {
	t.Helper()
	page := must.Get(os.ReadFile("docs/platforms.md"))(t)
	_, section, _ := strings.Cut(string(page), "\n## Names of Windows\n")
	section, _, _ = strings.Cut(section, "\n## ")
	answers := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			name, answer := strings.Trim(name, "`"), cells[4]
			if runtime.GOOS == "windows" {
				answer = cells[3]
				if strings.Contains(answer, "or an ordinary name") {
					answer = map[bool]string{true: "an ordinary name", false: "`NOT_FOUND`"}[filepath.IsLocal(name)]
				}
			}
			answers[name] = answer
		}
	}
	if len(answers) < 40 {
		t.Fatalf("docs/platforms.md has %d names", len(answers))
	}
	return answers
}

func TestEachHostilePathHasTheDocumentedAnswer(t *testing.T) {
	for path, answer := range hostilePaths(t) {
		t.Run(path, func(t *testing.T) {
			var more []string
			if strings.Contains(answer, "an ordinary name") {
				more = []string{path}
			}
			c := catalog(t, toolshelf.WithRoot(catalogtest.HostileFiles(t, more...)), toolshelf.WithAgentsDir("agents"))
			skill := must.Get(c.GetSkill(t.Context(), "s"))(t)
			for door, open := range map[string]func(ctx context.Context, path string) (text string, err error){
				"ReadFile": func(ctx context.Context, path string) (string, error) {
					text, err := c.ReadFile(ctx, path)
					return text.Text, err
				},
				"Stat": func(ctx context.Context, path string) (string, error) { _, err := c.Stat(ctx, path); return "", err },
				"Grep": func(ctx context.Context, path string) (string, error) {
					found, err := c.Grep(ctx, path, ".")
					return fmt.Sprint(found), err
				},
				"ListDir": func(ctx context.Context, path string) (string, error) {
					list, err := c.ListDir(ctx, path)
					return fmt.Sprint(list), err
				},
				"Tree": func(ctx context.Context, path string) (string, error) {
					tree, err := c.Tree(ctx, path)
					return fmt.Sprint(tree), err
				},
				"FindFiles": func(ctx context.Context, path string) (string, error) {
					found, err := c.FindFiles(ctx, path, "*")
					return fmt.Sprint(found), err
				},
				"ReadSkillFile": func(ctx context.Context, path string) (string, error) {
					text, err := c.ReadSkillFile(ctx, "s", path)
					return string(text), err
				},
				"Skill.FS": func(_ context.Context, path string) (string, error) {
					text, err := fs.ReadFile(skill.FS(), path)
					return string(text), err
				},
			} {
				text, err := open(t.Context(), path)
				must.NotContain(t, door, text, "a secret")
				if got := answerOf(err); !isDocumented(door, path, answer, got) {
					t.Errorf("%s: %s (%v), documented as %s", door, got, err, answer)
				}
			}
		})
	}
}

// answerOf names a result as the table does. A file in place of a directory is the file.
func answerOf(err error) string {
	switch {
	case err == nil, errors.Is(err, toolshelf.ErrNotADirectory):
		return "the file"
	case errors.Is(err, toolshelf.ErrNotFound), errors.Is(err, toolshelf.ErrDirectoryNotFound):
		return "`NOT_FOUND`"
	case errors.Is(err, toolshelf.ErrOutsideRoot):
		return "`OUTSIDE_ROOT`"
	default:
		return err.Error()
	}
}

func isDocumented(door, path, answer, got string) bool {
	switch {
	case strings.Contains(answer, "depends"):
		return got == "the file" || got == "`NOT_FOUND`"
	case door == "Skill.FS" && (!fs.ValidPath(path) || filepath.ToSlash(path) != path):
		return strings.Contains(got, fs.ErrInvalid.Error())
	case strings.Contains(answer, "an ordinary name"):
		return got == "the file"
	default:
		return strings.Contains(strings.Replace(answer, "outside", "`OUTSIDE_ROOT`", 1), got)
	}
}

// No such command, skill or agent exists.
func TestAHostileNameIsTheNameOfNoEntry(t *testing.T) {
	root := catalogtest.HostileFiles(t)
	for _, options := range [][]toolshelf.Option{nil, {toolshelf.WithLooseNames()}} {
		c := catalog(t, append(options, toolshelf.WithRoot(root), toolshelf.WithAgentsDir("agents"))...)
		for path := range hostilePaths(t) {
			for _, name := range []string{path, strings.TrimSuffix(path, ".txt"), strings.ReplaceAll(strings.TrimSuffix(path, ".txt"), `\`, ":")} {
				_, command := c.Get(t.Context(), name)
				_, skill := c.GetSkill(t.Context(), name)
				_, file := c.ReadSkillFile(t.Context(), name, "SKILL.md")
				_, agent := c.GetAgent(t.Context(), name)
				for method, err := range map[string]error{"Get": command, "GetSkill": skill, "ReadSkillFile": file, "GetAgent": agent} {
					switch toolshelf.CodeOf(err) {
					case toolshelf.CodeCommandNotFound, toolshelf.CodeSkillNotFound, toolshelf.CodeAgentNotFound,
						toolshelf.CodeInvalidCommandName, toolshelf.CodeInvalidSkillName, toolshelf.CodeInvalidAgentName:
					default:
						t.Errorf("%s(%q): %v", method, name, err)
					}
				}
			}
		}
	}
}
