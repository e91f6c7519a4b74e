package toolshelf

import (
	"fmt"
	"os"
	"strings"
)

// maxPromptFiles is how many of a skill's files its prompt names.
const maxPromptFiles = 100

// Prompt returns what a model is given when the skill is activated, as the
// client guide of the Agent Skills format has it
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
// The directory is that of Path, the full path on the filesystem that the
// skill is on, for a model that reads files by itself. Where a host path must
// not reach a model, or means nothing to it, as with a layer of WithSkillsFS,
// set Path to "" in the Skill before: there are no such lines then.
//
// The files are the first 100 of Files but for SKILL.md itself, in their
// order. A comment says how many more there are, or, with FilesTruncated, that
// there are more. None of them is read.
// The name, the directory and the files are escaped as XML, as in
// [Catalog.SkillsPrompt], and each is one line.
func (s Skill) Prompt() string {
	var t strings.Builder
	t.Grow(len(s.Content) + 512)
	t.WriteString(`<skill_content name="` + escapeXMLLine(s.Name) + "\">\n")
	if content := strings.Trim(s.Content, "\r\n"); content != "" {
		t.WriteString(withoutBlockTags(content))
		t.WriteByte('\n')
	}
	dir, file := splitPath(s.Path)
	if dir != "" {
		t.WriteString("\nSkill directory: " + escapeXMLLine(dir) + "\n" +
			"Relative paths in this skill are relative to the skill directory.\n")
	}
	s.writeResources(&t, file)
	t.WriteString("</skill_content>")
	return t.String()
}

// writeResources lists the files but for the skill's own one; "" where its
// name is not known.
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
		t.WriteString("  <file>" + escapeXMLLine(path) + "</file>\n")
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

// splitPath is the folder and the name of a SKILL.md, on whatever filesystem
// its path is: one of the operating system, or one with slashes.
func splitPath(path string) (dir, file string) {
	i := len(path)
	for i > 0 && path[i-1] != '/' && !os.IsPathSeparator(path[i-1]) {
		i--
	}
	return path[:max(i-1, 0)], path[i:]
}
