package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// maxSuggestFrom bounds how many names of a folder are compared with one that
// is not there.
const maxSuggestFrom = 10_000

var errEnough = errors.New("enough")

// nearest returns the path, existing and below the root, that a caller may have
// meant by one that is not there, or "". Element by element it takes what is
// there and else the nearest name, in folders that may be read, through no
// link. Hidden names are found if showHidden is set or the name asked for is
// one.
func (c *Catalog) nearest(name string, dirOnly, showHidden bool) string {
	dir, err := c.root.OpenDir(".")
	if err != nil {
		return ""
	}
	defer func() { dir.Close() }()
	elements := strings.Split(name, "/")
	corrected := false
	for i, element := range elements {
		last := i == len(elements)-1
		info, err := dir.Lstat(element)
		if err != nil {
			found, foundInfo := nearestIn(dir, element, dirOnly || !last, showHidden)
			if found == "" {
				return ""
			}
			elements[i], info, corrected = found, foundInfo, true
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

// nearestIn returns the name in a folder that differs least from one that is
// not there, of equally near ones the first in order.
func nearestIn(dir *confine.Dir, name string, dirOnly, showHidden bool) (best string, bestInfo confine.Info) {
	showHidden = showHidden || strings.HasPrefix(name, ".")
	wanted := []rune(strings.ToLower(name))
	least := min(len(wanted)/3, 3) + 1 // a short name is near to too many others
	seen := 0
	// Whatever ends the reading, the names seen so far will do.
	_ = dir.Each(context.Background(), func(other string, typ fs.FileMode) error {
		if seen++; seen > maxSuggestFrom {
			return errEnough
		}
		if !showHidden && other[0] == '.' || dirOnly && typ != confine.TypeUnknown && !typ.IsDir() ||
			utf8.RuneCountInString(other) > len(wanted)+least {
			return nil
		}
		distance := editDistance(wanted, []rune(strings.ToLower(other)))
		if distance > least || distance == least && (best == "" || names.Compare(other, best) > 0) {
			return nil
		}
		info, err := dir.Lstat(other)
		if err != nil || dirOnly && !info.Mode.IsDir() {
			return nil
		}
		best, bestInfo, least = other, info, distance
		return nil
	})
	return best, bestInfo
}
