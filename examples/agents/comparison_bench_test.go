package agents_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	adkskill "google.golang.org/adk/v2/tool/skilltoolset/skill"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// BenchmarkSkills lists 10,000 skills and loads a skill with each library in turn, and reports the
// medians and the ratios.
func BenchmarkSkills(b *testing.B) {
	const n = 10_000
	files := map[string]string{}
	body := strings.Repeat("Read the form, and ask for what is missing in it.\n", 60)
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		files[name+"/SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: Fills form %d. Use it when a form is mentioned.\n---\n\n# Form\n\n%s", name, i, body)
	}
	dir := writeFiles(b, files)
	old := time.Now().Add(-time.Minute) // toolshelf reads files again that were just written
	for name := range files {
		must.Do(b, os.Chtimes(filepath.Join(dir, name), old, old))
	}
	list := func(catalog *toolshelf.Catalog) error {
		_, err := catalog.ListSkills(b.Context())
		return err
	}
	warm, watched := newCatalog(b, toolshelf.WithSkillsDir(dir)), newCatalog(b, toolshelf.WithSkillsDir(dir), toolshelf.WithWatch())
	must.Do(b, errors.Join(list(warm), list(watched)))
	source, backend := adkskill.NewFileSystemSource(os.DirFS(dir)), einoBackend(b, dir)
	runs := map[string]func() error{
		"cold": func() error {
			catalog, err := toolshelf.New(toolshelf.WithSkillsDir(dir))
			return errors.Join(err, list(catalog), catalog.Close())
		},
		"warm":     func() error { return list(warm) },
		"watched":  func() error { return list(watched) },
		"ADK":      func() error { _, err := source.ListFrontmatters(b.Context()); return err },
		"Eino":     func() error { _, err := backend.List(b.Context()); return err },
		"get":      func() error { _, err := warm.GetSkill(b.Context(), "skill-05000"); return err },
		"ADK-get":  func() error { _, err := source.LoadInstructions(b.Context(), "skill-05000"); return err },
		"Eino-get": func() error { _, err := backend.Get(b.Context(), "skill-05000"); return err },
	}
	times := map[string][]float64{}
	for b.Loop() {
		for _, name := range slices.Sorted(maps.Keys(runs)) {
			begin := time.Now()
			if err := runs[name](); err != nil {
				b.Fatal(name, err)
			}
			times[name] = append(times[name], float64(time.Since(begin))/float64(time.Millisecond))
		}
	}
	median := func(name string) float64 {
		slices.Sort(times[name])
		return times[name][len(times[name])/2]
	}
	for name := range runs {
		b.ReportMetric(median(name), "ms/"+name)
	}
	for _, other := range []string{"ADK", "Eino"} {
		for _, ours := range []string{"cold", "warm", "watched"} {
			b.ReportMetric(median(ours)/median(other), ours+"/"+other)
		}
		b.ReportMetric(median("get")/median(other+"-get"), "get/"+other+"-get")
	}
}
