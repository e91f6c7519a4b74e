package meaning

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/words"
)

// The limits of the text that an embedding model reads.
const (
	maxWords = 80
	maxBytes = 2000
)

// Text returns the text of a document for an embedding model: the words of the name,
// and the first words of the description. Without a description, the body is in its place.
func Text(d rank.Document) string {
	var all []string
	var ends []int
	name := d.Name[:min(len(d.Name), rank.MaxText)]
	for i := 0; i < len(name); {
		w := words.Next(name, i)
		if w.End == i {
			_, size := utf8.DecodeRuneInString(name[i:])
			i += size
			continue
		}
		typed := name[i:w.End]
		ends = append(ends[:0], len(typed))
		if !w.Dense {
			ends = words.Cuts(ends[:0], typed)
		}
		begin := 0
		for _, cut := range ends {
			if begin < cut {
				all = append(all, typed[begin:cut])
			}
			begin = cut
		}
		i = w.End
	}
	text := d.Description
	if strings.TrimSpace(text) == "" {
		text = d.Body
	}
	n := 0
	for word := range strings.FieldsFuncSeq(text[:min(len(text), rank.MaxText)], unicode.IsSpace) {
		if n++; n > maxWords {
			break
		}
		all = append(all, word)
	}
	joined := strings.ToValidUTF8(strings.Join(all, " "), "")
	for len(joined) > maxBytes {
		end := maxBytes
		for !utf8.RuneStart(joined[end]) {
			end--
		}
		joined = joined[:end]
	}
	return joined
}
