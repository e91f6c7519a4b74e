package git_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const (
	main  = "refs/heads/main"
	skill = "---\nname: review\ndescription: Reviews a change.\n---\nLook at the diff.\n"
)

// A repository is a bare repository on disk. The tests write its objects.
type repository struct {
	t *testing.T
	*gogit.Repository
	dir string
}

func newRepository(t *testing.T) *repository {
	dir := t.TempDir()
	repo := must.Get(gogit.PlainInitWithOptions(dir, &gogit.PlainInitOptions{Bare: true, InitOptions: gogit.InitOptions{DefaultBranch: main}}))(t)
	return &repository{t, repo, dir}
}

// open returns a handle of its own, as another process has.
func (r *repository) open() *gogit.Repository {
	repo, err := gogit.PlainOpen(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	return repo
}

func (r *repository) put(o interface {
	Encode(plumbing.EncodedObject) error
}) plumbing.Hash {
	encoded := r.Storer.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		r.t.Fatal(err)
	}
	hash, err := r.Storer.SetEncodedObject(encoded)
	if err != nil {
		r.t.Fatal(err)
	}
	return hash
}

func (r *repository) blob(content string) plumbing.Hash {
	encoded := r.Storer.NewEncodedObject()
	encoded.SetType(plumbing.BlobObject)
	w, err := encoded.Writer()
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		r.t.Fatal(err)
	}
	hash, err := r.Storer.SetEncodedObject(encoded)
	if err != nil {
		r.t.Fatal(err)
	}
	return hash
}

// tree writes the files as trees. A content that begins with "->" is the target of a symbolic link.
func (r *repository) tree(files map[string]string) plumbing.Hash {
	below := map[string]map[string]string{}
	var entries []object.TreeEntry
	for name, content := range files {
		if dir, rest, ok := strings.Cut(name, "/"); ok {
			if below[dir] == nil {
				below[dir] = map[string]string{}
			}
			below[dir][rest] = content
			continue
		}
		mode := filemode.Regular
		if target, ok := strings.CutPrefix(content, "->"); ok {
			mode, content = filemode.Symlink, target
		}
		entries = append(entries, object.TreeEntry{Name: name, Mode: mode, Hash: r.blob(content)})
	}
	for dir, files := range below {
		entries = append(entries, object.TreeEntry{Name: dir, Mode: filemode.Dir, Hash: r.tree(files)})
	}
	return r.trees(entries)
}

func (r *repository) trees(entries []object.TreeEntry) plumbing.Hash {
	sort.Sort(object.TreeEntrySorter(entries))
	return r.put(&object.Tree{Entries: entries})
}

// commit sets main to a new commit with the tree. All commits have the same time.
func (r *repository) commit(tree plumbing.Hash) plumbing.Hash {
	who := object.Signature{Name: "A", Email: "a@example.com", When: time.Unix(1_700_000_000, 0)}
	commit := &object.Commit{Author: who, Committer: who, Message: fmt.Sprint("change ", tree), TreeHash: tree}
	if ref, err := r.Reference(main, true); err == nil {
		commit.ParentHashes = []plumbing.Hash{ref.Hash()}
	}
	hash := r.put(commit)
	if err := r.Storer.SetReference(plumbing.NewHashReference(main, hash)); err != nil {
		r.t.Fatal(err)
	}
	return hash
}

func (r *repository) write(files map[string]string) plumbing.Hash { return r.commit(r.tree(files)) }

// pack moves all objects to a new pack.
func (r *repository) pack() {
	if err := r.RepackObjects(&gogit.RepackConfig{}); err != nil {
		r.t.Fatal(err)
	}
}

// damage replaces the content of a loose object.
func (r *repository) damage(hash plumbing.Hash, typ plumbing.ObjectType, content string) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	fmt.Fprintf(w, "%s %d\x00%s", typ, len(content), content)
	if err := w.Close(); err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir, "objects", hash.String()[:2], hash.String()[2:])
	if err := os.Remove(file); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o444); err != nil {
		r.t.Fatal(err)
	}
}
