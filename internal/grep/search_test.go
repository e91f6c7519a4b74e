package grep

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// blocks returns the blocks of a file, with blocks of a few bytes.
func blocks(content []byte, size int) *text.Blocks {
	b := &text.Blocks{Size: size, Head: min(size, 8), MaxLine: 4 * size}
	b.Reset(bytes.NewReader(content), int64(len(content)))
	return b
}

func find(t *testing.T, pattern string, o Options, content string, q Request) Found {
	t.Helper()
	p := must.Get(Compile(pattern, o))(t)
	var b text.Blocks
	b.Reset(strings.NewReader(content), int64(len(content)))
	return must.Get(p.Search(t.Context(), &b, q))(t)
}

// optionsOf returns the options of a search of testdata.
func optionsOf(words []string) Options {
	has := func(word string) bool { return slices.Contains(words, word) }
	return Options{Literal: has("literal"), IgnoreCase: has("case"), WholeWords: has("words")}
}

//go:embed testdata/search.txt
var searches string

func TestSearch(t *testing.T) {
	must.Answer(t, searches, map[string]func(t *testing.T, a ...string) string{
		"search": func(t *testing.T, a ...string) string {
			found := find(t, a[0], optionsOf(a[2:]), a[1], Request{Lines: 10})
			var got []string
			for _, l := range found.Lines {
				got = append(got, fmt.Sprintf("%d:%d", l.Number, l.Column))
			}
			must.Equal(t, "the total", len(got), found.Total)
			return strings.Join(got, " ")
		},
	})
}

func TestContext(t *testing.T) {
	content := "1\n2\nx3\n4\n5\n6\n7\nx8\nx9\n10\n11"
	for _, tt := range []struct {
		lines, context int
		want           string
	}{
		{10, 0, "[] x3 [], [] x8 [], [] x9 []"},
		{10, 1, "[2] x3 [4], [7] x8 [], [] x9 [10]"},
		{10, 3, "[1 2] x3 [4 5 6], [7] x8 [], [] x9 [10 11]"},
		{1, 9, "[1 2] x3 [4 5 6 7]"},
		{2, 2, "[1 2] x3 [4 5], [6 7] x8 []"},
		{0, 2, ""},
	} {
		for _, size := range []int{3, 4, 5, 100} {
			p := must.Get(Compile("x", Options{}))(t)
			found, err := p.Search(t.Context(), blocks([]byte(content), size), Request{Lines: tt.lines, Context: tt.context})
			if err != nil || found.Total != 3 {
				t.Fatal(found, err)
			}
			var got []string
			for _, l := range found.Lines {
				got = append(got, fmt.Sprint(l.Before, " ", l.Text, " ", l.After))
			}
			must.Equal(t, fmt.Sprintf("%+v, blocks of %d bytes", tt, size), tt.want,
				strings.Join(got, ", "))
		}
	}
}

func TestLongLines(t *testing.T) {
	x := strings.Repeat("x", 1000)
	for _, tt := range []struct {
		rule, content string
		want          Line
	}{
		{"in the middle", x + "MATCH" + x, Line{Column: 1000, Text: x[:100] + "MATCH" + x[:395], TextColumn: 900, Truncated: true}},
		{"at the beginning", "MATCH" + x, Line{Text: "MATCH" + x[:495], Truncated: true}},
		{"at the end", x + "MATCH", Line{Column: 1000, Text: x[:495] + "MATCH", TextColumn: 505}},
		{"characters, not bytes", strings.Repeat("ü", 600) + "MATCH", Line{Column: 1200, Text: strings.Repeat("ü", 495) + "MATCH", TextColumn: 210}},
		{"500 characters", strings.Repeat("ü", 495) + "MATCH", Line{Column: 990, Text: strings.Repeat("ü", 495) + "MATCH"}},
		{"an invalid byte is a character", x + "MATCH\xff", Line{Column: 1000, Text: x[:494] + "MATCH\ufffd", TextColumn: 506}},
	} {
		found := find(t, "MATCH", Options{}, tt.content, Request{Lines: 1})
		tt.want.Number = 1
		must.Match(t, tt.rule, []Line{tt.want}, found.Lines)
	}
	found := find(t, "MATCH", Options{}, x+"\nMATCH\n"+x[:500]+"\n", Request{Lines: 1, Context: 1})
	if got := found.Lines[0]; got.Before[0] != x[:500]+"…" || got.After[0] != x[:500] {
		t.Errorf("context: %+v", got)
	}
}

