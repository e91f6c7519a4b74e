package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// events are the events of a package, in the format of go test -json.
const events = `{"Action":"start","Package":"github.com/toolshelf-go/toolshelf/confine"}
{"Action":"output","Package":"github.com/toolshelf-go/toolshelf/confine","Test":"TestLinks/a","Output":"    fs_test.go:7: first\n"}
{"Action":"output","Package":"github.com/toolshelf-go/toolshelf/confine","Test":"TestLinks/a","Output":"    fs_test.go:8: Windows has no links; use others\n"}
{"Action":"skip","Package":"github.com/toolshelf-go/toolshelf/confine","Test":"TestLinks/a"}
{"Action":"pass","Package":"github.com/toolshelf-go/toolshelf/confine","Test":"TestLinks/b"}
{"Action":"pass","Package":"github.com/toolshelf-go/toolshelf/confine","Test":"TestLinks"}
{"Action":"pass","Package":"github.com/toolshelf-go/toolshelf/confine","Test":"TestLinksOfB"}
{"Action":"pass","Package":"github.com/toolshelf-go/toolshelf/confine"}
`

func TestATestWithSubtestsIsNotCounted(t *testing.T) {
	got, err := count(strings.NewReader(events))
	if err != nil || len(got) != 1 {
		t.Fatal(got, err)
	}
	want := tested{path: "confine", numbers: [3]int{2, 1, 0}, reasons: map[string]int{"Windows has no links": 1}}
	must.Match(t, "result", want, *got[0], cmp.AllowUnexported(tested{}))
}

func TestEachFailureIsCountedOnce(t *testing.T) {
	line := func(action, test string) string {
		return `{"Action":"` + action + `","Package":"` + module + `","Test":"` + test + `"}` + "\n"
	}
	for name, tt := range map[string]struct {
		events string
		want   [3]int
	}{
		"a test":                           {line("fail", "TestA") + line("pass", "TestB") + line("fail", ""), [3]int{1, 0, 1}},
		"a subtest":                        {line("pass", "TestA/x") + line("fail", "TestA/y") + line("fail", "TestA") + line("fail", ""), [3]int{1, 0, 1}},
		"a test beside its subtests":       {line("pass", "TestA/x") + line("fail", "TestA") + line("fail", ""), [3]int{1, 0, 1}},
		"a program that ends too early":    {line("pass", "TestA") + line("fail", ""), [3]int{1, 0, 1}},
		"a program that does not compile":  {line("fail", ""), [3]int{0, 0, 1}},
		"a package without tests to run":   {line("pass", ""), [3]int{0, 0, 1}},
		"a package without any test files": {line("skip", ""), [3]int{0, 0, 1}},
	} {
		got, err := count(strings.NewReader(tt.events))
		if err != nil || len(got) != 1 || got[0].numbers != tt.want || len(got[0].failures) != tt.want[broken] {
			t.Errorf("%s: %+v, %v; want %v", name, got, err, tt.want)
		}
	}
}

func TestANewReasonMakesTheTableStale(t *testing.T) {
	r := row{"windows/amd64", "`confine`", "2", "3: 1 × a link; 2 × a pipe", "wine 10.0"}
	for line, want := range map[string]bool{
		"| windows/amd64 | `confine` | 9 | 9: 4 × a link; 5 × a pipe | wine 9 |": true,
		"| windows/amd64 | `confine` | 9 | 4: 4 × a link | wine 9 |":             false,
		"| windows/amd64 | `index` | 2 | 3: 1 × a link; 2 × a pipe | wine 10 |":  false,
		"| linux/arm64 | `confine` | 2 | 3: 1 × a link; 2 × a pipe | wine 10 |":  false,
	} {
		if got := r.agrees(line); got != want {
			t.Errorf("%s: agrees is %t", line, got)
		}
	}
}

func TestAPackageThatDidNotRunMakesTheTableStale(t *testing.T) {
	ran := []*platform{{name: "windows/amd64", packages: []*tested{{path: "confine"}}}}
	example, confine, index, other := "| windows/amd64 | `examples/quickstart` | same | 0 | w |", "| windows/amd64 | `confine` | 2 | 0 | w |", "| windows/amd64 | `index` | 2 | 0 | w |", "| js/wasm | `index` | 2 | 0 | w |"
	for table, want := range map[string][]string{
		example + "\n" + confine + "\n" + other:                nil,
		example + "\n" + confine + "\n" + index + "\n" + other: {index},
	} {
		must.Match(t, "result", want, differences(table, ran))
	}
}

func TestResultsWithoutATestAreAFailure(t *testing.T) {
	for name, events := range map[string]string{"no event": "", "a package without a test": `{"Action":"pass","Package":"` + module + `/internal/text"}`} {
		dir := t.TempDir()
		for file, text := range map[string]string{"quickstart": "a", "js/quickstart": "a", "js/name": "js/wasm\nNode.js 20\n", "js/tests.json": events} {
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755), os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)))
		}
		if err := run(dir, false); err == nil || err.Error() != "1 failures" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnUpdateKeepsTheRowsOfOtherPlatforms(t *testing.T) {
	table := head + "| js/wasm | `agentmd` | 1 | 0 | old |\n| windows/amd64 | `confine` | 1 | 0 | old |\n"
	got := merged(table, []*platform{{name: "windows/amd64", emulator: "wine 10.0", release: "go1.26.8", date: "2026-11-23", packages: []*tested{{path: ".", numbers: [3]int{4}}}}})
	want := head + "| js/wasm | `agentmd` | 1 | 0 | old |\n" +
		"| windows/amd64 | `examples/quickstart` | same text as on linux/amd64 | 0 | wine 10.0, Go 1.26.8, 2026-11-23 |\n" +
		"| windows/amd64 | `.` | 4 | 0 | wine 10.0, Go 1.26.8, 2026-11-23 |\n"
	must.Match(t, "result", want, got)
}

var versions = regexp.MustCompile(`^\S+ \d\S*, Go 1\S+, \d{4}-\d\d-\d\d$`)

// The table has a row for each package of .ci/platforms, and each row names the version of an
// emulator and a date.
func TestTheTableHasThePackagesOfTheScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	list := must.Get(exec.Command(bash, ".ci/platforms", "list").Output())(t)
	var want []string
	for line := range strings.Lines(string(list)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		want = append(want, name+" `"+strings.TrimPrefix(path, "./")+"`")
		if example := name + " `examples/quickstart`"; !slices.Contains(want, example) {
			want = append(want, example)
		}
	}
	text := must.Get(os.ReadFile(document))(t)
	_, table, _, err := cut(strings.ReplaceAll(string(text), "\r\n", "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(strings.TrimPrefix(table, head)) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 5 || !versions.MatchString(cells[4]) {
			t.Errorf("a line without the version of an emulator, the version of Go and a date: %s", line)
			continue
		}
		got = append(got, cells[0]+" "+cells[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages, -.ci/platforms +%s:\n%s", document, diff)
	}
}
