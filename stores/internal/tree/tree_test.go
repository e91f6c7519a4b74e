package tree_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

func newFS(version string, files map[string]filetree.File) *filetree.FS {
	return filetree.New(version, maps.All(files))
}

func file(content string) filetree.File {
	return filetree.File{Size: int64(len(content)), Mode: 0o444, ModTime: time.Unix(int64(len(content)), 0), Version: "v-" + content,
		Content: func(context.Context) (io.ReaderAt, error) { return strings.NewReader(content), nil }}
}

func link(target string) filetree.File {
	return filetree.File{Size: int64(len(target)), Link: target, Version: target}
}

func TestAStoreMakesSnapshots(t *testing.T) {
	updates := 0
	store := tree.NewStore(func(ctx context.Context, _ *filetree.FS) (*filetree.FS, error) {
		updates++
		content := fmt.Sprint(updates)
		return newFS(content, map[string]filetree.File{"a.md": file(content), "dir/link": link("../a.md")}), ctx.Err()
	}, time.Hour, nil)
	read := func(fsys fs.FS, want string) {
		t.Helper()
		must.Equal(t, "dir/link", want, string(must.Get(fs.ReadFile(fsys, "dir/link"))(t)))
	}
	read(store, "1")
	read(store, "2")
	task := store.WithContext(t.Context())
	read(store, "3")
	read(task, "4")
	read(task, "4")
	files := must.Get(store.Snapshot(t.Context()))(t)
	read(store, "6")
	read(files, "5")
	if err := fstest.TestFS(task, "a.md"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := store.WithContext(ctx)
	for name, err := range map[string]error{
		"Open":     second(ended.Open("a.md")),
		"Stat":     second(fs.Stat(ended, "a.md")),
		"Lstat":    second(fs.Lstat(ended, "a.md")),
		"ReadLink": second(fs.ReadLink(ended, "dir/link")),
		"ReadDir":  second(fs.ReadDir(ended, ".")),
		"Snapshot": second(store.Snapshot(ctx)),
	} {
		must.Is(t, name, context.Canceled, err)
	}
}

func TestContentsAreReadWithTheContextOfTheTask(t *testing.T) {
	waiting := file("x")
	waiting.Content = func(ctx context.Context) (io.ReaderAt, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	files := newFS("1", map[string]filetree.File{"dir/a.md": waiting})
	store := tree.NewStore(func(context.Context, *filetree.FS) (*filetree.FS, error) { return files, nil }, 0, nil)
	for name, open := range map[string]func(context.Context) fs.FS{
		"a snapshot": must.Get(store.Snapshot(t.Context()))(t).(*filetree.FS).WithContext,
		"a store":    store.WithContext,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		f := must.Get(open(ctx).Open("dir/a.md"))(t)
		cancel(fs.ErrClosed)
		must.Fail(f.Read(make([]byte, 1)))(t, name, fs.ErrClosed)
	}
}

func second[T any](_ T, err error) error { return err }

func TestTheTimeoutEndsAnUpdate(t *testing.T) {
	store := tree.NewStore(func(ctx context.Context, _ *filetree.FS) (*filetree.FS, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, time.Millisecond, nil)
	must.Fail(store.Open("."))(t, "Open", context.DeadlineExceeded)
}
