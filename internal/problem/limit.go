package problem

import "fmt"

// Max is the number of problems that toolshelf reports about one frontmatter, or
// about the files of one skill. More problems would not help the author, and a
// hostile frontmatter has a problem in every line.
const Max = 50

// Limit returns at most Max problems. The last problem of a shortened list states
// the number of omitted problems. Limit may overwrite the list.
func Limit(problems []Problem) []Problem {
	if len(problems) <= Max {
		return problems
	}
	replaced := 0
	for _, p := range problems[Max-1:] {
		replaced += max(p.replaced, 1)
	}
	last := problems[Max-1]
	last.Column, last.Key, last.Suggestion = 0, "", ""
	last.Message, last.replaced = fmt.Sprintf("%d more problems from here on", replaced), replaced
	return append(problems[:Max-1:Max-1], last)
}
