package filetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// grepProject has files for the rules of Grep.
func grepProject() map[string]string {
	return map[string]string{
		"b.txt":          "one\nTODO two\nthree\nfour\nTODO five\n",
		"A.md":           "TODO first\r\n\r\nlast TODO\r\n",
		"src/main.go":    "// TODO main\n",
		"src/sub/x.go":   "TODO x\n",
		"src/image.png":  "\x89PNG\x00TODO",
		"src/utf16.txt":  "\xff\xfeT\x00O\x00D\x00O\x00 \x00\xfc\x00\n\x00",
		"src/.env":       "TODO hidden\n",
		"src/out.log":    "TODO ignored\n",
		"src/.gitignore": "*.log\n",
		"long.txt":       strings.Repeat("x", 1000) + "TODO" + strings.Repeat("y", 1000) + "\n",
		"empty":          "",
	}
}

func TestGrepText(t *testing.T) {
	checkTexts(t, catalog(t, toolshelf.WithFs(memoryOf(t, grepProject()))), "grep.txt")
}

func TestGrepFields(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, grepProject())))
	found := must.Get(c.Grep(t.Context(), "src", "ü", toolshelf.Gitignore()))(t)
	want := toolshelf.TextMatches{Path: "src/", Pattern: "ü", Total: 1, Files: 1, Searched: 3, Binary: 1, Ignored: 1,
		Matches: []toolshelf.TextMatch{{Path: "src/utf16.txt", Line: 1, Column: 10, Text: "TODO ü"}}}
	must.Match(t, "result", want, found)
	found = must.Get(c.Grep(t.Context(), "empty", "x"))(t)
	if text, err := json.Marshal(found); string(text) != `{"path":"empty","pattern":"x","matches":[],"total":0,"files":0,"searched":1}` {
		t.Errorf("%s, %v", text, err)
	}
	// The text of ReadFile at the line and the column begins with the match.
	found = must.Get(c.Grep(t.Context(), "long.txt", "TODO"))(t)
	m := found.Matches[0]
	text, err := c.ReadFile(t.Context(), m.Path, toolshelf.Lines(m.Line, m.Line), toolshelf.Column(m.Column))
	if err != nil || !strings.HasPrefix(text.Text, "TODO") || m.TextColumn != 900 || !m.Truncated {
		t.Errorf("%+v, %v: %.10q", m, err, text.Text)
	}
}

func TestGrepFirstLinesOnly(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, grepProject())))
	for _, tt := range []struct {
		mode        toolshelf.GrepMode
		total, more int
	}{{toolshelf.FilesOnly, 1, 0}, {toolshelf.CountOnly, 2, 1}} {
		found, err := c.Grep(t.Context(), "b.txt", "TODO", tt.mode)
		want := []toolshelf.TextMatch{{Path: "b.txt", Line: 2, Text: "TODO two", More: tt.more}}
		if diff := cmp.Diff(want, found.Matches); err != nil || diff != "" || found.Total != tt.total || found.Files != 1 {
			t.Errorf("mode %d: %v, %+v (-want +got):\n%s", tt.mode, err, found, diff)
		}
	}
}

