package toolshelf_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// The caches count what they hold, and drop the files that are gone.
func TestCachesHoldWhatTheyCountAndDropWhatIsGone(t *testing.T) {
	const n = 3000
	files := map[string]string{"commands/kept.md": "k", "skills/kept/SKILL.md": skillFile("kept"), "skills/kept/a/b.txt": "b"}
	for i := range n {
		files[fmt.Sprintf("commands/c%d.md", i)] = "x"
	}
	for i := range 300 {
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skillFile("s")
		files[fmt.Sprintf("skills/s%d/a.txt", i)] = "a"
	}
	fsys := dated{memoryOf(t, files)}
	c := catalog(t, toolshelf.WithFs(fsys))
	names(t, c)
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	get := func(name string) {
		if _, err := c.Get(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		get(fmt.Sprint("c", i))
	}
	held := heap() - before
	if cached, counted := toolshelf.CachedFiles(c); cached != n || counted < held/2 {
		t.Errorf("%d files in memory need about %d bytes and are counted for %d", cached, held, counted)
	}
	get("kept")
	for name := range skillsOf(t, c) {
		if _, err := c.GetSkill(t.Context(), name, toolshelf.Digests()); err != nil {
			t.Fatal(err)
		}
	}
	for name := range files {
		if name != "commands/kept.md" && name != "skills/kept/SKILL.md" && name != "skills/kept/a/b.txt" {
			if err := fsys.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if found := names(t, c); len(found) != 1 {
		t.Errorf("got %v", found)
	}
	skillsOf(t, c)
	if cached, counted := toolshelf.CachedFiles(c); cached != 4 || counted > 10_000 {
		t.Errorf("%d files in memory, counted for %d bytes, once all but one command and one skill are gone", cached, counted)
	}
	if err := afero.WriteFile(fsys, "commands/kept.md", []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "kept"); err != nil || got.Content != "changed" {
		t.Errorf("got %q, %v", got.Content, err)
	}
}
