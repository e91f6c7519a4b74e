package listing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestExpandedPatterns(t *testing.T) {
	for _, tt := range []struct{ pattern, want string }{
		{"a", "a"},
		{"{a,b}c", "ac bc"},
		{"x{,y}", "x xy"},
		{"{a,b{c,d}}{e,}", "ae a bce bc bde bd"},
		{"{,}{,}{,}a", "a"},
		{"{a,a}", "a"},
		{`\{a,b}`, `\{a,b}`},
		{`{a\,b,c}`, `a\,b c`},
		{"{[a,b],[^}]}", "[a,b] [^}]"},
		{"[{]a,b", "[{]a,b"},
		{"{a/b,**}/c", "a/b/c **/c"},
		{"*{a,*}*", "*a* *"},
		{"a{a/b,*}{a/b,*}", "aa/ba/b aa/b* a*a/b a*"},
		{`{\*,a}*{**,b}`, `\*** \**b a** a*b`},
	} {
		got, _, ok := expand(tt.pattern, false)
		if !ok || strings.Join(got, " ") != tt.want {
			t.Errorf("%s stands for %q, want %s", tt.pattern, got, tt.want)
		}
	}
}

// TestAGlobBeyondTheLimitsCostsLittle expands patterns with 512 alternatives at an early brace and
// hundreds of braces after it.
func TestAGlobBeyondTheLimitsCostsLittle(t *testing.T) {
	for _, pattern := range []string{
		strings.Repeat("{a,b}", 9) + strings.Repeat("{x}", 300),
		strings.Repeat("{a,b}", 9) + "{" + strings.Repeat("{x}", 280) + "}",
		strings.Repeat("{a,b}", 9) + strings.Repeat("x", 200) + strings.Repeat("{x}", 200),
	} {
		allocations := testing.AllocsPerRun(1, func() {
			if _, err := ParseGlob(pattern); err == nil {
				t.Errorf("%s: no error", pattern)
			}
		})
		if allocations > 70_000 {
			t.Errorf("%s: %.0f allocations", pattern, allocations)
		}
	}
}

// endedContext counts the calls of Err.
type endedContext struct {
	context.Context
	asked int
}

func (c *endedContext) Err() error { c.asked++; return context.DeadlineExceeded }

// TestMatchingEndsWithTheContext matches one name with patterns that take many
// steps.
func TestMatchingEndsWithTheContext(t *testing.T) {
	var patterns []string
	for i := range 60 {
		patterns = append(patterns, strings.Repeat("*e", 450-i))
	}
	d := &reader{}
	for _, pattern := range patterns {
		g := must.Get(ParseGlob(pattern))(t)
		d.Exclude = append(d.Exclude, g)
	}
	ctx := &endedContext{Context: context.Background()}
	m := &meter{ctx: ctx}
	ok := matchesAny(d.Exclude, m, "", strings.Repeat("e", 255), false)
	if ok || !errors.Is(m.err, context.DeadlineExceeded) || ctx.asked != 1 {
		t.Errorf("matched %v, %v; the context was asked %d times", ok, m.err, ctx.asked)
	}
}

// FuzzGlob compares patterns without braces with doublestar. Bytes that are not UTF-8
// are skipped: doublestar treats all of them as the same character.
func FuzzGlob(f *testing.F) {
	f.Add("*/c", "a/c")
	f.Add("**/*.[gm]?", "x/y.go")
	f.Add("**/**", "a")
	f.Add(`\*\,[}]x`, "*,}x")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := ParseGlob(pattern)
		if err != nil || strings.Trim(path, "/") != path || path == "" || strings.Contains(path, "//") || len(path) > 100 || strings.Contains(pattern, "{") ||
			!utf8.ValidString(pattern) || !utf8.ValidString(path) {
			t.Skip("the fuzz target omits this input")
		}
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i], path[i+1:]
		}
		text := name
		if g.path {
			text = path
		}
		want := doublestar.MatchUnvalidated(g.pattern, text)
		if got := g.matches(&meter{ctx: t.Context()}, dir, name, true); got != want {
			t.Errorf("%q matches %q: %v; doublestar says %v", pattern, path, got, want)
		}
	})
}

