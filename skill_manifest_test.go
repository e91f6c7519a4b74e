package toolshelf_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// choose chooses skills by name.
func choose(names ...string) func([]toolshelf.SkillInfo) []string {
	return func([]toolshelf.SkillInfo) []string { return names }
}

// manifests returns the manifests of skills, and fails the test on an error.
func manifests(t testing.TB, c *toolshelf.Catalog, names ...string) (all []bridge.Manifest[toolshelf.SkillInfo, toolshelf.SkillFile]) {
	t.Helper()
	for m, err := range bridgeOf(c).SkillManifests(t.Context(), choose(names...)) {
		if err != nil {
			t.Fatalf("%s: %v", m.Skill.Name, err)
		}
		all = append(all, m)
	}
	return all
}

func TestSkillManifestsDescribeTheFilesOfGetSkill(t *testing.T) {
	files := map[string]string{
		"skills/zed/SKILL.md": skillFile("zed"), "skills/zed/a.txt": "a", "skills/zed/sub/b.bin": "\x00", "skills/zed/sub/deep/c": "", "skills/zed/.git/config": "x",
		"skills/alpha/skill.md": skillFile("alpha"),
	}
	fsys := memoryOf(t, files)
	must.Do(t, fsys.MkdirAll("skills/zed/empty", 0o755))
	c := catalog(t, toolshelf.WithFs(fsys))
	all := manifests(t, c, "zed", "alpha")
	for i, name := range []string{"zed", "alpha"} {
		skill := must.Get(c.GetSkill(t.Context(), name, toolshelf.Digests()))(t)
		if diff := cmp.Diff(skill.SkillInfo, all[i].Skill); diff != "" {
			t.Errorf("%s (-GetSkill +manifest):\n%s", name, diff)
		}
		if diff := cmp.Diff(skill.Files, all[i].Files); diff != "" || all[i].Oversized() {
			t.Errorf("%s (-GetSkill +manifest):\n%s", name, diff)
		}
	}
	must.Match(t, "directories", []string{"empty", "sub", "sub/deep"}, all[0].Dirs)
	if want := int64(len(files["skills/zed/SKILL.md"]) + 2); all[0].Bytes != want {
		t.Errorf("%d bytes, want %d", all[0].Bytes, want)
	}
}

func TestSkillManifestsContinueAfterAnError(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/good/SKILL.md": skillFile("good"), "skills/none/x": "x"})))
	var got []string
	for m, err := range bridgeOf(c).SkillManifests(t.Context(), choose("missing", "none", "good")) {
		got = append(got, fmt.Sprintf("%s %s %d", m.Skill.Name, toolshelf.CodeOf(err), len(m.Files)))
	}
	must.Match(t, "result", []string{"missing SKILL_NOT_FOUND 0", "none SKILL_NOT_FOUND 0", "good  1"}, got)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	n := 0
	for m, err := range bridgeOf(c).SkillManifests(ended, choose("good", "good")) {
		if n++; !errors.Is(err, context.Canceled) || m.Skill.Name != "" {
			t.Errorf("got %+v, %v", m, err)
		}
	}
	missing := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"x": ""})))
	for m, err := range bridgeOf(missing).SkillManifests(t.Context(), choose("good", "good")) {
		if n++; !errors.Is(err, toolshelf.ErrDirectoryNotFound) || m.Skill.Name != "" {
			t.Errorf("got %+v, %v", m, err)
		}
	}
	if n != 2 {
		t.Errorf("%d errors, want 2", n)
	}
}

func TestSkillManifestsChooseFromTheList(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"skills/a/SKILL.md": skillFile("a"), "skills/b/SKILL.md": skillFile("b"), "skills/c/SKILL.md": skillFile("c")})))
	view := must.Get(c.View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name != "b" })))(t)
	want := must.Get(view.ListSkills(t.Context()))(t)
	var got []string
	for m, err := range bridgeOf(view).SkillManifests(t.Context(), func(skills []toolshelf.SkillInfo) []string {
		if diff := cmp.Diff(want, skills); diff != "" {
			t.Errorf("(-ListSkills +choose):\n%s", diff)
		}
		return []string{"c", "b", "", "/a"}
	}) {
		got = append(got, m.Skill.Name+" "+string(toolshelf.CodeOf(err)))
	}
	must.Match(t, "result", []string{"c ", "b SKILL_NOT_FOUND", " INVALID_SKILL_NAME", "/a INVALID_SKILL_NAME"}, got)
	n := 0
	for _, err := range bridgeOf(view).SkillManifests(t.Context(), nil) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 2 {
		t.Errorf("a nil choose chooses %d skills, want 2", n)
	}
}

func TestOversizedSkillsHaveNoDigests(t *testing.T) {
	files := map[string]string{"skills/files/SKILL.md": skillFile("files"), "skills/bytes/SKILL.md": skillFile("bytes"), "skills/bytes/x": strings.Repeat("x", 16<<20)}
	for i := range 512 {
		files[fmt.Sprintf("skills/files/%03d", i)] = ""
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithMaxFileSize(64<<20))
	for _, m := range manifests(t, c, "files", "bytes") {
		digests := slices.ContainsFunc(m.Files, func(f toolshelf.SkillFile) bool { return f.SHA256 != "" })
		if !m.Oversized() || digests {
			t.Errorf("%s: oversized %t, digests %t", m.Skill.Name, m.Oversized(), digests)
		}
	}
}

