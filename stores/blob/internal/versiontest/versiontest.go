// Package versiontest has the common test of the versions of blob, for the packages that make
// versions from the objects of one cloud.
package versiontest

import (
	"errors"
	"io/fs"
	"testing"

	gocloud "gocloud.dev/blob"

	"github.com/toolshelf-go/toolshelf/stores/blob"
)

// Run tests that a changed object has another version, and that a read of the previous version
// is an error. The function put writes the only object of the bucket, deploy.md, with an equal
// time for all versions. The argument first is the version after the first put.
func Run(t *testing.T, bucket *gocloud.Bucket, versions blob.Versions, put func(content string), first string) {
	t.Helper()
	put("one")
	store, err := blob.New(bucket, blob.Options{Versions: versions})
	if err != nil {
		t.Fatal(err)
	}
	before, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := store.Open("deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	listed, head, read := stat(t, before), stat(t, store), version(opened)
	if listed != first || head != first || read != first {
		t.Errorf("versions: %q in the listing, %q of the metadata, %q of the content, want %s", listed, head, read, first)
	}
	if content, err := fs.ReadFile(before, "deploy.md"); string(content) != "one" || err != nil {
		t.Errorf("content %q, %v", content, err)
	}

	put("two") // with the same size
	if _, err := fs.ReadFile(before, "deploy.md"); !errors.Is(err, blob.ErrChanged) {
		t.Errorf("a changed object: %v, want %v", err, blob.ErrChanged)
	}
	now, err := store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if content, err := fs.ReadFile(now, "deploy.md"); string(content) != "two" || err != nil {
		t.Errorf("content %q, %v", content, err)
	}
}

func stat(t *testing.T, fsys fs.FS) string {
	t.Helper()
	info, err := fs.Stat(fsys, "deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	return version(info)
}

func version(info fs.FileInfo) string { return info.(interface{ Version() string }).Version() }
