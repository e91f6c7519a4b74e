package toolshelf

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
