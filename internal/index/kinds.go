package index

import (
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A kind is what distinguishes the entries of one index from the entries of other indexes.
type kind struct {
	files  client.Files
	scan   scanner
	claims claims

	directories  bool // an entry is a directory; see Layer.Files
	header       bool // an entry keeps its frontmatter and the offset of its body
	dependencies bool // a file can be a part of other files
	described    bool // the only file of an entry needs a name or a description in its header; see Layer.Files
	plugins      bool // the index reports the problems of plugins, which all indexes of a catalog find
	loose        bool // every safe path element is a valid name; otherwise Config.Valid decides
	unnamed      bool // entries with the same name do not hide each other
	every        bool // README.md, SKILL.md and the files beside a SKILL.md are entries too

	invalidName problem.Problem // of a file or directory with an invalid name
}

// kinds is the table of the kinds. An index of a further kind needs a row, and no function.
var kinds = map[client.Files]kind{
	client.Commands: {scan: scanFiles, claims: fileClaims, dependencies: true, plugins: true,
		invalidName: problem.Problem{Code: problem.InvalidCommandName, Message: `not listed: a command name contains only letters, digits, "_" and "-"`,
			Suggestion: `rename the file to %s, or let the program accept other names`}},
	client.Skills:       {scan: scanSkills, claims: skillClaims, directories: true, header: true, described: true, loose: true, invalidName: looseName(problem.InvalidSkillName)},
	client.Instructions: {scan: scanFiles, claims: fileClaims, header: true, loose: true, unnamed: true, every: true, invalidName: looseName(problem.InvalidRuleName)},
	client.Agents:       {scan: scanFiles, claims: fileClaims, header: true, loose: true, invalidName: looseName(problem.InvalidAgentName)},
}

func looseName(code problem.Code) problem.Problem {
	return problem.Problem{Code: code, Message: "not listed: the name is not a safe path element", Suggestion: "rename the file or directory"}
}

// New returns an index of the files of a kind: the files of commands, agents or rules, usually
// Markdown files, or the directories of skills. In a layer of skills, each subdirectory is a skill,
// and SKILL.md is the file of the skill. A layer with a SKILL.md is a skill itself if no
// subdirectory has a SKILL.md. In a layer with Files, each file is a skill. New returns an error if
// the operating system's facility for watching fails.
func New(of client.Files, config Config) (*Index, error) {
	config.kind = kinds[of]
	config.kind.files = of
	if config.kind.loose {
		config.Valid = names.Loose
	}
	return newIndex(config)
}
