package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// elements has few elements, so that names often exist.
var elements = rapid.SampledFrom([]string{"a", "b", "c", "D", "a b"})

var names = rapid.Custom(func(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(elements, 1, 4).Draw(t, "elements"), "/")
})

// trees generates directories and files and, if links is set, links of every kind.
func trees(links bool) *rapid.Generator[tree] {
	return rapid.Custom(func(t *rapid.T) tree {
		files := tree{}
		for range rapid.IntRange(0, 12).Draw(t, "files") {
			name := names.Draw(t, "name")
			if files.blocks(name) {
				continue
			}
			switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
			case kind == 0:
				files[name+"/"] = ""
			case kind < 3 || !links:
				files[name] = rapid.SampledFrom([]string{"", "x", "some more"}).Draw(t, "content")
			default:
				files[name] = "-> " + linkTexts.Draw(t, "target")
			}
		}
		return files
	})
}

var linkTexts = rapid.Custom(func(t *rapid.T) string {
	elem := rapid.OneOf(elements, rapid.SampledFrom([]string{"..", "..", ".", "", "proj", "outside", "secret.txt"}))
	text := strings.Join(rapid.SliceOfN(elem, 1, 5).Draw(t, "elements"), "/")
	text = rapid.SampledFrom([]string{"", "", "", "ROOT/", "OUTSIDE/", "ROOT/../"}).Draw(t, "prefix") + text
	if text == "" {
		return "."
	}
	return text
})

// blocks reports whether a name cannot be added, because the name is taken or an element
// above is not a directory.
func (files tree) blocks(name string) bool {
	for other := range files {
		other = strings.TrimSuffix(other, "/")
		if other == name || strings.HasPrefix(other, name+"/") || strings.HasPrefix(name, other+"/") {
			return true
		}
	}
	return false
}

// TestKindsAgree compares the results of all kinds for the same calls of the same tree.
func TestKindsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		files := trees(false).Draw(rt, "tree")
		lines := calls(rt)
		var first []string
		for i, k := range kinds {
			got := answers(k.make(t, files, options{}), lines)
			if i == 0 {
				first = got
			} else if diff := cmp.Diff(first, got); diff != "" {
				rt.Errorf("%s and %s:\n%s", kinds[0].name, k.name, diff)
			}
		}
	})
}

// TestKindsAgreeAboutLinks is TestKindsAgree for the kinds with links. No kind reveals
// anything about files outside.
func TestKindsAgreeAboutLinks(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	rapid.Check(t, func(rt *rapid.T) {
		files := trees(true).Draw(rt, "tree")
		o := options{denySymlinks: rapid.Bool().Draw(rt, "deny")}
		lines := calls(rt)
		dir := onDisk(t, files, &o)
		first := answers(osFS(dir, o), lines)
		for _, answer := range first {
			call, result, _ := strings.Cut(answer, " = ")
			if strings.Contains(result, "sec") && !strings.Contains(call, "readlink") {
				rt.Errorf("told: %s", answer)
			}
		}
		for what, f := range map[string]*FS{"os.Root": rootFS(dir, o), "wrapped OsFs": over(wrappedOsFs{}, dir, o)} {
			if diff := cmp.Diff(first, answers(f, lines)); diff != "" {
				rt.Errorf("os and %s:\n%s", what, diff)
			}
		}
	})
}

