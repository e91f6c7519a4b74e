// Package show writes texts of unknown authors on a terminal.
package show

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"
)

const (
	width   = 100     // runes of a line; a longer line would look like several lines, of which a text could choose the begin
	context = 3       // unchanged lines around a change
	cells   = 4 << 20 // of the table of a difference
)

// Escape returns a text in which no character controls the terminal, is invisible or changes the
// order of others.
func Escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.Is(unicode.Variation_Selector, r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// Difference writes the lines of the files that are added (+), removed (-) or near a change.
func Difference(w io.Writer, before, now map[string]string) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	all := maps.Clone(now)
	maps.Copy(all, before)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, removed := before[name]
		b, added := now[name]
		switch {
		case removed && added && a == b:
			fmt.Fprintln(out, "  unchanged file", Escape(name))
			continue
		case removed && added:
			fmt.Fprintln(out, "  changed file", Escape(name))
		case added:
			fmt.Fprintln(out, "  new file", Escape(name))
		default:
			fmt.Fprintln(out, "  removed file", Escape(name))
		}
		edits := compare(lines(a), lines(b))
		for i, e := range edits {
			near := edits[max(0, i-context):min(len(edits), i+context+1)]
			if !slices.ContainsFunc(near, func(e edit) bool { return e.sign != ' ' }) {
				continue
			}
			sign, rest := string(e.sign), []rune(Escape(strings.TrimSuffix(e.line, "\n")))
			for ; len(rest) > width; rest = rest[width:] {
				fmt.Fprintf(out, "    %s %s\n", sign, string(rest[:width]))
				sign = "…"
			}
			fmt.Fprintf(out, "    %s %s\n", sign, string(rest))
			if !strings.HasSuffix(e.line, "\n") {
				fmt.Fprintln(out, "      (no line break at the end)")
			}
		}
	}
}

// lines returns the lines of a text, with their line breaks.
func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

type edit struct {
	sign rune
	line string
}

// compare returns the lines of b, and before them the lines that only a has. A difference of large
// texts replaces all lines between the equal lines at both ends.
func compare(a, b []string) (edits []edit) {
	add := func(sign rune, lines ...string) {
		for _, line := range lines {
			edits = append(edits, edit{sign, line})
		}
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		add(' ', a[0])
		a, b = a[1:], b[1:]
	}
	same := 0
	for same < min(len(a), len(b)) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	end := a[len(a)-same:]
	a, b = a[:len(a)-same], b[:len(b)-same]
	if len(a)*len(b) <= cells {
		common := make([][]int32, len(a)+1) // lengths of the longest common subsequences of a[i:] and b[j:]
		for i := len(a); i >= 0; i-- {
			common[i] = make([]int32, len(b)+1)
			for j := len(b) - 1; j >= 0 && i < len(a); j-- {
				if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				}
			}
		}
		i, j := 0, 0
		for i < len(a) && j < len(b) {
			switch {
			case a[i] == b[j]:
				add(' ', a[i])
				i, j = i+1, j+1
			case common[i+1][j] >= common[i][j+1]:
				add('-', a[i])
				i++
			default:
				add('+', b[j])
				j++
			}
		}
		a, b = a[i:], b[j:]
	}
	add('-', a...)
	add('+', b...)
	add(' ', end...)
	return edits
}
