package toolshelf

import (
	"context"
	"io/fs"
)

// Versioned is implemented by the fs.FileInfo of a store that knows a version of each
// file, such as an ETag, a digest or a revision. Two equal versions of a name mean equal
// contents. A file with a version is unchanged exactly as long as the version is, whatever
// its size and its time. "" is no version.
//
// The catalog looks for Versioned in the results of fs.Stat, of fs.File.Stat and of
// fs.DirEntry.Info, which must agree. If a listing has no versions, each list reads the
// beginning of every file, as on any filesystem without change times (see [WithFs]).
//
// Versioned is also implemented by the result of [SnapshotFS] if the store knows a version
// of all its files, such as a tree hash. If the version is the version of the last list,
// the catalog lists nothing.
//
// A version should have at most a few hundred bytes. No result contains a version.
type Versioned interface {
	Version() string
}

// SnapshotFS is implemented by an fs.FS that can show all its files at one moment. List,
// ListSkills, Search and all other methods that list call Snapshot once for each scan of
// the layer, and read the files through the result. If the FS is an fs.SubFS whose results
// are SnapshotFS, then GetSkill and ReadSkillFile call Snapshot of the skill's directory.
// Other calls use the FS itself.
//
// A store that lists all keys in few requests fetches each page of keys once in Snapshot,
// and answers ReadDir, Stat and Info of the result from memory. Open of the result makes
// no request, and ReadAt and Read request the content in the listed version, for example
// with If-Match. A file that has another version by then is an error, and the catalog reads
// the file through the FS itself. A file that no longer exists is fs.ErrNotExist.
//
// The ctx limits Snapshot only. If the result is a [ContextFS], the catalog sets the
// context of its calls. The catalog drops the result without a notice. An error of
// Snapshot is the error of the layer's directory: fs.ErrNotExist, fs.ErrPermission, or any
// other error, which List returns as [ErrFileRead].
type SnapshotFS interface {
	fs.FS
	Snapshot(ctx context.Context) (fs.FS, error)
}

// StaleFS is implemented by the result of [SnapshotFS] of a store that serves its last good
// snapshot while the store does not answer. Stale returns the error of the store, or nil if
// the snapshot is an answer. The catalog returns the content of a stale snapshot without an
// error, as the store has chosen. A touch of [WithFeed] stays pending, and the first call
// after a second asks the store again.
type StaleFS interface {
	fs.FS
	Stale() error
}

// ContextFS is implemented by an fs.FS whose calls can end with a context. WithContext
// returns the same files. After ctx ends, every call of the result, and of the files that
// the result has opened, returns the error of ctx soon. WithContext makes no request. If
// the result of [SnapshotFS] is a ContextFS too, the catalog calls its WithContext.
//
// Without ContextFS, a method still returns when its context ends, but the request in
// progress continues, and Close waits for the request.
type ContextFS interface {
	fs.FS
	WithContext(ctx context.Context) fs.FS
}

// A HeadFS is an fs.FS that knows the frontmatter of its files without reading them, for
// example from the index of a server. For a HeadFS that is a layer of [WithSkillsFS] or
// [WithCommandsFS], the catalog reads a file only if a caller asks for the file: GetSkill,
// ReadSkillFile, Get, and Lint for all files. List, ListSkills and SkillsPrompt call
// ReadHead. Search and SearchSkills call ReadHead too, and so find a file by its name, its
// description and its tags, but not by its body.
type HeadFS interface {
	fs.FS

	// ReadHead returns bytes that begin with the frontmatter of a file, and the metadata
	// of the file. The bytes need not be bytes of the file, but must have the same
	// frontmatter. For a command without a description, the bytes must also contain the
	// first paragraph. If the file changes, either the bytes or the metadata must change,
	// or the catalog may not notice the change.
	//
	// An error that matches errors.ErrUnsupported makes the catalog read the file. Every
	// other error means that the file cannot be read. The catalog does not modify the
	// bytes, and several goroutines may call ReadHead at the same time.
	ReadHead(name string) (head []byte, info fs.FileInfo, err error)
}
