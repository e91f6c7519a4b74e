package promptblock

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// LinesFit reports whether the lines, cut to each characters, have at most all characters together.
func LinesFit(lines map[string]string, each, all int) bool {
	total := 0
	for _, line := range lines {
		total += min(utf8.RuneCountInString(line), each)
	}
	return total <= all
}

// ShortenLines shortens each line to at most each characters, and the longest lines to a common
// length, so that all lines have at most all characters together.
func ShortenLines(lines map[string]string, each, all int) {
	limit := sort.Search(each, func(i int) bool { return !LinesFit(lines, i+1, all) })
	for name, line := range lines {
		lines[name] = shortenLine(line, limit)
	}
}

// shortenLine shortens a line to at most limit characters, with "…" at the end. The cut
// is at the end of a word, unless the last word is longer than half of the limit.
func shortenLine(line string, limit int) string {
	characters := []rune(line)
	if len(characters) <= limit {
		return line
	}
	kept := string(characters[:limit-1])
	if characters[limit-1] != ' ' {
		if blank := strings.LastIndexByte(kept, ' '); blank > len(kept)/2 {
			kept = kept[:blank]
		}
	}
	return kept + "…"
}
