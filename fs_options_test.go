package toolshelf

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

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
