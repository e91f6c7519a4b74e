package listing

import (
	"fmt"
	"slices"
	"testing"
)

func TestSortDirents(t *testing.T) {
	var many []string // more than fit on the stack, in the reverse order
	for i := range 200 {
		many = append(many, fmt.Sprintf("file_%c%04d_%c", 'A'+rune(i%2)*32, (200-i)/3, 'a'+rune(i%5)))
	}
	for _, all := range [][]string{
		{}, {"a"}, {"common_b", "common_A", "common_", "COMMON_C", "common_a", "commo"},
		{"é", "e", "E", "É", "z"}, {"file10.go", "file1.go", "file_1.go", "filelonger1", "filelonger0"},
		many, append(slices.Clone(many), "é"),
	} {
		var dirents []dirent
		for i, name := range all {
			dirents = append(dirents, dirent{name: name, kind: Kind(i % 3)})
		}
		want := slices.Clone(dirents)
		slices.SortFunc(want, compareDirents)
		sortDirents(dirents)
		if !slices.Equal(dirents, want) {
			t.Errorf("%q: got %v, want %v", all, dirents, want)
		}
	}
}
