package git_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/git"
	"github.com/toolshelf-go/toolshelf/stores/internal/conformance"
)

var _ conformance.Store = (*git.Store)(nil)

var (
	snapshot = conformance.Snapshot
	version  = conformance.Version
)

func newStore(t *testing.T, repo *gogit.Repository, revision string, opts git.Options) *git.Store {
	t.Helper()
	return must.Get(git.New(repo, revision, opts))(t)
}

func read(t *testing.T, fsys fs.FS, name string) string {
	t.Helper()
	return string(must.Get(fs.ReadFile(fsys, name))(t))
}

func TestASnapshotIsAFilesystem(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{
		"commands/deploy.md":        "Deploy.\n",
		"commands/team/roll.md":     "",
		"skills/review/SKILL.md":    conformance.Skill,
		"skills/review/more.md":     "->SKILL.md",
		"skills/current":            "->review",
		"skills/review/commands.md": "->../../commands/deploy.md",
	})
	files := snapshot(t, newStore(t, repo.open(), main, git.Options{}))
	if err := fstest.TestFS(files, "commands/deploy.md", "commands/team/roll.md", "skills/review/SKILL.md"); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{
		"skills/current/more.md":     conformance.Skill,
		"skills/current/commands.md": "Deploy.\n",
	} {
		must.Equal(t, name, want, read(t, files, name))
	}
	info := must.Get(fs.Stat(files, "commands/deploy.md"))(t)
	must.Equal(t, "the version",
		plumbing.ComputeHash(plumbing.BlobObject, []byte("Deploy.\n")).String(), version(t, info))
}

func TestACatalogReadsTheStore(t *testing.T) {
	repo := newRepository(t)
	conformance.ACatalogReadsTheStore(t, func(files map[string]string) {
		shared := map[string]string{}
		for name, content := range files {
			shared["shared/"+name] = content
		}
		repo.write(shared)
	}, func(dir string) fs.FS {
		return newStore(t, repo.open(), main, git.Options{Dir: "shared/" + dir})
	})
}

func TestASnapshotDoesNotChange(t *testing.T) {
	repo := newRepository(t)
	store := newStore(t, repo.open(), "main", git.Options{})
	conformance.ASnapshotDoesNotChange(t, func(files map[string]string) { repo.write(files) }, store)
}

func TestACommitOutsideDirKeepsTheVersion(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"commands/a.md": "A", "README.md": "one"})
	store := newStore(t, repo.open(), main, git.Options{Dir: "commands"})
	before := snapshot(t, store)
	repo.write(map[string]string{"commands/a.md": "A", "README.md": "two"})
	must.Equal(t, "the version", version(t, before), version(t, snapshot(t, store)))
}

func TestRevisions(t *testing.T) {
	repo := newRepository(t)
	first := repo.write(map[string]string{"a.md": "first"})
	repo.write(map[string]string{"a.md": "second"})
	must.Get(repo.CreateTag("light", first, nil))(t)
	must.Get(repo.CreateTag("annotated", first, &gogit.CreateTagOptions{Message: "v1", Tagger: &object.Signature{Name: "A"}}))(t)
	for revision, want := range map[string]string{
		first.String(): "first", "light": "first", "annotated": "first", "refs/tags/light": "first",
		"main": "second", "refs/heads/main": "second", "HEAD": "second",
	} {
		must.Equal(t, revision, want,
			read(t, snapshot(t, newStore(t, repo.open(), revision, git.Options{})), "a.md"))
	}
	for _, test := range []struct{ revision, dir string }{
		{"missing", ""}, {strings.Repeat("0", 39) + "1", ""}, {repo.blob("x").String(), ""},
		{main, "missing"}, {main, "missing/below"},
	} {
		stale := func(error, time.Duration) error { t.Error("Stale is called"); return nil }
		store := newStore(t, repo.open(), test.revision, git.Options{Dir: test.dir, Stale: stale})
		must.Fail(store.Snapshot(t.Context()))(t, test.revision, fs.ErrNotExist)
	}
}

// Another process packs the objects while the store has them in use.
func TestPackedObjectsAreFound(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	store := newStore(t, repo.open(), main, git.Options{})
	before := snapshot(t, store)
	for _, content := range []string{"two", "three"} {
		repo.write(map[string]string{"a.md": content})
		repo.pack()
		must.Equal(t, "a.md", content, read(t, store, "a.md"))
	}
	must.Equal(t, "a.md of the old snapshot", "one", read(t, before, "a.md"))
}

func TestADamagedObjectIsAnError(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "good", "b.md": "fine", "c/d.md": "D"})
	store := newStore(t, repo.open(), main, git.Options{})
	files := snapshot(t, store)
	repo.damage(plumbing.ComputeHash(plumbing.BlobObject, []byte("good")), plumbing.BlobObject, "evil")
	if content, err := fs.ReadFile(files, "a.md"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("ReadFile = %q, %v", content, err)
	}
	must.Equal(t, "b.md", "fine", read(t, files, "b.md"))
	commit := repo.write(map[string]string{"a.md": "new"})
	repo.damage(commit, plumbing.CommitObject, "tree 0\n")
	if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("Snapshot of a damaged commit: %v", err)
	}
}

func TestNamesThatAreNoPathsAreOmitted(t *testing.T) {
	repo := newRepository(t)
	file := func(name string) object.TreeEntry {
		return object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: repo.blob("x")}
	}
	dir := func(name string, entries ...object.TreeEntry) object.TreeEntry {
		return object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: repo.trees(entries)}
	}
	repo.commit(repo.trees([]object.TreeEntry{
		file("good.md"), file(".."), file("."), file("/a.md"), file("a//b.md"), file("../x.md"), file("b.md/"), file("bad\xff.md"),
		dir("..", file("up.md")), dir("c", file("d.md"), file("../../e.md")),
		{Name: "module", Mode: filemode.Submodule, Hash: plumbing.NewHash(strings.Repeat("1", 40))},
		{Name: "long", Mode: filemode.Symlink, Hash: repo.blob(strings.Repeat("a/", 5000))},
	}))
	files := snapshot(t, newStore(t, repo.open(), main, git.Options{}))
	if err := fstest.TestFS(files, "good.md", "c/d.md"); err != nil {
		t.Error(err)
	}
	var names []string
	must.Do(t, fs.WalkDir(files, ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	must.Equal(t, "files", ". c c/d.md good.md", strings.Join(names, " "))
}

func TestConcurrentReads(t *testing.T) {
	repo := newRepository(t)
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("c%d.md", i)] = fmt.Sprint(i)
	}
	repo.write(files)
	repo.pack()
	store := newStore(t, repo.open(), main, git.Options{})
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			name := fmt.Sprintf("c%d.md", i)
			if got, err := fs.ReadFile(store, name); err != nil || string(got) != files[name] {
				t.Errorf("%s = %q, %v", name, got, err)
			}
		})
	}
	wg.Wait()
}

func TestInvalidArguments(t *testing.T) {
	inMemory := must.Get(gogit.Init(memory.NewStorage(), nil))(t)
	if _, err := git.New(inMemory, main, git.Options{}); err == nil {
		t.Error("New accepts a storage that is not safe to share")
	}
	if _, err := git.New(newRepository(t).open(), main, git.Options{Dir: "../up"}); err == nil {
		t.Error("New accepts a directory outside the repository")
	}
}
