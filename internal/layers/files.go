package layers

import (
	"path"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// Files confine the directories of a catalog.
type Files struct {
	At      paths.Root
	Given   afero.Fs         // of the program, unless At.OnOS
	Options []confine.Option // about links
	Root    *confine.FS      // of At; set before Locate
	Fed     bool             // the catalog has a feed

	opened []*confine.FS
}

// FS returns the filesystem of the catalog.
func (f *Files) FS() afero.Fs {
	if f.At.OnOS {
		return afero.NewOsFs()
	}
	return f.Given
}

// Confine confines a directory of the catalog's filesystem.
func (f *Files) Confine(dir string) *confine.FS {
	return f.closeLater(confine.Over(f.FS(), dir, f.Options...))
}

// closeLater lets Close close a filesystem. The error is always nil: dir is absolute on the
// operating system's filesystem, and the catalog has checked the options.
func (f *Files) closeLater(fsys *confine.FS, err error) *confine.FS {
	if err != nil {
		panic(err)
	}
	f.opened = append(f.opened, fsys)
	return fsys
}

// Close closes all filesystems.
func (f *Files) Close() {
	for _, fsys := range f.opened {
		fsys.Close()
	}
}

// Locate returns a confined filesystem that contains a directory, and the path of the directory on
// it. A directory within the root is located on Root.
func (f *Files) Locate(dir string) (fsys *confine.FS, below string) {
	full := f.At.Absolute(dir)
	if below, err := filepath.Rel(f.At.Dir, full); err == nil && filepath.IsLocal(below) {
		return f.Root, filepath.ToSlash(below)
	}
	return f.Confine(full), "."
}

// Relative returns the path of a file below a directory of fsys, without directories of the host: the
// path below the root, or the path below the name of the directory from the options.
func (f *Files) Relative(fsys *confine.FS, dir, name, full string) (string, bool) {
	shown := filepath.ToSlash(name)
	if fsys == f.Root {
		shown = dir
	}
	return paths.Below(fsys.Path(dir), shown, full)
}

// RootIsTop reports whether the root is the top of a filesystem other than the operating system's.
// The top exists even if a stat fails, as in an empty afero.MemMapFs.
func (f *Files) RootIsTop() bool {
	top := path.Clean(filepath.ToSlash(f.At.Dir))
	return !f.At.OnOS && (top == "." || top == "/")
}

// Of returns the function that returns the filesystem and the path of a settings file, or no
// filesystem without a directory of the user.
func (f *Files) Of(user map[client.Base]string) func(client.Switch) (fsys *confine.FS, file string) {
	return func(s client.Switch) (fsys *confine.FS, file string) {
		switch {
		case s.Base == client.Project:
			return f.Root, s.File
		case user[s.Base] == "":
			return nil, ""
		}
		fsys, file = f.Locate(filepath.Join(user[s.Base], path.Dir(s.File)))
		return fsys, path.Join(file, path.Base(s.File))
	}
}

// Open gives each layer a confined filesystem. A directory within the root is opened through the
// root. Links between the directories of a project therefore work, and links that leave the project
// do not. The directories of the user are known by their bases.
func (f *Files) Open(named []Layer, user map[client.Base]string) []index.Layer {
	var all []index.Layer
	for _, l := range named {
		if l.FS != nil {
			all = append(all, f.openFS(l))
			continue
		}
		opened := index.Layer{Name: l.Name, MayBeMissing: l.Place.Pattern != "" && !l.Named || l.Plugins != nil, Fed: f.Fed && !f.At.OnOS, Plugins: l.Plugins}.WithPlace(l.Place)
		if l.Parent != "" {
			opened.FS, opened.Dir, opened.Optional = f.Confine(l.Parent), l.Place.Dir, true
			opened.Foreign = func() bool { return f.At.OfOtherUser(f.FS(), l.Parent, l.Place.Dir) }
			all = append(all, opened)
			continue
		}
		dir, ofUser := l.Name, l.Place.Base != client.Project
		if ofUser {
			dir = filepath.Join(user[l.Place.Base], l.Place.Dir)
		}
		opened.FS, opened.Dir = f.Locate(dir)
		inRoot := opened.FS == f.Root
		opened.InRoot, opened.Optional = inRoot && !f.RootIsTop(), ofUser && !inRoot
		all = append(all, opened)
	}
	return all
}

func (f *Files) openFS(l Layer) index.Layer {
	return index.Layer{Name: l.Name, FS: f.closeLater(confine.Over(afero.FromIOFS{FS: l.FS}, ".")), Dir: ".", Fixed: true,
		MayBeMissing: l.Plugins != nil, Immutable: l.Immutable, Store: l.FS, Fed: f.Fed, Plugins: l.Plugins}
}
