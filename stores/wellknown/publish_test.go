package wellknown_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/wellknown"
)

// A host reads the skills of a site, with a cache for starts without a network.
func ExampleOpen() {
	store, err := wellknown.Open(context.Background(), "https://example.com", wellknown.Options{Dir: "/var/cache/skills"})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("https://example.com", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	for _, problem := range store.Status().Problems {
		log.Println(problem.Skill, problem.Message)
	}
}

// A site publishes the skills of a directory.
func ExampleNewHandler() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	skill := filepath.Join(dir, "pdf", "SKILL.md")
	if err := errors.Join(os.Mkdir(filepath.Dir(skill), 0o755), os.WriteFile(skill, skillFile("pdf", "Read the form."), 0o644)); err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(dir))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	answer := httptest.NewRecorder()
	wellknown.NewHandler(catalog).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/.well-known/agent-skills/pdf/SKILL.md", nil))
	fmt.Print(answer.Body)
	// Output:
	// ---
	// name: pdf
	// description: Does pdf.
	// ---
	// Read the form.
}

func TestAStoreReadsWhatAHandlerPublishes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"alone/SKILL.md": string(skillFile("alone", "Alone.")),
		"pdf/SKILL.md":   string(skillFile("pdf", "Fill.")), "pdf/scripts/fill.py": "print()",
		"other/SKILL.md": string(skillFile("another", "Is not published, because the name differs.")),
		"empty/note.md":  "",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
	}
	catalog := must.Get(toolshelf.New(toolshelf.WithSkillsDir(dir), toolshelf.WithCommandsDir()))(t)
	defer catalog.Close()
	server := httptest.NewServer(wellknown.NewHandler(catalog))
	defer server.Close()
	store := must.Get(wellknown.Open(t.Context(), server.URL, wellknown.Options{Private: true}))(t)
	must.Equal(t, "shown", "alone=Alone. pdf=Fill.", shown(t, store))
	must.Equal(t, "ReadFile", "print()",
		string(must.Get(fs.ReadFile(store, "pdf/scripts/fill.py"))(t)))
	must.Do(t, os.WriteFile(filepath.Join(dir, "pdf", "scripts", "fill.py"), []byte("print(1)"), 0o644))
	if err := store.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	must.Equal(t, "after a change", "print(1)",
		string(must.Get(fs.ReadFile(store, "pdf/scripts/fill.py"))(t)))
	for _, path := range []string{"other/SKILL.md", "pdf/SKILL.md", "alone.zip", "empty.zip", "none/SKILL.md", "..%2fpdf/SKILL.md", "pdf/scripts/fill.py"} {
		answer := must.Get(http.Get(server.URL + "/.well-known/agent-skills/" + path))(t)
		answer.Body.Close()
		must.Equal(t, path, http.StatusNotFound, answer.StatusCode)
	}
}
