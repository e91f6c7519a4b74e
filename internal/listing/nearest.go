package listing

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// maxCandidates is the maximum number of names of a directory to compare with a missing
// name.
const maxCandidates = 10_000

var errEnough = errors.New("enough candidates")

// Nearest returns an existing path that resembles a missing path, for a "did you
// mean" message, or "". Both paths are below the root of fsys.
//
// Nearest resolves the path element by element. If an element is missing, Nearest
// continues with the nearest name in the same directory. Nearest follows no
// symbolic links. If dirOnly is set, the result is the path of a directory. Hidden names are
// candidates only for hidden elements, or if hidden is set, for every element.
func Nearest(ctx context.Context, fsys *confine.FS, name string, dirOnly, hidden bool) string {
	dir, err := fsys.OpenDir(".")
	if err != nil {
		return ""
	}
	defer func() { dir.Close() }()
	elements := strings.Split(name, "/")
	corrected := false
	for i, element := range elements {
		last := i == len(elements)-1
		info, err := dir.LstatBrief(element)
		if err != nil {
			elements[i], info = nearestName(ctx, dir, element, dirOnly || !last, hidden)
			if elements[i] == "" {
				return ""
			}
			corrected = true
		}
		switch {
		case last && corrected && (info.Mode.IsDir() || !dirOnly):
			return strings.Join(elements, "/")
		case last || !info.Mode.IsDir():
			return ""
		}
		below, err := dir.OpenDir(elements[i])
		if err != nil {
			return ""
		}
		dir.Close()
		dir = below
	}
	return ""
}

// nearestName returns the name in a directory that is nearest to a missing name,
// or "".
func nearestName(ctx context.Context, dir *confine.Dir, name string,
	dirOnly, hidden bool) (nearest string, info confine.Info) {
	hidden = hidden || strings.HasPrefix(name, ".")
	candidates := func(yield func(string) bool) {
		n := 0
		// If the directory cannot be read to the end, the names read so far are the
		// candidates.
		_ = dir.Each(ctx, func(other string, typ fs.FileMode) error {
			if n++; n > maxCandidates {
				return errEnough
			}
			if !hidden && other[0] == '.' || dirOnly && typ != confine.TypeUnknown && !typ.IsDir() || yield(other) {
				return nil
			}
			return errEnough
		})
	}
	exists := func(other string) bool {
		found, err := dir.LstatBrief(other)
		if err != nil || dirOnly && !found.Mode.IsDir() {
			return false
		}
		info = found
		return true
	}
	nearest = names.Nearest(name, candidates, edits(name), exists)
	return nearest, info
}

// maxEdits is the largest edit distance of similar names.
const maxEdits = 3

// edits returns the edit distance up to which names are similar to a name.
func edits(name string) int { return min(utf8.RuneCountInString(name)/3, maxEdits) }
