package listing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func correct(ctx context.Context, t *testing.T, fsys *confine.FS, glob string) string {
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
	must.Equal(t, "result", "", correct(t.Context(), t, fsys, "nmae.go"))
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
	for glob, want := range map[string]string{
		"raeder.go": "Did you mean 'reader.go' in place of 'raeder.go'?",
		"name.go":   "Hidden files are omitted; set show_hidden to find files for 'name.go'",
	} {
		must.Equal(t, "correct(t.Context(), t, fsys, glob)", want, correct(t.Context(), t, fsys, glob))
	}
}

func TestCorrectEndsWithTheContext(t *testing.T) {
	fsys := over(t, memory(t, files{"a/name.go": ""}))
	must.Equal(t, "result", "Did you mean 'name.go' in place of 'nmae.go'?",
		correct(t.Context(), t, fsys, "nmae.go"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Equal(t, "after the end of the context", "", correct(ctx, t, fsys, "nmae.go"))
}

func TestCorrectStaysInTheRoot(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(outside, "secret.txt"), nil, 0o644))
	hosttest.Symlink(t, outside, filepath.Join(root, "link"))
	hosttest.Symlink(t, filepath.Join(outside, "secret.txt"), filepath.Join(root, "secret.txt"))
	fsys := confined(t)(confine.New(root))
	for _, glob := range []string{"secret.tx", "secret", "link/secret.tx", "lnk/*.txt", "link/*"} {
		must.Equal(t, glob, "", correct(t.Context(), t, fsys, glob))
	}
	must.Equal(t, "a glob above the root", "Globs cannot leave './'; pass another directory as path, "+
		"and remove '..' from '../*/secret.txt'", correct(t.Context(), t, fsys, "../*/secret.txt"))
}

// newMemory returns a filesystem of empty files.
func newMemory(t *testing.T, files ...string) *confine.FS {
	t.Helper()
	memory := afero.NewMemMapFs()
	for _, file := range files {
		must.Do(t, afero.WriteFile(memory, "/project/"+file, nil, 0o644))
	}
	return confined(t)(confine.Over(memory, "/project"))
}

// confined returns a function that ends the test if confine.New or confine.Over
// has failed.
func confined(t *testing.T) func(*confine.FS, error) *confine.FS {
	return func(fsys *confine.FS, err error) *confine.FS {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return fsys
	}
}

func TestNearest(t *testing.T) {
	fsys := newMemory(t, "src/tools/fmt.go", "src/tools/.cache/x", "src/agent.go", "srx.md", "docs/readme.md")
	for _, tt := range []struct{ name, path, dir, hiddenDir string }{
		{name: "src"}, // nothing is wrong with this path
		{name: "src/tools"},
		{name: "src/tool", path: "src/tools", dir: "src/tools", hiddenDir: "src/tools"},
		{name: "SRC/Toosl/fnt.go", path: "src/tools/fmt.go"},
		{name: "srx/tools", path: "src/tools", dir: "src/tools", hiddenDir: "src/tools"}, // srx.md is farther
		{name: "srx.m", path: "srx.md"},
		{name: "src/agnet.go", path: "src/agent.go"},
		{name: "src/agent.go/x"},
		{name: "src/tools/cache", hiddenDir: "src/tools/.cache"},
		{name: "src/tools/.cach", path: "src/tools/.cache", dir: "src/tools/.cache", hiddenDir: "src/tools/.cache"},
		{name: "nowhere/tools"},
	} {
		must.Equal(t, fmt.Sprintf("Nearest(%q, false, false)", tt.name), tt.path,
			Nearest(t.Context(), fsys, tt.name, false, false))
		must.Equal(t, fmt.Sprintf("Nearest(%q, true, false)", tt.name), tt.dir,
			Nearest(t.Context(), fsys, tt.name, true, false))
		must.Equal(t, fmt.Sprintf("Nearest(%q, true, true)", tt.name), tt.hiddenDir,
			Nearest(t.Context(), fsys, tt.name, true, true))
	}
}

func TestNearestInAMissingRoot(t *testing.T) {
	must.Equal(t, "result", "", Nearest(t.Context(), confined(t)(confine.Over(afero.NewMemMapFs(), "/missing")), "a", false, false))
}

func TestNearestComparesALimitedNumberOfNames(t *testing.T) {
	var files []string
	for i := range maxCandidates + 1000 {
		files = append(files, fmt.Sprintf("%06d-of-many", i))
	}
	must.Equal(t, "result", "", Nearest(t.Context(), newMemory(t, append(files, "zebra")...), "zebar", false, false))
}

func TestNearestFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "target", "below"), 0o755))
	hosttest.Symlink(t, "target", filepath.Join(dir, "linked"))
	fsys := confined(t)(confine.New(dir))
	for name, want := range map[string]string{"linkd": "linked", "linkd/below": "", "linked/belo": "", "targt/belo": "target/below"} {
		must.Equal(t, fmt.Sprintf("Nearest(%q, false, false)", name), want, Nearest(t.Context(), fsys, name, false, false))
	}
	must.Equal(t, "Nearest suggests the link", "", Nearest(t.Context(), fsys, "linkd", true, false))
}
