package ignore_test

import (
	"bytes"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/ignore"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

//go:embed testdata/rules.txt
var rules string

// A row is a case of testdata/rules.txt, which describes the cases.
type row struct {
	name  string
	files map[string]string // .gitignore files by directory
	paths string
}

var table = rows()

func rows() (all []*row) {
	for line := range strings.SplitSeq(rules, "\n") {
		line, below := strings.CutPrefix(line, "\t")
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || !below && line[0] == '#':
		case !below:
			all = append(all, &row{name: line, files: map[string]string{}})
		case word == "file":
			file := must.Arguments(rest)
			all[len(all)-1].files[strings.TrimPrefix(file[0], ".")] = file[1]
		default:
			all[len(all)-1].paths = rest
		}
	}
	return all
}

func TestTable(t *testing.T) {
	for _, tt := range table {
		t.Run(tt.name, func(t *testing.T) {
			for field := range strings.FieldsSeq(tt.paths) {
				p, want := strings.CutPrefix(strings.ReplaceAll(strings.Trim(field, "'"), "_", " "), "!")
				must.Equal(t, fmt.Sprintf("%q ignored", p), want, ignored(tt.files, p))
			}
		})
	}
}

func add(rules *ignore.Rules, dir, text string) *ignore.Rules {
	rules, _ = rules.Add(dir, []byte(text))
	return rules
}

func ignores(rules *ignore.Rules, dir, name string, isDir bool) bool {
	return rules.Ignores(dir, name, isDir, func(int) bool { return true })
}

