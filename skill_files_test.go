package toolshelf_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// skillOf returns a skill and its catalog.
func skillOf(t *testing.T, name string, options ...toolshelf.Option) (toolshelf.Skill, *toolshelf.Catalog) {
	t.Helper()
	c := catalog(t, options...)
	skill := must.Get(c.GetSkill(t.Context(), name))(t)
	return skill, c
}

// walked returns the files that fs.WalkDir finds.
func walked(t *testing.T, fsys fs.FS) (files []string) {
	t.Helper()
	must.Do(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	}))
	return files
}

func TestSkillFSIsAnFSOfTheFilesOfTheSkill(t *testing.T) {
	files := forms()
	builtIn := fstest.MapFS{}
	for name, content := range files {
		if below, ok := strings.CutPrefix(name, "skills/"); ok {
			builtIn[below] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	for name, options := range map[string][]toolshelf.Option{
		"memory": {toolshelf.WithFs(memoryOf(t, files))},
		"disk":   {toolshelf.WithRoot(diskOf(t, files))},
		"FS":     {toolshelf.WithRoot(t.TempDir()), toolshelf.WithSkillsFS("built in", builtIn)},
	} {
		t.Run(name, func(t *testing.T) {
			skill, _ := skillOf(t, "forms", options...)
			fsys := skill.FS()
			var paths []string
			for _, f := range skill.Files {
				paths = append(paths, f.Path)
				content, err := fs.ReadFile(fsys, f.Path)
				if want := files["skills/forms/"+f.Path]; err != nil || string(content) != want {
					t.Errorf("%s: %q, %v; want %q", f.Path, content, err, want)
				}
			}
			if err := fstest.TestFS(fsys, paths...); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(len(paths), len(walked(t, fsys))); diff != "" {
				t.Errorf("WalkDir finds %q; want %q", walked(t, fsys), paths)
			}
			if content, err := fs.ReadFile(fsys, ".git/config"); err != nil || string(content) != "url" {
				t.Errorf("an unlisted file: %q, %v", content, err)
			}
		})
	}
}

func TestSkillFSErrors(t *testing.T) {
	files := forms()
	files["skills/forms/large.bin"] = strings.Repeat("x", 2001)
	root := diskOf(t, files)
	skill, c := skillOf(t, "forms", toolshelf.WithRoot(root), toolshelf.WithMaxFileSize(2000))
	fsys := skill.FS()
	calls := map[string]func(fs.FS, string) error{
		"Open":     func(fsys fs.FS, name string) error { _, err := fsys.Open(name); return err },
		"ReadFile": func(fsys fs.FS, name string) error { _, err := fs.ReadFile(fsys, name); return err },
		"ReadDir":  func(fsys fs.FS, name string) error { _, err := fs.ReadDir(fsys, name); return err },
		"Stat":     func(fsys fs.FS, name string) error { _, err := fs.Stat(fsys, name); return err },
	}
	check := func(fsys fs.FS, call, name string, wants ...error) {
		t.Helper()
		err := calls[call](fsys, name)
		var at *fs.PathError
		if !errors.As(err, &at) || at.Path != name || strings.Contains(err.Error(), root) {
			t.Errorf("%s(%q): %v; want an *fs.PathError", call, name, err)
		}
		for _, want := range wants {
			if !errors.Is(err, want) {
				t.Errorf("%s(%q): %v; want %v", call, name, err, want)
			}
		}
	}
	for call := range calls {
		for _, name := range []string{"", "/", "../other/SKILL.md", "references/..", "./SKILL.md", "references/", "/etc/passwd"} {
			check(fsys, call, name, fs.ErrInvalid)
		}
		check(fsys, call, "nothing", fs.ErrNotExist, toolshelf.ErrNotFound)
		check(fsys, call, "SKILL.md/x", toolshelf.ErrNotFound)
		check(toolshelf.Skill{SkillInfo: skill.SkillInfo}.FS(), call, "SKILL.md", fs.ErrInvalid)
	}
	check(fsys, "Open", "large.bin", toolshelf.ErrFileTooLarge)
	check(fsys, "ReadFile", "large.bin", toolshelf.ErrFileTooLarge)
	check(fsys, "ReadFile", "references", toolshelf.ErrFileRead)
	check(fsys, "ReadFile", ".", toolshelf.ErrFileRead)
	if info, err := fs.Stat(fsys, "large.bin"); err != nil || info.Size() != 2001 {
		t.Errorf("Stat: %v, %v", info, err)
	}

	opened := must.Get(fsys.Open("scripts/fill.py"))(t)
	defer opened.Close()
	must.Do(t, os.RemoveAll(filepath.Join(root, "skills", "forms")))
	for call := range calls {
		check(fsys, call, "scripts/fill.py", fs.ErrNotExist, toolshelf.ErrSkillNotFound)
	}
	c.Close()
	for call := range calls {
		check(fsys, call, "scripts/fill.py", fs.ErrClosed, toolshelf.ErrClosed)
	}
	content := make([]byte, 20)
	if n, err := opened.Read(content); err != nil || string(content[:n]) != "print()" {
		t.Errorf("an open file after Close: %q, %v", content[:n], err)
	}
}

// The links are those of TestLinksInASkillLeadNowhereElse.
func TestSkillFSFollowsLinksInTheDirectoryOnly(t *testing.T) {
	outside := diskOf(t, map[string]string{"secret.txt": "outside"})
	root := diskOf(t, forms())
	dir := filepath.Join(root, "skills", "forms")
	for name, target := range map[string]string{
		"inside.md": "references/A B.md", "inside-folder": "references", "references/home": "..", "references/up.md": "../SKILL.md", "to-secret.txt": "../../secret.txt",
		"to-missing.txt": "../../missing.txt", "to-outside": outside, "dangling": "nothing", "circle": "circle",
	} {
		hosttest.Symlink(t, target, filepath.Join(dir, name))
	}
	skill, _ := skillOf(t, "forms", toolshelf.WithRoot(root))
	fsys := skill.FS()
	var listed []string
	for _, f := range skill.Files {
		listed = append(listed, f.Path)
	}
	if err := fstest.TestFS(fsys, listed...); err != nil {
		t.Error(err)
	}
	inOrder := cmp.Transformer("set", func(all []string) map[string]bool {
		set := map[string]bool{}
		for _, name := range all {
			set[name] = true
		}
		return set
	})
	if diff := cmp.Diff(listed, walked(t, fsys), inOrder); diff != "" {
		t.Errorf("WalkDir and Files differ (-Files +WalkDir):\n%s", diff)
	}
	for name, want := range map[string]any{
		"inside.md": "# A", "references/up.md": forms()["skills/forms/SKILL.md"], "inside-folder/A B.md": "# A", "references/home/references/A B.md": "# A",
		"to-secret.txt": toolshelf.ErrOutsideRoot, "to-missing.txt": toolshelf.ErrOutsideRoot, "to-outside/secret.txt": toolshelf.ErrOutsideRoot,
		"dangling": fs.ErrNotExist, "circle": toolshelf.ErrFileRead, "to-outside": toolshelf.ErrOutsideRoot,
	} {
		content, err := fs.ReadFile(fsys, name)
		if text, ok := want.(string); ok {
			if err != nil || string(content) != text {
				t.Errorf("%s: %q, %v; want %q", name, content, err, text)
			}
			continue
		}
		_, dirErr := fs.ReadDir(fsys, name)
		_, statErr := fs.Stat(fsys, name)
		if !errors.Is(err, want.(error)) || !errors.Is(dirErr, want.(error)) || !errors.Is(statErr, want.(error)) {
			t.Errorf("%s: %v, %v, %v; want %v", name, err, dirErr, statErr, want)
		}
	}
	for _, name := range []string{"inside-folder", "references/home/references"} {
		entries, err := fs.ReadDir(fsys, name)
		if err != nil || len(entries) != 3 { // A B.md, deep and up.md
			t.Errorf("%s: %v, %v", name, entries, err)
		}
	}
	denied, _ := skillOf(t, "forms", toolshelf.WithRoot(root), toolshelf.WithSymlinks(toolshelf.SymlinksDeny))
	if _, err := fs.ReadFile(denied.FS(), "inside.md"); !errors.Is(err, toolshelf.ErrOutsideRoot) {
		t.Errorf("with SymlinksDeny: %v", err)
	}
}

func TestSkillFSRespectsTheFilter(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"skills/a/SKILL.md": "---\ndescription: shown\n---\n", "skills/a/x.txt": "x"})
	skill, _ := skillOf(t, "a", toolshelf.WithFs(fsys), toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Description == "shown" }))
	must.Get(fs.ReadFile(skill.FS(), "x.txt"))(t)
	must.Do(t, afero.WriteFile(fsys, "skills/a/SKILL.md", []byte("---\ndescription: a secret\n---\n"), 0o644))
	for _, name := range []string{".", "x.txt", "nothing"} {
		if _, err := skill.FS().Open(name); !errors.Is(err, toolshelf.ErrSkillNotFound) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v; want ErrSkillNotFound", name, err)
		}
	}
}

