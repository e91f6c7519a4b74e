// Package versiontest has the common test of the versions of blob, for the packages that make
// versions from the objects of one cloud.
package versiontest

import (
	"io/fs"
	"testing"

	gocloud "gocloud.dev/blob"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// Run tests that a changed object has another version, and that a read of the previous version
// is an error. The function put writes the only object of the bucket, deploy.md, with an equal
// time for all versions. The argument first is the version after the first put.
func Run(
	t *testing.T, bucket *gocloud.Bucket, versions blob.Versions, put func(content string), first string,
) {
	t.Helper()
	put("one")
	store := must.Get(blob.New(bucket, blob.Options{Versions: versions}))(t)
	before := must.Get(store.Snapshot(t.Context()))(t)
	file := must.Get(store.Open("deploy.md"))(t)
	defer file.Close()
	read := version(must.Get(file.Stat())(t))
	listed, head := stat(t, before), stat(t, store)
	if listed != first || head != first || read != first {
		t.Errorf("versions: %q in the listing, %q of the metadata, %q of the content, want %s",
			listed, head, read, first)
	}
	content := func(fsys fs.FS) string {
		return string(must.Get(fs.ReadFile(fsys, "deploy.md"))(t))
	}
	must.Equal(t, "content", "one", content(before))

	put("two") // with the same size
	must.Fail(fs.ReadFile(before, "deploy.md"))(t, "a changed object", blob.ErrChanged)
	must.Equal(t, "content", "two", content(must.Get(store.Snapshot(t.Context()))(t)))
}

func stat(t *testing.T, fsys fs.FS) string {
	t.Helper()
	return version(must.Get(fs.Stat(fsys, "deploy.md"))(t))
}

func version(info fs.FileInfo) string { return info.(interface{ Version() string }).Version() }
