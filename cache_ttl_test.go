package toolshelf_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

func TestCacheTTL(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"commands/a.md": "one", "commands/b.md": "b"})
	now := time.Unix(1_000_000, 0)
	c := catalog(t, toolshelf.WithFs(fsys), toolshelf.WithCacheTTL(time.Minute), toolshelf.WithClock(func() time.Time { return now }))
	if diff := cmp.Diff([]string{"a", "b"}, names(t, c)); diff != "" {
		t.Fatal(diff)
	}
	if err := errors.Join(afero.WriteFile(fsys, "commands/a.md", []byte("two, longer"), 0o644), fsys.Remove("commands/b.md"),
		afero.WriteFile(fsys, "commands/c.md", []byte("c"), 0o644)); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute - 1)
	if diff := cmp.Diff([]string{"a", "b"}, names(t, c)); diff != "" {
		t.Errorf("within the TTL (-want +got):\n%s", diff)
	}
	if got, err := c.Get(t.Context(), "a"); err != nil || got.Content != "two, longer" {
		t.Errorf("Get within the TTL serves %q, %v", got.Content, err)
	}
	if _, err := c.Get(t.Context(), "b"); !errors.Is(err, toolshelf.ErrCommandNotFound) {
		t.Errorf("Get within the TTL of a removed file: %v", err)
	}
	now = now.Add(1)
	if diff := cmp.Diff([]string{"a", "c"}, names(t, c)); diff != "" {
		t.Errorf("after the TTL (-want +got):\n%s", diff)
	}
}
