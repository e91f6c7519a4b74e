package opendir

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"testing"
	"testing/fstest"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// open returns a Dir with the entries a, b and c.
func open(t *testing.T) *Dir {
	t.Helper()
	files := fstest.MapFS{"d/a": {}, "d/b": {}, "d/c": {}}
	info := must.Get(fs.Stat(files, "d"))(t)
	entries := must.Get(fs.ReadDir(files, "d"))(t)
	return New(info, entries)
}

func TestReadDirReturnsEachEntryOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		counts []int // of successive calls
		want   []string
	}{
		{"all entries, and then none and no error", []int{-1, -1}, []string{"abc", ""}},
		{"0 means all", []int{0}, []string{"abc"}},
		{"parts, and then io.EOF", []int{2, 2, 1}, []string{"ab", "c", "EOF"}},
		{"the rest", []int{1, -1, 1}, []string{"a", "bc", "EOF"}},
		{"huge counts", []int{math.MaxInt, math.MinInt}, []string{"abc", ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := open(t)
			var got []string
			for _, n := range tt.counts {
				entries, err := d.ReadDir(n)
				text := ""
				if err == io.EOF {
					text = "EOF"
				} else if err != nil {
					t.Fatal(err)
				}
				for _, e := range entries {
					text += e.Name()
				}
				got = append(got, text)
			}
			must.Match(t, "result", tt.want, got)
		})
	}
}

func TestAppendingToAPartChangesNoLaterEntry(t *testing.T) {
	d := open(t)
	first, _ := d.ReadDir(1)
	_ = append(first, first[0])
	if rest, _ := d.ReadDir(-1); len(rest) != 2 || rest[0].Name() != "b" {
		t.Errorf("the rest is %v", rest)
	}
}

func TestADirectoryHasNoContent(t *testing.T) {
	d := open(t)
	info, err := d.Stat()
	if err != nil || !info.IsDir() {
		t.Errorf("Stat returns %v, %v", info, err)
	}
	_, err = d.Read(make([]byte, 1))
	var failed *fs.PathError
	if !errors.Is(err, ErrIsDir) || !errors.As(err, &failed) || failed.Path != "d" {
		t.Errorf("Read returns %v", err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
