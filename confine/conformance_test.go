package confine

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var ctx = context.Background()

//go:embed testdata/conformance.txt
var conformance string

// A conformanceCase is a case of testdata/conformance.txt, which describes the cases.
type conformanceCase struct {
	name    string
	options options
	within  []string
	tree    tree
	calls   []string
}

func conformanceCases() (all []*conformanceCase) {
	var c *conformanceCase
	for line := range strings.SplitSeq(conformance, "\n") {
		line, below := strings.CutPrefix(line, "\t")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || !below && line[0] == '#':
		case !below:
			c = &conformanceCase{name: line, tree: tree{}}
			all = append(all, c)
		case word == "deny":
			c.options.denySymlinks = true
		case word == "trust":
			c.options.trusted = []string{"OUTSIDE"}
		case word == "all":
			c.options.trustAll = true
		case word == "within":
			c.within = strings.Fields(rest)
		case word == "chain":
			n, _ := strconv.Atoi(rest)
			c.tree = chain(n)
		case word == "tree":
			for _, file := range must.Arguments(rest) {
				path, text, _ := strings.Cut(file, "=")
				if target, ok := strings.CutPrefix(text, ">"); ok {
					text = "-> " + target
				}
				c.tree[path] = text
			}
		default:
			c.calls = append(c.calls, line)
		}
	}
	if all == nil || slices.ContainsFunc(all, func(c *conformanceCase) bool { return c.calls == nil }) {
		panic("the text has no case, or a case without a call")
	}
	return all
}

func TestConformance(t *testing.T) {
	for _, test := range conformanceCases() {
		for _, k := range kinds {
			t.Run(test.name+"/"+k.name, func(t *testing.T) {
				for _, content := range test.tree {
					if strings.HasPrefix(content, "-> ") && !k.links || strings.Contains(content, "ROOT") && !k.absolute {
						t.Skip("the filesystem has no such links")
					}
				}
				if strings.Contains(test.name, "hard to print") {
					skipWindows(t, "names with control characters, backslashes and colons")
				}
				o := test.options
				o.trusted = slices.Clone(o.trusted) // make replaces OUTSIDE
				f := k.make(t, test.tree, o)
				defer f.Close()
				for _, dir := range test.within {
					f = f.Within(dir)
				}
				for _, line := range test.calls {
					line, want, ok := strings.Cut(line, " = ")
					if !ok {
						t.Fatalf("no result in %q", line)
					}
					want = strings.NewReplacer(`\n`, "\n", `\e`, "\x1b", `\u202e`, "\u202e").Replace(want)
					must.Equal(t, line, want, call(f, line))
				}
			})
		}
	}
}

// chain is a tree with links from link0 to link1 and so on to a file.
func chain(n int) tree {
	files := tree{"end": "end"}
	next := "end"
	for i := n - 1; i >= 0; i-- {
		name := fmt.Sprint("link", i)
		files[name] = "-> " + next
		next = name
	}
	return files
}