// The words of patterns and of paths.
var globWords, pathWords = []string{"a", "b", "ab", "/", "/", "**", "*", "?", "[ab]", "[^a]", `\*`, "{a,b}", "{a/b,**}", "é", ".", "*.a"}, []string{"a", "b", "ab", "/", "/", "*", "é", ".", "x"}

func TestLiteralEndsMissNoMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := strings.Join(rapid.SliceOfN(rapid.SampledFrom(globWords), 1, 8).Draw(t, "pattern"), "")
		name := path.Clean(strings.Trim(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pathWords), 1, 8).Draw(t, "path"), ""), "/"))
		g, err := ParseGlob(pattern)
		if err != nil {
			return
		}
		want := false
		for _, a := range g.alternatives {
			text := name
			if !a.path {
				text = path.Base(name)
			}
			matches := doublestar.MatchUnvalidated(a.pattern, text)
			want = want || matches
			if possible, certain := a.literal(text); matches && !possible || certain && possible != matches {
				t.Fatalf("%q and %q: possible %v, certain %v, matches %v", a.pattern, text, possible, certain, matches)
			}
		}
		globs := NewGlobs([]Glob{g, g})
		left := 1 << 20
		must.Equal(t, fmt.Sprintf("%q and %q", pattern, name), want,
			must.Get(globs.Match(name, &left))(t))
	})
}

func TestGlobsEndWithTheirSteps(t *testing.T) {
	steps := func(globs int, pattern func(i int) string, name string) int {
		var list []Glob
		for i := range globs {
			g := must.Get(ParseGlob(pattern(i)))(t)
			list = append(list, g)
		}
		all := NewGlobs(list)
		left := math.MaxInt
		if ok, err := all.Match(name, &left); ok || err != nil {
			t.Fatal(ok, err)
		}
		few := math.MaxInt - left - 1
		if _, err := all.Match(name, &few); err != ErrTooManySteps {
			t.Errorf("%d globs with a step too few: %v", globs, err)
		}
		return math.MaxInt - left
	}
	name := strings.Repeat("a/", 200) + "main.go"
	inner := func(i int) string { return fmt.Sprintf("a/**/x%d*.go", i) }
	ends := func(i int) string { return fmt.Sprintf("%d/**/*.go", i) }
	if few, many := steps(100, inner, name), steps(400, inner, name); many > 5*few {
		t.Errorf("%d steps for 100 globs, and %d for 400", few, many)
	}
	if literal, wild := steps(100, ends, name), steps(100, inner, name); 100*literal > wild {
		t.Errorf("%d steps for literal ends, and %d for others", literal, wild)
	}
}

func TestGitignoreFiles(t *testing.T) {
	all := files{
		".gitignore": "*.log\n/top/\n", "top/x": "", "a.log": "", "b": "", ".git/x": "",
		"sub/.gitignore": "!keep.log\nb\n", "sub/keep.log": "", "sub/other.log": "", "sub/b": "", "sub/deep/keep.log": "", "sub/deep/b": "",
	}
	f := over(t, memory(t, all))
	report, got := tree(t, f, ".", Options{Gitignore: true})
	if want := []string{"dir sub", " dir deep", "  file keep.log 0", " file keep.log 0", "file b 0"}; !slices.Equal(got, want) || report.Ignored != 5 {
		t.Errorf("got %q, %d ignored; want %q", got, report.Ignored, want)
	}
	page, err := List(t.Context(), f, "sub/deep", Options{Gitignore: true, Hidden: true}, same)
	if err != nil || !slices.Equal(lines(page.Entries), []string{"file keep.log 0"}) || page.Ignored != 1 {
		t.Errorf("%v, %v", page, err)
	}
	excluded := Options{}
	for _, pattern := range []string{"*.log", "/sub/deep/"} {
		g := must.Get(ParseGlob(pattern))(t)
		if g.String() != pattern || g.Size() == 0 {
			t.Errorf("%q, %d bytes", g.String(), g.Size())
		}
		excluded.Exclude = append(excluded.Exclude, g)
	}
	if _, got := tree(t, f, ".", excluded); !slices.Equal(got, []string{"dir sub", " file b 0", "dir top", " file x 0", "file b 0"}) {
		t.Errorf("got %q", got)
	}
}

