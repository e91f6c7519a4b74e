package toolshelf

import (
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
	// For a name of up to three letters, only other letter cases are similar.
	nearest := names.Nearest(name, candidates, min(utf8.RuneCountInString(name)/4, 2), nil)
	if nearest == "" {
		return advice
	}
	return "did you mean " + quote(nearest) + "?"
}
