package listing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/names"
)

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
			if got, want := comparePaths(a, b), byElement(a, b); cmp.Compare(got, 0) != cmp.Compare(want, 0) {
				t.Errorf("%q and %q: %d, want %d", a, b, got, want)
			}
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
	skipped, err := walkFiles(t.Context(), d, dir, at, nil, func(_ *reader, in foundFiles) error {
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