// TestKernelAgrees compares an FS with the kernel's resolution of a whole path. The FS must
// find exactly the files that the kernel finds inside the root.
func TestKernelAgrees(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	rapid.Check(t, func(rt *rapid.T) {
		files := trees(true).Draw(rt, "tree")
		dir := onDisk(t, files, &options{})
		f := osFS(dir, options{})
		// The kernel reports the path of the root without links.
		root := must.Get(filepath.EvalSymlinks(dir))(t)
		asked := append(slices.Collect(maps.Keys(files)), rapid.SliceOfN(names, 0, 8).Draw(rt, "names")...)
		for _, name := range asked {
			name = strings.TrimSuffix(name, "/")
			full, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			inside := err == nil && (full == root || strings.HasPrefix(full, root+"/"))
			fi, statErr := os.Stat(filepath.Join(dir, name))
			info, err := f.Info(name)
			switch {
			case inside && err == nil:
				if want := infoOf(fi); want.Ino != info.Ino || want.Mode != info.Mode {
					rt.Errorf("%s is %v, not %v", name, want, info)
				}
			case err == nil:
				rt.Errorf("%s leads to %s, but is found: %v", name, full, info)
			case inside && word(err) != "escape":
				// Only a path that leads out, and in again through files
				// outside, is an escape.
				rt.Errorf("%s is %s, but: %v", name, full, err)
			case inside && !strings.Contains(fmt.Sprint(files), "OUTSIDE") && !strings.Contains(fmt.Sprint(files), ".."):
				rt.Errorf("%s is %s and no link leads out, but: %v", name, full, err)
			case statErr != nil && word(err) == "not exist" && !os.IsNotExist(statErr):
				rt.Errorf("%s: %v, but: %v", name, statErr, err)
			}
		}
	})
}

// TestWithinAgreesWithAnFSOfTheDirectory compares Within with New of the same directory. Only the
// way to the directory differs: Within opens the directory by the rules of the outer FS.
func TestWithinAgreesWithAnFSOfTheDirectory(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	rapid.Check(t, func(rt *rapid.T) {
		files := trees(true).Draw(rt, "tree")
		dir := names.Draw(rt, "directory")
		var o options
		if rapid.Bool().Draw(rt, "trust") {
			o.trusted = []string{"OUTSIDE"}
		}
		root := onDisk(t, files, &o)
		lines := calls(rt)
		way := word1(osFS(root, o).OpenDir(dir))
		for what, f := range map[string]*FS{"os": osFS(root, o), "os.Root": rootFS(root, o), "wrapped OsFs": over(wrappedOsFs{}, root, o)} {
			got := answers(f.within(dir, "."), lines)
			if way == "" {
				if diff := cmp.Diff(answers(osFS(filepath.Join(root, dir), o), lines), got); diff != "" {
					rt.Errorf("New and %s:\n%s", what, diff)
				}
				continue
			}
			for i, line := range lines {
				if want := line + " = " + way; got[i] != want {
					rt.Errorf("%s: %s, want %s", what, got[i], want)
				}
			}
		}
	})
}

// word1 is the word of an error of OpenDir, or "".
func word1(d *Dir, err error) string {
	if err != nil {
		return word(err)
	}
	d.Close()
	return ""
}

// TestKernelAgreesWithin compares the files that Within finds with the kernel's resolution of
// the whole path: each file is below the directory.
func TestKernelAgreesWithin(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	rapid.Check(t, func(rt *rapid.T) {
		files := trees(true).Draw(rt, "tree")
		dir := onDisk(t, files, &options{})
		below := names.Draw(rt, "directory")
		f := osFS(dir, options{}).Within(below)
		root, rootErr := filepath.EvalSymlinks(filepath.Join(dir, below))
		top, topErr := os.Stat(root)
		for _, name := range append(slices.Collect(maps.Keys(files)), below, below+"/a", below+"/b/c") {
			name = strings.TrimSuffix(name, "/")
			info, err := f.Info(name)
			named := name == below || strings.HasPrefix(name, below+"/")
			full, fullErr := filepath.EvalSymlinks(filepath.Join(dir, name))
			inside := rootErr == nil && topErr == nil && top.IsDir() && fullErr == nil && (full == root || strings.HasPrefix(full, root+"/"))
			switch {
			case err == nil && !(named && inside):
				rt.Errorf("Within(%q): %s leads to %s, not below %s", below, name, full, root)
			case err == nil:
				if fi, err := os.Stat(full); err != nil || infoOf(fi).Ino != info.Ino {
					rt.Errorf("Within(%q): %s is %v, %v; not %v", below, name, fi, err, info)
				}
			case !named && word(err) != "escape":
				rt.Errorf("Within(%q): %s: %v", below, name, err)
			case named && inside && word(err) != "escape":
				rt.Errorf("Within(%q): %s is %s, but: %v", below, name, full, err)
			case named && inside && !strings.Contains(fmt.Sprint(files), "OUTSIDE") && !strings.Contains(fmt.Sprint(files), "ROOT") && !strings.Contains(fmt.Sprint(files), ".."):
				rt.Errorf("Within(%q): %s is %s and no link leads out, but: %v", below, name, full, err)
			}
		}
	})
}