func TestSkillsOfTwoCatalogsAreEqual(t *testing.T) {
	root := diskOf(t, forms())
	a, _ := skillOf(t, "forms", toolshelf.WithRoot(root))
	b, _ := skillOf(t, "forms", toolshelf.WithRoot(root))
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("(-a +b):\n%s", diff)
	}
	if want := filepath.Join(root, "skills", "forms", "SKILL.md"); a.Path != want {
		t.Errorf("Path = %q; want %q", a.Path, want)
	}
}

func TestTheSpellingOfASkillFileOnThisSystem(t *testing.T) {
	files := map[string]string{"skills/a/Skill.md": "---\nname: a\ndescription: d\n---\nRead.\n"}
	if hosttest.HasNames(t, "Skill.md", "ſkill.md") {
		files["skills/a/ſkill.md"] = "Other.\n"
	}
	c := catalog(t, toolshelf.WithRoot(diskOf(t, files)))
	skill, err := c.GetSkill(t.Context(), "a")
	if hosttest.HasNames(t, "Skill.md", "SKILL.md") {
		if !errors.Is(err, toolshelf.ErrSkillNotFound) {
			t.Errorf("Skill.md counts as SKILL.md: %v", err)
		}
		return
	}
	list, listErr := c.ListSkills(t.Context())
	if err != nil || listErr != nil || len(list) != 1 {
		t.Fatal(err, listErr, list)
	}
	if skill.Content != "Read.\n" || filepath.Base(skill.Path) != "Skill.md" || filepath.Base(list[0].Path) != "Skill.md" || skill.Files[0].Path != "Skill.md" {
		t.Errorf("content %q, paths %s and %s, files %v", skill.Content, skill.Path, list[0].Path, skill.Files)
	}
}

