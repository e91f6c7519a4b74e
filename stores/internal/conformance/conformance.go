// Package conformance has the common tests of stores: of snapshots and of catalogs.
package conformance

import (
	"context"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A Store has the methods that the documentation of a store names.
type Store interface {
	fs.StatFS
	fs.ReadDirFS
	fs.ReadLinkFS
	toolshelf.SnapshotFS
	WithContext(ctx context.Context) fs.FS
}

// Skill is a SKILL.md of a skill with the name review.
const Skill = "---\nname: review\ndescription: Reviews a change.\n---\nLook at the diff.\n"

// Snapshot returns a snapshot.
func Snapshot(t *testing.T, store toolshelf.SnapshotFS) fs.FS {
	t.Helper()
	return must.Get(store.Snapshot(t.Context()))(t)
}

// Version returns the version of a snapshot or of a file.
func Version(t *testing.T, v any) string {
	t.Helper()
	versioned, ok := v.(toolshelf.Versioned)
	if !ok {
		t.Fatalf("%T has no version", v)
	}
	return versioned.Version()
}

// Contents returns the files of a filesystem, and tests the filesystem.
func Contents(t *testing.T, fsys fs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	must.Do(t, fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(fsys, name)
		all[name] = string(content)
		return err
	}))
	if err := fstest.TestFS(fsys, slices.Collect(maps.Keys(all))...); err != nil {
		t.Error(err)
	}
	return all
}

// Catalog returns a catalog over stores.
func Catalog(t *testing.T, commands, skills fs.FS) *toolshelf.Catalog {
	t.Helper()
	catalog := must.Get(toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(),
		toolshelf.WithCommandsFS("team", commands), toolshelf.WithSkillsFS("team", skills)))(t)
	t.Cleanup(func() { catalog.Close() })
	return catalog
}

// ACatalogReadsTheStore tests a catalog over stores, whose files the function write replaces. The
// function open returns the store of a directory.
func ACatalogReadsTheStore(
	t *testing.T, write func(files map[string]string), open func(dir string) fs.FS,
) {
	files := map[string]string{"commands/deploy.md": "Deploy one.\n", "commands/old.md": "Old.\n",
		"skills/review/SKILL.md": Skill}
	write(files)
	catalog := Catalog(t, open("commands"), open("skills"))
	list := func(want string) {
		t.Helper()
		var names []string
		for command, err := range catalog.All(t.Context()) {
			must.Do(t, err)
			names = append(names, command.Name)
		}
		must.Equal(t, "List", want, strings.Join(names, " "))
	}
	list("deploy old")
	found, err := catalog.GetSkill(t.Context(), "review")
	if err != nil || !strings.Contains(found.Content, "Look at the diff.") {
		t.Errorf("GetSkill = %q, %v", found.Content, err)
	}

	// The same size and perhaps the same time, and a deletion.
	files["commands/deploy.md"] = "Deploy two.\n"
	delete(files, "commands/old.md")
	write(files)
	command, err := catalog.Get(t.Context(), "deploy")
	if err != nil || !strings.Contains(command.Content, "Deploy two.") {
		t.Errorf("Get = %q, %v", command.Content, err)
	}
	must.Fail(catalog.Get(t.Context(), "old"))(t, "Get of a deleted command", toolshelf.ErrCommandNotFound)
	list("deploy")
}

// ASnapshotDoesNotChange tests the snapshots of a store whose files the function write replaces.
func ASnapshotDoesNotChange(t *testing.T, write func(files map[string]string), store Store) {
	write(map[string]string{"a.md": "one"})
	before := Snapshot(t, store)
	write(map[string]string{"a.md": "two"})
	after := Snapshot(t, store)
	for fsys, want := range map[fs.FS]string{before: "one", after: "two", store: "two"} {
		must.Match(t, "files", map[string]string{"a.md": want}, Contents(t, fsys))
	}
	if Version(t, before) == Version(t, after) || Version(t, after) != Version(t, Snapshot(t, store)) {
		t.Error("the version is not the version of the files")
	}
}
