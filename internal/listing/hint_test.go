package listing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
)

func correct(ctx context.Context, t *testing.T, fsys *confine.FS, glob string) Hint {
	t.Helper()
	g, err := ParseGlob(glob)
	if err != nil {
		t.Fatal(err)
	}
	return Correct(ctx, fsys, ".", []Glob{g}, Options{})
}

// A directory with too many entries ends the walk before the directory with the near name.
func TestCorrectReadsABoundedNumberOfEntries(t *testing.T) {
	all := files{}
	for i := range hintedEntries + 2 {
		all[fmt.Sprintf("many/%d", i)] = ""
	}
	all["many/z/deep/name.go"] = ""
	fsys := over(t, memory(t, all))
	if h := correct(t.Context(), t, fsys, "nmae.go"); h != (Hint{}) {
		t.Errorf("%+v", h)
	}
	c := correction{ctx: t.Context(), subjects: []*subject{{pattern: "nmae.go", literal: true}}}
	if c.walk(fsys, ".", Options{}) || c.seen.Load() > hintedEntries+seenBatch+2 {
		t.Errorf("%d entries read", c.seen.Load())
	}
}

func TestCorrectEndsWithTheContext(t *testing.T) {
	fsys := over(t, memory(t, files{"a/name.go": ""}))
	if h := correct(t.Context(), t, fsys, "nmae.go"); h.Use != "name.go" {
		t.Errorf("%+v", h)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if h := correct(ctx, t, fsys, "nmae.go"); h != (Hint{}) {
		t.Errorf("after the end of the context: %+v", h)
	}
}

func TestCorrectStaysInTheRoot(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(filepath.Join(outside, "secret.txt"), filepath.Join(root, "secret.txt")); err != nil {
		t.Fatal(err)
	}
	fsys := confined(t)(confine.New(root))
	for _, glob := range []string{"secret.tx", "secret", "link/secret.tx", "lnk/*.txt", "link/*", "../*/secret.txt"} {
		if h := correct(t.Context(), t, fsys, glob); h != (Hint{}) {
			t.Errorf("%s: %+v", glob, h)
		}
	}
}
