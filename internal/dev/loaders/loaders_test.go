package loaders

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

const (
	document = "../../../docs/comparison.md"
	module   = "../../../examples/agents/loaders" // with the loaders of other programs
)

// others reports whether the tests run the loaders of other programs too.
func others() bool { return os.Getenv("TOOLSHELF_COMPARE") != "" }

// TestCasesHaveASourceAndAReason checks the form of the cases, which other loaders' authors may
// read without the code.
func TestCasesHaveASourceAndAReason(t *testing.T) {
	all := cases(t)
	if len(all) < 300 {
		t.Errorf("%d cases, want 300", len(all))
	}
	seen := map[string]bool{}
	for _, c := range all {
		name := c.Group + ": " + c.Name
		if seen[name] {
			t.Errorf("%s: the name occurs twice", name)
		}
		seen[name] = true
		must.Equal(t, name, "https", must.Get(url.Parse(c.Source))(t).Scheme)
		if !strings.HasSuffix(c.Reason, ".") || strings.Count(c.Reason, " ") < 3 {
			t.Errorf("%s: reason %q is no sentence", name, c.Reason)
		}
		if len(c.files) == 0 {
			t.Errorf("%s: no files", name)
		}
	}
}

// load reads directories with each loader. The last loader is this library.
func load(t *testing.T, dirs []directory) (all []loader) {
	t.Helper()
	if others() {
		asked, answered := filepath.Join(t.TempDir(), "asked"), filepath.Join(t.TempDir(), "answered")
		var question bytes.Buffer
		must.Do(t, gob.NewEncoder(&question).Encode(dirs))
		must.Do(t, os.WriteFile(asked, question.Bytes(), 0o644))
		test := exec.CommandContext(t.Context(), "go", "-C", module, "test", "-count=1", ".",
			"-asked", asked, "-answered", answered)
		if output, err := test.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		answer := bytes.NewReader(must.Get(os.ReadFile(answered))(t))
		must.Do(t, gob.NewDecoder(answer).Decode(&all))
	}
	own := loader{Name: "toolshelf"}
	for _, dir := range dirs {
		own.Loadings = append(own.Loadings, loadOwn(dir))
	}
	return append(all, own)
}

// loadOwn reads a directory with this library. A skill is shown if SkillsPrompt shows it.
func loadOwn(dir directory) loading {
	ctx, option := context.Background(), toolshelf.WithSkillsDir
	if dir.Commands {
		option = toolshelf.WithCommandsDir
	}
	catalog, err := toolshelf.New(option(dir.Path))
	if err != nil {
		return loading{Error: err.Error()}
	}
	defer catalog.Close()
	got := loading{Entries: map[string]entry{}}
	if dir.Commands {
		for command, failed := range catalog.Commands(ctx) {
			err = errors.Join(err, failed)
			got.Entries[command.Name] = entry{command.Metadata.Description, command.Content}
		}
	} else {
		prompt, failed := catalog.SkillsPrompt(ctx)
		err = failed
		for skill, failed := range catalog.Skills(ctx) {
			err = errors.Join(err, failed)
			if slices.Contains(prompt.Included, skill.Name) {
				got.Entries[skill.Name] = entry{skill.Description, skill.Content}
			}
		}
	}
	if err != nil {
		return loading{Error: err.Error()}
	}
	return got
}

// different has the cases in which the library differs from the case, with the reason.
var different = map[string]string{
	"encodings: only CR as line break": "the body is a part of the bytes of the file, and no public file has such line breaks",
}

// TestLoadersInEachCase counts the verdicts of each loader, and compares the counts with the table
// of the document. With -v, the test logs each case in which a loader is not right.
func TestLoadersInEachCase(t *testing.T) {
	all := cases(t)
	var dirs []directory
	for _, c := range all {
		dirs = append(dirs, directory{t.TempDir(), c.Commands})
		if err := c.write(dirs[len(dirs)-1].Path); err != nil {
			if strings.Contains(err.Error(), "symlink") {
				t.Skip("the system has no symbolic links: ", err)
			}
			t.Fatalf("%s: %s: %v", c.Group, c.Name, err)
		}
	}
	var groups []string
	sizes := map[string]int{}
	for _, c := range all {
		if sizes[c.Group]++; sizes[c.Group] == 1 {
			groups = append(groups, c.Group)
		}
	}
	for _, l := range load(t, dirs) {
		correct, total := map[string]int{}, map[verdict]int{}
		for i, c := range all {
			v, text := c.judge(l.Loadings[i])
			total[v]++
			switch v {
			case right:
				correct[c.Group]++
			case absent:
				correct[c.Group] = -1
			default:
				t.Logf("%s: %s: %s: %s: %s", l.Name, c.Group, c.Name, v, text)
			}
			if _, differs := different[c.Group+": "+c.Name]; l.Name == "toolshelf" && (v == right) == differs {
				t.Errorf("%s: %s: %s: %s", c.Group, c.Name, v, text)
			}
		}
		for _, group := range groups {
			inDocument(t, l.Name, strings.ReplaceAll(group, "-", " "), sizes[group], correct[group])
		}
		for _, v := range verdicts {
			inDocument(t, l.Name, "**"+string(v)+"**", len(all), total[v])
		}
	}
}

