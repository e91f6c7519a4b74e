package platforms

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

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
	got := must.Get(count(strings.NewReader(events)))(t)
	must.Len(t, "count", 1, got)
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

func TestResultsWithoutATestAreAFailure(t *testing.T) {
	for name, events := range map[string]string{"no event": "", "a package without a test": `{"Action":"pass","Package":"` + module + `/internal/text"}`} {
		dir := t.TempDir()
		for file, text := range map[string]string{"quickstart": "a", "js/quickstart": "a", "js/name": "js/wasm\nNode.js 20\n", "js/tests.json": events} {
			must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o755), os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)))
		}
		must.Equal(t, name, 1, run(t, dir))
	}
}