func TestSkillFileOnAFilesystemThatIgnoresLetterCase(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
	digest := sha256.Sum256([]byte(text))
	for _, name := range []string{"SKILL.md", "skill.md", "Skill.md"} {
		for _, place := range []string{"memory", "disk", "link"} {
			t.Run(place+"/"+name, func(t *testing.T) {
				files := map[string]string{"skills/pdf/" + name: text, "skills/pdf/z.txt": "a"}
				var options []toolshelf.Option
				switch place {
				case "memory":
					options = append(options, toolshelf.WithFs(catalogtest.Folding{Fs: memoryOf(t, files)}))
				case "link":
					if runtime.GOOS == "windows" {
						t.Skip("Windows makes a symbolic link only with a privilege")
					}
					delete(files, "skills/pdf/"+name)
					files["shared/pdf.md"] = text
					fallthrough
				default:
					root := diskOf(t, files)
					if place == "link" {
						hosttest.Symlink(t, "../../shared/pdf.md", filepath.Join(root, "skills", "pdf", name))
					}
					options = append(options, toolshelf.WithFs(catalogtest.Folding{Fs: afero.NewOsFs(), Top: root}), toolshelf.WithRoot(root))
				}
				c := catalog(t, options...)
				for _, o := range [][]toolshelf.SkillOption{nil, {toolshelf.Digests()}, nil} {
					skill := must.Get(c.GetSkill(t.Context(), "pdf", o...))(t)
					own := toolshelf.SkillFile{Path: name, Size: int64(len(text))}
					other := toolshelf.SkillFile{Path: "z.txt", Size: 1}
					if o != nil {
						sum := sha256.Sum256([]byte("a"))
						own.SHA256, other.SHA256 = hex.EncodeToString(digest[:]), hex.EncodeToString(sum[:])
					}
					want := []toolshelf.SkillFile{own, other}
					must.Match(t, "files", want, skill.Files)
					if skill.Content != "Read.\n" || filepath.Base(skill.Path) != name || len(skill.Diagnostics) > 0 {
						t.Errorf("content %q, path %q, diagnostics %v", skill.Content, skill.Path, skill.Diagnostics)
					}
					if prompt := skill.Prompt(); strings.Contains(prompt, "<file>"+name) || !strings.Contains(prompt, "<file>z.txt") {
						t.Errorf("the prompt lists SKILL.md itself, or not the other file:\n%s", prompt)
					}
				}
				for _, spelling := range []string{name, "SKILL.md", "skill.md"} {
					if got, err := c.ReadSkillFile(t.Context(), "pdf", spelling); string(got) != text {
						t.Errorf("ReadSkillFile(%s) = %q, %v", spelling, got, err)
					}
				}
				skills, err := c.ListSkills(t.Context())
				if err != nil || len(skills) != 1 || skills[0].Description != "Reads PDF files." || filepath.Base(skills[0].Path) != name {
					t.Errorf("ListSkills = %+v, %v", skills, err)
				}
				if skills := collected(t, c.Skills(t.Context())); len(skills) != 1 || filepath.Base(skills[0].Path) != name || skills[0].Content != "Read.\n" {
					t.Errorf("Skills = %+v", skills)
				}
				prompt, err := c.SkillsPrompt(t.Context(), toolshelf.PromptLocations())
				if err != nil || !strings.Contains(prompt.Text, "/"+name+"</location>") {
					t.Errorf("SkillsPrompt = %+v, %v", prompt, err)
				}
			})
		}
	}
}