func TestGrepErrors(t *testing.T) {
	fsys := catalogtest.Faulty{Fs: memoryOf(t, map[string]string{"locked": "x", "protected/x": "x", "broken": "x", "ok": "x"}),
		Opens: map[string]error{"protected": fs.ErrPermission, "locked": fs.ErrPermission, "broken": errors.New("disk on fire")}}
	c := catalog(t, toolshelf.WithFs(fsys))
	for _, tt := range []struct {
		path, pattern string
		want          *toolshelf.Error
		message       string
	}{
		{".", "", toolshelf.ErrInvalidPattern, "invalid pattern '': the pattern is empty; give the text to find"},
		{".", "a(?=b)", toolshelf.ErrInvalidPattern, "invalid pattern 'a(?=b)': invalid or unsupported Perl syntax: (?=; RE2 has no lookahead; to search for the text itself, use the literal option"},
		{".", "a\nb", toolshelf.ErrInvalidPattern, `invalid pattern 'a\nb': the pattern contains a line break, and a match is within one line; search for the text of one line`},
		{"locked", "x", toolshelf.ErrPermissionDenied, "Cannot read 'locked'"},
		{"protected", "x", toolshelf.ErrPermissionDenied, "Cannot read 'protected'"},
		{"broken", "x", toolshelf.ErrFileRead, "Cannot read 'broken': disk on fire"},
	} {
		_, err := c.Grep(t.Context(), tt.path, tt.pattern)
		checkError(t, fmt.Sprintf("Grep(%q, %q)", tt.path, tt.pattern), err, tt.want, tt.message)
	}
	found, err := c.Grep(t.Context(), ".", "x")
	if err != nil || found.Total != 1 || found.Skipped != 3 {
		t.Errorf("%+v, %v", found, err)
	}
	if want := "\n\n3 directories or files could not be read and were skipped"; !strings.HasSuffix(found.String(), want) {
		t.Errorf("%s; want %q at the end", found, want)
	}
}

func TestGrepFollowsLinksToFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows makes a symbolic link only with a privilege")
	}
	root, outside := diskOf(t, map[string]string{"dir/a": "match\n"}), diskOf(t, map[string]string{"a": "match TOP-SECRET"})
	for link, target := range map[string]string{"link": "dir/a", "linked": "dir", "out": filepath.Join(outside, "a"), "outdir": outside, "missing": "nothing"} {
		hosttest.Symlink(t, target, filepath.Join(root, link))
	}
	for _, tt := range []struct {
		options []toolshelf.Option
		want    string
	}{
		{nil, "dir/a link"},
		{[]toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksDeny)}, "dir/a"},
		{[]toolshelf.Option{toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, outside)}, "dir/a link out"},
	} {
		c := catalog(t, append(tt.options, toolshelf.WithRoot(root))...)
		found := must.Get(c.Grep(t.Context(), ".", "match"))(t)
		var got []string
		for _, m := range found.Matches {
			got = append(got, m.Path)
		}
		if strings.Join(got, " ") != tt.want || found.Skipped != 0 {
			t.Errorf("%q, %d skipped; want %q", got, found.Skipped, tt.want)
		}
	}
	c := catalog(t, toolshelf.WithRoot(root))
	for _, name := range []string{"out", "outdir", "outdir/a", "outdir/b"} {
		_, err := c.Grep(t.Context(), name, "match")
		checkError(t, name, err, toolshelf.ErrOutsideRoot, "Path '"+name+"' is outside project root")
	}
	must.Equal(t, "a linked directory as the path", 1,
		must.Get(c.Grep(t.Context(), "linked", "match"))(t).Total)
}

