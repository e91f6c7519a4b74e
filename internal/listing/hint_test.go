package listing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func correct(ctx context.Context, t *testing.T, fsys *confine.FS, glob string) Hint {
	t.Helper()
	g := must.Get(ParseGlob(glob))(t)
	return Correct(ctx, fsys, ".", nil, []Glob{g}, Options{})
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
	c := correction{ctx: t.Context(), subjects: []*subject{{literal: "nmae.go"}}}
	if c.walk(fsys, ".", Options{}) || c.seen.Load() > hintedEntries+seenBatch+2 {
		t.Errorf("%d entries read", c.seen.Load())
	}
}

// A repository has more files below .git than Correct reads.
func TestCorrectReadsNoHiddenDirectoryOfDependencies(t *testing.T) {
	all := files{".hidden/name.go": "", "src/reader.go": ""}
	for i := range hintedEntries + 2 {
		all[fmt.Sprintf(".git/%d", i)] = ""
	}
	fsys := over(t, memory(t, all))
	for glob, want := range map[string]Hint{"raeder.go": {SimilarGlob, "raeder.go", "reader.go"}, "name.go": {HiddenFiles, "name.go", ""}} {
		if h := correct(t.Context(), t, fsys, glob); h != want {
			t.Errorf("%+v, want %+v", h, want)
		}
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
	must.Do(t, os.WriteFile(filepath.Join(outside, "secret.txt"), nil, 0o644))
	hosttest.Symlink(t, outside, filepath.Join(root, "link"))
	hosttest.Symlink(t, filepath.Join(outside, "secret.txt"), filepath.Join(root, "secret.txt"))
	fsys := confined(t)(confine.New(root))
	for _, glob := range []string{"secret.tx", "secret", "link/secret.tx", "lnk/*.txt", "link/*"} {
		if h := correct(t.Context(), t, fsys, glob); h != (Hint{}) {
			t.Errorf("%s: %+v", glob, h)
		}
	}
	if h := correct(t.Context(), t, fsys, "../*/secret.txt"); h.Kind != ParentPath || h.Use != "" {
		t.Errorf("a glob above the root: %+v", h)
	}
}