// An endless filesystem has a file without an end.
type endless struct {
	afero.Fs
	name string
	read chan struct{} // a value for each Read
}

func (f *endless) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	if err == nil && name == f.name {
		file = &endlessFile{file, f.read}
	}
	return file, err
}

func (f *endless) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	return f.Open(name)
}

type endlessFile struct {
	afero.File
	read chan struct{}
}

func (f *endlessFile) Read(p []byte) (int, error) {
	f.read <- struct{}{}
	if len(p) == 0 {
		return 0, io.ErrShortBuffer
	}
	return 1, nil
}

func TestCloseEndsADigest(t *testing.T) {
	memory := memoryOf(t, map[string]string{"skills/zed/SKILL.md": skillFile("zed"), "skills/zed/big.bin": string(make([]byte, 1<<20))})
	fsys := &endless{memory, "skills/zed/big.bin", make(chan struct{})}
	c := catalog(t, toolshelf.WithFs(fsys))
	got := make(chan error)
	go func() {
		_, err := c.GetSkill(t.Context(), "zed", toolshelf.Digests())
		got <- err
	}()
	<-fsys.read
	closed := make(chan struct{})
	go func() {
		c.Close()
		close(closed)
	}()
	for _, err := c.List(t.Context(), toolshelf.Page{}); !errors.Is(err, toolshelf.ErrClosed); _, err = c.List(t.Context(), toolshelf.Page{}) {
		runtime.Gosched()
	}
	reads := 0
	for done := 0; done < 2; {
		select {
		case <-fsys.read:
			if reads++; reads == 2 { // a read may have begun before Close
				t.Error("it is read on after Close")
			}
		case err := <-got:
			if !errors.Is(err, toolshelf.ErrClosed) {
				t.Errorf("got %v", err)
			}
			done++
		case <-closed:
			closed = nil
			done++
		}
	}
}