// The part of a line after MaxLine is in no block.
func TestLinesLargerThanTheMaximum(t *testing.T) {
	first := strings.Repeat("x", text.MaxLine-1)
	for _, tt := range []struct {
		rule, content string
		total, long   int
		last          int // line of the last match
	}{
		{"the last searched byte", first + "Mx\r\n\nM\n", 2, 1, 3},
		{"the first byte that is not searched", first + "xxM\n\nM\n", 1, 1, 3},
		{"the longest line that is searched", first + "M\r\nM\n", 2, 0, 2},
		{"no line break", first + "M" + first + "M", 1, 1, 1},
		{"two long lines", first + "xMxx\n" + first + "M" + first + "\nM\n", 2, 2, 3},
	} {
		found := find(t, "M", Options{}, tt.content, Request{Lines: 10})
		if found.Total != tt.total || found.Long != tt.long || found.Lines[len(found.Lines)-1].Number != tt.last {
			t.Errorf("%s: %d lines, %d long, %v", tt.rule, found.Total, found.Long, found.Lines[len(found.Lines)-1].Number)
		}
	}
}

func TestSearchErrors(t *testing.T) {
	p := must.Get(Compile("a", Options{}))(t)
	var b text.Blocks
	b.Reset(strings.NewReader("a\x00"), -1)
	var notText *text.NotTextError
	if _, err := p.Search(t.Context(), &b, Request{}); !errors.As(err, &notText) {
		t.Errorf("a NUL: %v", err)
	}
	b.Reset(strings.NewReader(strings.Repeat("a", text.HeadSize)+"\x00"), -1)
	must.Equal(t, "a NUL after the head", 1,
		must.Get(p.Search(t.Context(), &b, Request{}))(t).Total)
	b.Reset(io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(io.ErrClosedPipe)), -1)
	if _, err := p.Search(t.Context(), &b, Request{}); err != io.ErrClosedPipe {
		t.Errorf("a failing file: %v", err)
	}
	b.Reset(strings.NewReader("a\na\n"), 2)
	must.Equal(t, "a file that grows", 1, must.Get(p.Search(t.Context(), &b, Request{}))(t).Total)
	b.Reset(strings.NewReader("a\n"), 100)
	must.Equal(t, "a file that shrinks", 1, must.Get(p.Search(t.Context(), &b, Request{}))(t).Total)
}

// endingContext ends at the n-th check.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left <= 0 {
		return context.Canceled
	}
	return nil
}

// A complex pattern takes long for a single block. The context ends the search within the block.
func TestSearchOfABlockEndsWithTheContext(t *testing.T) {
	if testing.Short() {
		t.Skip("slow patterns on one goroutine")
	}
	for _, tt := range []struct {
		rule, content string
		options       Options
	}{
		{"a long line", strings.Repeat("a", 128<<10), Options{}},
		{"a long line, whole words", strings.Repeat("a", 128<<10), Options{WholeWords: true}},
		{"many lines", strings.Repeat(strings.Repeat("a", 1000)+"\n", 60), Options{WholeWords: true}},
		{"many lines that end with CR", strings.Repeat(strings.Repeat("a", 1000)+"\r", 60), Options{}},
	} {
		p := must.Get(Compile("(?:a?){300}[^a]", tt.options))(t)
		var b text.Blocks
		b.Reset(strings.NewReader(tt.content), -1)
		ctx := &endingContext{t.Context(), 3}
		if _, err := p.Search(ctx, &b, Request{}); err != context.Canceled || ctx.left < -1 {
			t.Errorf("%s: %v, %d checks after the end", tt.rule, err, -ctx.left)
		}
	}
}

//go:embed testdata/errors.txt
var compileErrors string

