package promptblock

import (
	"fmt"
	"os"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/xmltext"
)

// maxFiles bounds the files that the block of a skill lists.
const maxFiles = 100

// A Skill is the content of a skill for the model that activates the skill.
type Skill struct {
	Name    string
	Content string
	Dir     string // "" omits the directory from the block
	// The files have no directory; the model reads a file by the name of the skill and the path.
	ByName    bool
	Files     []string // relative paths, without SKILL.md
	Truncated bool     // the skill has more files than Files, or files that cannot be listed

	own string // the name of the SKILL.md; "" if unknown
}

// At returns a Skill without files. The path of the SKILL.md is a path of the operating
// system, or a path with slashes.
func At(name, content, path string, byName bool) Skill {
	i := len(path)
	for i > 0 && path[i-1] != '/' && !os.IsPathSeparator(path[i-1]) {
		i--
	}
	return Skill{Name: name, Content: content, Dir: path[:max(i-1, 0)], ByName: byName, own: path[i:]}
}

// AddFile adds a file, unless the file is the SKILL.md.
func (s *Skill) AddFile(file string) {
	if file != s.own && (s.own != "" || file != "SKILL.md" && file != "skill.md") {
		s.Files = append(s.Files, file)
	}
}

// String returns the block. toolshelf.Skill.Prompt documents the form.
func (s Skill) String() string {
	var t strings.Builder
	t.Grow(len(s.Content) + 512)
	t.WriteString(`<skill_content name="` + xmltext.XMLLine(s.Name) + "\">\n")
	if content := strings.Trim(s.Content, "\r\n"); content != "" {
		t.WriteString(xmltext.BlockTags(content))
		t.WriteByte('\n')
	}
	switch {
	case s.ByName && (len(s.Files) > 0 || s.Truncated):
		t.WriteString("\nThe files of this skill are in no directory. To read a file, use the tool read_skill_file " +
			"with the name of the skill and the relative path.\n")
	case s.Dir != "" && !s.ByName:
		t.WriteString("\nSkill directory: " + xmltext.XMLLine(s.Dir) + "\n" +
			"Relative paths in this skill are relative to the skill directory.\n")
	}
	s.writeFiles(&t)
	t.WriteString("</skill_content>")
	return t.String()
}

// With returns the block with another content.
func (s Skill) With(content string) string {
	s.Content = content
	return s.String()
}

func (s Skill) writeFiles(t *strings.Builder) {
	if len(s.Files) == 0 && !s.Truncated {
		return
	}
	t.WriteString("\n<skill_resources>\n")
	for _, path := range s.Files[:min(len(s.Files), maxFiles)] {
		t.WriteString("  <file>" + xmltext.XMLLine(path) + "</file>\n")
	}
	switch more := len(s.Files) - maxFiles; {
	case s.Truncated:
		t.WriteString("  <!-- more files not listed -->\n")
	case more == 1:
		t.WriteString("  <!-- 1 more file not listed -->\n")
	case more > 1:
		fmt.Fprintf(t, "  <!-- %d more files not listed -->\n", more)
	}
	t.WriteString("</skill_resources>\n")
}
