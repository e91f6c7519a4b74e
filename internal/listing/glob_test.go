package listing

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

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
	ok, err := matchesAny(d.Exclude, &meter{ctx: ctx}, "", strings.Repeat("e", 255), false)
	if ok || !errors.Is(err, context.DeadlineExceeded) || ctx.asked != 1 {
		t.Errorf("matched %v, %v; the context was asked %d times", ok, err, ctx.asked)
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
		got, err := g.matches(&meter{ctx: t.Context()}, dir, name, true)
		if err != nil || got != want {
			t.Errorf("%q matches %q: %v, %v; doublestar says %v", pattern, path, got, err, want)
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
		if got, err := globs.Match(name, &left); got != want || err != nil {
			t.Errorf("%q and %q: got %v, %v", pattern, name, got, err)
		}
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
		left := 1 << 40
		if ok, err := all.Match(name, &left); ok || err != nil {
			t.Fatal(ok, err)
		}
		few := 1<<40 - left - 1
		if _, err := all.Match(name, &few); err != ErrTooManySteps {
			t.Errorf("%d globs with a step too few: %v", globs, err)
		}
		return 1<<40 - left
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
