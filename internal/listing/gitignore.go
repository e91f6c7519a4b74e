package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/ignore"
)

const gitignoreName = ".gitignore"

// maxGitignore limits the size of a .gitignore file.
const maxGitignore = 1 << 20

// rulesAt returns the rules of the .gitignore files from the root down to the parent of a
// directory. rulesAt opens each directory of the path once.
func (d *reader) rulesAt(fsys *confine.FS, name string) *ignore.Rules {
	var rules *ignore.Rules
	if !d.Gitignore || name == "." {
		return rules
	}
	at := "."
	dir, err := fsys.OpenDir(at)
	for element := range strings.SplitSeq(name, "/") {
		below := path.Join(at, element)
		var next *confine.Dir
		if err != nil {
			d.missRules(at, err)
		} else {
			rules = d.addRules(dir, location{name: at, rules: rules})
			next, err = dir.OpenDir(element)
			dir.Close()
		}
		if err != nil { // for example, the element is a link
			next, err = fsys.OpenDir(below)
		}
		at, dir = below, next
	}
	if err == nil {
		dir.Close()
	}
	return rules
}

// addRules returns the rules of a directory and of its .gitignore file. Like git,
// addRules does not read a .gitignore file that is a link.
func (d *reader) addRules(dir *confine.Dir, at location) *ignore.Rules {
	if !d.Gitignore {
		return nil
	}
	// Most directories have no .gitignore file, and most files are small. A file can be
	// larger than its reported size: the file grows, or the filesystem does not know the
	// size.
	var buf []byte
	var n int
	var info confine.Info
	var err error
	for size := int64(4096); err == nil && n == len(buf) && n < maxGitignore; size = min(max(2*size, info.Size+1), maxGitignore) {
		buf = make([]byte, size)
		n, info, err = dir.ReadHead(gitignoreName, buf)
	}
	full := joinPath(rulesDir(at.name), gitignoreName)
	switch {
	case err == nil && n == maxGitignore:
		n = strings.LastIndexByte(string(buf[:n]), '\n') + 1
		d.warn("'" + escape.Path(full) + "' is larger than 1 MiB; the patterns after 1 MiB have no effect")
	case errors.Is(err, fs.ErrNotExist):
		return at.rules
	case err != nil:
		d.missRules(at.name, err)
		return at.rules
	}
	rules, skipped := at.rules.Add(rulesDir(at.name), buf[:n])
	if skipped > 0 {
		d.warn(fmt.Sprintf("'%s' has more than %d bytes of patterns with stars; %d patterns have no effect", escape.Path(full), ignore.MaxWidth, skipped))
	}
	return rules
}

// missRules reports a .gitignore file that cannot be read: its directory can have ignored files in
// the result. A .gitignore that is no file has no patterns.
func (d *reader) missRules(dir string, err error) {
	if !errors.Is(err, confine.ErrNotRegular) {
		d.unread.Add(1)
	}
	d.warn("'" + escape.Path(joinPath(rulesDir(dir), gitignoreName)) + "' cannot be read (" + escape.Reason(err) + "); its patterns have no effect")
}

// Ignored tells which directories on the way from the root .gitignore files ignore.
type Ignored struct{ rules *ignore.Rules }

// Has reports whether a subdirectory of an open directory, given with its path, is ignored. Call Has
// for each directory on the way, the root first. The error is the error of ctx, or of a .gitignore
// file that cannot be read.
func (i *Ignored) Has(ctx context.Context, dir *confine.Dir, at, name string) (bool, error) {
	d := &reader{Options: Options{Gitignore: true}}
	i.rules = d.addRules(dir, location{name: at, rules: i.rules})
	if d.unread.Load() > 0 {
		_, _, err := dir.ReadHead(gitignoreName, make([]byte, 1))
		return false, cmp.Or(err, errors.New("the .gitignore file cannot be read"))
	}
	m := meter{ctx: ctx}
	ignored := i.rules.Ignores(rulesDir(at), name, true, m.spend)
	return ignored, m.err
}

// rulesDir returns the path of a directory in the form of package ignore.
func rulesDir(name string) string {
	if name == "." {
		return ""
	}
	return name
}