// TestReadLinkLeadsWhereTheLinkDoes compares the target of ReadLink with the file of Stat.
func TestReadLinkLeadsWhereTheLinkDoes(t *testing.T) {
	skipWindows(t, "symbolic links without a privilege")
	rapid.Check(t, func(rt *rapid.T) {
		files := trees(true).Draw(rt, "tree")
		f := osFS(onDisk(t, files, &options{}), options{})
		for name, content := range files {
			if !strings.HasPrefix(content, "-> ") {
				continue
			}
			target, err := f.ReadLink(name)
			info, statErr := f.Info(name)
			switch {
			case err != nil:
				// A broken link may lead outside by its text.
				if statErr == nil || word(err) != word(statErr) && word(err) != "escape" {
					rt.Errorf("%s %s: ReadLink %v, Stat %v", name, content, err, statErr)
				}
			case checkName(target) != nil:
				rt.Errorf("%s %s: %q is no name", name, content, target)
			case statErr == nil:
				if found, err := f.Info(target); err != nil || found.Ino != info.Ino {
					rt.Errorf("%s %s: %s is %v, %v; want %v", name, content, target, found, err, info)
				}
			case word(statErr) == "escape":
				rt.Errorf("%s %s: leads outside, but by ReadLink to %s", name, content, target)
			}
			dir := must.Get(f.OpenDir(path.Dir(name)))(t)
			byDir, _ := dir.ReadLink(path.Base(name))
			dir.Close()
			if byDir != target {
				rt.Errorf("%s %s: %q by Dir, %q by FS", name, content, byDir, target)
			}
		}
	})
}

func calls(t *rapid.T) []string {
	var lines []string
	for _, name := range rapid.SliceOfN(names, 1, 10).Draw(t, "names") {
		for _, op := range []string{"stat", "lstat", "open", "list", "readlink"} {
			lines = append(lines, op+" "+name)
		}
		if dir, elem := path.Split(name); dir != "" && !strings.Contains(name, " ") {
			for _, op := range []string{"lstat", "open", "head", "list", "readlink"} {
				lines = append(lines, "dir "+strings.TrimSuffix(dir, "/")+" "+op+" "+elem)
			}
		}
	}
	return append(lines, "list .")
}

func answers(f *FS, lines []string) []string {
	var all []string
	for _, line := range lines {
		all = append(all, line+" = "+call(f, line))
	}
	return all
}

// TestNames compares checkName with the rule of io/fs and with the meaning of a path.
func TestNames(t *testing.T) {
	skipWindows(t, "file names with a backslash")
	rapid.Check(t, func(t *rapid.T) {
		checkNameAgrees(t, rapid.StringMatching(`[a./\x00\\\xff]{0,12}`).Draw(t, "name"))
	})
}

func FuzzNames(f *testing.F) {
	skipWindows(f, "file names with a backslash")
	for _, seed := range []string{"", ".", "..", "a", "a/b", "/a", "a/", "a//b", "./a", "a/..", "../a", "a\x00", "\xff", `a\b`, "..."} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) { checkNameAgrees(t, name) })
}