// TestGrepAgreesWithALoop compares with a loop over the lines of the files of FindFiles, and with a
// search on one processor.
func TestGrepAgreesWithALoop(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		for range rapid.IntRange(1, 60).Draw(r, "files") {
			name := strings.Repeat("d/", rapid.IntRange(0, 2).Draw(r, "levels")) + rapid.StringMatching("[a-e]{1,2}").Draw(r, "name") + ".t"
			content := rapid.StringMatching("([abc]{0,3}\r?\n){0,9}[abc]?").Draw(r, "content")
			must.Do(r, afero.WriteFile(fsys, "p/"+name, []byte(content), 0o644))
		}
		pattern := rapid.SampledFrom([]string{"a", "b+c", "^$", "[^b]c$", "a|cc"}).Draw(r, "pattern")
		limit := rapid.IntRange(0, 9).Draw(r, "limit")
		c := catalog(t, toolshelf.WithFs(fsys))
		var options []toolshelf.GrepOption
		if rapid.Bool().Draw(r, "fair") {
			options = append(options, toolshelf.Budget(1<<20))
		}
		var lines []toolshelf.TextMatch // More is the number of the line among the lines of the file
		further, total, matching := map[string]int{}, 0, 0
		files := must.Get(c.FindFiles(context.Background(), "p", "**"))(r)
		re := regexp.MustCompile(pattern)
		for _, file := range files.Files {
			content := must.Get(afero.ReadFile(fsys, file))(r)
			n := 0
			for i, line := range slices.Collect(strings.Lines(string(content))) {
				if whole, ended := strings.CutSuffix(line, "\n"); ended {
					line = strings.TrimSuffix(whole, "\r")
				}
				loc := re.FindStringIndex(line)
				if loc == nil {
					continue
				}
				n++
				lines = append(lines, toolshelf.TextMatch{Path: file, Line: i + 1, Column: int64(loc[0]), Text: line, More: n})
			}
			further[file] = n
			total += n
			if n > 0 {
				matching++
			}
		}
		want := slices.Clone(lines)
		if options != nil {
			slices.SortStableFunc(want, func(a, b toolshelf.TextMatch) int { return a.More - b.More })
		}
		if limit > 0 && limit < len(want) {
			want = want[:limit]
		}
		slices.SortFunc(want, func(a, b toolshelf.TextMatch) int {
			if a.Path != b.Path {
				return slices.Index(files.Files, a.Path) - slices.Index(files.Files, b.Path)
			}
			return a.Line - b.Line
		})
		for i := range want {
			more := further[want[i].Path] - want[i].More
			if want[i].More = 0; i+1 == len(want) || want[i].Path != want[i+1].Path {
				want[i].More = more
			}
		}
		options = append(options, toolshelf.Limit(limit), toolshelf.ContextLines(1))
		got, err := c.Grep(context.Background(), "p", pattern, options...)
		if err != nil || got.Total != total || got.Files != matching || got.Searched != len(files.Files) {
			r.Fatalf("%d lines, %d files of %d, %v; want %d, %d of %d", got.Total, got.Files, got.Searched, err, total, matching, len(files.Files))
		}
		if diff := cmp.Diff(want, got.Matches, cmpopts.IgnoreFields(toolshelf.TextMatch{}, "Before", "After"), cmpopts.EquateEmpty()); diff != "" {
			r.Fatalf("(-want +got):\n%s", diff)
		}
		runtime.GOMAXPROCS(1)
		defer runtime.GOMAXPROCS(4)
		alone, err := c.Grep(context.Background(), "p", pattern, options...)
		if diff := cmp.Diff(alone, got); diff != "" || err != nil {
			r.Errorf("%v (-one processor +four processors):\n%s", err, diff)
		}
	})
}

