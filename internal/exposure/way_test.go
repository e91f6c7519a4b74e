package exposure

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestDirOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"packages/web:deploy": "packages/web", "web:deploy": "web", ".github/x:deploy": ".github/x", "a:b:deploy": "a:b",
		".github:deploy": ".github", "app/[...slug]:deploy": "app/[...slug]",
		"deploy": "", "a/b": "", "../web:deploy": "", "/web:deploy": "", "web/:deploy": "", "./web:deploy": "", ".:deploy": "", ":deploy": "", "web:": "",
		"web:a/b": "", `a\b:deploy`: "", "a//b:deploy": "", "a/../b:deploy": "", "a/.../b:deploy": "", "a/\n:deploy": "",
	} {
		if dir, ok := Dir(name); dir != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", name, dir, ok)
		}
	}
}

// Neither the many files of a skill nor the name of a directory hides a skill.
func TestEverywhereFindsTheSkillsOfAllDirectories(t *testing.T) {
	memory := afero.NewMemMapFs()
	put := func(name string) {
		must.Do(t, afero.WriteFile(memory, name, []byte("---\ndescription: d\n---\n"), 0o644))
	}
	for _, name := range []string{
		"[a]/.claude/skills/x/SKILL.md", "[a]/.claude/skills/x/.claude/skills/y/SKILL.md", "b/.claude/skills/z/SKILL.md",
		"venv/.claude/skills/v/SKILL.md", "b/node_modules/m/.claude/skills/o/SKILL.md",
	} {
		put(name)
	}
	for i := range maxFound {
		put("[a]/.claude/skills/x/data/" + strconv.Itoa(i))
	}
	fsys := must.Get(confine.Over(memory, "."))(t)
	place := index.Layer{Name: ".claude/skills", FS: fsys, Dir: ".claude/skills", MayBeMissing: true}
	x := must.Get(index.New(client.Skills, index.Config{Layers: []index.Layer{place}, MaxFileSize: 1 << 20, Lifetime: t.Context(), Broken: true}))(t)
	defer x.Close()
	s := must.Get(x.Snapshot(t.Context()))(t)
	_, all, err := (&Below{Skills: x, Root: fsys, Layers: []index.Layer{place}}).Everywhere(t.Context(), s)
	must.Do(t, err)
	var names []string
	for e := range all.Winners() {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	must.Match(t, "names", []string{"[a]/.claude/skills/x:y", "[a]:x", "b:z", "venv:v"}, names)
}

// A faultyFs fails one call.
type faultyFs struct {
	afero.Fs
	calls, fails int
}

func (f *faultyFs) call() error {
	if f.calls++; f.calls == f.fails {
		return syscall.EIO
	}
	return nil
}

func (f *faultyFs) Open(name string) (afero.File, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	return f.Fs.Open(name)
}

func (f *faultyFs) Stat(name string) (os.FileInfo, error) {
	if err := f.call(); err != nil {
		return nil, err
	}
	return f.Fs.Stat(name)
}

// A fault of the filesystem neither hides a skill nor shows a skill of an ignored directory, unless
// the call fails, or the entry of the skill has the fault.
func TestAFaultOnTheWayIsAnError(t *testing.T) {
	memory := afero.NewMemMapFs()
	for name, text := range map[string]string{
		".gitignore": "dist\n", "a/.claude/skills/x/SKILL.md": "---\ndescription: d\n---\n",
		"a/dist/b/.claude/skills/y/SKILL.md": "---\ndescription: d\n---\n", "a/dist/b/c.go": "",
	} {
		must.Do(t, afero.WriteFile(memory, name, []byte(text), 0o644))
	}
	fails := 0
	for n := 0; ; n++ {
		faulty := &faultyFs{Fs: memory}
		fsys := must.Get(confine.Over(faulty, "."))(t)
		place := index.Layer{Name: ".claude/skills", FS: fsys, Dir: ".claude/skills", MayBeMissing: true}
		x := must.Get(index.New(client.Skills, index.Config{Layers: []index.Layer{place}, MaxFileSize: 1 << 20, Lifetime: t.Context(), Broken: true}))(t)
		s, err := x.Validate(t.Context())
		if s == nil {
			t.Fatal(err)
		}
		faulty.calls, faulty.fails = 0, n
		w, err := (&Below{Skills: x, Root: fsys, Layers: []index.Layer{place}}).To(t.Context(), s, "a/dist/b/c.go")
		x.Close()
		if err != nil {
			fails++
			continue
		}
		var names []string
		for e := range w.All.Winners() {
			names = append(names, e.Name)
		}
		if !slices.Equal(names, []string{"a:x"}) {
			t.Errorf("after fault %d: %q", n, names)
		}
		if n > faulty.calls {
			break
		}
	}
	if fails < 5 {
		t.Errorf("%d calls have failed", fails)
	}
}

// A deniedFs opens no file with a name.
type deniedFs struct {
	afero.Fs
	name string
}

func (f deniedFs) Open(name string) (afero.File, error) {
	if name == f.name {
		return nil, &os.PathError{Op: "open", Path: name, Err: syscall.EACCES}
	}
	return f.Fs.Open(name)
}

// The skills of a directory without permission are not missing.
func TestADirectoryWithoutPermissionIsAnError(t *testing.T) {
	memory := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(memory, "a/.claude/skills/x/SKILL.md", []byte("---\ndescription: d\n---\n"), 0o644))
	fsys := must.Get(confine.Over(deniedFs{memory, filepath.FromSlash("a/.claude/skills")}, "."))(t)
	place := index.Layer{Name: ".claude/skills", FS: fsys, Dir: ".claude/skills", MayBeMissing: true}
	x := must.Get(index.New(client.Skills, index.Config{Layers: []index.Layer{place}, MaxFileSize: 1 << 20, Lifetime: t.Context(), Broken: true}))(t)
	defer x.Close()
	b := &Below{Skills: x, Root: fsys, Layers: []index.Layer{place}}
	_, listed := b.To(t.Context(), must.Get(x.Snapshot(t.Context()))(t), "a/b.go")
	_, named := b.To(t.Context(), nil, "a:x")
	if !errors.Is(listed, fs.ErrPermission) || !errors.Is(named, fs.ErrPermission) {
		t.Errorf("%v; %v", listed, named)
	}
}