// ignored walks to a path, and stops at an ignored directory.
func ignored(files map[string]string, p string) bool {
	p, isDir := strings.CutSuffix(p, "/")
	var rules *ignore.Rules
	dir := ""
	elements := strings.Split(p, "/")
	for i, name := range elements {
		if text, ok := files[dir]; ok {
			rules = add(rules, dir, text)
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
		if ignores(add(nil, "", h.pattern), h.dir, h.name, false) {
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
				ignores(add(nil, "", h.pattern), h.dir, h.name, false)
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
	if add(none, "x", "# nothing\n\n") != nil {
		t.Error("a file without patterns adds rules")
	}
}

func TestIgnoresEndsWithSpend(t *testing.T) {
	rules := add(nil, "", "a*b\nc*d\n*.log\n")
	steps := 0
	ignored := rules.Ignores("", strings.Repeat("c", 100), false, func(n int) bool {
		steps += n
		return steps <= 100
	})
	if ignored || steps > 400 {
		t.Errorf("%v after %d steps", ignored, steps)
	}
}

// TestTheStepsOfAPathAreBounded counts the steps that Ignores reports for hostile patterns.
func TestTheStepsOfAPathAreBounded(t *testing.T) {
	const size = 256 << 10
	lines := func(line string) string { return strings.Repeat(line+"\n", size/(len(line)+1)) }
	for _, tt := range []struct {
		name, text string
		max        int // steps for each byte of the path
		skips      bool
	}{
		{"repeated two stars", strings.Repeat("**/", size/3) + "x", 10, false},
		{"lines of repeated two stars", lines(strings.Repeat("**/", 100) + "x"), 10 * size / 300, false},
		{"many stars", lines(strings.Repeat("*a", 10) + "b"), 2 * ignore.MaxWidth, true},
		{"a star and much text", lines("*" + strings.Repeat("a", 20) + "*b"), 2 * ignore.MaxWidth, true},
		{"two stars in many places", lines("**/a/**/a/**/b"), 2 * ignore.MaxWidth, true},
		{"no stars", lines(strings.Repeat("?", 30)), size / 10, false},
		{"more text than the path has", lines("*" + strings.Repeat("a*", 1000)), size / 10, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var none *ignore.Rules
			rules, skipped := none.Add("", []byte(tt.text+"\n*.log\n"))
			steps := 0
			count := func(n int) bool { steps += n; return true }
			const dir, name = "aaa/aaa/aaa/aaa", "aaaaaaaaaaaaaaaaaaaaaaaaa"
			if ignored := rules.Ignores(dir, name, false, count); ignored || steps > tt.max*len(dir+"/"+name) || (skipped > 0) != tt.skips {
				t.Errorf("%v after %d steps, %d for each byte; %d patterns skipped", ignored, steps, steps/len(dir+"/"+name), skipped)
			}
			if !rules.Ignores(dir, "a.log", false, count) {
				t.Error("the last pattern has no effect")
			}
		})
	}
}

// The patterns of all files from the topmost directory down have one bound.
func TestTheBoundAppliesToAllFilesOfAPath(t *testing.T) {
	line := strings.Repeat("*a", 50) + "\n" // 100 tokens
	var rules *ignore.Rules
	skipped := 0
	for i := range 10 {
		var n int
		rules, n = rules.Add(strings.Repeat("x/", i)+"x", []byte(strings.Repeat(line, 40)))
		skipped += n
	}
	must.Equal(t, "skipped", 400-ignore.MaxWidth/100, skipped)
}

func FuzzIgnores(f *testing.F) {
	for _, tt := range table {
		f.Add(tt.files[""], "x/y", "a.log", false)
	}
	f.Fuzz(func(t *testing.T, text, dir, name string, isDir bool) {
		if strings.Contains(name, "/") || name == "" || len(text) > 1<<12 || len(dir) > 1<<10 {
			t.Skip("the fuzz target omits this input")
		}
		rules := add(nil, "", text)
		got := ignores(rules, dir, name, isDir)
		// The nearest matching file decides.
		if last := add(rules, dir, text+"\n*"); !ignores(last, dir, name, isDir) {
			t.Errorf("%q in %q is not ignored by a last *", name, dir)
		}
		if last := add(rules, dir, "\n!*"); ignores(last, dir, name, isDir) {
			t.Errorf("%q in %q, ignored %v, is ignored after a last !*", name, dir, got)
		}
	})
}

// seed repeats a run of TestRandomTreesAgreeWithGit, and trees makes the run
// longer.
var (
	seed  = flag.Uint64("seed", 0, "seed of the random trees; 0 for a new one")
	trees = flag.Int("trees", 500, "number of random trees")
)

// A tree has the .gitignore files of a directory tree, by directory, and the paths to
// compare. The path of a directory ends in a slash.
type tree struct {
	files map[string]string
	paths []string
}

func TestTableAgreesWithGit(t *testing.T) {
	var all []tree
	for _, tt := range table {
		for field := range strings.FieldsSeq(tt.paths) {
			// The same name may be a file in one path and a directory in another.
			p := strings.TrimPrefix(strings.ReplaceAll(strings.Trim(field, "'"), "_", " "), "!")
			if newerGit(t) && strings.Contains(tt.name, "after literal text") {
				continue
			}
			all = append(all, tree{tt.files, []string{p}})
		}
	}
	compareWithGit(t, all)
}

func TestNamedClassesAgreeWithGit(t *testing.T) {
	var all []tree
	for _, class := range []string{"alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit", "", "Alpha"} {
		all = append(all, tree{files: map[string]string{"": "x[[:" + class + ":]]"}})
		for c := 1; c < 256; c++ {
			if c != '/' {
				all[len(all)-1].paths = append(all[len(all)-1].paths, "x"+string([]byte{byte(c)}))
			}
		}
	}
	compareWithGit(t, all)
}

func TestRandomTreesAgreeWithGit(t *testing.T) {
	n, s := *trees, *seed
	if testing.Short() {
		t.Skip("compares with git without -short")
	}
	if s == 0 {
		s = rand.Uint64()
	}
	r := rand.New(rand.NewPCG(s, 0))
	newer := newerGit(t)
	all := make([]tree, n)
	for i := range all {
		all[i] = randomTree(r, newer)
	}
	if !compareWithGit(t, all) {
		t.Logf("repeat with -seed %d", s)
	}
}

// Patterns and paths are made of the same few parts, so that the patterns
// match.
var (
	elements = []string{"a", "b", "ab", "aab", "b.a", "*", "**", "#b", "!a", "a ", "[a-", "]", `a\`, "\\", "a-b", "é", " "}
	parts    = []string{
		"a", "a", "b", "b", "ab", "é", ".", "-", "*", "*", "**", "**", "***", "?", "/", "/", "/", "/", "/", "**/", "/**", "/**/",
		"[ab]", "[!a]", "[^b]", "[a-", "[a-b]", "[b-a]", "[]a]", "[a\\]]", "[/]", "[!/]", "[[:alpha:]]", "[[:a]", "[[:what:]]", "[", "]",
		`\`, `\\`, `\/`, `\a`, `\*`, `\[`, `\ `, "!", "#", " ", "  ", "\t", "*b", "a*", "a**", "**a",
	}
	lineEnds = []string{"\n", "\n", "\n", "\r\n", " \n", "  \r\n", "/\n", "/\n", "\\ \n", "\r\r\n", "\n\n", "\n#a\n", "\n!*\n", "\n!*/\n", "\n!a\n"}
)

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func randomTree(r *rand.Rand, newer bool) tree {
	t := tree{files: map[string]string{}}
	dirs := []string{""}
	for range r.IntN(5) {
		dirs = append(dirs, path.Join(dirs[r.IntN(len(dirs))], pick(r, elements)))
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	for _, dir := range dirs {
		if dir != "" {
			t.paths = append(t.paths, dir+"/")
		}
		for range 1 + r.IntN(4) {
			if p := path.Join(dir, pick(r, elements)); !slices.Contains(dirs, p) && !slices.Contains(t.paths, p) {
				t.paths = append(t.paths, p)
			}
		}
		if dir == "" || r.IntN(4) == 0 {
			var text strings.Builder
			if r.IntN(20) == 0 {
				text.WriteString("\uFEFF")
			}
			for range 1 + r.IntN(4) {
				text.WriteString(randomPattern(r, newer) + pick(r, lineEnds))
			}
			t.files[dir] = text.String()
			if r.IntN(4) == 0 {
				t.files[dir] = strings.TrimRight(t.files[dir], "\n")
			}
		}
	}
	return t
}

func randomPattern(r *rand.Rand, newer bool) string {
	for {
		var p strings.Builder
		if r.IntN(4) == 0 {
			p.WriteString("!")
		}
		for range 1 + r.IntN(6) {
			p.WriteString(pick(r, parts))
		}
		if newer && starsAfterLiteral(p.String()) {
			continue
		}
		return p.String()
	}
}

// starsAfterLiteral reports whether the first wildcard is "**" and follows
// literal text.
func starsAfterLiteral(pattern string) bool {
	n := strings.IndexAny(pattern, `*?[\`)
	return n > 0 && pattern[n-1] != '/' && strings.HasPrefix(pattern[n:], "**")
}

// newerGit reports whether the installed git is version 2.52 or later; see the
// package comment.
func newerGit(t *testing.T) bool {
	return !gitIgnores(t, []tree{{map[string]string{"": "a**/b"}, []string{"ab"}}})[0]["ab"]
}

func compareWithGit(t *testing.T, all []tree) bool {
	t.Helper()
	asked, positive, wrong := 0, 0, 0
	for i, git := range gitIgnores(t, all) {
		for _, p := range all[i].paths {
			asked++
			if git[p] {
				positive++
			}
			if got := ignored(all[i].files, p); got != git[p] {
				if wrong++; wrong <= 10 {
					t.Errorf("%q ignored: %v; git says %v\n%q", p, got, git[p], all[i].files)
				}
			}
		}
	}
	t.Logf("%d trees, %d paths, %d of them ignored, %d differences", len(all), asked, positive, wrong)
	return wrong == 0
}

// gitIgnores runs git once for all trees. Each tree is a directory of the same repository.
// gitIgnores creates only directories and .gitignore files, because git needs no other
// file.
func gitIgnores(t *testing.T, all []tree) []map[string]bool {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no files with these names")
	}
	repository := t.TempDir()
	mkdir := func(name string) {
		must.Do(t, os.MkdirAll(filepath.Join(repository, filepath.FromSlash(name)), 0o755))
	}
	write := func(name, text string) {
		must.Do(t, os.WriteFile(filepath.Join(repository, filepath.FromSlash(name)), []byte(text), 0o644))
	}
	// The minimum of a repository.
	mkdir(".git/refs")
	mkdir(".git/objects")
	write(".git/HEAD", "ref: refs/heads/main\n")
	var input bytes.Buffer
	for i, tree := range all {
		top := fmt.Sprintf("%d", i)
		mkdir(top)
		for _, p := range tree.paths {
			if dir, isDir := strings.CutSuffix(p, "/"); isDir {
				mkdir(top + "/" + dir)
			}
			input.WriteString("./" + top + "/" + strings.TrimSuffix(p, "/") + "\x00")
		}
		for _, dir := range slices.Sorted(maps.Keys(tree.files)) {
			mkdir(top + "/" + dir)
			write(top+"/"+dir+"/.gitignore", tree.files[dir])
		}
	}
	cmd := exec.Command(git, "-c", "core.ignoreCase=false", "-c", "core.precomposeUnicode=false", "check-ignore", "--no-index", "--stdin", "-z")
	cmd.Dir = repository
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "XDG_CONFIG_HOME="+repository, "HOME="+repository)
	cmd.Stdin = &input
	output, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) { // exit status 1 means no ignored path
		t.Fatalf("git check-ignore: %v %s", err, exit.Stderr)
	}
	ignored := make([]map[string]bool, len(all))
	for i := range ignored {
		ignored[i] = map[string]bool{}
	}
	for p := range strings.SplitSeq(strings.TrimSuffix(string(output), "\x00"), "\x00") {
		var i int
		top, rest, _ := strings.Cut(strings.TrimPrefix(p, "./"), "/")
		if p == "" {
			continue
		}
		if _, err := fmt.Sscan(top, &i); err != nil {
			t.Fatalf("git check-ignore says %q", p)
		}
		ignored[i][rest], ignored[i][rest+"/"] = true, true
	}
	return ignored
}
