package toolshelf

import "io/fs"

// Versioned is implemented by the fs.FileInfo of a store that knows a version of each
// file, such as an ETag, a digest or a revision. Two equal versions of a name mean equal
// contents. A file with a version is unchanged exactly as long as the version is, whatever
// its size and its time. "" is no version.
//
// The catalog looks for Versioned in the results of fs.Stat, of fs.File.Stat and of
// fs.DirEntry.Info. If a listing has no versions, each list reads the beginning of every
// file, as on any filesystem without change times (see [WithFs]).
//
// A version has at most a few hundred bytes. The catalog keeps a hash of the version, and
// no result contains the version.
type Versioned interface {
	Version() string
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