// rows yields the cells of the tables of the document, with the cells of their headers.
func rows(t *testing.T) iter.Seq2[[]string, []string] {
	text := string(must.Get(os.ReadFile(filepath.FromSlash(document)))(t))
	return func(yield func(header, row []string) bool) {
		var header []string
		for line := range strings.Lines(text) {
			cells := strings.Split(strings.TrimSpace(line), " | ")
			switch {
			case strings.HasPrefix(line, "|---"):
			case len(cells) == 1:
				header = nil
			case header == nil:
				header = cells
			case !yield(header, cells):
				return
			}
		}
	}
}

// inDocument fails if a table of the document does not have the count of a loader in a row with a
// name and a number. A negative count is a dash.
func inDocument(t *testing.T, loader, name string, number, count int) {
	t.Helper()
	want := fmt.Sprint(count)
	if count < 0 {
		want = "–"
	}
	for header, row := range rows(t) {
		at := slices.IndexFunc(header, func(cell string) bool { return strings.TrimSuffix(cell, " |") == loader })
		if at < 0 || row[0] != "| "+name || row[1] != fmt.Sprint(number) {
			continue
		}
		if got := strings.TrimSuffix(row[at], " |"); got != want {
			t.Errorf("%s, %s: %s, in the document %s", loader, name, want, got)
		}
		return
	}
	t.Errorf("the document has no row %q of %d with %s", name, number, loader)
}

// TestPublicFiles counts the files of TOOLSHELF_CORPUS that each loader shows: each skill and each
// command alone, and all skills of different names in one directory. A file counts in the second
// row if the loader shows the same description as toolshelf. The figures of the document are those
// of 605 skills and 506 commands; for other files, the test only logs the counts.
func TestPublicFiles(t *testing.T) {
	if !others() {
		return // the corpus tests cover this library
	}
	corpus := catalogtest.Corpus(t)
	skills, together := files(t, filepath.Join(corpus, "skills"), true)
	commands, _ := files(t, filepath.Join(corpus, "commands"), false)
	loaders := load(t, slices.Concat(skills, commands, []directory{together}))
	own := loaders[len(loaders)-1]
	row := func(l loader, name string, from, to, number int, same bool) {
		n := 0
		for i := from; i < to; i++ {
			if l.Loadings[i].Absent {
				n = -1
				break
			}
			if l.Loadings[i].Error != "" {
				t.Logf("%s: %s", l.Name, l.Loadings[i].Error)
				continue
			}
			wanted := slices.Collect(maps.Values(own.Loadings[i].Entries))
			for _, found := range l.Loadings[i].Entries {
				if !same || slices.ContainsFunc(wanted, func(w entry) bool {
					return strings.TrimSpace(w.Description) == strings.TrimSpace(found.Description)
				}) {
					n++
				}
			}
		}
		t.Logf("%s, %s: %d of %d", l.Name, name, n, number)
		if len(skills) == 605 && len(commands) == 506 {
			inDocument(t, l.Name, name, number, n)
		}
	}
	const described = "the same, with their description"
	both := len(skills) + len(commands)
	for _, l := range loaders {
		row(l, "skills, each alone", 0, len(skills), len(skills), false)
		row(l, described, 0, len(skills), len(skills), true)
		row(l, "skills in one directory", both, both+1, len(must.Get(os.ReadDir(together.Path))(t)), false)
		row(l, "commands, each alone", len(skills), both, len(commands), false)
		row(l, described, len(skills), both, len(commands), true)
	}
}

// files copies each public file into a directory of its own, and all files of different names into
// one directory.
func files(t *testing.T, root string, skills bool) (alone []directory, together directory) {
	t.Helper()
	together = directory{t.TempDir(), !skills}
	must.Do(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || skills && d.Name() != "SKILL.md" || !strings.HasSuffix(d.Name(), ".md") {
			return err
		}
		text := string(must.Get(os.ReadFile(path))(t))
		name := d.Name()
		if skills {
			name = filepath.Join(filepath.Base(filepath.Dir(path)), name)
		}
		alone = append(alone, directory{t.TempDir(), !skills})
		catalogtest.Write(t, text, alone[len(alone)-1].Path, name)
		catalogtest.Write(t, text, together.Path, name)
		return nil
	}))
	return alone, together
}