// An openCounter counts the opened files.
type openCounter struct {
	afero.Fs
	files atomic.Int64
}

func (f *openCounter) Open(name string) (afero.File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

func (f *openCounter) OpenFile(name string, flag int, mode os.FileMode) (afero.File, error) {
	file, err := f.Fs.OpenFile(name, flag, mode)
	if err == nil {
		if info, statErr := file.Stat(); statErr == nil && !info.IsDir() {
			f.files.Add(1)
		}
	}
	return file, err
}

// diskSkills writes n skills of three files each, old enough for the caches.
func diskSkills(t testing.TB, n int) (root string, names []string) {
	t.Helper()
	root = t.TempDir()
	for i := range n {
		name := fmt.Sprintf("s%03d", i)
		names = append(names, name)
		for file, content := range map[string]string{"SKILL.md": skillFile(name), "a.txt": "a", "sub/b.txt": "b"} {
			full := filepath.Join(root, "skills", name, filepath.FromSlash(file))
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)))
		}
	}
	return root, names
}

// settle waits until the change times of the files under a root are older than the clock
// tick that the caches require.
func settle(t testing.TB, c *toolshelf.Catalog, opened *atomic.Int64, names []string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		before := opened.Load()
		manifests(t, c, names...)
		if opened.Load() == before {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("after 20 s: files are still read")
		}
	}
}

func TestSkillManifestsReadEachFileVersionOnce(t *testing.T) {
	root, names := diskSkills(t, 20)
	disk := &openCounter{Fs: dated{afero.NewOsFs()}}
	c := catalog(t, toolshelf.WithFs(disk), toolshelf.WithRoot(root))
	settle(t, c, &disk.files, names)
	before := manifests(t, c, names...)
	changed := filepath.Join(root, "skills", "s003", "a.txt")
	must.Do(t, os.WriteFile(changed, []byte("other"), 0o644))
	disk.files.Store(0)
	after := manifests(t, c, names...)
	if got := disk.files.Load(); got != 1 {
		t.Errorf("after one change, %d files were opened, want 1", got)
	}
	for i := range after {
		same := cmp.Equal(before[i].Files, after[i].Files)
		if same == (after[i].Skill.Name == "s003") {
			t.Errorf("%s: same files: %t", after[i].Skill.Name, same)
		}
	}
}

// A range over more files than the cache has digests uses most of the digests. A cache that
// evicts the least recently used file has no digest when the next range needs the digest.
func TestSkillManifestsOfMoreFilesThanTheCacheReadFewFiles(t *testing.T) {
	root, names := diskSkills(t, 100)
	disk := &openCounter{Fs: dated{afero.NewOsFs()}}
	settle(t, catalog(t, toolshelf.WithFs(disk), toolshelf.WithRoot(root)), &disk.files, names)
	c := catalog(t, toolshelf.WithFs(disk), toolshelf.WithRoot(root))
	toolshelf.SetMaxDigests(c, 240)
	for range 4 {
		manifests(t, c, names...)
	}
	disk.files.Store(0)
	manifests(t, c, names...)
	// About a third of the files have no digest.
	if got := disk.files.Load(); got == 0 || got > 200 {
		t.Errorf("a range over 300 files opened %d files", got)
	}
	if n := toolshelf.CachedFiles(c); n > 240+len(names) { // with the texts of all skills
		t.Errorf("%d files are cached, want at most 240 digests", n)
	}
}

// The frontmatter and the digest of a manifest describe the same SKILL.md, while a writer
// replaces the file.
func TestSkillManifestsMatchTheirFrontmatter(t *testing.T) {
	root, _ := diskSkills(t, 1)
	c := catalog(t, toolshelf.WithRoot(root))
	file := filepath.Join(root, "skills", "s000", "SKILL.md")
	content := func(i int) string {
		return fmt.Sprintf("---\nname: s000\ndescription: Version %04d.\n---\n# Body %04d\n", i, i)
	}
	known := map[string]string{}
	done, stop := make(chan error), make(chan struct{})
	const versions = 300
	for i := range versions {
		known[fmt.Sprintf("%x", sha256.Sum256([]byte(content(i))))] = fmt.Sprintf("Version %04d.", i)
	}
	must.Do(t, os.WriteFile(file, []byte(content(0)), 0o644))
	go func() {
		defer close(done)
		for i := 0; ; i = (i + 1) % versions {
			select {
			case <-stop:
				return
			default:
			}
			if err := catalogtest.Replace(file, content(i)); err != nil {
				done <- err
				return
			}
		}
	}()
	rounds := 400
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		for m, err := range bridgeOf(c).SkillManifests(t.Context(), nil) {
			if err != nil {
				continue // the file changes too often
			}
			own := m.Files[slices.IndexFunc(m.Files, func(f toolshelf.SkillFile) bool { return f.Path == path.Base(filepath.ToSlash(m.Skill.Path)) })]
			if got := m.Skill.Description; known[own.SHA256] != got {
				raw, _ := json.Marshal(m.Skill.Frontmatter)
				t.Fatalf("the digest is of %q, the frontmatter is %s", known[own.SHA256], raw)
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