func TestALevelThatALimitCutsHasNoIgnoredFiles(t *testing.T) {
	f := over(t, memory(t, files{".gitignore": "*.log\n", "sub/.gitignore": "a*\n", "sub/a": "", "sub/b.log": "", "sub/c": "", "sub/d": "", "sub/e": ""}))
	for _, o := range []Options{{Limit: 3}, {Limit: 3, Order: BySize}, {Limit: 3, Places: true}} {
		o.Gitignore = true
		if _, got := tree(t, f, ".", o); !slices.Equal(got, []string{"dir sub", " file c 0", " file d 0", " +1"}) {
			t.Errorf("%+v: %q", o, got)
		}
	}
}

func TestGitignoreFileWithTooManyStarsIsAWarning(t *testing.T) {
	f := over(t, memory(t, files{"sub/.gitignore": strings.Repeat("*a*b*c*d\n", ignore.MaxWidth/8+2) + "*.log\n", "sub/a.log": "", "sub/b": ""}))
	report, got := tree(t, f, ".", Options{Gitignore: true})
	want := []string{"'sub/.gitignore' has more than 32768 bytes of patterns with stars; 2 patterns have no effect"}
	if !slices.Equal(report.Warnings, want) || !slices.Equal(got, []string{"dir sub", " file b 0"}) {
		t.Errorf("%q, %q", report.Warnings, got)
	}
}

// TestGitignoreFileThatGrows checks that no pattern is cut at the previous end of a growing
// file.
func TestGitignoreFileThatGrows(t *testing.T) {
	var text strings.Builder
	for i := 0; text.Len() < maxGitignore+10_000; i++ {
		fmt.Fprintf(&text, "ignored%06d\n", i) // 14 bytes
	}
	const line = 14
	cut := len("ignored00") // of the last line
	for name, g := range map[string]*growing{
		"it does not grow":       {sizes: []int{2 * line}},
		"one buffer":             {sizes: []int{4096}},
		"it grows at once":       {sizes: []int{4096, 600 * line}},
		"it grows again":         {sizes: []int{4096, 8192, 600 * line}},
		"it tells no size":       {sizes: []int{600 * line}, tells: -1},
		"it tells a small size":  {sizes: []int{600 * line}, tells: 10},
		"it is too large":        {sizes: []int{maxGitignore + 5}},
		"it tells a larger size": {sizes: []int{line}, tells: math.MaxInt},
	} {
		t.Run(name, func(t *testing.T) {
			g.text = text.String()
			last := g.sizes[len(g.sizes)-1] / line // number of complete lines
			tooLarge := last*line >= maxGitignore-line
			if tooLarge {
				last = maxGitignore / line
			}
			kept := text.String()[last*line:][:cut]
			ignored := text.String()[(last-1)*line:][:line-1]
			all := files{gitignoreName: "", kept: "", ignored: "", "b": ""}
			if name == "one buffer" {
				delete(all, kept)
			}
			g.Fs = memory(t, all)
			page := must.Get(List(t.Context(), over(t, g), ".", Options{Gitignore: true}, same))(t)
			want := []string{"file b 0"}
			if name != "one buffer" {
				want = append(want, "file "+kept+" 0")
			}
			must.Match(t, "lines(page.Entries)", want, lines(page.Entries))
			must.Equal(t, fmt.Sprintf("warnings %q", page.Warnings), tooLarge,
				len(page.Warnings) > 0)
		})
	}
}

// TestGitignoreFileThatCannotBeRead tests a directory with the name .gitignore, and a file
// that cannot be opened.
func TestGitignoreFileThatCannotBeRead(t *testing.T) {
	f := over(t, memory(t, files{".gitignore/x": "", "a": ""}))
	page, err := List(t.Context(), f, ".", Options{Gitignore: true}, same)
	if err != nil || len(page.Warnings) != 1 || !strings.Contains(page.Warnings[0], "'.gitignore' cannot be read") {
		t.Errorf("%q, %v", page.Warnings, err)
	}
}

func TestAQuotedNameMatchesItself(t *testing.T) {
	for _, name := range []string{"a", "a*b", "[x]", "{a,b}", "a?", `c\\d`} {
		g := must.Get(ParseGlob("x/" + QuoteGlob(name)))(t)
		for text, want := range map[string]bool{name: true, "other": false, "": false} {
			must.Equal(t, fmt.Sprintf("%q and %q", QuoteGlob(name), text), want,
				g.matches(&meter{ctx: t.Context()}, "x", text, false))
		}
	}
}
