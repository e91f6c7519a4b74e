package index

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/skilldir"
)

// sealedSkills returns an index of the skills of a directory, and a function for the digest of the
// skill "s".
func sealedSkills(t *testing.T, root string) (x *Index, digest func() *Seal) {
	t.Helper()
	fsys := must.Get(confine.New(root))(t)
	t.Cleanup(func() { fsys.Close() })
	x = must.Get(New(client.Skills, Config{Layers: []Layer{{Name: "skills", FS: fsys, Dir: "skills", Sealed: true}}, MaxFileSize: 1 << 20, Valid: names.Plain, Broken: true, Depth: 1}))(t)
	t.Cleanup(x.Close)
	return x, func() *Seal {
		t.Helper()
		return must.Get(x.Snapshot(t.Context()))(t).Lookup("s").Seal()
	}
}

// A scan trusts the metadata of the directories of a skill, so each change of the tree must change
// the digest.
func TestASettledSkillHasTheDigestOfItsPresentFiles(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(skill string) error
	}{
		{"a new file", func(skill string) error { return os.WriteFile(filepath.Join(skill, "new.sh"), nil, 0o644) }},
		{"a new file in a deep directory", func(skill string) error { return os.WriteFile(filepath.Join(skill, "a/b/new.sh"), nil, 0o644) }},
		{"a file that changes in place, with the same size", func(skill string) error { return os.WriteFile(filepath.Join(skill, "a/b/x.sh"), []byte("2"), 0o644) }},
		{"a SKILL.md that changes in place", func(skill string) error {
			return os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: s\ndescription: Other.\n---\n"), 0o644)
		}},
		{"a removed file", func(skill string) error { return os.Remove(filepath.Join(skill, "a/b/x.sh")) }},
		{"a renamed file", func(skill string) error {
			return os.Rename(filepath.Join(skill, "a/b/x.sh"), filepath.Join(skill, "a/b/z.sh"))
		}},
		{"another directory in place of a directory", func(skill string) error {
			return errors.Join(os.Rename(filepath.Join(skill, "a/b"), filepath.Join(skill, "../../old")), os.Rename(filepath.Join(skill, "../../other"), filepath.Join(skill, "a/b")))
		}},
		{"a link to the same directory in place of a directory", func(skill string) error {
			return errors.Join(os.Rename(filepath.Join(skill, "a/b"), filepath.Join(skill, "../../old")), os.Symlink("../../../old", filepath.Join(skill, "a/b")))
		}},
		{"another directory in place of the skill", func(skill string) error {
			return errors.Join(os.Rename(skill, skill+"/../../old"), os.MkdirAll(skill+"/a/b", 0o755), os.Rename(skill+"/../../old/SKILL.md", skill+"/SKILL.md"), os.WriteFile(skill+"/a/b/x.sh", []byte("2"), 0o644))
		}},
		{"a link in place of a file", func(skill string) error {
			return errors.Join(os.Remove(filepath.Join(skill, "a/b/x.sh")), os.Symlink("../../y.sh", filepath.Join(skill, "a/b/x.sh")))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := tree{"skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\n", "skills/s/a/b/x.sh": "1", "skills/s/y.sh": "y", "other/x.sh": "3"}.onDisk(t)
			x, seal := sealedSkills(t, root)
			if info, err := x.Layer(0).FS.Info("skills"); err != nil || info.Changed.IsZero() {
				t.Log(err)
				t.Skip("the filesystem has no change times")
			}
			before := seal()
			for before.proof.Load().dirs == nil { // until the files are settled
				if seal() != before {
					t.Fatal("a scan without a change has another seal") // and so a changed event
				}
				if t.Context().Err() != nil {
					t.Fatal("no scan has proven the directories")
				}
			}
			before = seal()
			must.Do(t, tt.change(filepath.Join(root, "skills", "s")))
			after := seal()
			_, fresh := sealedSkills(t, root)
			if want := fresh().Digest; after.Digest != want || after.Digest == before.Digest {
				t.Errorf("digest %s, want %s; before the change %s", after.Digest, want, before.Digest)
			}
		})
	}
}

// Names and bytes consist of pieces of the hashed text, so two lists can differ only in the borders
// between the names.
func TestDifferentFilesHaveDifferentDigests(t *testing.T) {
	type set struct {
		kind    string
		raw     map[string]string
		omitted []skilldir.Omitted
	}
	digest := func(s set) string {
		files := SealOf(s.kind, make(Sums).Files(s.raw)).Files
		if s.kind == "" { // a file
			return FileDigest(files[0].Sum)
		}
		return ListDigest(s.kind, files, s.omitted)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("a")))
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", " ", "\n", "1", "skill\n", sum, sum + " 1 a\n", "d--------- 1 a 0 \n"}), 0, 4), func(all []string) string { return strings.Join(all, "") })
	sets := rapid.Custom(func(t *rapid.T) (s set) {
		if s.kind = rapid.SampledFrom([]string{"", NamedFile, SkillList, PluginList, ImportedList}).Draw(t, "kind"); s.kind == "" {
			s.raw = map[string]string{"a": text.Draw(t, "bytes")}
			return s
		}
		s.raw = rapid.MapOfN(text, text, 0, 3).Draw(t, "files")
		for _, name := range slices.Sorted(maps.Keys(rapid.MapOfN(text, rapid.Just(0), 0, 2).Draw(t, "omitted"))) {
			s.omitted = append(s.omitted, skilldir.Omitted{Name: name, Type: rapid.SampledFrom([]fs.FileMode{fs.ModeDir, fs.ModeSymlink}).Draw(t, "type"), Target: text.Draw(t, "target")})
		}
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := sets.Draw(t, "a"), sets.Draw(t, "b")
		if rapid.Bool().Draw(t, "same kind") && (a.kind == "") == (b.kind == "") {
			b.kind = a.kind
		}
		if names := slices.Sorted(maps.Keys(a.raw)); len(names) > 1 && rapid.Bool().Draw(t, "merged") { // one name has the lines of two files
			b = set{a.kind, maps.Clone(a.raw), a.omitted}
			line := rapid.SampledFrom([]string{"\n%x  %[3]s", "\n%x %[3]s", "\n%x %[2]d %[3]s"}).Draw(t, "line")
			b.raw[names[0]+fmt.Sprintf(line, sha256.Sum256([]byte(a.raw[names[1]])), len(names[1]), names[1])] = a.raw[names[0]]
			delete(b.raw, names[0])
			delete(b.raw, names[1])
		}
		must.Equal(t, "equal values", digest(a) == digest(b), reflect.DeepEqual(a, b))
	})
}

func TestASkillWithALinkIsListedAgain(t *testing.T) {
	root := tree{"skills/s/SKILL.md": "---\nname: s\ndescription: S.\n---\n", "skills/s/a/x.sh": "-> ../y.sh", "skills/s/y.sh": "1"}.onDisk(t)
	_, seal := sealedSkills(t, root)
	if before := seal(); before.Digest == "" || seal().proof.Load().dirs != nil {
		t.Errorf("seal %+v", before)
	}
	before := seal().Digest
	must.Do(t, os.WriteFile(filepath.Join(root, "skills/s/y.sh"), []byte("2"), 0o644))
	if after := seal().Digest; after == before {
		t.Error("the digest is unchanged")
	}
}
