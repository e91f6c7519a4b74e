package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// A store with revisions. Real stores make a request in each method.
type revisions struct{ fs.FS }

func (r revisions) Open(name string) (fs.File, error) {
	file, err := r.FS.Open(name)
	return revisedFile{file}, err
}

func (r revisions) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.FS, name)
	for i, entry := range entries {
		info, _ := entry.Info() // never fails
		entries[i] = fs.FileInfoToDirEntry(revision{info})
	}
	return entries, err
}

type revisedFile struct{ fs.File }

func (f revisedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	return revision{info}, err
}

// A revision is an fs.FileInfo with the version of the file.
type revision struct{ fs.FileInfo }

func (r revision) Version() string { return fmt.Sprint(r.Sys()) }

// A file with another version is read again, even if its size and its time are the same.
func ExampleVersioned() {
	files := fstest.MapFS{"review.md": {Data: []byte("Review the code.\n"), Sys: 1}}
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("store", revisions{files}))
	if err != nil {
		panic(err)
	}
	defer catalog.Close()
	for range 2 {
		command, err := catalog.Get(context.Background(), "review")
		fmt.Print(command.Content, err, "\n")
		files["review.md"] = &fstest.MapFile{Data: []byte("Review the docs.\n"), Sys: 2}
	}
	// Output:
	// Review the code.
	// <nil>
	// Review the docs.
	// <nil>
}

// A tree is a store with a version of all its files, such as a commit.
type tree struct {
	revisions
	commit string
}

func (t *tree) Snapshot(context.Context) (fs.FS, error) { return commit{t.revisions, t.commit}, nil }

// A commit is a snapshot of a tree.
type commit struct {
	revisions
	hash string
}

func (c commit) Version() string { return c.hash }

func (c commit) ReadDir(name string) ([]fs.DirEntry, error) {
	fmt.Println("list", c.hash)
	return c.revisions.ReadDir(name)
}

// A snapshot with the version of the last call is not listed.
func ExampleSnapshotFS() {
	store := &tree{revisions{fstest.MapFS{"review.md": {Data: []byte("Review.\n"), Sys: 1}}}, "8e5f2a"}
	catalog := open(toolshelf.WithCommandsFS("store", store))
	defer catalog.Close()
	printNames(catalog)
	printNames(catalog)
	store.revisions = revisions{fstest.MapFS{"release.md": {Data: []byte("Release.\n"), Sys: 1}}}
	store.commit = "b04c11"
	printNames(catalog)
	// Output:
	// list 8e5f2a
	// review
	// review
	// list b04c11
	// release
}

// A lastingTree serves its last good commit during an outage.
type lastingTree struct {
	tree
	last   commit
	outage error
}

func (t *lastingTree) Snapshot(context.Context) (fs.FS, error) {
	if t.outage == nil {
		t.last = commit{t.revisions, t.commit}
	}
	return staleCommit{t.last, t.outage}, nil
}

type staleCommit struct {
	commit
	outage error
}

func (c staleCommit) Stale() error { return c.outage }

// During an outage, lists have the last good snapshot.
func ExampleSnapshotFS_stale() {
	files := fstest.MapFS{"review.md": {Data: []byte("Review.\n"), Sys: 1}}
	store := &lastingTree{tree: tree{revisions{files}, "8e5f2a"}}
	catalog := open(toolshelf.WithCommandsFS("store", store))
	defer catalog.Close()
	printNames(catalog)
	store.outage = errors.New("connection refused")
	printNames(catalog)
	// Output:
	// list 8e5f2a
	// review
	// review
}

// A stuckStore answers no call before its context ends.
type stuckStore struct{ ctx context.Context }

func (s stuckStore) WithContext(ctx context.Context) fs.FS { return stuckStore{ctx} }

func (s stuckStore) Open(name string) (fs.File, error) {
	<-s.ctx.Done()
	return nil, &fs.PathError{Op: "open", Path: name, Err: s.ctx.Err()}
}

// The request in progress ends with the context of the call.
func ExampleWithCommandsFS_withContext() {
	catalog := open(toolshelf.WithCommandsFS("store", stuckStore{}))
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := catalog.List(ctx, toolshelf.Page{})
	fmt.Println(err)
	catalog.Close() // waits for the store
	// Output: context deadline exceeded
}

// The latest files replace all files at the same time.
type latest struct{ atomic.Pointer[fstest.MapFS] }

func (l *latest) Open(name string) (fs.File, error) { return l.Load().Open(name) }

// A program follows the events of a bucket.
func ExampleWithFeed() {
	events := make(chan string) // the keys of changed objects
	feed := func(ctx context.Context, touch func(paths ...string)) error {
		touch() // connected; changes before have no event
		for {
			select {
			case key := <-events:
				touch(key)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	var bucket latest
	bucket.Store(&fstest.MapFS{"review.md": {Data: []byte("Review.\n"), Sys: 1}})
	catalog := open(toolshelf.WithCommandsFS("store", revisions{&bucket}), toolshelf.WithFeed(time.Minute, feed))
	defer catalog.Close()
	changed := make(chan toolshelf.Change)
	printNames(catalog)
	defer catalog.OnChange(func(c toolshelf.Change) { changed <- c })()

	bucket.Store(&fstest.MapFS{"release.md": {Data: []byte("Release.\n"), Sys: 1}})
	events <- "release.md"
	fmt.Println((<-changed).Commands)
	// Output:
	// review
	// {[release] [review] []}
}

// remote has the method ReadHead, and counts the opened files.
type remote struct {
	fstest.MapFS
	heads  map[string]string
	opened *atomic.Int32
}

func (r remote) Open(name string) (fs.File, error) {
	f, err := r.MapFS.Open(name)
	if err == nil {
		if fi, err := f.Stat(); err == nil && !fi.IsDir() {
			r.opened.Add(1)
		}
	}
	return f, err
}

func (r remote) ReadHead(name string) ([]byte, fs.FileInfo, error) {
	head, ok := r.heads[name]
	switch {
	case !ok:
		return nil, nil, errors.ErrUnsupported
	case head == "":
		return nil, nil, fs.ErrPermission
	}
	fi, err := r.Stat(name)
	return []byte(head), fi, err
}

func newRemote(files, heads map[string]string) remote {
	r := remote{fstest.MapFS{}, heads, new(atomic.Int32)}
	for name, content := range files {
		r.MapFS[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return r
}

// This program lists a skill by the frontmatter in the index of a server. Only GetSkill
// reads the file.
func ExampleWithSkillsFS_readHead() {
	fsys := newRemote(
		map[string]string{"greet/SKILL.md": "---\nname: greet\ndescription: Greets people\n---\nSay hello.\n"},
		map[string]string{"greet/SKILL.md": "---\n{name: greet, description: Greets people}\n---\n"})
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("server", fsys))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	skills, err := catalog.ListSkills(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(skills[0].Name, "-", skills[0].Description, "-", fsys.opened.Load(), "files opened")
	skill, err := catalog.GetSkill(context.Background(), "greet")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(skill.Content)
	// Output:
	// greet - Greets people - 0 files opened
	// Say hello.
}
