package ignore_test

import (
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/ignore"
)

// In the table, the path of a directory ends in a slash. "!" precedes an ignored path.
var table = []struct {
	name  string
	files map[string]string // .gitignore files by directory
	paths string
}{
	{"a name is ignored at any depth", map[string]string{"": "a.log"},
		"!a.log !x/a.log !x/y/a.log/ b.log x/a.log.txt"},
	{"a name with a slash is for its directory only", map[string]string{"": "x/a\n/b"},
		"!x/a y/x/a !b x/b a"},
	{"a slash at the end is for directories only", map[string]string{"": "build/"},
		"!build/ build !x/build/ x/build"},
	{"a star ends at a slash", map[string]string{"": "x/*.go\n*.log"},
		"!x/a.go x/y/a.go a.go !a.log !x/y/.log"},
	{"two stars go through directories", map[string]string{"": "**/a\nb/**\nc/**/d\ne**f\n"},
		"!a !x/a !x/y/a b/ !b/x !b/x/y !c/d !c/x/d !c/x/y/d x/c/d !eXf !x/eXf"},
	{"two stars after literal text go through directories", map[string]string{"": "logs**/*.log\n/a**/**\n!/a**/b\nx/?y**/z"},
		"!logs/a/b/x.log !logs/x.log !logsx.log !logs/x/y/z.log !a !ax/ !a/x !ay/ ab !x/ay/z x/ay/a/z x/aya/b/z"},
	{"two stars before a quoted slash", map[string]string{"": "**\\/a\nb/**\\/c"}, "a !x/a !x/y/a b/c !b/x/c !b/x/y/c"},
	{"a quoted backslash before a slash", map[string]string{"": "dir\\\\/*\nx\\\\\\/a"}, "!dir\\/a dir/a !x\\/a x/a"},
	{"a line ends at a NUL", map[string]string{"": "a\x00b\n\x00c\nd\x00"}, "!a !d c b ab"},
	{"two stars alone", map[string]string{"": "**"}, "!a !x/ !x/a"},
	{"two stars for directories only", map[string]string{"x": "**/"}, "a !x/y/ x/a !x/y/b/ a/"},
	{"the last pattern decides", map[string]string{"": "*.log\n!keep.log\nx/keep.log"},
		"!a.log keep.log !x/keep.log y/keep.log"},
	{"a nearer file decides", map[string]string{"": "*.log\n!b.log", "x": "!a.log\nb.log"},
		"!a.log x/a.log x/y/a.log b.log !x/b.log !y/a.log"},
	{"a nearer file sees paths from its directory", map[string]string{"x": "/a\ny/b"},
		"a !x/a x/y/a !x/y/b y/b"},
	{"a file below an ignored directory stays ignored", map[string]string{"": "x/\n!x/a", "y": "*\n!b"},
		"!x/ !x/a y/ !y/a y/b"},
	{"all but one", map[string]string{"": "/*\n!/keep\n/keep/*\n!/keep/me"},
		"!a !x/ keep/ keep/me !keep/a"},
	{"comments and blank lines", map[string]string{"": "# a\n\n   \n\\#b\nc#\n \\#d"},
		"a !#b !c# '#_a'"},
	{"a quoted exclamation mark", map[string]string{"": "\\!a\nb\n!b"}, "!!a a b"},
	{"blanks at the end count if quoted", map[string]string{"": "a  \nb\\ \nc\\  \nd\t"},
		"!a b !b_ !c_ c__ d"},
	{"line ends of all kinds", map[string]string{"": "\uFEFFa\r\nb\r\n\r\nc"}, "!a !b !c"},
	{"brackets", map[string]string{"": "[a-c]1\n[!a-c]2\n[^a-c]3\n[]x]4\n[[:digit:]]5\n[a\\]]6\n[-z]7\n[z-]8\n"},
		"!a1 !c1 d1 a2 !d2 b3 !d3 !]4 !x4 y4 !05 a5 !a6 !]6 b6 !-7 !z7 y7 !-8 !z8"},
	{"malformed brackets match nothing", map[string]string{"": "[a\nb[\n[[:what:]]\n[a-\n[\\"},
		"a [a b[ b w [ \\"},
	{"a slash in brackets matches nothing", map[string]string{"": "a[/]b\na[!x]b\nc[/d]e"}, "a/b !ayb axb !cde c/e"},
	{"a question mark is one byte", map[string]string{"": "a?\nb??"}, "!ab a aé !bé"},
	{"backslashes", map[string]string{"": "\\a\nb\\*\nc\\\nd\\/e\n\\?"}, "!a !b* bx c c\\ !d/e !? x"},
	{"braces are no alternatives", map[string]string{"": "{a,b}"}, "a b !{a,b}"},
	{"letter case counts", map[string]string{"": "Abc"}, "!Abc abc"},
	{"what only slashes or stars make", map[string]string{"": "/\n//\na//b\n***"}, "!a/ !a/b"},
	{"an empty file", map[string]string{"": ""}, "a x/"},
}

