package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// skills returns a filesystem with the files, and an index of the directory "skills". The
// metadata of the files proves the files unchanged.
func skills(t *testing.T, files map[string]string) (afero.Fs, *index.Index) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		must.Do(t, afero.WriteFile(fsys, name, []byte(text), 0o644))
	}
	root := must.Get(confine.Over(fsys, "/"))(t)
	x := must.Get(index.New(client.Skills, index.Config{Layers: []index.Layer{{Name: "skills", FS: root, Dir: "skills", Immutable: true}}, MaxFileSize: 1 << 20}))(t)
	t.Cleanup(func() { x.Close(); root.Close() })
	return fsys, x
}

// openListed opens a skill and lists its files.
func openListed(t *testing.T, x *index.Index, skill string) (*Dir, skilldir.Listing) {
	t.Helper()
	dir := new(Reader).Of(must.Get(x.OpenSkill(t.Context(), snapshot(t, x).Lookup(skill)))(t))
	t.Cleanup(dir.Close)
	listed := must.Get(dir.Files(t.Context()))(t)
	return &dir, listed
}

func snapshot(t *testing.T, x *index.Index) *index.Snapshot {
	t.Helper()
	return must.Get(x.Snapshot(t.Context()))(t)
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestCacheGivesTheDigestOfTheListedFile(t *testing.T) {
	files := map[string]string{"skills/a/SKILL.md": "A.", "skills/a/x/one.txt": "one", "skills/a/x/two.txt": "two"}
	for _, most := range []int{0, 2} {
		_, x := skills(t, files)
		dir, listed := openListed(t, x, "a")
		c := Digests{Max: most}
		for range 3 {
			for _, f := range listed.Files {
				got, err := c.Of(t.Context(), dir, f)
				if want := sha(files["skills/a/"+f.Name]); err != nil || got.String() != want {
					t.Errorf("%s: got %v, %v; want %s", f.Name, got, err, want)
				}
				if kept, ok := c.Kept(dir, f); !ok || kept != got {
					t.Errorf("%s: the cache has %v, %t", f.Name, kept, ok)
				}
			}
		}
		if n := c.Len(); most == 0 && n != 3 || most == 2 && n != 2 {
			t.Errorf("%d files are cached; Max is %d", n, most)
		}
		if err := unchanged(t.Context(), dir, listed); err != nil {
			t.Error(err)
		}
	}
}

// A sizeless filesystem reports the size 0, and counts the reads.
type sizeless struct {
	afero.Fs
	reads *int
}

type sizelessFile struct {
	afero.File
	of sizeless
}

type sizelessInfo struct{ fs.FileInfo }

func (sizelessInfo) Size() int64 { return 0 }

func (s sizeless) Open(name string) (afero.File, error) {
	f, err := s.Fs.Open(name)
	return sizelessFile{f, s}, err
}

func (f sizelessFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return sizelessInfo{info}, err
}

func (f sizelessFile) Read(p []byte) (int, error) {
	*f.of.reads++
	return f.File.Read(p)
}

func TestTheDigestOfAFileWithoutASize(t *testing.T) {
	text, reads := strings.Repeat("text", 1<<16), 0
	fsys, _ := skills(t, map[string]string{"/skills/a/SKILL.md": "A.", "/skills/a/x": text})
	root := must.Get(confine.Over(sizeless{fsys, &reads}, "/"))(t)
	top := must.Get(root.OpenDir("skills/a"))(t)
	d := skilldir.Dir{Top: top, FS: root, At: "skills/a", File: "SKILL.md"}
	sum, _, _, err := d.Sum(t.Context(), "x", 1<<20)
	if hex.EncodeToString(sum[:]) != sha(text) || err != nil || reads > 1000 {
		t.Errorf("%x, %v after %d reads", sum, err, reads)
	}
}

func TestAFileThatChangesAfterTheListingHasNoDigest(t *testing.T) {
	for name, change := range map[string]func(afero.Fs) error{
		"written": func(fsys afero.Fs) error { return afero.WriteFile(fsys, "skills/a/x.txt", []byte("longer"), 0o644) },
		"removed": func(fsys afero.Fs) error { return fsys.Remove("skills/a/x.txt") },
		"directory": func(fsys afero.Fs) error {
			return errors.Join(fsys.Remove("skills/a/x.txt"), fsys.Mkdir("skills/a/x.txt", 0o755))
		},
	} {
		t.Run(name, func(t *testing.T) {
			fsys, x := skills(t, map[string]string{"skills/a/SKILL.md": "A.", "skills/a/x.txt": "x"})
			dir, listed := openListed(t, x, "a")
			must.Do(t, change(fsys))
			var c Digests
			if got, err := c.Of(t.Context(), dir, listed.Files[1]); err != index.ErrChanging {
				t.Errorf("got %v, %v", got, err)
			}
			must.Equal(t, "the list", index.ErrChanging, unchanged(t.Context(), dir, listed))
			must.Equal(t, "c.Len()", 0, c.Len())
		})
	}
}

func TestAChangedFileHasNoKeptDigest(t *testing.T) {
	fsys, x := skills(t, map[string]string{"skills/a/SKILL.md": "A."})
	dir, listed := openListed(t, x, "a")
	var c Digests
	must.Get(c.Of(t.Context(), dir, listed.Files[0]))(t)
	write(t, fsys, "SKILL.md", "Changed.")
	dir, listed = openListed(t, x, "a")
	if got, ok := c.Kept(dir, listed.Files[0]); ok {
		t.Errorf("the cache has %v", got)
	}
	if got, err := c.Of(t.Context(), dir, listed.Files[0]); err != nil || got.String() != sha("Changed.") {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestADigestEndsWithItsContext(t *testing.T) {
	_, x := skills(t, map[string]string{"skills/a/SKILL.md": "A."})
	dir, listed := openListed(t, x, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var c Digests
	if got, err := c.Of(ctx, dir, listed.Files[0]); !errors.Is(err, context.Canceled) || c.Len() != 0 {
		t.Errorf("got %v, %v; %d files are cached", got, err, c.Len())
	}
}

func TestRetainKeepsTheSkillsOfTheSnapshot(t *testing.T) {
	files := map[string]string{"skills/kept/SKILL.md": "K.", "skills/kept/x/y.txt": "y", "skills/removed/SKILL.md": "R.", "skills/removed/x/y.txt": "y"}
	_, x := skills(t, files)
	var c Digests
	for _, skill := range []string{"kept", "removed"} {
		dir, listed := openListed(t, x, skill)
		for _, f := range listed.Files {
			must.Get(c.Of(t.Context(), dir, f))(t)
		}
	}
	if n := c.Len(); n != 4 {
		t.Fatalf("%d files are cached, want 4", n)
	}
	delete(files, "skills/removed/SKILL.md")
	_, without := skills(t, files)
	c.Retain(snapshot(t, without))
	dir, listed := openListed(t, x, "kept")
	for _, f := range listed.Files {
		if _, ok := c.Kept(dir, f); !ok {
			t.Errorf("the cache has no %s", f.Name)
		}
	}
	must.Equal(t, "c.Len()", 2, c.Len())
}

// A digest proves that a header describes the same bytes only if the digest was computed with
// this header.
func TestHasHeadComparesTheFrontmatter(t *testing.T) {
	d := ofSkillFile([]byte("---\nname: a\n---\n"), "yaml", "name: a\n")
	if d.String() != sha("---\nname: a\n---\n") || !d.HasHead("yaml", "name: a\n") {
		t.Errorf("got %v", d)
	}
	for _, other := range [][2]string{{"yaml", "name: b\n"}, {"toml", "name: a\n"}, {"", ""}} {
		if d.HasHead(other[0], other[1]) {
			t.Errorf("the digest has the frontmatter %q", other)
		}
	}
	if (Digest{}).HasHead("", "") {
		t.Error("a digest of a file without ofSkillFile has a frontmatter")
	}
}
