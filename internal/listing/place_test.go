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
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// The distances of places of package budget.
const (
	placesPerFile  = 16
	placesPerLevel = 64
)

// naivePlaces returns the paths of the entries of a filesystem in the order of their places, by
// a simulation of the rules.
func naivePlaces(t *rapid.T, f *confine.FS, o Options) []string {
	type dir struct {
		path    string
		entries []string // of a directory, with a slash at the end of subdirectories
		added   int
		wait    int   // number of places until the next entry
		index   []int // of the directory and its parents
	}
	leading := func(path string) bool {
		return strings.HasSuffix(path, "/") || o.MainFirst && isMain(KindFile, path[strings.LastIndex(path, "/")+1:])
	}
	list := func(path string, index []int) *dir {
		d := &dir{path: path, wait: placesPerLevel, index: index}
		page := must.Get(List(context.Background(), f, cmp.Or(strings.TrimSuffix(path, "/"), "."), o, func(r *Row) string {
			if r.Kind == KindDir {
				return path + r.Name + "/"
			}
			return path + r.Name
		}))(t)
		d.entries = page.Entries
		return d
	}
	top := list("", nil)
	top.wait = 0
	levels := [][]*dir{{top}}
	var order []string
	take := func(level int, d *dir) {
		path := d.entries[d.added]
		d.added++
		order = append(order, path)
		d.wait = placesPerFile
		if leading(path) {
			d.wait = 1
		}
		if !strings.HasSuffix(path, "/") {
			return
		}
		if len(levels) == level+1 {
			levels = append(levels, nil)
		}
		levels[level+1] = append(levels[level+1], list(path, append(slices.Clip(d.index), d.added)))
		slices.SortFunc(levels[level+1], func(a, b *dir) int { return slices.Compare(a.index, b.index) })
	}
	for top.added < len(top.entries) && leading(top.entries[top.added]) {
		take(0, top)
	}
	top.wait = 0
	for more := true; more; {
		more = false
		for level := 0; level < len(levels); level++ {
			for _, d := range levels[level] {
				if d.wait == 0 && d.added < len(d.entries) {
					take(level, d)
				}
			}
		}
		for _, level := range levels {
			for _, d := range level {
				d.wait--
				more = more || d.added < len(d.entries)
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

func TestLimitOfATreeByPlaces(t *testing.T) {
	element := rapid.SampledFrom([]string{"a", "b", "c", "d", "cmd", "f"})
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		for i, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 6), 1, 40).Draw(r, "files") {
			dir := strings.Join(elements[:len(elements)-1], "/")
			_ = afero.WriteFile(fsys, "top/"+dir+"/"+[]string{"0", "1", "2", "3", "4", "main.go", "README"}[i%7], nil, 0o644)
		}
		f := over(t, afero.NewBasePathFs(fsys, "top"))
		o := Options{Order: rapid.SampledFrom([]Order{ByName, BySize}).Draw(r, "order")}
		o.MainFirst = o.Order == ByName
		order := naivePlaces(r, f, o)
		o.Places = true
		for o.Limit = 1; o.Limit <= len(order)+1; o.Limit++ {
			var top pathNode
			must.Get(Tree(context.Background(), f, ".", o, &top, Builder[pathNode]{
				New: func(r *Row) pathNode {
					if r.Kind == KindDir {
						return pathNode{path: r.Name + "/"}
					}
					return pathNode{path: r.Name}
				},
				Fill: func(dir *pathNode, nodes []pathNode, rest Rest) { dir.nodes, dir.more = nodes, rest.More },
			}))(r)
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

// TestComparePaths compares the result with a comparison of all elements.
func TestComparePaths(t *testing.T) {
	byElement := func(a, b string) int {
		x, y := strings.Split(a, "/"), strings.Split(b, "/")
		for i := 0; ; i++ {
			switch lastX, lastY := i == len(x)-1, i == len(y)-1; {
			case lastX != lastY && lastX:
				return 1
			case lastX != lastY:
				return -1
			case x[i] != y[i]:
				return names.Compare(x[i], y[i])
			case lastX:
				return 0
			}
		}
	}
	long := strings.Repeat("directory/", 20)
	var paths []string
	for _, dir := range []string{"", "a/", "A/", "ab/", "é/", "è/", long, long + "a/", strings.ToUpper(long)} {
		for _, file := range []string{"a", "A", "ab", "b", "é", "è", "a/b", "ab/b", "b/a/b", "\xff", "\xfe", strings.Repeat("a", 100), strings.Repeat("a", 99) + "A"} {
			paths = append(paths, dir+file)
		}
	}
	for _, a := range paths {
		for _, b := range paths {
			must.Equal(t, fmt.Sprintf("%q and %q", a, b), cmp.Compare(byElement(a, b), 0),
				cmp.Compare(comparePaths(a, b), 0))
		}
	}
}

// TestWalkFilesOfALargeDirectory checks that the files of a directory are never in memory together.
func TestWalkFilesOfALargeDirectory(t *testing.T) {
	var want []string
	for i := range 2*maxFound + 1 {
		want = append(want, fmt.Sprintf("%04d", i))
	}
	all := files{"empty/": ""}
	for _, name := range want {
		all[name] = ""
	}
	d, dir, at, err := open(over(t, memory(t, all)), ".", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var got []string
	skipped, err := walkFiles(t.Context(), d, dir, at, nil, func(in foundFiles) error {
		if len(in.files) > maxFound {
			t.Errorf("%d files together", len(in.files))
		}
		got = append(got, in.files...)
		return nil
	})
	if slices.Sort(got); err != nil || skipped != 0 || !slices.Equal(got, want) {
		t.Errorf("%d files and %d skipped directories, %v; want %d files", len(got), skipped, err, len(want))
	}
}
