package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// An entry is a file of an archive. A name with a slash at the end is a directory, and the text "->
// x" is a link to x.
type entry struct{ name, text string }

func zipOf(entries ...entry) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		target, link := strings.CutPrefix(e.text, "-> ")
		if link {
			h.SetMode(fs.ModeSymlink | 0o777)
			e.text = target
		}
		if strings.HasSuffix(e.name, "/") {
			h.Method = zip.Store
		}
		io.WriteString(panicking(w.CreateHeader(h)), e.text)
	}
	w.Close()
	return b.Bytes()
}

func tarOf(entries ...entry) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.text)), Typeflag: tar.TypeReg}
		target, link := strings.CutPrefix(e.text, "-> ")
		switch {
		case link:
			h.Typeflag, h.Linkname, h.Size, e.text = tar.TypeSymlink, target, 0, ""
		case strings.HasSuffix(e.name, "/"):
			h.Typeflag = tar.TypeDir
		}
		panicking(0, w.WriteHeader(h))
		panicking(w.Write([]byte(e.text)))
	}
	w.Close()
	return b.Bytes()
}

func gzipOf(data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func panicking[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const skillText = "---\nname: pdf\ndescription: Fills PDF forms.\n---\nRun scripts/fill.py.\n"

// A skill of an archive, such as the download of a repository.
func Example() {
	download := gzipOf(tarOf(
		entry{"repository-main/skills/pdf/SKILL.md", skillText},
		entry{"repository-main/skills/pdf/scripts/fill.py", "print('filled')\n"},
	))
	files, err := Open(download, MaxUnpacked)
	if err != nil {
		fmt.Println(err)
		return
	}
	skills, err := fs.Sub(files, "repository-main/skills")
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := toolshelf.New(
		toolshelf.WithSkillsDir(), // no skills of the working directory
		toolshelf.WithSkillsFS("repository", toolshelf.Immutable(skills)),
		toolshelf.WithMaxFileSize(1<<20), // of a file of the archive, for each read
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "pdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(skill.Name, ": ", skill.Content)
	for _, file := range skill.Files {
		fmt.Println(file.Path)
	}
	// Output:
	// pdf: Run scripts/fill.py.
	// SKILL.md
	// scripts/fill.py
}

// The plugins of an archive, such as the download of a marketplace.
func Example_plugins() {
	download := gzipOf(tarOf(
		entry{"market-main/.claude-plugin/marketplace.json", `{"name": "market", "owner": {"name": "A"}, "plugins": [{"name": "docs", "source": "./plugins/docs"}]}`},
		entry{"market-main/plugins/docs/skills/pdf/SKILL.md", skillText},
		entry{"market-main/plugins/docs/commands/check.md", "Check the links of $1.\n"},
	))
	files, err := Open(download, MaxUnpacked)
	if err != nil {
		fmt.Println(err)
		return
	}
	plugins, err := fs.Sub(files, "market-main")
	if err != nil {
		fmt.Println(err)
		return
	}
	catalog, err := toolshelf.New(
		toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
		toolshelf.WithPluginsFS("market", toolshelf.Immutable(plugins)),
		toolshelf.WithMaxFileSize(1<<20),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer catalog.Close()
	skill, err := catalog.GetSkill(context.Background(), "docs:pdf")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(skill.Name, ": ", skill.Content)
	command, err := catalog.Get(context.Background(), "check") // exactly one plugin has the name
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(command.Name, ": ", command.Content)
	// Output:
	// docs:pdf: Run scripts/fill.py.
	// docs:check: Check the links of $1.
}

// shown describes the skills of an archive, or the first error.
func shown(t *testing.T, archive []byte) string {
	t.Helper()
	files, err := Open(archive, MaxUnpacked)
	if err != nil {
		return "Open: " + err.Error()
	}
	return skillsOf(t, files)
}

func skillsOf(t *testing.T, files fs.FS) string {
	t.Helper()
	catalog := catalogtest.Open(t, toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("archive", toolshelf.Immutable(files)))
	var lines []string
	for found, err := range catalog.Skills(t.Context()) {
		if err != nil {
			return err.Error()
		}
		if !found.Loadable {
			lines = append(lines, found.Name+": "+found.Diagnostics[0].Message)
			continue
		}
		skill, err := catalog.GetSkill(t.Context(), found.Name)
		if err != nil {
			lines = append(lines, err.Error())
			continue
		}
		line := skill.Name
		for _, file := range skill.Files {
			text, err := catalog.ReadSkillFile(t.Context(), skill.Name, file.Path)
			if err != nil {
				line += " " + err.Error()
				continue
			}
			line += fmt.Sprintf(" %s=%d", file.Path, len(text))
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestSkillsOfArchives(t *testing.T) {
	files := []entry{{"pdf/SKILL.md", skillText}, {"pdf/scripts/fill.py", "x"}}
	withDirs := append([]entry{{"pdf/", ""}, {"pdf/scripts/", ""}}, files...)
	dotted := []entry{{"./", ""}, {"./pdf/", ""}, {"./pdf/SKILL.md", skillText}, {"./pdf/scripts/fill.py", "x"}}
	for name, archive := range map[string][]byte{
		"zip": zipOf(withDirs...), "zip without directories": zipOf(files...),
		"tar": tarOf(withDirs...), "tar without directories": tarOf(files...), "tar of .": tarOf(dotted...),
		"tar.gz": gzipOf(tarOf(withDirs...)),
	} {
		must.Match(t, name, "pdf SKILL.md=69 scripts/fill.py=1", shown(t, archive))
	}
	for name, archive := range map[string][]byte{"zip": zipOf(), "tar": tarOf()} {
		if got := shown(t, archive); got != "" {
			t.Errorf("an empty %s: %s", name, got)
		}
	}
}

func TestHostileArchives(t *testing.T) {
	good := entry{"pdf/SKILL.md", skillText}
	unsafe := func(name string) string { return fmt.Sprintf("Open: unsafe name %q in the archive", name) }
	const listed = "pdf SKILL.md=69"
	for _, tt := range []struct {
		name    string
		archive []byte
		want    string
	}{
		{"a parent in a zip", zipOf(good, entry{"../evil/SKILL.md", skillText}), unsafe("../evil/SKILL.md")},
		{"a parent in a tar", tarOf(good, entry{"../evil/SKILL.md", skillText}), unsafe("../evil/SKILL.md")},
		{"a parent in a name of a tar", tarOf(good, entry{"a/../../evil", ""}), unsafe("../evil")},
		{"an absolute name in a zip", zipOf(good, entry{"/etc/passwd", ""}), unsafe("/etc/passwd")},
		{"an absolute name in a tar", tarOf(good, entry{"/etc/passwd", ""}), unsafe("/etc/passwd")},
		{"a backslash in a zip", zipOf(good, entry{`..\evil`, ""}), unsafe(`..\evil`)},
		{"a backslash in a tar", tarOf(good, entry{`pdf\x`, ""}), unsafe(`pdf\x`)},
		{"a drive with a backslash", zipOf(good, entry{`C:\x`, ""}), unsafe(`C:\x`)},
		{"a dot", tarOf(good, entry{".", ""}), "Open: readdir ./: invalid file name: ."},
		{"an empty name", zipOf(good, entry{"", ""}), unsafe("")},
		{"a name that is not UTF-8", zipOf(good, entry{"\xff", ""}), unsafe("\xff")},
		{"a deep name", zipOf(good, entry{strings.Repeat("d/", 33) + "x", ""}), unsafe(strings.Repeat("d/", 33) + "x")},
		{"a name of 65,536 bytes in a tar", tarOf(good, entry{strings.Repeat("x", 1<<16), ""}), "Open: zip: FileHeader.Name too long"},
		{"a link in a tar", tarOf(good, entry{"pdf/link", "-> ../../../etc/passwd"}), listed},
		{"a skill that is a link in a tar", tarOf(good, entry{"evil", "-> /etc"}), listed},
		{"a link in a zip", zipOf(good, entry{"pdf/link", "-> ../../../etc/passwd"}), listed},
		{"a skill that is a link in a zip", zipOf(good, entry{"evil", "-> /etc"}), listed},
		{"a name twice in a zip", zipOf(good, good), "Open: pdf/SKILL.md: duplicate entries in zip file"},
		{"a name twice in a tar", tarOf(good, good), "Open: pdf/SKILL.md: duplicate entries in zip file"},
		{"a file that is also a directory", zipOf(good, entry{"pdf", ""}), "Open: pdf: duplicate entries in zip file"},
		{"a truncated tar", tarOf(good)[:560], "Open: unexpected EOF"},
		{"a truncated zip", zipOf(good)[:100], "Open: zip: not a valid zip file"},
		{"another file", []byte("hello"), "Open: unexpected EOF"},
		{"a truncated gzip", gzipOf(tarOf(good))[:60], "Open: unexpected EOF"},
		{"an archive in an archive", zipOf(good, entry{"evil/SKILL.md", string(zipOf(good))}), fmt.Sprintf("evil SKILL.md=%d\n", len(zipOf(good))) + listed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			must.Match(t, "result", tt.want, shown(t, tt.archive))
		})
	}
}

const gigabyte = 1 << 30

// bomb returns a zip archive with a skill whose file unpacks to about a gigabyte. The archive
// states the size.
func bomb(name string, stated uint64) []byte {
	var first, more bytes.Buffer
	w := panicking(flate.NewWriter(&first, flate.BestSpeed))
	io.WriteString(w, skillText)
	w.Flush()
	w.Reset(&more)
	w.Write(make([]byte, 1<<20))
	w.Flush()
	packed := append(first.Bytes(), bytes.Repeat(more.Bytes(), gigabyte>>20)...)
	packed = append(packed, 1, 0, 0, 0xff, 0xff) // the last block, which is empty

	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	if name != "pdf/SKILL.md" {
		io.WriteString(panicking(archive.Create("pdf/SKILL.md")), skillText)
	}
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, CompressedSize64: uint64(len(packed)), UncompressedSize64: stated}
	panicking(panicking(archive.CreateRaw(h)).Write(packed))
	archive.Close()
	return b.Bytes()
}

// A countedFS counts the unpacked bytes of the files.
type countedFS struct {
	fs.FS
	bytes *atomic.Int64
}

func (c countedFS) Open(name string) (fs.File, error) {
	file, err := c.FS.Open(name)
	if _, dir := file.(fs.ReadDirFile); dir || err != nil {
		return file, err
	}
	return countedFile{file, c.bytes}, nil
}

type countedFile struct {
	fs.File
	bytes *atomic.Int64
}

func (c countedFile) Read(p []byte) (int, error) {
	n, err := c.File.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// WithMaxFileSize bounds the unpacked bytes of each read, also if the archive states a wrong size.
func TestAGigabyteInAZipIsReadUpToTheLimit(t *testing.T) {
	const limit = 1 << 20
	for name, tt := range map[string]struct {
		file   string
		stated uint64
		want   error
	}{
		"SKILL.md":                {"pdf/SKILL.md", gigabyte + uint64(len(skillText)), toolshelf.ErrFileTooLarge},
		"SKILL.md, stated small":  {"pdf/SKILL.md", 100, toolshelf.ErrFileRead},
		"another":                 {"pdf/data.txt", gigabyte + uint64(len(skillText)), toolshelf.ErrFileTooLarge},
		"another, stated small":   {"pdf/data.txt", 100, toolshelf.ErrFileRead},
		"another, stated larger":  {"pdf/data.txt", 1 << 40, toolshelf.ErrFileTooLarge},
		"SKILL.md, stated larger": {"pdf/SKILL.md", 1 << 40, toolshelf.ErrFileTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			archive := bomb(tt.file, tt.stated)
			files, err := Open(archive, MaxUnpacked)
			if err != nil {
				t.Fatal(err)
			}
			var count atomic.Int64
			catalog := catalogtest.Open(t, toolshelf.WithSkillsDir(), toolshelf.WithMaxFileSize(limit),
				toolshelf.WithSkillsFS("archive", toolshelf.Immutable(countedFS{files, &count})))
			read := func(call string, do func() error) error {
				t.Helper()
				var before, after runtime.MemStats
				count.Store(0)
				runtime.ReadMemStats(&before)
				err := do()
				runtime.ReadMemStats(&after)
				allocated := int64(after.TotalAlloc - before.TotalAlloc)
				t.Logf("%s unpacks %d bytes and allocates %d: %v", call, count.Load(), allocated, err)
				if n := count.Load(); n > limit+64<<10 {
					t.Errorf("%s unpacks %d bytes", call, n)
				}
				if allocated > 8*limit {
					t.Errorf("%s allocates %d bytes", call, allocated)
				}
				return err
			}
			read("ListSkills", func() error { _, err := catalog.ListSkills(t.Context()); return err })
			read("SearchSkills", func() error { _, err := catalog.SearchSkills(t.Context(), "forms", 5); return err })
			read("Lint", func() error { _, err := catalog.Lint(t.Context()); return err })
			err = read("GetSkill", func() error { _, err := catalog.GetSkill(t.Context(), "pdf"); return err })
			if strings.HasPrefix(name, "another") {
				if err != nil {
					t.Errorf("GetSkill: %v", err)
				}
				read("GetSkill with Digests", func() error { _, err := catalog.GetSkill(t.Context(), "pdf", toolshelf.Digests()); return err })
				err = read("ReadSkillFile", func() error { _, err := catalog.ReadSkillFile(t.Context(), "pdf", "data.txt"); return err })
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// block returns a header of a tar archive. A tar.Writer writes no sparse files.
func block(name string, kind byte, size int) []byte {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x0000000000000\x00        %c", size, kind))
	copy(b[257:], "ustar\x0000")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return b
}

// sparse returns a tar archive of a few blocks with a file of a size.
func sparse(size int64) []byte {
	records := ""
	for _, record := range []string{"GNU.sparse.major=0", "GNU.sparse.minor=1", fmt.Sprintf("GNU.sparse.size=%d", size), "GNU.sparse.numblocks=1", "GNU.sparse.map=0,0"} {
		n := len(record) + 4
		records += fmt.Sprintf("%d %s\n", n+(n+100)/100-1, record)
	}
	padded := append([]byte(records), make([]byte, 512-len(records))...)
	return append(append(append(block("pax", 'x', len(records)), padded...), block("pdf/SKILL.md", '0', 0)...), make([]byte, 1024)...)
}

func TestATarBombIsAnError(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector needs half a minute, and allocates itself")
	}
	zeros := gzipOf(make([]byte, 1<<20))
	file := tarOf(entry{"pdf/SKILL.md", skillText})[:1024]
	for name, archive := range map[string][]byte{
		"a file of a gigabyte":         bytes.Join([][]byte{gzipOf(block("pdf/SKILL.md", '0', gigabyte)), bytes.Repeat(zeros, 1024)}, nil),
		"files of a gigabyte":          bytes.Repeat(bytes.Join([][]byte{gzipOf(block("pdf/SKILL.md", '0', 1<<20)), zeros}, nil), 1024),
		"a gigabyte that is skipped":   bytes.Join([][]byte{gzipOf(block("link", '2', 0)), gzipOf(block("other", '7', gigabyte)), bytes.Repeat(zeros, 1024)}, nil),
		"empty files":                  bytes.Repeat(gzipOf(bytes.Repeat(block("pdf/SKILL.md", '0', 0), 2048)), 1024),
		"directories":                  bytes.Repeat(gzipOf(bytes.Repeat(block("pdf/", '5', 0), 2048)), 1024),
		"a sparse file of a gigabyte":  sparse(gigabyte),
		"a sparse file of exabytes":    append(file, sparse(1<<63-1)...),
		"sparse files of 96 MiB":       append(bytes.Repeat(sparse(32 << 20)[:1536], 3), make([]byte, 1024)...),
		"a sparse file below the size": nil,
	} {
		t.Run(name, func(t *testing.T) {
			if archive == nil {
				if got := shown(t, sparse(100)); !strings.HasPrefix(got, "pdf SKILL.md=100") {
					t.Errorf("got %s", got)
				}
				return
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Open(archive, MaxUnpacked)
			runtime.ReadMemStats(&after)
			t.Logf("an archive of %d bytes: allocates %d", len(archive), after.TotalAlloc-before.TotalAlloc)
			must.Equal(t, "err", errTooLarge, err)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 6*MaxUnpacked {
				t.Errorf("allocates %d bytes", allocated)
			}
		})
	}
}

// A zip.Reader makes an entry for each directory of a name.
func TestNamesOfAnArchiveTakeMemoryInProportion(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates itself")
	}
	var entries []entry
	for i := range 5 {
		entries = append(entries, entry{fmt.Sprint(i) + strings.Repeat("/d", 32_000) + "/x", ""})
	}
	for name, archive := range map[string][]byte{"zip": zipOf(entries...), "tar": tarOf(entries...)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Open(archive, MaxUnpacked)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "unsafe name") {
			t.Errorf("%s: %v", name, err)
		}
		if allocated := int(after.TotalAlloc - before.TotalAlloc); allocated > 20*len(archive) {
			t.Errorf("%s of %d bytes: allocates %d", name, len(archive), allocated)
		}
	}
}

// A zip.Reader alone opens no file outside the archive, but changes names, and fails for
// duplicates.
func TestAZipReaderWithoutChecks(t *testing.T) {
	good := entry{"pdf/SKILL.md", skillText}
	for _, tt := range []struct {
		name    string
		entries []entry
		want    string
	}{
		{"a parent", []entry{good, {"../evil/SKILL.md", skillText}}, "evil SKILL.md=69\npdf SKILL.md=69"},
		{"an absolute name", []entry{good, {"/evil/SKILL.md", skillText}}, "evil SKILL.md=69\npdf SKILL.md=69"},
		{"a backslash", []entry{good, {`..\evil\SKILL.md`, skillText}},
			`toolshelf: GetSkill: the files of skill "evil" change while they are read; try again (FILE_READ_ERROR)` + "\npdf SKILL.md=69"},
		{"a link", []entry{good, {"pdf/passwd", "-> /etc/passwd"}}, "pdf SKILL.md=69"},
		{"a name twice", []entry{good, good}, `toolshelf: GetSkill: cannot read SKILL.md of skill "pdf" (the filesystem failed); check its type and permissions (FILE_READ_ERROR)`},
		{"a file that is also a directory", []entry{good, {"pdf", ""}},
			`toolshelf: Skills: cannot read the directory "archive" of skills (pdf: duplicate entries in zip file); check its type and permissions (FILE_READ_ERROR)`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			archive := zipOf(tt.entries...)
			files := panicking(zip.NewReader(bytes.NewReader(archive), int64(len(archive))))
			must.Match(t, "result", tt.want, skillsOf(t, files))
		})
	}
}

// Files of plugins have the limit of the files of skills, and Lint reports a manifest beyond the
// limit.
func TestAGigabyteOfAPluginIsReadUpToTheLimit(t *testing.T) {
	const limit = 1 << 20
	for _, file := range []string{"docs/skills/pdf/SKILL.md", "docs/commands/check.md", "docs/.claude-plugin/plugin.json", ".claude-plugin/marketplace.json"} {
		for _, stated := range []uint64{100, gigabyte + uint64(len(skillText)), 1 << 40} {
			t.Run(fmt.Sprintf("%s of %d", file, stated), func(t *testing.T) {
				files := must.Get(Open(bomb(file, stated), MaxUnpacked))(t)
				var count atomic.Int64
				catalog := catalogtest.Open(t, toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithMaxFileSize(limit),
					toolshelf.WithPluginsFS("archive", toolshelf.Immutable(countedFS{files, &count})))
				want := toolshelf.ErrFileTooLarge
				if stated == 100 {
					want = toolshelf.ErrFileRead // the file does not have the stated size
				}
				var report []toolshelf.Diagnostic
				refused := 0
				for name, call := range map[string]func() error{
					"Plugins":    func() error { _, err := catalog.Plugins(t.Context()); return err },
					"List":       func() error { _, err := catalog.List(t.Context(), toolshelf.Page{}); return err },
					"ListSkills": func() error { _, err := catalog.ListSkills(t.Context()); return err },
					"Get":        func() error { _, err := catalog.Get(t.Context(), "docs:check"); return err },
					"GetSkill":   func() error { _, err := catalog.GetSkill(t.Context(), "docs:pdf"); return err },
					"Lint":       func() (err error) { report, err = catalog.Lint(t.Context()); return err },
				} {
					count.Store(0)
					if errors.Is(call(), want) {
						refused++
					}
					if n := count.Load(); n > 2*limit {
						t.Errorf("%s unpacks %d bytes", name, n)
					}
				}
				if manifest := strings.HasSuffix(file, ".json"); !manifest && refused != 1 {
					t.Errorf("%d calls refuse the file", refused)
				}
				if len(report) != 1 || report[0].Path != "archive/"+file || string(report[0].Code) != string(want.Code) {
					t.Errorf("Lint reports %v", report)
				}
			})
		}
	}
}