func TestTable(t *testing.T) {
	for _, tt := range table {
		t.Run(tt.name, func(t *testing.T) {
			for field := range strings.FieldsSeq(tt.paths) {
				// "!!a" is the ignored path "!a". "_" stands for a blank.
				p, want := strings.CutPrefix(strings.ReplaceAll(strings.Trim(field, "'"), "_", " "), "!")
				if got := ignored(tt.files, p); got != want {
					t.Errorf("%q ignored: %v, want %v", p, got, want)
				}
			}
		})
	}
}

func ignores(rules *ignore.Rules, dir, name string, isDir bool) bool {
	ignored, _ := rules.Ignores(dir, name, isDir, func(int) error { return nil })
	return ignored
}

// ignored walks to a path, and stops at an ignored directory.
func ignored(files map[string]string, p string) bool {
	p, isDir := strings.CutSuffix(p, "/")
	var rules *ignore.Rules
	dir := ""
	elements := strings.Split(p, "/")
	for i, name := range elements {
		if text, ok := files[dir]; ok {
			rules = rules.Add(dir, []byte(text))
		}
		last := i == len(elements)-1
		if ignores(rules, dir, name, isDir || !last) {
			return true
		}
		dir = path.Join(dir, name)
	}
	return false
}

// hostile returns patterns of n parts, each with a path that nearly matches the pattern.
func hostile(n int) map[string]struct{ pattern, dir, name string } {
	long := strings.Repeat("a", 8*n)
	return map[string]struct{ pattern, dir, name string }{
		"stars":       {strings.Repeat("*a", n) + "b", "", long},
		"brackets":    {strings.Repeat("[a-z]*", n) + "b", "", long},
		"two stars":   {"/" + strings.Repeat("**/a/", n) + "b", strings.TrimSuffix(strings.Repeat("a/", 4*n), "/"), "a"},
		"no brackets": {strings.Repeat("[", 40*n), "", long},
	}
}

// A matcher with backtracking would not finish the first three patterns.
func TestHostilePatternsMatchNothing(t *testing.T) {
	for name, h := range hostile(100) {
		var none *ignore.Rules
		if ignores(none.Add("", []byte(h.pattern)), h.dir, h.name, false) {
			t.Errorf("%s: %.20q… matches", name, h.pattern)
		}
	}
}

// BenchmarkHostile reports the ratio of the times for patterns and paths of double length.
// The ratio is at most four, because the time is proportional to the product of the
// lengths.
func BenchmarkHostile(b *testing.B) {
	for _, name := range []string{"stars", "brackets", "two stars", "no brackets"} {
		b.Run(name, func(b *testing.B) {
			match := func(n int) time.Duration {
				h := hostile(n)[name]
				begin := time.Now()
				var none *ignore.Rules
				ignores(none.Add("", []byte(h.pattern)), h.dir, h.name, false)
				return time.Since(begin)
			}
			var once, twice time.Duration
			for b.Loop() {
				once += match(100)
				twice += match(200)
			}
			b.ReportMetric(float64(twice)/float64(once), "×doubled")
		})
	}
}

func TestNoRulesIgnoreNothing(t *testing.T) {
	var none *ignore.Rules
	if ignores(none, "x", "a", false) {
		t.Error("nil rules ignore x/a")
	}
	if none.Add("x", []byte("# nothing\n\n")) != nil {
		t.Error("a file without patterns adds rules")
	}
}

func TestIgnoresEndsWithTheErrorOfSpend(t *testing.T) {
	var none *ignore.Rules
	rules := none.Add("", []byte("a*b\nc*d\n*.log\n"))
	end := errors.New("end")
	steps := 0
	_, err := rules.Ignores("", strings.Repeat("c", 100), false, func(n int) error {
		steps += n
		if steps > 100 {
			return end
		}
		return nil
	})
	if err != end || steps > 400 {
		t.Errorf("%v after %d steps", err, steps)
	}
}

func FuzzIgnores(f *testing.F) {
	for _, tt := range table {
		f.Add(tt.files[""], "x/y", "a.log", false)
	}
	f.Fuzz(func(t *testing.T, text, dir, name string, isDir bool) {
		if strings.Contains(name, "/") || name == "" || len(text) > 1<<12 || len(dir) > 1<<10 {
			t.Skip()
		}
		var none *ignore.Rules
		rules := none.Add("", []byte(text))
		got := ignores(rules, dir, name, isDir)
		// The nearest matching file decides.
		if last := rules.Add(dir, []byte(text+"\n*")); !ignores(last, dir, name, isDir) {
			t.Errorf("%q in %q is not ignored by a last *", name, dir)
		}
		if last := rules.Add(dir, []byte("\n!*")); ignores(last, dir, name, isDir) {
			t.Errorf("%q in %q, ignored %v, is ignored after a last !*", name, dir, got)
		}
	})
}
