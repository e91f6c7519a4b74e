package unittest

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// agent returns an Agent over files in memory: path to content.
func agent(t *testing.T, files map[string]string) Agent {
	t.Helper()
	project := afero.NewMemMapFs()
	for path, content := range files {
		if err := afero.WriteFile(project, path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	catalog, err := toolshelf.New(toolshelf.WithFs(project))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { catalog.Close() })
	return Agent{Catalog: catalog}
}

func TestPrompt(t *testing.T) {
	a := agent(t, map[string]string{
		"commands/review.md": "---\ndescription: Review a change\n---\nReview change $ARGUMENTS.\n",
		"commands/check.md":  "Check $2 of change $1.\n",
		"commands/plain.md":  "Tidy up.\n",
		"secret.md":          "not a command",
	})
	for _, test := range []struct{ name, line, want string }{
		{"text is sent as it is", "hello", "hello"},
		{"a command is sent without its frontmatter", "/review 42 carefully", "Review change 42 carefully.\n"},
		{"arguments may be missing", "/review", "Review change .\n"},
		{"arguments have positions", "/check 42  types", "Check types of change 42.\n"},
		{"arguments without a placeholder follow the text", "/plain the tests", "Tidy up.\n\n\nARGUMENTS: the tests"},
		{"frontmatter may be missing", "/plain", "Tidy up.\n"},
		{"an unknown command is answered", "/revue 42", `The user typed "/revue 42". No command has this name; suggest another command.`},
		{"a path is no command", "/../secret", `The user typed "/../secret". No command has this name; suggest another command.`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := a.Prompt(t.Context(), test.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("Prompt(%q), -want +got:\n%s", test.line, diff)
			}
		})
	}
}

func TestPromptReturnsOtherErrors(t *testing.T) {
	a := agent(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Prompt(ctx, "/review 42"); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestSystemPrompt(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"skills are listed by name", map[string]string{
			"skills/sql-style/SKILL.md": "---\nname: sql-style\ndescription: The rules for SQL: names, types\n---\n",
			"skills/pdf/SKILL.md":       "---\nname: pdf\ndescription: Reads PDF files\n---\n",
		}, "Your skills:\n- pdf: Reads PDF files\n- sql-style: The rules for SQL: names, types\n"},
		{"without a directory of skills", nil, "You have no skills."},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := agent(t, test.files).SystemPrompt(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("SystemPrompt, -want +got:\n%s", diff)
			}
		})
	}
}
