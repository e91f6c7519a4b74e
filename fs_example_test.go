package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"strings"
	"sync/atomic"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf"
)

// source is the project that the examples list.
func source() *toolshelf.Catalog {
	return open(toolshelf.WithFs(project(map[string]string{
		"src/main.go":      "package main\n",
		"src/build.log":    "ok\n",
		"src/.env":         "SECRET=1\n",
		"src/.gitignore":   "*.log\n",
		"src/tools/fmt.go": "package tools\n\n// Format does what its name says.\nfunc Format() {}\n",
		"README.md":        "# Project\n",
	})))
}

func ExampleCatalog_ListDir() {
	c := source()
	defer c.Close()
	listing, err := c.ListDir(context.Background(), "src")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(listing)
	fmt.Println(listing.Entries[1].Name, listing.Entries[1].Size)

	_, err = c.ListDir(context.Background(), "../elsewhere")
	fmt.Println(errors.Is(err, toolshelf.ErrOutsideRoot))
	// Output:
	// Directory: src/
	// Total: 2 files, 1 directory
	//
	// [DIR]  tools/
	// [FILE] build.log  (3 B)
	// [FILE] main.go    (13 B)
	// build.log 3
	// true
}

func ExampleCatalog_Stat() {
	c := source()
	defer c.Close()
	info, err := c.Stat(context.Background(), "src/tools/fmt.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(info.Type, info.Size)
	_, err = c.Stat(context.Background(), "src/tools/fnt.go")
	fmt.Println(err)
	// Output:
	// file 67
	// toolshelf: Stat: File 'src/tools/fnt.go' not found; did you mean 'src/tools/fmt.go'? (NOT_FOUND)
}

func ExampleCatalog_Tree() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.Exclude("*.log"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: ./
	//
	// Excluding: *.log
	//
	// [DIR]  src/
	//   [DIR]  tools/
	//     [FILE] fmt.go (67 B)
	//   [FILE] main.go (13 B)
	// [FILE] README.md (10 B)
}

func ExampleCatalog_FindFiles() {
	c := source()
	defer c.Close()
	matches, err := c.FindFiles(context.Background(), ".", "**/*.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(matches)
	_, err = c.FindFiles(context.Background(), ".", "[")
	fmt.Println(toolshelf.CodeOf(err))
	// Output:
	// Found 2 files:
	//
	// src/tools/fmt.go
	// src/main.go
	// INVALID_PATTERN
}

func printEntries(opts ...toolshelf.DirOption) {
	c := source()
	defer c.Close()
	listing, err := c.ListDir(context.Background(), "src", opts...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range listing.Entries {
		fmt.Println(e.Type, e.Name)
	}
}

func ExampleShowHidden() {
	printEntries(toolshelf.ShowHidden())
	// Output:
	// directory tools
	// file .env
	// file .gitignore
	// file build.log
	// file main.go
}

func ExampleSortedBy() {
	printEntries(toolshelf.SortedBy(toolshelf.BySize))
	// Output:
	// directory tools
	// file main.go
	// file build.log
}

func ExampleExclude() {
	printEntries(toolshelf.Exclude("tools", "*.log"))
	// Output:
	// file main.go
}

func ExampleGitignore() {
	printEntries(toolshelf.Gitignore())
	// Output:
	// directory tools
	// file main.go
}

func ExampleBudget() {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("page%02d.html", i)] = ""
		files[fmt.Sprintf("assets/image%02d.png", i)] = ""
		files[fmt.Sprintf("scripts/step%02d.js", i)] = ""
	}
	c := open(toolshelf.WithFs(project(files)))
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.Budget(360))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: ./
	//
	// [DIR]  assets/
	//   [FILE] image00.png (0 B)
	//   … and 49 more
	// [DIR]  scripts/
	//   [FILE] step00.js (0 B)
	//   … and 49 more
	// [FILE] page00.html (0 B)
	// [FILE] page01.html (0 B)
	// [FILE] page02.html (0 B)
	// [FILE] page03.html (0 B)
	// [FILE] page04.html (0 B)
	// … and 45 more
	//
	// Cut at 360 characters, 143+ omitted; raise this limit, or pass a subdirectory
}

func ExampleTokens() {
	c := source()
	defer c.Close()
	estimate := func(text string) int { return len(text) / 4 } // or the tokenizer of your model
	found, err := c.FindFiles(context.Background(), ".", "*", toolshelf.Tokens(16, estimate))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	// Output:
	// Found 4 files:
	//
	// src/tools/fmt.go
	// … and 3 more; raise the limit
}

func ExampleWithProgress() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.WithProgress(func(p toolshelf.Progress) {
		if p.Done {
			fmt.Println("read", p.Entries, "entries")
		} else {
			fmt.Print(p.Entries, " entries so far\r")
		}
	}))
	fmt.Println(tree.Files, "files", err)
	// Output:
	// read 8 entries
	// 4 files <nil>
}

