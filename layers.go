package toolshelf

import (
	"context"
	"io/fs"
	"slices"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/layers"
)

// addParents adds the places of WithClient in the directories above the root.
func (c *Catalog) addParents() error {
	if c.config.boundary == nil {
		return nil
	}
	parents, err := c.at.Parents(c.files.FS(), *c.config.boundary, c.config.home)
	if err != nil {
		return invalidOption("WithParents: " + err.Error())
	}
	c.parents = parents
	for _, list := range c.config.layerLists() {
		list.AddParents(parents)
	}
	return nil
}

// linkOptions returns the options of WithSymlinks.
func (c *config) linkOptions() []confine.Option {
	switch c.symlinks {
	case SymlinksDeny:
		return []confine.Option{confine.DenySymlinks()}
	case SymlinksAll:
		return []confine.Option{confine.TrustAll()}
	}
	return []confine.Option{confine.TrustDirs(c.trusted...)}
}

// userDirs are the directories of the user, by base. A base without a directory has no layers.
type userDirs = map[client.Base]string

// openUser returns the directories of the user, if a layer is below one, and removes the layers
// below unknown directories.
func (c *Catalog) openUser() userDirs {
	single := func(row client.Client) bool {
		return slices.ContainsFunc(row.Instructions, func(p client.Place) bool { return p.Base != client.Project })
	}
	needed := slices.ContainsFunc(c.config.readers, single) || len(c.config.placed) > 0
	return layers.User(c.config.layerLists(), needed, func() (string, string) { return c.at.User(c.config.home) })
}

// Versioned is implemented by the fs.FileInfo of a store that knows a version of each file, such as
// an ETag, a digest or a revision, in all of fs.Stat, fs.File.Stat and fs.DirEntry.Info. Two equal
// versions of a name mean equal contents. A file is unchanged exactly as long as its version is,
// whatever its size and its time. "" is no version. A version has at most a few hundred bytes.
//
// Versioned is also implemented by the result of [SnapshotFS] if the store knows a version of all
// its files, such as a tree hash. If the version is the version of the last list, the catalog lists
// nothing.
type Versioned interface {
	Version() string
}

// SnapshotFS is implemented by an fs.FS that can show all its files at one moment. The methods
// that list or search call Snapshot once for each scan of the layer, and read the files through
// the result. An error of Snapshot is the error of the layer's directory. The ctx limits Snapshot
// only.
//
// The catalog also calls these methods of the fs.FS of a layer, and of the result of Snapshot:
//
//	WithContext(ctx context.Context) fs.FS              // of both: the same files, whose requests end with ctx
//	ReadHead(name string) ([]byte, fs.FileInfo, error)  // of the fs.FS: the frontmatter of a file, without reading the file
//	Stale() error                                       // of the result: the error of a store that serves its last good snapshot
//	Version() string                                    // of the result, which is [Versioned]
//
// Each method is optional. The documents docs/stores.md and docs/methods.md have the details.
type SnapshotFS interface {
	fs.FS
	Snapshot(ctx context.Context) (fs.FS, error)
}
