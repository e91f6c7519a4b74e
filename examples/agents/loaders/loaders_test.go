// Package loaders_test runs the cases of internal/dev/loaders over the loaders of Go programs, and
// compares the counts with docs/comparison.md.
package loaders_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	einoskill "github.com/cloudwego/eino/adk/middlewares/skill"
	adkskill "google.golang.org/adk/v2/tool/skilltoolset/skill"
	trpcskill "trpc.group/trpc-go/trpc-agent-go/skill"

	"github.com/toolshelf-go/toolshelf/internal/dev/loaders"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func loadADK(t testing.TB) loaders.Loader {
	return loaders.Loader{Name: "ADK", Skills: func(dir string) (map[string]loaders.Entry, error) {
		source := adkskill.NewFileSystemSource(os.DirFS(dir))
		list, err := source.ListFrontmatters(t.Context())
		got := map[string]loaders.Entry{}
		for _, skill := range list {
			body, err := source.LoadInstructions(t.Context(), skill.Name)
			if err != nil {
				return nil, err
			}
			got[skill.Name] = loaders.Entry{Description: skill.Description, Body: body}
		}
		return got, err
	}}
}

func loadEino(t testing.TB) loaders.Loader {
	return loaders.Loader{Name: "Eino", Skills: func(dir string) (map[string]loaders.Entry, error) {
		backend, err := einoskill.NewLocalBackend(&einoskill.LocalBackendConfig{BaseDir: dir})
		if err != nil {
			return nil, err
		}
		list, err := backend.List(t.Context())
		got := map[string]loaders.Entry{}
		for _, header := range list {
			skill, err := backend.Get(t.Context(), header.Name)
			if err != nil {
				return nil, err
			}
			got[header.Name] = loaders.Entry{Description: header.Description, Body: skill.Content}
		}
		return got, err
	}}
}

func loadTRPC() loaders.Loader {
	return loaders.Loader{Name: "trpc-agent-go", Skills: func(dir string) (map[string]loaders.Entry, error) {
		repository, err := trpcskill.NewFSRepository(dir)
		if err != nil {
			return nil, err
		}
		got := map[string]loaders.Entry{}
		for _, summary := range repository.Summaries() {
			skill, err := repository.Get(summary.Name)
			if err != nil {
				return nil, err
			}
			got[summary.Name] = loaders.Entry{Description: summary.Description, Body: skill.Body}
		}
		return got, nil
	}}
}

const document = "../../../docs/comparison.md"

func all(t testing.TB) []loaders.Loader {
	return []loaders.Loader{splitLoop(), frontmatterLoop(), loadADK(t), loadEino(t), loadTRPC(), loaders.Toolshelf()}
}

// TestLoadersInEachCase counts the verdicts of each loader, and compares the counts with the table
// of the document. With -v, the test logs each case in which a loader is not right.
func TestLoadersInEachCase(t *testing.T) {
	cases := loaders.Cases(t)
	var groups []string
	sizes, right := map[string]int{}, map[string]map[string]int{}
	total := map[loaders.Verdict]map[string]int{}
	for _, c := range cases {
		if right[c.Group] == nil {
			groups, right[c.Group] = append(groups, c.Group), map[string]int{}
		}
		sizes[c.Group]++
		dir := t.TempDir()
		if err := c.Write(dir); err != nil {
			t.Fatalf("%s: %s: %v", c.Group, c.Name, err)
		}
		for _, l := range all(t) {
			verdict, text := c.Judge(l, dir)
			if total[verdict] == nil {
				total[verdict] = map[string]int{}
			}
			total[verdict][l.Name]++
			switch verdict {
			case loaders.Right:
				right[c.Group][l.Name]++
			case loaders.Absent:
				right[c.Group][l.Name] = -1
			default:
				t.Logf("%s: %s: %s: %s: %s", l.Name, c.Group, c.Name, verdict, text)
			}
		}
	}
	var table strings.Builder
	row := func(name string, n int, counts map[string]int) {
		fmt.Fprintf(&table, "| %s | %d |", name, n)
		for _, l := range all(t) {
			if counts[l.Name] < 0 {
				table.WriteString(" – |")
			} else {
				fmt.Fprintf(&table, " %d |", counts[l.Name])
			}
		}
		table.WriteString("\n")
	}
	header, line := "| Cases | Number |", "|---|---|"
	for _, l := range all(t) {
		header, line = header+" "+l.Name+" |", line+"---|"
	}
	table.WriteString(header + "\n" + line + "\n")
	for _, group := range groups {
		row(strings.ReplaceAll(group, "-", " "), sizes[group], right[group])
	}
	for _, verdict := range loaders.Verdicts {
		row("**"+string(verdict)+"**", len(cases), total[verdict])
	}
	inDocument(t, table.String())
}

