package main

import "github.com/toolshelf-go/toolshelf"

// A rule describes a diagnostic code.
type rule struct {
	code toolshelf.DiagnosticCode
	text string // severity and defect, as in the comment of the code
}

// The rules in the order of the constants of toolshelf. A test compares the texts with the
// comments of the constants.
var rules = []rule{
	{toolshelf.DiagDirectoryNotFound, "warning: none of the directories given to the program exists"},
	{toolshelf.DiagFileRead, "error: the file cannot be read; warning for another file or subdirectory of a skill"},
	{toolshelf.DiagFileTooLarge, "error: the file is larger than the program allows"},
	{toolshelf.DiagLinkNotFollowed, "error: a symbolic link is broken, not allowed, or leads outside the root; warning for a cycle or a link below a skill"},
	{toolshelf.DiagDirectoryUnreadable, "error: a subdirectory cannot be read; warning for a directory in the home directory"},
	{toolshelf.DiagNotAFile, "warning: a directory has the name of a command, or a pipe or device is in a skill"},
	{toolshelf.DiagShadowed, "warning: another file with the same name has precedence"},
	{toolshelf.DiagNameDiffersInCase, "warning: two names differ only in letter case"},
	{toolshelf.DiagNotUTF8, "warning (error): the file contains bytes that are not UTF-8"},
	{toolshelf.DiagControlCharacter, "warning (error): the frontmatter contains a control character, such as NUL"},
	{toolshelf.DiagInvisibleCharacter, "warning: the text contains characters that a model reads and a person does not see"},
	{toolshelf.DiagDuplicateKey, "warning (error): the frontmatter contains a key twice"},
	{toolshelf.DiagFrontmatterRecovered, "warning (error): the frontmatter or a value is not valid YAML and was read as text"},
	{toolshelf.DiagFrontmatterNotAMapping, "warning (error): the text between the fences contains no fields and is part of the content"},
	{toolshelf.DiagFrontmatterUnterminated, "error: the frontmatter has no closing fence, or is too long, and is part of the content"},
	{toolshelf.DiagFrontmatterRefused, "error: the frontmatter is nested too deeply, or is too large after alias expansion"},
	{toolshelf.DiagFrontmatterInvalid, "error: the frontmatter is invalid TOML or JSON"},
	{toolshelf.DiagFrontmatterAfterBlankLines, "warning (error): the frontmatter follows blank lines"},
	{toolshelf.DiagFrontmatterUnknownFence, "error: the first line only resembles a fence, and the fields are part of the content"},
	{toolshelf.DiagFrontmatterValueCut, "warning: YAML reads part of a value as a comment, an anchor or a tag"},
	{toolshelf.DiagFrontmatterNotKept, "warning: lists omit part of the frontmatter, because the large frontmatters of the catalog exceed 32 MiB"},
	{toolshelf.DiagAllowedToolsUnbalanced, "warning: allowed-tools contains unbalanced parentheses"},
	{toolshelf.DiagInvalidCommandName, "error: the name of the file or directory is not a valid command name"},
	{toolshelf.DiagTooDeep, "warning: a directory is nested too deeply and is not scanned"},
	{toolshelf.DiagNoDescription, "warning: the frontmatter of a listed command has no description"},
	{toolshelf.DiagReferenceNotFound, "warning: the content refers to a command or a linked file that does not exist"},
	{toolshelf.DiagInvalidSkillName, "error: the directory name is not a safe path element"},
	{toolshelf.DiagTooManyDirectories, "warning: a directory of skills has too many subdirectories, and some are not searched for skills"},
	{toolshelf.DiagTooManyFiles, "warning: the list of the skill's files is truncated"},
	{toolshelf.DiagSkillFileMissing, "error: the directory has no SKILL.md"},
	{toolshelf.DiagSkillFileUnused, "warning: a SKILL.md beside the directories of skills is unused"},
	{toolshelf.DiagSkillByteOrderMark, "error: SKILL.md begins with a byte order mark"},
	{toolshelf.DiagSkillFrontmatterMissing, "error: SKILL.md has no frontmatter"},
	{toolshelf.DiagSkillFrontmatterNotYAML, `error: the frontmatter is TOML or JSON, or begins with a line other than "---"`},
	{toolshelf.DiagSkillFenceInField, `warning: some clients end the frontmatter at a "---" inside a field; error if they reject the rest`},
	{toolshelf.DiagSkillYAMLFlowStyle, "error: the frontmatter contains a list or mapping in brackets"},
	{toolshelf.DiagSkillYAMLAnchor, "error: the frontmatter contains an anchor or an alias"},
	{toolshelf.DiagSkillYAMLTag, "error: the frontmatter contains a tag"},
	{toolshelf.DiagSkillYAMLTab, "error: the frontmatter contains a tab outside quotes, blocks and comments"},
	{toolshelf.DiagSkillYAMLIndentation, "error: sibling mappings are indented differently"},
	{toolshelf.DiagSkillFieldUnexpected, "error: the specification does not define the field"},
	{toolshelf.DiagSkillNameMissing, "error: the frontmatter has no name"},
	{toolshelf.DiagSkillNameNotText, "error: the name is empty, a list or a mapping"},
	{toolshelf.DiagSkillNameTooLong, "error: the name is longer than 64 characters; this and the following codes apply to the name after NFKC normalization"},
	{toolshelf.DiagSkillNameNotLowercase, "error: the name contains an uppercase letter"},
	{toolshelf.DiagSkillNameHyphenAtEdge, "error: the name begins or ends with a hyphen"},
	{toolshelf.DiagSkillNameDoubleHyphen, "error: the name contains two consecutive hyphens"},
	{toolshelf.DiagSkillNameCharacters, "error: the name contains a character other than letters, digits and hyphens"},
	{toolshelf.DiagSkillNameNotASCII, "warning: the name is valid, but some clients reject its letters outside a to z"},
	{toolshelf.DiagSkillNameMismatch, "error: the name differs from the directory name"},
	{toolshelf.DiagSkillDescriptionMissing, "error: the frontmatter has no description"},
	{toolshelf.DiagSkillDescriptionNotText, "error: the description is empty, a list or a mapping"},
	{toolshelf.DiagSkillDescriptionTooLong, "error: the description is longer than 1,024 characters"},
	{toolshelf.DiagSkillCompatibilityNotText, "error: the compatibility is a list or a mapping"},
	{toolshelf.DiagSkillCompatibilityTooLong, "error: the compatibility is longer than 500 characters"},
	{toolshelf.DiagSkillNoURI, "error: the name of the skill cannot be the last element of a URI"},
	{toolshelf.DiagSkillURITaken, "error: the URI of the skill belongs to another skill"},
	{toolshelf.DiagSkillTooManyFiles, "error: the skill has more than 512 files"},
	{toolshelf.DiagSkillTooLarge, "error: the files of the skill have more than 16 MiB"},
}
