package listing

import (
	"slices"
	"testing"
)

func TestTreeLimits(t *testing.T) {
	all := files{"a/1": "", "a/2": "", "a/3": "", "a/sub/x": "", "b/1": "", "c": "123"}
	f := over(t, memory(t, all))
	full := []string{"dir a", " dir sub", "  file x 0", " file 1 0", " file 2 0", " file 3 0", "dir b", " file 1 0", "file c 3"}
	for _, tt := range []struct {
		o    Options
		want []string
	}{
		{Options{}, full},
		{Options{Limit: 9}, full},
		{Options{Limit: 8}, []string{"dir a", " dir sub", "  +1", " file 1 0", " file 2 0", " file 3 0", "dir b", " file 1 0", "file c 3"}},
		{Options{Limit: 6}, []string{"dir a", " dir sub", "  +1", " file 1 0", " +2", "dir b", " file 1 0", "file c 3"}},
		{Options{Limit: 3}, []string{"dir a", " +4", "dir b", " +1", "file c 3"}},
		{Options{Limit: 2}, []string{"dir a", " +4", "dir b", " +1", "+1"}},
		{Options{MaxDepth: 1}, []string{"dir a", "dir b", "file c 3"}},
		{Options{MaxDepth: 2}, []string{"dir a", " dir sub", " file 1 0", " file 2 0", " file 3 0", "dir b", " file 1 0", "file c 3"}},
		{Options{Order: BySize, Limit: 6}, []string{"dir a", " dir sub", "  +1", " file 1 0", " +2", "dir b", " file 1 0", "file c 3"}},
	} {
		if _, got := tree(t, f, ".", tt.o); !slices.Equal(got, tt.want) {
			t.Errorf("%+v:\ngot  %q\nwant %q", tt.o, got, tt.want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		n       int
		entries []int
		want    []int
	}{
		{10, []int{5, 5}, []int{5, 5}},
		{6, []int{1, 9, 9}, []int{1, 2, 3}},
		{0, []int{3}, []int{0}},
		{7, []int{9, 2, 2}, []int{3, 2, 2}},
	} {
		if got := share(tt.n, tt.entries); !slices.Equal(got, tt.want) {
			t.Errorf("%d among %v: got %v, want %v", tt.n, tt.entries, got, tt.want)
		}
	}
}
