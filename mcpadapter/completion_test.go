package mcpadapter_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// TestCompletionOfSkillNames completes the arguments skill_name and agent_name of the tools and
// skill of a command.
func TestCompletionOfSkillNames(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"skills/pdf-forms/SKILL.md": "---\nname: pdf-forms\ndescription: d\n---\n",
		"skills/PDF/SKILL.md":       "---\nname: pdf\ndescription: d\n---\n",
		"skills/my-pdf/SKILL.md":    "---\nname: my-pdf\ndescription: d\n---\n",
		"skills/csv/SKILL.md":       "---\nname: csv\ndescription: d\n---\n",
		"skills/empty/notes.txt":    "",
		"agents/pdf.md":             "---\nname: pdf-reader\n---\n",
		"agents/broken.md":          strings.Repeat("x", 300),
		"commands/use.md":           "---\narguments:\n  - name: skill\n---\nUse $skill.\n",
	}), toolshelf.WithAgentsDir("agents"), toolshelf.WithMaxFileSize(200)))
	for _, tt := range []struct {
		name, argument, typed string
		want                  []string
	}{
		{"get_skill", "skill_name", "", []string{"csv", "my-pdf", "PDF", "pdf-forms"}},
		{"get_skill", "skill_name", "pdf", []string{"PDF", "pdf-forms", "my-pdf"}},
		{"read_skill_file", "skill_name", "FORMS", []string{"pdf-forms"}},
		{"get_skill", "skill_name", "x", []string{}},
		{"use", "skill", "c", []string{"csv"}},
		{"get_agent", "agent_name", "", []string{"pdf-reader"}},
	} {
		got, err := a.Complete(ctx, tt.name, tt.argument, tt.typed)
		if diff := cmp.Diff(mcpadapter.Completion{Values: tt.want, Total: len(tt.want)}, got); diff != "" || err != nil {
			t.Errorf("%q of %s %s: %v (-want +got):\n%s", tt.typed, tt.name, tt.argument, err, diff)
		}
	}
}

// Without a skills directory, no name completes the argument. A directory that
// cannot be read is an error.
func TestCompletionOfSkillNamesWithoutSkills(t *testing.T) {
	files := memory(t, map[string]string{"commands/a.md": ""})
	got, err := adapterOf(t, catalog(t, files)).Complete(ctx, "get_skill", "skill_name", "")
	if diff := cmp.Diff(mcpadapter.Completion{Values: []string{}}, got); diff != "" || err != nil {
		t.Errorf("no directory: %v (-want +got):\n%s", err, diff)
	}
	denied := adapterOf(t, catalog(t, deniedSkills{files}))
	if _, err := denied.Complete(ctx, "get_skill", "skill_name", ""); toolshelf.CodeOf(err) != toolshelf.ErrPermissionDenied.Code {
		t.Errorf("an unreadable directory: %v", err)
	}
}

// A deniedSkills filesystem denies access to the skills directory.
type deniedSkills struct{ afero.Fs }

func (d deniedSkills) Open(name string) (afero.File, error) {
	if name == "skills" || name == "/skills" {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.Fs.Open(name)
}

func (d deniedSkills) Stat(name string) (fs.FileInfo, error) {
	if name == "skills" || name == "/skills" {
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrPermission}
	}
	return d.Fs.Stat(name)
}