// The memory depends on the limit, not on the number of matches.
func TestGrepKeepsTheFirstLinesOnly(t *testing.T) {
	files := map[string]string{}
	for i := range 500 {
		files[fmt.Sprintf("d%d/%03d", i%7, i)] = strings.Repeat("match\n", 50)
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	all, err := c.Grep(t.Context(), ".", "match", toolshelf.Limit(0))
	if err != nil || len(all.Matches) != 25_000 {
		t.Fatal(len(all.Matches), err)
	}
	for _, limit := range []int{1, 49, 50, 51, 120, 1000} {
		some, err := c.Grep(t.Context(), ".", "match", toolshelf.Limit(limit))
		if err != nil || some.Total != 25_000 || some.Files != 500 {
			t.Fatal(some.Total, some.Files, err)
		}
		want := slices.Clone(all.Matches[:limit])
		want[limit-1].More = 50 - want[limit-1].Line
		must.Match(t, fmt.Sprintf("limit %d", limit), want, some.Matches)
		fair, err := c.Grep(t.Context(), ".", "match", toolshelf.Limit(limit), toolshelf.Budget(1<<20))
		perFile := max(1, limit/500) // 1000 lines are two lines of each file
		want = slices.DeleteFunc(slices.Clone(all.Matches), func(m toolshelf.TextMatch) bool { return m.Line > perFile })
		for i := range want {
			want[i].More = 0
			if want[i].Line == perFile {
				want[i].More = 50 - want[i].Line
			}
		}
		if diff := cmp.Diff(want[:limit], fair.Matches); diff != "" || err != nil {
			t.Errorf("limit %d, fair (-want +got):\n%s, %v", limit, diff, err)
		}
	}
	must.Equal(t, "without a limit", 1000,
		len(must.Get(c.Grep(t.Context(), ".", "match"))(t).Matches))
}

// changingReads is a filesystem that calls a function before the n-th read of a file.
type changingReads struct {
	afero.Fs
	read func() error
}

func (c changingReads) Open(name string) (afero.File, error) {
	f, err := c.Fs.Open(name)
	return fileOfChangingReads{f, c.read}, err
}

type fileOfChangingReads struct {
	afero.File
	read func() error
}

func (f fileOfChangingReads) Read(p []byte) (int, error) {
	if err := f.read(); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func TestGrepOfAFileThatChanges(t *testing.T) {
	const lines = 20_000 // 300 KB
	content := strings.Repeat("a line with 15\n", lines)
	for _, tt := range []struct {
		rule    string
		change  func(fsys afero.Fs) error
		total   int
		skipped int
	}{
		{"the file grows", func(fsys afero.Fs) error {
			f, err := fsys.OpenFile("a", os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("a line\n")
			}
			return errors.Join(err, f.Close())
		}, lines, 0},
		{"the file shrinks", func(fsys afero.Fs) error {
			f, err := fsys.OpenFile("a", os.O_WRONLY, 0)
			if err == nil {
				err = f.Truncate(150_000)
			}
			return errors.Join(err, f.Close())
		}, lines / 2, 0},
		{"the file vanishes", func(fsys afero.Fs) error { return fsys.Remove("a") }, lines, 0},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			fsys := memoryOf(t, map[string]string{"a": content})
			reads := 0
			c := catalog(t, toolshelf.WithFs(changingReads{fsys, func() error {
				if reads++; reads == 2 {
					return tt.change(fsys)
				}
				return nil
			}}))
			found, err := c.Grep(t.Context(), ".", "line")
			if err != nil || found.Total != tt.total || found.Skipped != tt.skipped {
				t.Errorf("%d lines, %d skipped, %v; want %d, %d", found.Total, found.Skipped, err, tt.total, tt.skipped)
			}
		})
	}
}

func TestGrepSkipsAFileWhoseReadingFails(t *testing.T) {
	reads := 0
	c := catalog(t, toolshelf.WithFs(changingReads{memoryOf(t, map[string]string{"a": strings.Repeat("line\n", 100_000)}), func() error {
		if reads++; reads == 2 {
			return errors.New("disk on fire")
		}
		return nil
	}}))
	if found, err := c.Grep(t.Context(), ".", "line"); err != nil || found.Total != 0 || found.Searched != 0 || found.Skipped != 1 {
		t.Errorf("%d lines, %d searched, %d skipped, %v", found.Total, found.Searched, found.Skipped, err)
	}
	reads = 0
	_, err := c.Grep(t.Context(), "a", "line")
	checkError(t, "Grep", err, toolshelf.ErrFileRead, "Cannot read 'a': disk on fire")
}

// The context is checked before each block.
func TestGrepEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	c := catalog(t, toolshelf.WithFs(changingReads{memoryOf(t, map[string]string{"a": strings.Repeat("line\n", 1_000_000)}), func() error {
		if reads++; reads == 4 {
			cancel()
		}
		return nil
	}}))
	if _, err := c.Grep(ctx, ".", "line"); err != context.Canceled {
		t.Error(err)
	}
	c.Close() // waits for the search
	if reads > 5 {
		t.Errorf("%d reads", reads)
	}
}

