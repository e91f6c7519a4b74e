package listing

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/confine"
)

// naiveTurns returns the paths of the entries of a filesystem in the order of their turns, by
// a simulation of the rules.
func naiveTurns(t *rapid.T, f *confine.FS, o Options) []string {
	type dir struct {
		path    string
		entries []string // of a directory, with a slash at the end of subdirectories
		added   int
		order   int // the place of the directory on its level
	}
	list := func(path string, order int) *dir {
		d := &dir{path: path, order: order}
		page, err := List(context.Background(), f, cmp.Or(strings.TrimSuffix(path, "/"), "."), o, func(r *Row) string {
			if r.Kind == KindDir {
				return path + r.Name + "/"
			}
			return path + r.Name
		})
		if err != nil {
			t.Fatal(err)
		}
		d.entries = page.Entries
		return d
	}
	levels := [][]*dir{{list("", 0)}}
	added := []int{0}
	var order []string
	take := func(level int, d *dir) {
		path := d.entries[d.added]
		d.added++
		order = append(order, path)
		if strings.HasSuffix(path, "/") {
			if len(levels) == level+1 {
				levels, added = append(levels, nil), append(added, 0)
			}
			levels[level+1] = append(levels[level+1], list(path, added[level]))
		}
		added[level]++
	}
	top := levels[0][0]
	for top.added < len(top.entries) && strings.HasSuffix(top.entries[top.added], "/") {
		take(0, top)
	}
	for before := -1; before != len(order); {
		before = len(order)
		for level := 0; level < len(levels); level++ {
			var ready []*dir
			for _, d := range levels[level] {
				if d.added < len(d.entries) {
					ready = append(ready, d)
				}
			}
			if len(ready) > 0 {
				take(level, slices.MinFunc(ready, func(a, b *dir) int {
					return cmp.Or(cmp.Compare(a.added, b.added), cmp.Compare(a.order, b.order))
				}))
			}
		}
	}
	return order
}

// pathNode is a node of a tree.
type pathNode struct {
	path  string
	nodes []pathNode
	more  int
}

func TestLimitOfATreeByTurns(t *testing.T) {
	element := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		for i, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 6), 1, 40).Draw(r, "files") {
			dir := strings.Join(elements[:len(elements)-1], "/")
			_ = afero.WriteFile(fsys, "top/"+dir+"/"+fmt.Sprint(i%7), nil, 0o644)
		}
		f := over(t, afero.NewBasePathFs(fsys, "top"))
		o := Options{Order: rapid.SampledFrom([]Order{ByName, BySize}).Draw(r, "order")}
		order := naiveTurns(r, f, o)
		o.Turns = true
		for o.Limit = 1; o.Limit <= len(order)+1; o.Limit++ {
			var top pathNode
			_, err := Tree(context.Background(), f, ".", o, &top, Builder[pathNode]{
				New: func(r *Row) pathNode {
					if r.Kind == KindDir {
						return pathNode{path: r.Name + "/"}
					}
					return pathNode{path: r.Name}
				},
				Fill: func(dir *pathNode, nodes []pathNode, rest Rest) { dir.nodes, dir.more = nodes, rest.More },
			})
			if err != nil {
				r.Fatal(err)
			}
			var got []string
			var look func(prefix string, d *pathNode)
			look = func(prefix string, d *pathNode) {
				all := 0
				for _, path := range order {
					if rest, ok := strings.CutPrefix(path, prefix); ok && rest != "" && strings.Count(strings.TrimSuffix(rest, "/"), "/") == 0 {
						all++
					}
				}
				if len(d.nodes)+d.more != all {
					r.Errorf("limit %d: %q has %d nodes and %d more of %d", o.Limit, prefix, len(d.nodes), d.more, all)
				}
				for i := range d.nodes {
					got = append(got, prefix+d.nodes[i].path)
					if strings.HasSuffix(d.nodes[i].path, "/") {
						look(prefix+d.nodes[i].path, &d.nodes[i])
					}
				}
			}
			look("", &top)
			want := slices.Clone(order[:min(o.Limit, len(order))])
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				r.Fatalf("limit %d: %q, want %q of the order %q", o.Limit, got, want, order)
			}
		}
	})
}