// inDocument fails if the document does not have a text.
func inDocument(t *testing.T, want string) {
	t.Helper()
	text := must.Get(os.ReadFile(filepath.FromSlash(document)))(t)
	if !strings.Contains(strings.ReplaceAll(string(text), "\r\n", "\n"), want) {
		t.Errorf("%s does not have\n%s", document, want)
	}
}

// TestPublicFiles counts the files of TOOLSHELF_CORPUS that each loader shows: each skill and each
// command alone, and all skills of different names in one directory. A file counts in the second
// row if the loader shows the same description as toolshelf. The figures of the document are those
// of 605 skills and 506 commands; for other files, the test only logs the counts.
func TestPublicFiles(t *testing.T) {
	corpus := os.Getenv("TOOLSHELF_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSHELF_CORPUS is not set; set the variable to a directory of public command and skill files")
	}
	skills, together := files(t, filepath.Join(corpus, "skills"), true)
	commands, _ := files(t, filepath.Join(corpus, "commands"), false)
	count := func(dirs []string, load func(loaders.Loader) func(string) (map[string]loaders.Entry, error), same bool) (cells string) {
		want := make([]map[string]loaders.Entry, len(dirs))
		for i, dir := range dirs {
			want[i], _ = load(loaders.Toolshelf())(dir)
		}
		for _, l := range all(t) {
			if load(l) == nil {
				cells += " – |"
				continue
			}
			n := 0
			for i, dir := range dirs {
				got, err := load(l)(dir)
				if err != nil {
					t.Logf("%s: %v", l.Name, err)
					continue
				}
				for _, entry := range got {
					if !same || slices.ContainsFunc(slices.Collect(maps.Values(want[i])), func(w loaders.Entry) bool {
						return strings.TrimSpace(w.Description) == strings.TrimSpace(entry.Description)
					}) {
						n++
					}
				}
			}
			cells += fmt.Sprintf(" %d |", n)
		}
		return cells + "\n"
	}
	skill := func(l loaders.Loader) func(string) (map[string]loaders.Entry, error) { return l.Skills }
	command := func(l loaders.Loader) func(string) (map[string]loaders.Entry, error) { return l.Commands }
	names := must.Get(os.ReadDir(together))(t)
	table := fmt.Sprintf("| skills, each alone | %d |", len(skills)) + count(skills, skill, false) +
		fmt.Sprintf("| the same, with their description | %d |", len(skills)) + count(skills, skill, true) +
		fmt.Sprintf("| skills in one directory | %d |", len(names)) + count([]string{together}, skill, false) +
		fmt.Sprintf("| commands, each alone | %d |", len(commands)) + count(commands, command, false) +
		fmt.Sprintf("| the same, with their description | %d |", len(commands)) + count(commands, command, true)
	t.Log("\n" + table)
	if len(skills) == 605 && len(commands) == 506 {
		inDocument(t, table)
	}
}

// files copies each public file into a directory of its own, and all files of different names into
// one directory.
func files(t *testing.T, root string, skills bool) (alone []string, together string) {
	t.Helper()
	together = t.TempDir()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || skills && d.Name() != "SKILL.md" || !strings.HasSuffix(d.Name(), ".md") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := d.Name()
		if skills {
			name = filepath.Join(filepath.Base(filepath.Dir(path)), name)
		}
		alone = append(alone, t.TempDir())
		for _, dir := range []string{alone[len(alone)-1], together} {
			file := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, text, 0o644)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return alone, together
}
