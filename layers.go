package toolshelf

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// openLayers gives each layer a confined filesystem. A directory within the root is
// opened through the root. Links between the directories of a project therefore
// work, and links that leave the project do not.
func (c *Catalog) openLayers(named []layer, user userDirs) []index.Layer {
	var all []index.Layer
	for _, l := range named {
		if l.FS != nil {
			fsys := c.closeLater(confine.Over(afero.FromIOFS{FS: l.FS}, "."))
			all = append(all, index.Layer{Name: l.Name, FS: fsys, Dir: ".", Fixed: true, MayBeMissing: l.Plugins != nil, Immutable: l.Immutable, Store: l.FS, Fed: c.feed != nil, Plugins: l.Plugins})
			continue
		}
		opened := index.Layer{Name: l.Name, MayBeMissing: l.Place.Pattern != "" && !l.Named || l.Plugins != nil, Fed: c.feed != nil && !c.at.OnOS, Plugins: l.Plugins}.WithPlace(l.Place)
		if l.Parent != "" {
			opened.FS, opened.Dir, opened.Optional = c.confineDir(l.Parent), l.Place.Dir, true
			opened.Foreign = func() bool { return c.at.OfOtherUser(c.fsys(), l.Parent, l.Place.Dir) }
			all = append(all, opened)
			continue
		}
		dir, ofUser := l.Name, l.Place.Base != client.Project
		if ofUser {
			dir = filepath.Join(user[l.Place.Base], l.Place.Dir)
		}
		opened.FS, opened.Dir = c.locate(dir)
		inRoot := opened.FS == c.root
		opened.InRoot, opened.Optional = inRoot && !c.rootIsTop(), ofUser && !inRoot
		all = append(all, opened)
	}
	return all
}

// addParents adds the places of WithClient in the directories above the root.
func (c *Catalog) addParents() error {
	if c.config.boundary == nil {
		return nil
	}
	parents, err := c.at.Parents(c.fsys(), *c.config.boundary, c.config.home)
	if err != nil {
		return invalidOption("WithParents: " + err.Error())
	}
	c.parents = parents
	for _, list := range c.config.layerLists() {
		list.AddParents(parents)
	}
	return nil
}

// locate returns a confined filesystem that contains a directory, and the path of
// the directory on it. A directory within the root is located on c.root.
func (c *Catalog) locate(dir string) (fsys *confine.FS, below string) {
	full := c.at.Absolute(dir)
	if below, err := filepath.Rel(c.at.Dir, full); err == nil && filepath.IsLocal(below) {
		return c.root, filepath.ToSlash(below)
	}
	return c.confineDir(full), "."
}

// confineDir confines a directory of the catalog's filesystem.
func (c *Catalog) confineDir(dir string) *confine.FS {
	opts := []confine.Option{confine.TrustDirs(c.config.trusted...)}
	switch c.config.symlinks {
	case SymlinksDeny:
		opts = []confine.Option{confine.DenySymlinks()}
	case SymlinksAll:
		opts = []confine.Option{confine.TrustAll()}
	}
	return c.closeLater(confine.Over(c.fsys(), dir, opts...))
}

// fsys returns the filesystem of the catalog.
func (c *Catalog) fsys() afero.Fs {
	if c.at.OnOS {
		return afero.NewOsFs()
	}
	return c.config.fs
}

// closeLater lets Close close a filesystem. The error is always nil: dir is
// absolute on the operating system's filesystem, and newConfig has checked the
// options.
func (c *Catalog) closeLater(fsys *confine.FS, err error) *confine.FS {
	if err != nil {
		panic(err)
	}
	c.opened = append(c.opened, fsys)
	return fsys
}

// rootIsTop reports whether the root is the top of a filesystem other than the
// operating system's. The top exists even if a stat fails, as in an empty
// afero.MemMapFs.
func (c *Catalog) rootIsTop() bool {
	top := path.Clean(filepath.ToSlash(c.at.Dir))
	return !c.at.OnOS && (top == "." || top == "/")
}

// userDirs are the directories of the user, by base. A base without a directory has no layers.
type userDirs map[client.Base]string

// openUser returns the directories of the user, if a layer is below one, and removes the layers
// below unknown directories.
func (c *Catalog) openUser() userDirs {
	user := userDirs{}
	ofUser := func(l layer) bool { return l.Place.Base != client.Project }
	single := func(row client.Client) bool {
		return slices.ContainsFunc(row.Instructions, func(p client.Place) bool { return p.Base != client.Project })
	}
	if slices.ContainsFunc(c.config.allLayers(), ofUser) || slices.ContainsFunc(c.config.readers, single) || len(c.config.placed) > 0 {
		user[client.Home], user[client.Config] = c.at.User(c.config.home)
	}
	unknown := func(l layer) bool { return ofUser(l) && user[l.Place.Base] == "" }
	for _, list := range c.config.layerLists() {
		list.All = slices.DeleteFunc(list.All, unknown)
	}
	return user
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
