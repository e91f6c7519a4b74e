package toolshelf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

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
		{`{\*,a}*{**,b}`, `\*** \**b a** a*b`},
	} {
		got, _, ok := expand(tt.pattern, false)
		if !ok || strings.Join(got, " ") != tt.want {
			t.Errorf("%s stands for %q, want %s", tt.pattern, got, tt.want)
		}
	}
}

func TestPatternsOfACallAreBounded(t *testing.T) {
	many := make([]string, 100)
	for i := range many {
		many[i] = strings.Repeat("{a,b}", 9) + fmt.Sprint("*", i)
	}
	bomb := make([]string, 100)
	for i := range bomb {
		bomb[i] = strings.Repeat("{,}", 300) + fmt.Sprintf("**/*e*e*Z%d", i)
	}
	for _, tt := range []struct {
		name  string
		globs []string
		ok    bool
	}{
		{"a thousand plain patterns", strings.Fields(strings.Repeat("node_modules *.log ", 500)), true},
		{"braces that stand for one pattern", bomb, true},
		{"a thousand alternatives", []string{"{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}"}, true},
		{"many times as many", many, false},
		{"long alternatives", []string{strings.Repeat("{a,b}", 9) + strings.Repeat("c", 500)}, false},
	} {
		_, err := newDirOptions("Tree", []DirOption{Exclude(tt.globs...)})
		if tt.ok && err != nil || !tt.ok && !errors.Is(err, ErrInvalidPattern) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// endedContext counts how often its error is asked for.
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
	o, err := newDirOptions("Tree", []DirOption{Exclude(patterns...)})
	if err != nil {
		t.Fatal(err)
	}
	ctx := &endedContext{Context: context.Background()}
	ok, err := o.exclude.matches(&meter{ctx: ctx}, "", strings.Repeat("e", 255), false)
	if ok || !errors.Is(err, context.DeadlineExceeded) || ctx.asked != 1 {
		t.Errorf("matched %v, %v; the context was asked %d times", ok, err, ctx.asked)
	}
}

// FuzzGlob compares patterns without braces with doublestar.
func FuzzGlob(f *testing.F) {
	f.Add("*/c", "a/c")
	f.Add("**/*.[gm]?", "x/y.go")
	f.Add("**/**", "a")
	f.Add(`\*\,[}]x`, "*,}x")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g, err := newGlob(pattern)
		if err != nil || strings.Trim(path, "/") != path || path == "" || strings.Contains(path, "//") || len(path) > 100 || strings.Contains(pattern, "{") {
			t.Skip()
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
