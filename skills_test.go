package toolshelf_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

func TestListSkills(t *testing.T) {
	want := []toolshelf.SkillInfo{
		{Name: "list-style", DeclaredName: "list-style", Description: "Tools as a list", AllowedTools: []string{"Read", "Bash(ls:*)"}},
		{Name: "lower-case", DeclaredName: "other-name", Description: "Spelt in lower case"},
		{Name: "no-file"},
		{Name: "pdf-tools", DeclaredName: "pdf-tools", Description: "Read and fill PDF forms.\nUse when a form is mentioned.",
			License: "Apache-2.0", Compatibility: "needs python3", Metadata: map[string]string{"author": "tests", "version": "1.0"},
			AllowedTools: []string{"Bash(git add:*)", "Read", "Write"}},
	}
	for i := range want {
		want[i].UserInvocable = true
	}
	files := map[string]string{
		"list-style": "skills/list-style/SKILL.md", "lower-case": "skills/lower-case/skill.md", "pdf-tools": "skills/pdf-tools/SKILL.md",
	}
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		got, err := open().ListSkills(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(toolshelf.SkillInfo{}, "Path", "Layer", "Diagnostics", "Frontmatter")); diff != "" {
			t.Errorf("skills (-want +got):\n%s", diff)
		}
		for _, s := range got {
			file := files[s.Name]
			if path := filepath.ToSlash(s.Path); (file == "") != (path == "") ||
				!strings.HasSuffix(path, file) && !strings.HasSuffix(path, strings.TrimPrefix(file, "skills/")) {
				t.Errorf("%s is at %q, want %q", s.Name, s.Path, file)
			}
			if (len(s.Diagnostics) > 0) != (s.Name == "no-file") {
				t.Errorf("%s has diagnostics %v", s.Name, s.Diagnostics)
			}
		}
	})
}

func TestListSkillsErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		options []toolshelf.Option
		want    error
		message string // the contract's
	}{
		{"a missing folder", []toolshelf.Option{toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithSkillsDir("/path/to/skills")},
			toolshelf.ErrDirectoryNotFound, "Skills folder not found at path: /path/to/skills"},
		{"an unreadable folder", []toolshelf.Option{toolshelf.WithFs(failing{memory(t, "."), map[string]error{"skills": fs.ErrPermission}})},
			toolshelf.ErrPermissionDenied, "Permission denied reading skills folder"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := catalog(t, tt.options...).ListSkills(t.Context())
			var e *toolshelf.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || e.Message != tt.message {
				t.Errorf("got %v, want %v with %q", err, tt.want, tt.message)
			}
		})
	}
	t.Run("an empty folder is an empty list", func(t *testing.T) {
		fsys := afero.NewMemMapFs()
		if err := fsys.Mkdir("skills", 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := catalog(t, toolshelf.WithFs(fsys)).ListSkills(t.Context())
		if err != nil || got == nil || len(got) != 0 {
			t.Errorf("got %#v, %v", got, err)
		}
	})
}

func TestSkillNamesAreSafePathElements(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"good", "also good", "a..b", `back\slash`, "new\nline", "esc\x1b[31m", ".hidden"} {
		files["skills/"+name+"/SKILL.md"] = "---\nname: x\ndescription: x\n---\n"
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	got, err := c.ListSkills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range got {
		names = append(names, s.Name)
	}
	if diff := cmp.Diff([]string{"also good", "good"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	reported := 0
	for _, p := range problems(t, c) {
		if strings.HasPrefix(p, "INVALID_SKILL_NAME") {
			reported++
		}
	}
	if reported != 4 {
		t.Errorf("%d names reported, want 4", reported)
	}
}

func TestSkillsThroughLinks(t *testing.T) {
	outside := diskOf(t, map[string]string{"secret/SKILL.md": "---\nname: secret\ndescription: outside\n---\n"})
	root := diskOf(t, map[string]string{
		"shared/inside/SKILL.md":  "---\nname: inside\ndescription: inside\n---\n",
		"skills/direct/SKILL.md":  "---\nname: direct\ndescription: direct\n---\n",
		"skills/linked/notes.txt": "",
	})
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(root, "skills", name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	link("../shared/inside", "inside")
	link(filepath.Join(root, "shared", "inside"), "absolute")
	link(filepath.Join(outside, "secret"), "outside")
	link("nothing", "dangling")
	link("circle", "circle")
	link("../../shared/inside/SKILL.md", "linked/SKILL.md")

	for _, tt := range []struct {
		name   string
		option toolshelf.Option
		want   map[string]string // description by name
		refuse []string
	}{
		{"inside", toolshelf.WithSymlinks(toolshelf.SymlinksInside),
			map[string]string{"direct": "direct", "inside": "inside", "absolute": "inside", "linked": "inside"}, []string{"outside", "dangling", "circle"}},
		{"none", toolshelf.WithSymlinks(toolshelf.SymlinksDeny),
			map[string]string{"direct": "direct", "linked": ""}, []string{"inside", "absolute", "outside", "dangling", "circle", "linked/SKILL.md"}},
		{"trusted", toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, outside),
			map[string]string{"direct": "direct", "inside": "inside", "absolute": "inside", "outside": "outside", "linked": "inside"}, []string{"dangling", "circle"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := catalog(t, toolshelf.WithRoot(root), tt.option)
			list, err := c.ListSkills(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, s := range list {
				got[s.Name] = s.Description
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("skills (-want +got):\n%s", diff)
			}
			reported := strings.Join(problems(t, c), "\n") + "\n"
			for _, name := range tt.refuse {
				if !strings.Contains(reported, "LINK_NOT_FOLLOWED skills/"+name+"\n") {
					t.Errorf("%s is not reported:\n%s", name, reported)
				}
			}
		})
	}
}

// A counting filesystem counts what is done with it.
type counting struct {
	afero.Fs
	calls atomic.Int64
	files atomic.Int64 // regular files opened
	read  atomic.Int64 // bytes of them
}

func (c *counting) Open(name string) (afero.File, error) { return c.OpenFile(name, os.O_RDONLY, 0) }

func (c *counting) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	c.calls.Add(1)
	f, err := c.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		c.files.Add(1)
	}
	return countingFile{f, c}, nil
}

func (c *counting) Stat(name string) (os.FileInfo, error) {
	c.calls.Add(1)
	return c.Fs.Stat(name)
}

type countingFile struct {
	afero.File
	fs *counting
}

func (f countingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.fs.read.Add(int64(n))
	return n, err
}
