package problem

import (
	"fmt"
	"slices"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func numbered(n int) []Problem {
	var all []Problem
	for i := range n {
		all = append(all, Problem{Code: DuplicateKey, Severity: Warning, Path: "a.md", Line: i + 1, Column: 1, Key: "k", Message: "m", Suggestion: "s"})
	}
	return all
}

func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		n, want int
		last    string
	}{
		{0, 0, ""},
		{Max, Max, "m"},
		{Max + 1, Max, "2 more problems from here on"},
		{1000, Max, "951 more problems from here on"},
	} {
		got := Limit(numbered(tt.n))
		if len(got) != tt.want || tt.want > 0 && got[len(got)-1].Message != tt.last {
			t.Errorf("%d problems: got %d, %+v", tt.n, len(got), got[max(len(got)-1, 0):])
		}
	}
	got := Limit(numbered(100))[Max-1]
	got.replaced = 0
	if want := (Problem{Code: DuplicateKey, Severity: Warning, Path: "a.md", Line: Max, Message: "51 more problems from here on"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestLimitCountsTheProblemsOfAShortenedList(t *testing.T) {
	all := append(numbered(30), Limit(numbered(100))...)
	if got := Limit(all)[Max-1].Message; got != "81 more problems from here on" {
		t.Error(got)
	}
}

func TestCompare(t *testing.T) {
	sorted := []Problem{
		{Path: "a"}, {Path: "b"}, {Path: "b", Line: 1}, {Path: "b", Line: 1, Column: 2}, {Path: "b", Line: 2}, {Path: "b", Line: 10},
		{Path: "b", Line: 10, Code: "A"}, {Path: "b", Line: 10, Code: "A", Key: "k"}, {Path: "b", Line: 10, Code: "A", Key: "k", Message: "m"}, {Path: "b", Line: 10, Code: "B"},
	}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := Compare(a, b), min(max(i-j, -1), 1); got != want {
				t.Errorf("Compare(%+v, %+v) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestIn(t *testing.T) {
	p := Problem{Code: NotUTF8, Key: "k"}
	must.Equal(t, "result", (Problem{Code: NotUTF8, Path: "commands/a.md", Key: "k"}), p.In("commands/a.md"))
	if fmt.Sprint(slices.Compact([]Problem{p, p})) != fmt.Sprint([]Problem{p}) {
		t.Error("equal problems are not equal")
	}
}
