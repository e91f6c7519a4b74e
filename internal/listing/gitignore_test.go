package listing

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestGitignoreFiles(t *testing.T) {
	all := files{
		".gitignore": "*.log\n/top/\n", "top/x": "", "a.log": "", "b": "", ".git/x": "",
		"sub/.gitignore": "!keep.log\nb\n", "sub/keep.log": "", "sub/other.log": "", "sub/b": "", "sub/deep/keep.log": "", "sub/deep/b": "",
	}
	f := over(t, memory(t, all))
	report, got := tree(t, f, ".", Options{Gitignore: true})
	if want := []string{"dir sub", " dir deep", "  file keep.log 0", " file keep.log 0", "file b 0"}; !slices.Equal(got, want) || report.Ignored != 5 {
		t.Errorf("got %q, %d ignored; want %q", got, report.Ignored, want)
	}
	page, err := List(t.Context(), f, "sub/deep", Options{Gitignore: true, Hidden: true}, same)
	if err != nil || !slices.Equal(lines(page.Entries), []string{"file keep.log 0"}) || page.Ignored != 1 {
		t.Errorf("%v, %v", page, err)
	}
	excluded := Options{}
	for _, pattern := range []string{"*.log", "/sub/deep/"} {
		g := must.Get(ParseGlob(pattern))(t)
		if g.String() != pattern || g.Size() == 0 {
			t.Errorf("%q, %d bytes", g.String(), g.Size())
		}
		excluded.Exclude = append(excluded.Exclude, g)
	}
	if _, got := tree(t, f, ".", excluded); !slices.Equal(got, []string{"dir sub", " file b 0", "dir top", " file x 0", "file b 0"}) {
		t.Errorf("got %q", got)
	}
}

func TestALevelThatALimitCutsHasNoIgnoredFiles(t *testing.T) {
	f := over(t, memory(t, files{".gitignore": "*.log\n", "sub/.gitignore": "a*\n", "sub/a": "", "sub/b.log": "", "sub/c": "", "sub/d": "", "sub/e": ""}))
	for _, o := range []Options{{Limit: 3}, {Limit: 3, Order: BySize}, {Limit: 3, Places: true}} {
		o.Gitignore = true
		if _, got := tree(t, f, ".", o); !slices.Equal(got, []string{"dir sub", " file c 0", " file d 0", " +1"}) {
			t.Errorf("%+v: %q", o, got)
		}
	}
}

func TestGitignoreFileWithTooManyStarsIsAWarning(t *testing.T) {
	f := over(t, memory(t, files{"sub/.gitignore": strings.Repeat("*a*b*c*d\n", ignore.MaxWidth/8+2) + "*.log\n", "sub/a.log": "", "sub/b": ""}))
	report, got := tree(t, f, ".", Options{Gitignore: true})
	want := []string{"'sub/.gitignore' has more than 32768 bytes of patterns with stars; 2 patterns have no effect"}
	if !slices.Equal(report.Warnings, want) || !slices.Equal(got, []string{"dir sub", " file b 0"}) {
		t.Errorf("%q, %q", report.Warnings, got)
	}
}

// TestGitignoreFileThatGrows checks that no pattern is cut at the previous end of a growing
// file.
func TestGitignoreFileThatGrows(t *testing.T) {
	var text strings.Builder
	for i := 0; text.Len() < maxGitignore+10_000; i++ {
		fmt.Fprintf(&text, "ignored%06d\n", i) // 14 bytes
	}
	const line = 14
	cut := len("ignored00") // of the last line
	for name, g := range map[string]*growing{
		"it does not grow":       {sizes: []int{2 * line}},
		"one buffer":             {sizes: []int{4096}},
		"it grows at once":       {sizes: []int{4096, 600 * line}},
		"it grows again":         {sizes: []int{4096, 8192, 600 * line}},
		"it tells no size":       {sizes: []int{600 * line}, tells: -1},
		"it tells a small size":  {sizes: []int{600 * line}, tells: 10},
		"it is too large":        {sizes: []int{maxGitignore + 5}},
		"it tells a larger size": {sizes: []int{line}, tells: 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			g.text = text.String()
			last := g.sizes[len(g.sizes)-1] / line // number of complete lines
			tooLarge := last*line >= maxGitignore-line
			if tooLarge {
				last = maxGitignore / line
			}
			kept := text.String()[last*line:][:cut]
			ignored := text.String()[(last-1)*line:][:line-1]
			all := files{gitignoreName: "", kept: "", ignored: "", "b": ""}
			if name == "one buffer" {
				delete(all, kept)
			}
			g.Fs = memory(t, all)
			page := must.Get(List(t.Context(), over(t, g), ".", Options{Gitignore: true}, same))(t)
			want := []string{"file b 0"}
			if name != "one buffer" {
				want = append(want, "file "+kept+" 0")
			}
			if got := lines(page.Entries); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if (len(page.Warnings) > 0) != tooLarge {
				t.Errorf("warnings %q", page.Warnings)
			}
		})
	}
}

// TestGitignoreFileThatCannotBeRead tests a directory with the name .gitignore, and a file
// that cannot be opened.
func TestGitignoreFileThatCannotBeRead(t *testing.T) {
	f := over(t, memory(t, files{".gitignore/x": "", "a": ""}))
	page, err := List(t.Context(), f, ".", Options{Gitignore: true}, same)
	if err != nil || len(page.Warnings) != 1 || !strings.Contains(page.Warnings[0], "'.gitignore' cannot be read") {
		t.Errorf("%q, %v", page.Warnings, err)
	}
}