func TestCompileErrors(t *testing.T) {
	must.Answer(t, compileErrors, map[string]func(t *testing.T, a ...string) string{
		"compile": func(t *testing.T, a ...string) string {
			_, err := Compile(a[0], optionsOf(a[1:]))
			return fmt.Sprint(err)
		},
	})
}

// naive matches each line with package regexp.
func naive(t *testing.T, pattern string, o Options, content []byte, format text.Format) (columns map[int]int) {
	if o.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if o.IgnoreCase {
		pattern = "(?i:" + pattern + ")"
	}
	if o.WholeWords {
		pattern = "^(?:" + pattern + ")$"
	}
	re := regexp.MustCompile(pattern)
	columns = map[int]int{}
	lines := strings.SplitAfter(string(content), string(format.Terminator()))
	for i, line := range lines {
		if line == "" {
			continue
		}
		if format.CR {
			line = strings.TrimSuffix(line, "\r")
		} else if whole, ended := strings.CutSuffix(line, "\n"); ended {
			line = strings.TrimSuffix(whole, "\r")
		}
		if !o.WholeWords {
			if loc := re.FindStringIndex(line); loc != nil {
				columns[i+1] = loc[0]
			}
			continue
		}
		if at := wholeWord(line, re); at >= 0 {
			columns[i+1] = at
		}
	}
	return columns
}

// wholeWord tries all parts of a line.
func wholeWord(line string, whole *regexp.Regexp) int {
	isWord := func(r rune) bool { return unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '_' }
	runes := []rune(line)
	for from := range len(runes) + 1 {
		if from > 0 && isWord(runes[from-1]) {
			continue
		}
		for to := from; to <= len(runes); to++ {
			if (to == len(runes) || !isWord(runes[to])) && whole.MatchString(string(runes[from:to])) {
				return len(string(runes[:from]))
			}
		}
	}
	return -1
}

// FuzzSearch compares a search with a loop over the lines, for blocks of a few bytes.
func FuzzSearch(f *testing.F) {
	f.Add("b", "a\nb\r\nabc", uint8(0), uint8(4))
	f.Add("a|b$", "a\nb\r\n\nxb", uint8(2), uint8(5))
	f.Add("sk[^x]", "\u017fk\r\nSK\n", uint8(2), uint8(3))
	f.Add(`\s*x`, "\n x\n\n", uint8(4), uint8(3))
	f.Add("(?m)^$|\\B", "\xef\xbb\xbfa\r\r", uint8(0), uint8(9))
	f.Fuzz(func(t *testing.T, pattern, content string, flags, size uint8) {
		o := Options{Literal: flags&1 != 0, IgnoreCase: flags&2 != 0, WholeWords: flags&4 != 0}
		// For whole words, the naive loop matches parts of a line, and supports no anchors.
		if len(pattern) > 16 || len(content) > 100 || o.WholeWords && (len(content) > 30 || strings.ContainsAny(pattern, `^$\`) || !utf8.ValidString(content)) {
			t.Skip("the fuzz target omits this input")
		}
		p, err := Compile(pattern, o)
		if err != nil {
			t.Skip("the fuzz target omits this input")
		}
		n := max(4, int(size%32))
		head := content[:min(len(content), n, 8)]
		format, isText := text.Detect([]byte(head))
		if !isText || format.Encoding != text.UTF8 {
			t.Skip("the fuzz target omits this input")
		}
		want := naive(t, pattern, o, []byte(content)[format.Start():], format)
		for _, steps := range []int{p.steps, maxSteps} { // with maxSteps, each expression checks the context
			p.steps = steps
			b := &text.Blocks{Size: n, Head: min(n, 8), MaxLine: 256}
			b.Reset(strings.NewReader(content), int64(len(content)))
			found := must.Get(p.Search(t.Context(), b, Request{Lines: 1000, Context: int(flags >> 6)}))(t)
			got := map[int]int{}
			for _, l := range found.Lines {
				got[l.Number] = int(l.Column)
			}
			if diff := cmp.Diff(want, got); diff != "" || found.Total != len(want) {
				t.Errorf("pattern %q in %q, %+v, blocks of %d bytes, %d steps (-want +got):\n%s", pattern, content, o, n, steps, diff)
			}
		}
	})
}
