package listing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
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
		patterns = append(patterns, strings.Repeat("*e", 450)+fmt.Sprint("*", i))
	}
	d := &reader{}
	for _, pattern := range patterns {
		g, err := ParseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
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