// TestGrepOfHugeFiles searches a file of 5 GB without data and a line of 1 GB. Both files are
// sparse.
func TestGrepOfHugeFiles(t *testing.T) {
	root := t.TempDir()
	for name, size := range map[string]int64{"sparse": 5 << 30, "line": 64 << 20} {
		f, err := os.Create(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "line" {
			_, err = f.WriteString("begin " + strings.Repeat("x", 8000))
			if err == nil {
				_, err = f.WriteAt([]byte("end\nlast line"), size)
			}
		}
		if err := errors.Join(err, f.Truncate(max(size, fileSize(t, f))), f.Close()); err != nil {
			t.Skip(err)
		}
	}
	c := catalog(t, toolshelf.WithRoot(root))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found, err := c.Grep(t.Context(), ".", "begin|end|last")
	runtime.ReadMemStats(&after)
	if err != nil || found.Total != 2 || found.Matches[1].Line != 2 || found.LongLines != 1 || found.Binary != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 8<<20 {
		t.Errorf("%d bytes allocated", allocated)
	}
	if !strings.HasSuffix(found.String(), "\n1 file is not text and was not searched\n1 line is larger than 1 MiB; only the first 1 MiB was searched") {
		t.Error(found)
	}
}

func fileSize(t *testing.T, f *os.File) int64 {
	info := must.Get(f.Stat())(t)
	return info.Size()
}

// FuzzGrepText checks that each line of the result is one line, whatever a file contains.
func FuzzGrepText(f *testing.F) {
	f.Add("a\nb", "a", "x")
	f.Add("\x1b[31m\r…\u202e", "^", "…")
	f.Fuzz(func(t *testing.T, content, pattern, name string) {
		if name == "" || strings.ContainsAny(name, "/\x00\\") || name == "." || name == ".." || len(content) > 1000 {
			t.Skip("the fuzz target omits this input")
		}
		c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"d/" + name: content})))
		found, err := c.Grep(t.Context(), "d", pattern, toolshelf.ContextLines(len(content)%3), toolshelf.ShowHidden())
		if err != nil {
			t.Skip("the fuzz target omits this input")
		}
		lines := 0
		for i, m := range found.Matches {
			lines += len(m.Before) + 1 + len(m.After)
			if i > 0 && (m.Line-len(m.Before) <= found.Matches[i-1].Line+len(found.Matches[i-1].After)) {
				t.Errorf("a line is twice in the result: %+v", found.Matches)
			}
		}
		text := found.String()
		want := 1 + lines + strings.Count(text, "\n--\n")
		if lines > 0 {
			want += 2 // an empty line and the path
		}
		if found.Binary > 0 {
			want += 2
		}
		must.Equal(t, `strings.Count(text, "\n") + 1`, want, strings.Count(text, "\n")+1)
	})
}

func TestPatternsOfACallAreBounded(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"a": ""})))
	many := make([]string, 100)
	for i := range many {
		many[i] = strings.Repeat("{a,b}", 9) + fmt.Sprint("*", i)
	}
	bomb := make([]string, 100)
	for i := range bomb {
		bomb[i] = strings.Repeat("{,}", 300) + fmt.Sprintf("**/*e*e*Z%d", i)
	}
	for _, tt := range []struct {
		name  string
		globs []string
		ok    bool
	}{
		{"a thousand plain patterns", strings.Fields(strings.Repeat("node_modules *.log ", 500)), true},
		{"braces that stand for one pattern", bomb, true},
		{"a thousand alternatives", []string{"{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}"}, true},
		{"many times as many", many, false},
		{"long alternatives", []string{strings.Repeat("{a,b}", 9) + strings.Repeat("c", 500)}, false},
	} {
		_, err := c.Tree(t.Context(), ".", toolshelf.Exclude(tt.globs...))
		if tt.ok && err != nil || !tt.ok && !errors.Is(err, toolshelf.ErrInvalidPattern) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

var withoutSizes = bridge.WithoutSizes.(toolshelf.DirOption)

func TestWithoutSizes(t *testing.T) {
	fsys := openedDirs{memoryOf(t, map[string]string{"a/long-name.txt": "x", "a/b": "", "c": "xx", "d": ""}), new(atomic.Int64), new(atomic.Int64)}
	c := catalog(t, toolshelf.WithFs(fsys))
	old := time.Unix(1e9, 0)
	must.Do(t, fsys.Fs.Chtimes("d", old, old))
	entry := func(name string, kind toolshelf.EntryType, size int64) toolshelf.Entry {
		return toolshelf.Entry{Name: name, Type: kind, Size: size}
	}
	for _, order := range []string{toolshelf.ByName, toolshelf.BySize, toolshelf.ByModified} {
		fsys.stats.Store(0)
		l := must.Get(c.ListDir(t.Context(), ".", toolshelf.SortedBy(order), withoutSizes))(t)
		want := toolshelf.DirListing{Path: "./", Files: 2, Dirs: 1, NoSizes: true,
			Entries: []toolshelf.Entry{entry("a", toolshelf.EntryDirectory, 0), entry("c", toolshelf.EntryFile, -1), entry("d", toolshelf.EntryFile, -1)}}
		must.Match(t, fmt.Sprintf("by %s", order), want, l)
		if text := "Directory: ./\nTotal: 2 files, 1 directory\n\n[DIR]  a/\n[FILE] c\n[FILE] d"; l.String() != text {
			t.Errorf("by %s: %q, want %q", order, l, text)
		}
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.SortedBy(order), withoutSizes, toolshelf.Exclude("l*")))(t)
		if text := "Directory tree: ./\n\nExcluding: l*\n\n[DIR]  a/\n  [FILE] b\n[FILE] c\n[FILE] d"; tree.String() != text {
			t.Errorf("by %s: %q, want %q", order, tree, text)
		}
		must.Match(t, fmt.Sprintf("by %s", order), entry("b", toolshelf.EntryFile, -1),
			tree.Children[0].Children[0].Entry)
		const directories = 3 // opened, and checked with Lstat
		if n := fsys.stats.Load(); order == toolshelf.ByName && n > directories {
			t.Errorf("%d reads of metadata", n)
		}
	}
}