func ExampleSkipDependencies() {
	c := open(toolshelf.WithFs(project(map[string]string{
		"main.js":                        "require('left-pad')\n",
		"node_modules/left-pad/index.js": "",
		"node_modules/.bin/eslint":       "",
		".gitignore":                     "node_modules/\n",
	})))
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.SkipDependencies(), toolshelf.Gitignore())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree)
	// Output:
	// Directory tree: ./
	//
	// [DIR]  node_modules/ (2 entries)
	// [FILE] main.js (20 B)
}

func ExampleAfter() {
	c := source()
	defer c.Close()
	cursor := ""
	for {
		page, err := c.ListDir(context.Background(), "src", toolshelf.Limit(2), toolshelf.After(cursor))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, e := range page.Entries {
			fmt.Println(e.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			return
		}
		fmt.Println("of", page.Files+page.Dirs)
	}
	// Output:
	// tools
	// build.log
	// of 3
	// main.go
}

func ExampleLimit() {
	printEntries(toolshelf.Limit(1))
	// Output:
	// directory tools
}

func ExampleMaxDepth() {
	c := source()
	defer c.Close()
	tree, err := c.Tree(context.Background(), ".", toolshelf.MaxDepth(1))
	fmt.Println(len(tree.Children), tree.Children[0].Name, tree.Children[0].Children, err)
	// Output:
	// 2 src [] <nil>
}

func ExampleCatalog_Grep() {
	c := source()
	defer c.Close()
	found, err := c.Grep(context.Background(), ".", `^func \w+`, toolshelf.InFiles("*.go"), toolshelf.ContextLines(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	match := found.Matches[0]
	fmt.Println(match.Path, match.Line, match.Column)

	_, err = c.Grep(context.Background(), ".", "Format(")
	fmt.Println(errors.Is(err, toolshelf.ErrInvalidPattern), err)
	// Output:
	// Found 1 line in 1 file:
	//
	// src/tools/fmt.go
	// 3-// Format does what its name says.
	// 4:func Format() {}
	// src/tools/fmt.go 4 0
	// true toolshelf: Grep: invalid pattern 'Format(': missing closing ): Format(; to search for the text itself, use the literal option (INVALID_PATTERN)
}

func ExampleTextMatches_String() {
	c := source()
	defer c.Close()
	found, err := c.Grep(context.Background(), "src", "PACKAGE", toolshelf.Literal, toolshelf.IgnoreCase, toolshelf.Limit(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	fmt.Println(len(found.Matches), "of", found.Total)
	// Output:
	// Found 2 lines in 2 files:
	//
	// src/tools/fmt.go
	// 1:package tools
	//
	// … and 1 more line and 1 more file beyond 1 line; raise this limit, or narrow path, files or pattern
	// 1 of 2
}

func ExampleCatalog_ReadFile() {
	c := source()
	defer c.Close()
	text, err := c.ReadFile(context.Background(), "src/tools/fmt.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	fmt.Printf("%q\n", text.Text)
	fmt.Println(text.Total, text.LineEnding, text.Encoding)

	_, err = c.ReadFile(context.Background(), "src")
	fmt.Println(errors.Is(err, toolshelf.ErrFileRead), err)
	// Output:
	// 1	package tools
	// 2
	// 3	// Format does what its name says.
	// 4	func Format() {}
	// "package tools\n\n// Format does what its name says.\nfunc Format() {}\n"
	// 4 lf utf-8
	// true toolshelf: ReadFile: 'src/' is a directory, not a file; list the directory and choose a file (FILE_READ_ERROR)
}

func ExampleLines() {
	c := source()
	defer c.Close()
	for _, lines := range []toolshelf.ReadOption{toolshelf.Lines(1, 2), toolshelf.Lines(-1, 0)} {
		text, err := c.ReadFile(context.Background(), "src/tools/fmt.go", lines)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text)
	}
	// Output:
	// 1	package tools
	// 2
	// … and 2 more lines; continue with line 3
	// 4	func Format() {}
}

// The pages of a file, joined, are the file.
func ExampleMaxBytes() {
	c := source()
	defer c.Close()
	var whole strings.Builder
	for line := 1; line != 0; {
		page, err := c.ReadFile(context.Background(), "src/tools/fmt.go", toolshelf.MaxBytes(40), toolshelf.Lines(line, 0))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("lines %d to %d, %d bytes\n", page.First, page.Last, len(page.Text))
		whole.WriteString(page.Text)
		line = page.NextLine
	}
	fmt.Println(whole.Len(), "bytes")
	// Output:
	// lines 1 to 2, 15 bytes
	// lines 3 to 3, 35 bytes
	// lines 4 to 4, 17 bytes
	// 67 bytes
}

// A line that is longer than a page continues at a column.
func ExampleColumn() {
	c := open(toolshelf.WithFs(project(map[string]string{"data.json": `{"id":1,"name":"Ada"}` + "\n"})))
	defer c.Close()
	line, column := 1, int64(0)
	for line != 0 {
		page, err := c.ReadFile(context.Background(), "data.json", toolshelf.MaxBytes(10), toolshelf.Lines(line, 0), toolshelf.Column(column))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q\n", page.Text)
		line, column = page.NextLine, page.NextColumn
	}
	// Output:
	// "{\"id\":1,\"n"
	// "ame\":\"Ada\""
	// "}\n"
}

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
