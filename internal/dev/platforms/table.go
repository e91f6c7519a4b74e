package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	same  = "the example prints the same"
	begin = "<!-- .ci/platforms -update writes the table -->\n"
	end   = "<!-- end of the table -->\n"
	head  = "| Platform | Package | Passed | Skipped | Emulator, Go, date |\n|---|---|---|---|---|\n"
)

// A platform has the results of the tests of its packages.
type platform struct {
	name, emulator, example, release, date string
	packages                               []*tested
}

func (p *platform) sum(of outcome) (n int) {
	for _, pack := range p.packages {
		n += pack.numbers[of]
	}
	return n
}

// A row of the table has the cells of a package, or of the example.
type row []string

func (r row) String() string { return "| " + strings.Join(r, " | ") + " |" }

// rows returns a row for the example and a row for each package.
func (p *platform) rows() []row {
	about := fmt.Sprintf("%s, %s, %s", p.emulator, strings.Replace(p.release, "go", "Go ", 1), p.date)
	rows := []row{{p.name, "`examples/quickstart`", "same text as on linux/amd64", "0", about}}
	for _, pack := range p.packages {
		skips := fmt.Sprint(pack.numbers[skipped])
		for i, text := range slices.Sorted(maps.Keys(pack.reasons)) {
			separator := "; "
			if i == 0 {
				separator = ": "
			}
			skips += fmt.Sprintf("%s%d × %s", separator, pack.reasons[text], text)
		}
		rows = append(rows, row{p.name, "`" + pack.path + "`", fmt.Sprint(pack.numbers[passed]), skips, about})
	}
	return rows
}

// agrees reports whether a line of the table is the row of another run: the numbers of a random
// test and the date may differ, and the line has each reason.
func (r row) agrees(line string) bool {
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	if len(cells) != len(r) || cells[0] != r[0] || cells[1] != r[1] {
		return false
	}
	_, reasons, _ := strings.Cut(r[3], ": ")
	for text := range strings.SplitSeq(reasons, "; ") {
		if _, text, _ = strings.Cut(text, " × "); !strings.Contains(cells[3], text) {
			return false
		}
	}
	return true
}

// differences returns the rows of the results that the table lacks, and the rows of the table
// without a result.
func differences(table string, ran []*platform) (stale []string) {
	lines := strings.Split(table, "\n")
	for _, p := range ran {
		rows := p.rows()
		for _, r := range rows {
			if !slices.ContainsFunc(lines, r.agrees) {
				stale = append(stale, r.String())
			}
		}
		for _, line := range lines {
			result := func(r row) bool { return strings.HasPrefix(line, "| "+r[0]+" | "+r[1]+" | ") }
			if strings.HasPrefix(line, "| "+p.name+" |") && !slices.ContainsFunc(rows, result) {
				stale = append(stale, line)
			}
		}
	}
	return stale
}

// cut returns the table of the document, and the text before and after the table.
func cut(text string) (before, table, after string, err error) {
	before, rest, ok := strings.Cut(text, begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", "", "", errors.New(document + " has no place for the table; add the comments around the table again")
	}
	return before + begin, table, end + after, nil
}

// merged returns the table with the rows of the results in place of the rows of the same platforms.
func merged(table string, ran []*platform) string {
	rows := map[string][]string{} // the lines of each platform
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, " | "); strings.Contains(cells[0], "/") {
			name := strings.TrimPrefix(cells[0], "| ")
			rows[name] = append(rows[name], line)
		}
	}
	for _, p := range ran {
		rows[p.name] = nil
		for _, r := range p.rows() {
			rows[p.name] = append(rows[p.name], r.String()+"\n")
		}
	}
	text := head
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		text += strings.Join(rows[name], "")
	}
	return text
}