func TestRelativePath(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	embedded := fstest.MapFS{"c.md": {Data: []byte("C.\n")}}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithCommandsDir(filepath.Join(root, "commands"), outside), toolshelf.WithCommandsFS("built in", embedded),
		toolshelf.WithSkillsDir("."), toolshelf.WithReports("reports", outside))
	for _, tt := range []struct{ layer, full, want string }{
		{filepath.Join(root, "commands"), filepath.Join(root, "commands", "x", "a.md"), "commands/x/a.md"},
		{outside, filepath.Join(outside, "a.md"), filepath.ToSlash(outside) + "/a.md"},
		{"built in", "c.md", "built in/c.md"},
		{".", filepath.Join(root, "pdf", "SKILL.md"), "pdf/SKILL.md"},
		{"", filepath.Join(root, "reports", "a", "a_v1.md"), "reports/a/a_v1.md"},
		{"", filepath.Join(outside, "a", "a_v1_local.md"), filepath.ToSlash(outside) + "/a/a_v1_local.md"},
		{"unknown", filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{outside, filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{"", filepath.Join(root, "commands", "a.md"), filepath.Join(root, "commands", "a.md")},
		{outside, "", ""},
		{"built in", "", ""},
	} {
		must.Equal(t, fmt.Sprintf("RelativePath(%q, %q)", tt.layer, tt.full), tt.want,
			bridgeOf(c).RelativePath(tt.layer, tt.full))
	}
	must.Equal(t, "the root", root, bridgeOf(c).Root())
	if none := bridgeOf(catalog(t, toolshelf.WithRoot(root))); none.RelativePath("", filepath.Join(root, "a.md")) != filepath.Join(root, "a.md") {
		t.Error("without reports, a path changes")
	}
	inMemory := bridgeOf(catalog(t, toolshelf.WithFs(memoryOf(t, nil)), toolshelf.WithRoot("srv/app"), toolshelf.WithCommandsDir("commands", "../shared")))
	for layer, want := range map[string]string{"commands": "commands/a.md", "../shared": "../shared/a.md"} {
		if full := path.Join("srv/app", layer, "a.md"); filepath.ToSlash(inMemory.Root()) != "srv/app" || inMemory.RelativePath(layer, full) != want {
			t.Errorf("the root is %q, and %q is %q, want %q", inMemory.Root(), full, inMemory.RelativePath(layer, full), want)
		}
	}
}
