package toolshelf

import (
	"fmt"
	"os"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// maxPromptFiles is the number of files that a skill's prompt lists.
const maxPromptFiles = 100

// Prompt returns the text for a model that activates the skill, in the form of
// the client guide of the Agent Skills format
// (https://agentskills.io/client-implementation/adding-skills-support):
//
//	<skill_content name="pdf-tools">
//	# PDF tools
//	…
//
//	Skill directory: /home/user/.agents/skills/pdf-tools
//	Relative paths in this skill are relative to the skill directory.
//
//	<skill_resources>
//	  <file>scripts/extract.py</file>
//	</skill_resources>
//	</skill_content>
//
// First comes the Content, without the empty lines at both ends. Tags of the
// elements skill_content, skill_resources, available_skills and
// available_commands are escaped: the "<" becomes "&lt;", and "＜" becomes
// "&#xFF1C;". A skill can therefore neither end the block nor begin another
// block. Letter case, fullwidth letters, white space, accents and invisible
// characters in a tag make no difference. All other Markdown, HTML and XML stays.
//
// The directory is the directory of Path, the full path on the skill's
// filesystem, for a model that reads files. If a host path must not reach a model,
// or has no meaning for the model, as with a layer of WithSkillsFS, set Path to ""
// before the call: Prompt then omits the two lines.
//
// The files are the first 100 of Files without SKILL.md, in the same order. A
// comment gives the number of the other files, or says with FilesTruncated that
// more files exist. Prompt reads no file. The name, the directory and the files
// are escaped as XML, as in [Catalog.SkillsPrompt], and each is one line.
func (s Skill) Prompt() string {
	var t strings.Builder
	t.Grow(len(s.Content) + 512)
	t.WriteString(`<skill_content name="` + escape.XMLLine(s.Name) + "\">\n")
	if content := strings.Trim(s.Content, "\r\n"); content != "" {
		t.WriteString(escape.BlockTags(content))
		t.WriteByte('\n')
	}
	dir, file := splitPath(s.Path)
	if dir != "" {
		t.WriteString("\nSkill directory: " + escape.XMLLine(dir) + "\n" +
			"Relative paths in this skill are relative to the skill directory.\n")
	}
	s.writeResources(&t, file)
	t.WriteString("</skill_content>")
	return t.String()
}

// writeResources lists the files without the skill's own file; own is "" if the
// name is unknown.
func (s Skill) writeResources(t *strings.Builder, own string) {
	var resources []string
	for _, f := range s.Files {
		if f.Path != own && (own != "" || f.Path != "SKILL.md" && f.Path != "skill.md") {
			resources = append(resources, f.Path)
		}
	}
	if len(resources) == 0 && !s.FilesTruncated {
		return
	}
	t.WriteString("\n<skill_resources>\n")
	for _, path := range resources[:min(len(resources), maxPromptFiles)] {
		t.WriteString("  <file>" + escape.XMLLine(path) + "</file>\n")
	}
	switch more := len(resources) - maxPromptFiles; {
	case s.FilesTruncated:
		t.WriteString("  <!-- more files not listed -->\n")
	case more == 1:
		t.WriteString("  <!-- 1 more file not listed -->\n")
	case more > 1:
		fmt.Fprintf(t, "  <!-- %d more files not listed -->\n", more)
	}
	t.WriteString("</skill_resources>\n")
}

// splitPath splits the path of a SKILL.md into directory and name. The path is a
// path of the operating system, or a path with slashes.
func splitPath(path string) (dir, file string) {
	i := len(path)
	for i > 0 && path[i-1] != '/' && !os.IsPathSeparator(path[i-1]) {
		i--
	}
	return path[:max(i-1, 0)], path[i:]
}
