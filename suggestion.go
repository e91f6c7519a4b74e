package toolshelf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// suggestion returns the end of a "not found" message: the entry with the most
// similar name, or else the advice.
func suggestion(entries []*index.Entry, name, advice string) string {
	candidates := func(yield func(string) bool) {
		for _, e := range entries {
			// A removed command may still be in the snapshot.
			if e.Name != name && !yield(e.Name) {
				return
			}
		}
	}
	nearest := ""
	if words := strings.Fields(name); len(words) > 1 { // arguments may follow the name
		nearest = names.Nearest(words[0], candidates, 0, nil)
	}
	limit := min(utf8.RuneCountInString(name)/4, 2)
	if nearest == "" {
		nearest = names.Nearest(name, candidates, limit, nil)
	}
	if nearest == "" && limit == 0 {
		// For a name of up to three letters, only other letter cases and two swapped letters are similar.
		nearest = names.Nearest(name, candidates, 1, func(other string) bool { return sorted(other) == sorted(name) })
	}
	if nearest == "" {
		return advice
	}
	return "did you mean " + quote(nearest) + "?"
}

// sorted returns the letters of a name in lower case and in order.
func sorted(name string) string {
	return string(slices.Sorted(slices.Values([]rune(strings.ToLower(name)))))
}