func checkNameAgrees(t interface{ Errorf(string, ...any) }, name string) {
	err := checkName(name)
	if valid := fs.ValidPath(strings.ToValidUTF8(name, "?")) && !strings.Contains(name, "\x00"); valid != (err == nil) {
		t.Errorf("%q: %v, but by io/fs valid is %v", name, err, valid)
	}
	cleaned := path.Clean(name)
	if err == nil && (cleaned != name || cleaned == ".." || strings.HasPrefix(cleaned, "../") || path.IsAbs(name)) {
		t.Errorf("%q is accepted, and is %q", name, cleaned)
	}
	if leads := path.IsAbs(name) || cleaned == ".." || strings.HasPrefix(cleaned, "../"); leads && err != ErrEscape {
		t.Errorf("%q leads outside: %v", name, err)
	}
	if utf8.ValidString(name) && fs.ValidPath(name) && !strings.Contains(name, "\x00") && err != nil {
		t.Errorf("%q: %v", name, err)
	}
	if single := checkElement(name) == nil; single != (err == nil && name != "." && !strings.Contains(name, "/")) {
		t.Errorf("%q as an element: %v", name, checkElement(name))
	}
}

// FuzzPlain compares the result of plain with path.Join.
func FuzzPlain(f *testing.F) {
	f.Add("a//b", "./c")
	f.Add("..", "")
	f.Add("/a/./", "b/")
	f.Fuzz(func(t *testing.T, before, after string) {
		got := plain(before, after)
		if got == "" || strings.HasPrefix(got, "/") || strings.Contains(got, "//") || strings.HasPrefix(got, "./") || strings.Contains(got, "/./") {
			t.Errorf("plain(%q, %q) is %q", before, after, got)
		}
		must.Equal(t, fmt.Sprintf("plain(%q, %q) is %q, which is not", before, after, got),
			path.Clean("/"+before+"/"+after), path.Clean("/"+got))
	})
}

func TestCheckWindowsElement(t *testing.T) {
	for elem, want := range map[string]error{
		"a": nil, "a.txt": nil, "a b": nil, "...x": nil,
		`a\b`: ErrEscape, `..\a`: ErrEscape, `\a`: ErrEscape,
		"a:stream": fs.ErrInvalid, "C:": fs.ErrInvalid, "a.": fs.ErrInvalid, "a ": fs.ErrInvalid, "...": fs.ErrInvalid,
	} {
		must.Equal(t, elem, want, checkWindowsElement(elem))
	}
}

