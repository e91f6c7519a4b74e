package toolshelf

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A layerList has the layers of commands or of skills.
type layerList struct {
	all      []layer // in order of precedence
	replaced bool    // an option has replaced the default directory
}

// A layer is a directory of the catalog's filesystem or, if fsys is set, the top
// of another filesystem.
type layer struct {
	name  string
	fsys  fs.FS
	home  bool // the name begins with "~/"
	named bool // the program named the layer, so the layer is not optional
	usual bool // WithConventionalDirs added the layer, so a missing directory is empty

	immutable bool // the files of fsys never change
}

// addDefault adds the default directory, above all other layers, unless an option
// has replaced the default directory.
func (l *layerList) addDefault(dir string) {
	if !l.replaced {
		l.all = slices.Insert(l.all, 0, layer{name: dir})
	}
}

// addConventional adds directories of the root, followed by the same directories
// of the home directory. addConventional skips directories that another client has
// added.
func (l *layerList) addConventional(dirs ...string) {
	l.replaced = true
	for _, home := range []string{"", "~/"} {
		for _, dir := range dirs {
			add := layer{name: home + dir, home: home != "", usual: true}
			if !slices.ContainsFunc(l.all, func(l layer) bool { return l.name == add.name && l.fsys == nil }) {
				l.all = append(l.all, add)
			}
		}
	}
}

func (l *layerList) addDirs(option string, dirs []string) error {
	l.replaced = true
	for _, dir := range dirs {
		if dir == "" {
			return invalidOption(option + `: a directory is ""; name a directory, or use "." for the root`)
		}
		l.all = append(l.all, layer{name: dir, named: true})
	}
	return nil
}

func (l *layerList) addFS(option, name string, fsys fs.FS) error {
	marked, isMarked := fsys.(immutable)
	if isMarked {
		fsys = marked.FS
	}
	if fsys == nil {
		return invalidOption(option + ": the filesystem is nil")
	}
	if name == "" {
		return invalidOption(option + `: the name is ""; choose a name for the layer, for example for diagnostics`)
	}
	l.all = append(l.all, layer{name: name, fsys: fsys, named: true, immutable: isMarked || isEmbedded(fsys)})
	return nil
}

// openLayers gives each layer a confined filesystem. A directory within the root is
// opened through the root. Links between the directories of a project therefore
// work, and links that leave the project do not.
func (c *Catalog) openLayers(named []layer, home string) []index.Layer {
	var all []index.Layer
	for _, l := range named {
		if l.fsys != nil {
			fsys := c.closeLater(confine.Over(afero.FromIOFS{FS: l.fsys}, "."))
			all = append(all, index.Layer{Name: l.name, FS: fsys, Dir: ".", Fixed: true, Immutable: l.immutable, Store: l.fsys, Fed: c.feed != nil})
			continue
		}
		dir := l.name
		if l.home {
			dir = filepath.Join(home, strings.TrimPrefix(dir, "~"))
		}
		fsys, below := c.locate(dir)
		inRoot := fsys == c.root
		all = append(all, index.Layer{Name: l.name, FS: fsys, Dir: below, InRoot: inRoot && !c.rootIsTop(), MayBeMissing: l.usual, Optional: l.home && !inRoot,
			Fed: c.feed != nil && !c.onOS})
	}
	return all
}

// locate returns a confined filesystem that contains a directory, and the path of
// the directory on it. A directory within the root is located on c.root.
func (c *Catalog) locate(dir string) (fsys *confine.FS, below string) {
	full, ok := c.config.absolute(dir)
	if !ok {
		full = filepath.Join(c.rootDir, dir)
	}
	if below, err := filepath.Rel(c.rootDir, full); err == nil && filepath.IsLocal(below) {
		return c.root, filepath.ToSlash(below)
	}
	return c.confineDir(full), "."
}

// confineDir confines a directory of the catalog's filesystem.
func (c *Catalog) confineDir(dir string) *confine.FS {
	opts := []confine.Option{confine.TrustDirs(c.config.trusted...)}
	if c.config.symlinks == SymlinksDeny {
		opts = []confine.Option{confine.DenySymlinks()}
	}
	var fsys afero.Fs = afero.NewOsFs()
	if !c.onOS {
		fsys = c.config.fs
	}
	return c.closeLater(confine.Over(fsys, dir, opts...))
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
	top := path.Clean(filepath.ToSlash(c.rootDir))
	return !c.onOS && (top == "." || top == "/")
}

// homeOfLayers returns the user's home directory, if a layer is below the home directory.
// If the home directory is unknown or is the root, and on a filesystem other than the
// operating system's, homeOfLayers removes the layers below the home directory.
func (c *Catalog) homeOfLayers() string {
	inHome := func(l layer) bool { return l.home }
	if !slices.ContainsFunc(c.config.allLayers(), inHome) {
		return ""
	}
	home, err := os.UserHomeDir()
	if !c.onOS || err != nil || !filepath.IsAbs(home) || sameDir(home, c.rootDir) {
		c.config.commands.all = slices.DeleteFunc(c.config.commands.all, inHome)
		c.config.skills.all = slices.DeleteFunc(c.config.skills.all, inHome)
		return ""
	}
	return home
}

// sameDir reports whether two paths name the same directory, also through
// links.
func sameDir(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return filepath.Clean(a) == filepath.Clean(b) || errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
