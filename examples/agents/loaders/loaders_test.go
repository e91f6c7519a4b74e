// Package loaders_test reads files with the loaders of Go programs, for the tests of
// internal/dev/loaders.
package loaders_test

import (
	"bytes"
	"encoding/gob"
	"flag"
	"os"
	"testing"

	einoskill "github.com/cloudwego/eino/adk/middlewares/skill"
	adkskill "google.golang.org/adk/v2/tool/skilltoolset/skill"
	trpcskill "trpc.group/trpc-go/trpc-agent-go/skill"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// An entry is a skill or a command that a loader shows to a model.
type entry struct{ Description, Body string }

// A loader reads a directory of skills or of commands. A nil function means that the loader has no
// such files.
type loader struct {
	Name             string
	Skills, Commands func(dir string) (map[string]entry, error)
}

func loadADK(t testing.TB) loader {
	return loader{Name: "ADK", Skills: func(dir string) (map[string]entry, error) {
		source := adkskill.NewFileSystemSource(os.DirFS(dir))
		list, err := source.ListFrontmatters(t.Context())
		got := map[string]entry{}
		for _, skill := range list {
			body, err := source.LoadInstructions(t.Context(), skill.Name)
			if err != nil {
				return nil, err
			}
			got[skill.Name] = entry{Description: skill.Description, Body: body}
		}
		return got, err
	}}
}

func loadEino(t testing.TB) loader {
	return loader{Name: "Eino", Skills: func(dir string) (map[string]entry, error) {
		backend, err := einoskill.NewLocalBackend(&einoskill.LocalBackendConfig{BaseDir: dir})
		if err != nil {
			return nil, err
		}
		list, err := backend.List(t.Context())
		got := map[string]entry{}
		for _, header := range list {
			skill, err := backend.Get(t.Context(), header.Name)
			if err != nil {
				return nil, err
			}
			got[header.Name] = entry{Description: header.Description, Body: skill.Content}
		}
		return got, err
	}}
}

func loadTRPC() loader {
	return loader{Name: "trpc-agent-go", Skills: func(dir string) (map[string]entry, error) {
		repository, err := trpcskill.NewFSRepository(dir)
		if err != nil {
			return nil, err
		}
		got := map[string]entry{}
		for _, summary := range repository.Summaries() {
			skill, err := repository.Get(summary.Name)
			if err != nil {
				return nil, err
			}
			got[summary.Name] = entry{Description: summary.Description, Body: skill.Body}
		}
		return got, nil
	}}
}

func all(t testing.TB) []loader {
	return []loader{splitLoop(), frontmatterLoop(), loadADK(t), loadEino(t), loadTRPC()}
}

// A directory has files for the loaders. The types are those of internal/dev/loaders.
type directory struct {
	Path     string
	Commands bool
}

// A loading is what a loader reads from a directory.
type loading struct {
	Absent  bool // the loader has no such files
	Entries map[string]entry
	Error   string
}

// loadings are the results of a loader.
type loadings struct {
	Name     string
	Loadings []loading // of each directory
}

var (
	asked    = flag.String("asked", "", "a `file` with directories")
	answered = flag.String("answered", "", "the `file` for the results of the loaders")
)

// TestAnswer writes what each loader reads from the directories of the flag -asked.
func TestAnswer(t *testing.T) {
	if *asked == "" {
		t.Skip("TOOLSHELF_COMPARE=1 go test ./internal/dev/loaders compares the loaders")
	}
	var dirs []directory
	question := bytes.NewReader(must.Get(os.ReadFile(*asked))(t))
	must.Do(t, gob.NewDecoder(question).Decode(&dirs))
	var results []loadings
	for _, l := range all(t) {
		result := loadings{Name: l.Name}
		for _, dir := range dirs {
			load := l.Skills
			if dir.Commands {
				load = l.Commands
			}
			got := loading{Absent: load == nil}
			if load != nil {
				var err error
				if got.Entries, err = load(dir.Path); err != nil {
					got.Error = err.Error()
				}
			}
			result.Loadings = append(result.Loadings, got)
		}
		results = append(results, result)
	}
	var answer bytes.Buffer
	must.Do(t, gob.NewEncoder(&answer).Encode(results))
	must.Do(t, os.WriteFile(*answered, answer.Bytes(), 0o644))
}