func TestMemMapFsWhileItIsWrittenTo(t *testing.T) {
	mem := afero.NewMemMapFs()
	must.Do(t, mem.MkdirAll("/proj", 0o755))
	f := over(mem, "/proj", options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 2000 {
			name := fmt.Sprintf("/proj/%d", i%100)
			if afero.WriteFile(mem, name, []byte("x"), 0o644) == nil && i%3 == 0 {
				mem.Remove(name)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		dir := must.Get(f.OpenDir("."))(t)
		must.Do(t, dir.Each(ctx, func(name string, _ fs.FileMode) error {
			if _, err := dir.Lstat(name); err != nil && word(err) != "not exist" {
				t.Error(err)
			}
			return nil
		}))
		dir.Close()
	}
}

// A hostileName is a name of the table "Names of Windows" in docs/platforms.md.
type hostileName struct {
	name             string
	windows, catalog string // the documented answers
	elsewhere        string
}

func hostileNames(t *testing.T) (names []hostileName) {
	t.Helper()
	page := must.Get(os.ReadFile("../docs/platforms.md"))(t)
	_, section, _ := strings.Cut(string(page), "\n## Names of Windows\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 6 || strings.HasPrefix(cells[1], "-") {
			continue
		}
		for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(cells[1], -1) {
			h := hostileName{strings.Trim(name, "`"), cells[2], cells[3], cells[4]}
			if strings.Contains(h.windows, "if Windows reserves the name") && filepath.IsLocal(h.name) {
				h.windows, h.catalog = "an ordinary name", "an ordinary name"
			}
			names = append(names, h)
		}
	}
	if len(names) < 40 {
		t.Fatalf("docs/platforms.md has %d names", len(names))
	}
	return names
}

// doors opens a name with each method that takes a name.
var doors = map[string]func(f *FS, name string) (content string, err error){
	"Lstat":       func(f *FS, name string) (string, error) { _, err := f.Lstat(name); return "", err },
	"Info":        func(f *FS, name string) (string, error) { _, err := f.Info(name); return "", err },
	"OpenRegular": func(f *FS, name string) (string, error) { return textOf(f.OpenRegular(name)) },
	"OpenDir": func(f *FS, name string) (string, error) {
		dir, err := f.OpenDir(name)
		return "", errors.Join(err, closed(dir))
	},
	"ReadLink": func(f *FS, name string) (string, error) { _, err := f.ReadLink(name); return "", err },
	"Within": func(f *FS, name string) (string, error) {
		_, err := f.Within(name).Lstat(name)
		return "", err
	},
	"Lstat of a Dir": func(f *FS, name string) (string, error) {
		return "", inTop(f, func(dir *Dir) error { _, err := dir.Lstat(name); return err })
	},
	"OpenRegular of a Dir": func(f *FS, name string) (content string, err error) {
		err = inTop(f, func(dir *Dir) (err error) { content, err = textOf(dir.OpenRegular(name)); return err })
		return content, err
	},
	"OpenDir of a Dir": func(f *FS, name string) (string, error) {
		return "", inTop(f, func(dir *Dir) error { child, err := dir.OpenDir(name); return errors.Join(err, closed(child)) })
	},
	"ReadHead of a Dir": func(f *FS, name string) (content string, err error) {
		buf := make([]byte, 9)
		err = inTop(f, func(dir *Dir) error {
			n, _, err := dir.ReadHead(name, buf)
			content = string(buf[:n])
			return err
		})
		return content, err
	},
	"ReadLink of a Dir": func(f *FS, name string) (string, error) {
		return "", inTop(f, func(dir *Dir) error { _, err := dir.ReadLink(name); return err })
	},
	"ReadFile of fs.FS": func(f *FS, name string) (string, error) {
		content, err := fs.ReadFile(f.IOFS(), name)
		return string(content), err
	},
	"Open of fs.FS": func(f *FS, name string) (string, error) {
		file, err := f.IOFS().Open(name)
		return "", errors.Join(err, closed(file))
	},
	"Stat of fs.FS":     func(f *FS, name string) (string, error) { _, err := fs.Stat(f.IOFS(), name); return "", err },
	"Lstat of fs.FS":    func(f *FS, name string) (string, error) { _, err := fs.Lstat(f.IOFS(), name); return "", err },
	"ReadDir of fs.FS":  func(f *FS, name string) (string, error) { _, err := fs.ReadDir(f.IOFS(), name); return "", err },
	"ReadLink of fs.FS": func(f *FS, name string) (string, error) { _, err := fs.ReadLink(f.IOFS(), name); return "", err },
	"Sub of fs.FS": func(f *FS, name string) (string, error) {
		sub, err := fs.Sub(f.IOFS(), name)
		if err == nil {
			_, err = fs.Stat(sub, ".")
		}
		return "", err
	},
	"ReadFile of afero.Fs": func(f *FS, name string) (string, error) {
		content, err := afero.ReadFile(f, name)
		return string(content), err
	},
	"Stat of afero.Fs":  func(f *FS, name string) (string, error) { _, err := f.Stat(name); return "", err },
	"Lstat of afero.Fs": func(f *FS, name string) (string, error) { _, _, err := f.LstatIfPossible(name); return "", err },
	"ReadDir of afero.Fs": func(f *FS, name string) (string, error) {
		_, err := afero.ReadDir(f, name)
		return "", err
	},
	"Readlink of afero.Fs": func(f *FS, name string) (string, error) { _, err := f.ReadlinkIfPossible(name); return "", err },
}

func inTop(f *FS, do func(*Dir) error) error {
	dir, err := f.OpenDir(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

func closed(c interface{ Close() error }) error {
	switch c := c.(type) {
	case *Dir:
		if c == nil {
			return nil
		}
	case nil:
		return nil
	}
	return c.Close()
}

func textOf(file *File, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return contents(file, nil), nil
}

// hostileRoot returns a directory with the files that the names of the table would find, beside a
// directory that no name may find.
func hostileRoot(t *testing.T) string {
	return onDisk(t, tree{"file.txt": "inside", "dir/in.txt": "inside"}, &options{})
}

func TestEachHostileNameHasTheDocumentedAnswer(t *testing.T) {
	for _, h := range hostileNames(t) {
		t.Run(h.name, func(t *testing.T) {
			root := hostileRoot(t)
			answer := h.windows
			if runtime.GOOS != "windows" {
				answer = h.elsewhere
			}
			if strings.Contains(answer, "an ordinary name") {
				made := filepath.Join(root, filepath.FromSlash(h.name))
				if os.MkdirAll(filepath.Dir(made), 0o755) != nil || os.WriteFile(made, []byte("inside"), 0o644) != nil {
					t.Skip("the filesystem has no such name")
				}
			}
			for kind, f := range map[string]*FS{"New": osFS(root, options{}), "os.Root": rootFS(root, options{}), "Over": over(wrappedOsFs{}, root, options{})} {
				for door, open := range doors {
					content, err := open(f, h.name)
					if err == nil && content != "" && content != "inside" {
						t.Errorf("%s, %s: reads %q", kind, door, content)
					}
					if got, want := h.answerOf(err), h.wanted(kind, door, answer); want != "" && !strings.Contains(want, got) {
						t.Errorf("%s, %s: %s (%v), documented as %s", kind, door, got, err, want)
					}
				}
			}
		})
	}
}

// answerOf names a result as the table does. For some methods, a file that is not a link or a
// directory is an error.
func (h hostileName) answerOf(err error) string {
	switch {
	case errors.Is(err, ErrEscape):
		return "`ErrEscape`"
	case errors.Is(err, fs.ErrNotExist):
		return "`fs.ErrNotExist`"
	case errors.Is(err, fs.ErrInvalid):
		return "`fs.ErrInvalid`"
	default:
		return "the file"
	}
}

// wanted returns the answers that a method may have.
func (h hostileName) wanted(kind, door, answer string) string {
	found := strings.Contains(answer, "the file") || strings.Contains(answer, "an ordinary name")
	switch {
	case strings.Contains(answer, "depends"):
		return ""
	case found && strings.Contains(strings.ToLower(door), "readlink"):
		return "the file, `fs.ErrInvalid`" // not a link
	case strings.HasSuffix(door, "of a Dir") && strings.Contains(h.name, "/"):
		return "`ErrEscape`, `fs.ErrInvalid`" // not an element
	case strings.HasSuffix(door, "of afero.Fs") && runtime.GOOS == "windows" && strings.Contains(h.name, `\`):
		if strings.Contains(h.catalog, "the file") {
			return "the file, `fs.ErrInvalid`"
		}
		return "`ErrEscape`, `fs.ErrInvalid`"
	case found:
		return "the file"
	case door == "Within":
		return "`ErrEscape`" + answer
	case strings.HasSuffix(door, "of fs.FS") && !strings.Contains(answer, "fs.ErrNotExist"):
		return "`fs.ErrInvalid`"
	case strings.Contains(answer, "outside"):
		return "`ErrEscape`"
	default:
		return answer
	}
}
