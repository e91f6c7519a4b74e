package paths

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Hider replaces the full path of the root in messages.
// The zero Hider replaces nothing.
type Hider struct {
	spellings []string // of the root's path, the longest first
}

// HiderOf returns a Hider for the root of a catalog. A relative root,
// as on a filesystem in memory, and the top of a filesystem are no secrets.
func HiderOf(root string) Hider {
	slashed := filepath.ToSlash(root)
	if !filepath.IsAbs(root) && !path.IsAbs(root) ||
		strings.Trim(strings.TrimPrefix(slashed, filepath.VolumeName(root)), "/") == "" {
		return Hider{}
	}
	quoted := strconv.Quote(root)
	spellings := []string{root, slashed, quoted[1 : len(quoted)-1]} // messages quote paths
	slices.SortFunc(spellings, func(a, b string) int { return len(b) - len(a) })
	return Hider{slices.Compact(spellings)}
}

// Text returns a message with relative paths.
func (h Hider) Text(s string) string {
	for _, root := range h.spellings {
		s = relativeTo(root, s)
	}
	return s
}

// Texts returns messages with relative paths. The result is a new slice.
func (h Hider) Texts(all []string) []string {
	all = slices.Clone(all)
	for i, s := range all {
		all[i] = h.Text(s)
	}
	return all
}

// relativeTo removes the path of a directory from the paths in a text that are
// in the directory. The directory itself becomes ".".
func relativeTo(dir, text string) string {
	var b strings.Builder
	rest := text
	for {
		before, after, ok := strings.Cut(rest, dir)
		if !ok {
			break
		}
		whole := text[:len(text)-len(after)-len(dir)] // all of the text before dir
		separators := len(after) - len(strings.TrimLeft(after, `/\`))
		b.WriteString(before)
		switch {
		case inName(lastRune(whole)), separators == 0 && continues(after):
			b.WriteString(dir) // a part of another path
		default:
			if after = after[separators:]; separators == 0 || !startsName(after) {
				b.WriteString(".")
			}
		}
		rest = after
	}
	b.WriteString(rest)
	return b.String()
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

// inName reports whether a character next to a path is a part of a longer name.
func inName(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.~", r)
}

// continues reports whether a text continues the name before the text. A dot at
// the end of a word ends a sentence.
func continues(after string) bool {
	name := strings.TrimLeft(after, ".")
	r, size := utf8.DecodeRuneInString(name)
	return size > 0 && inName(r)
}

// startsName reports whether a text begins with a file name.
func startsName(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	return size > 0 && !unicode.IsSpace(r) && !strings.ContainsRune("'\"`)],;:", r)
}
