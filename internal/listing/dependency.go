package listing

import (
	"context"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/confine"
)

// dependencies are the names of directories that hold files of a version control system, or
// files that a package manager has installed. The list has no name that is usual for other
// directories, such as vendor, build or target.
var dependencies = map[string]bool{
	".bzr": true, ".git": true, ".hg": true, ".jj": true, ".svn": true,
	".pnpm-store": true, ".yarn": true, "bower_components": true, "jspm_packages": true, "node_modules": true, // JavaScript
	".eggs": true, ".nox": true, ".tox": true, ".venv": true, "__pypackages__": true, "site-packages": true, "venv": true, // Python
	".dart_tool": true, ".gradle": true, ".stack-work": true, ".terraform": true, "Carthage": true, "Pods": true, "elm-stuff": true,
}

// skips reports whether a walk does not enter a subdirectory because of
// Options.SkipDependencies.
func (d *reader) skips(name string) bool {
	return d.SkipDependencies && dependencies[name]
}

// countEntries returns the number of all entries of a directory.
func countEntries(ctx context.Context, dir *confine.Dir) (n int, err error) {
	err = dir.EachBytes(ctx, func([]byte, fs.FileMode) error {
		n++
		return nil
	})
	return n, err
}
