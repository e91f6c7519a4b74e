package toolshelf

import (
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/index"
)

// meant is the end of a message that there is nothing of a name: the listed name
// that is nearest to it, or else advice.
func meant(entries []*index.Entry, name, advice string) string {
	best := ""
	wanted := []rune(strings.ToLower(name))
	least := min(len(wanted)/4, 2) // of a short name, only another letter case is near
	for _, e := range entries {
		if e.Name == name {
			continue // it is shown no more, since just now
		}
		if n := utf8.RuneCountInString(e.Name); max(n-len(wanted), len(wanted)-n) > least {
			continue
		}
		distance := editDistance(wanted, []rune(strings.ToLower(e.Name)))
		if distance < least || distance == least && best == "" {
			best, least = e.Name, distance
		}
	}
	if best == "" {
		return advice
	}
	return "did you mean " + quote(best) + "?"
}
