package agentmd

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Skill is a SKILL.md.
type Skill struct {
	Document
	Name        string // the name of the directory, or ""
	Description string // the field of the header
	Fields      Fields // of the header; Fields.Name is the name that the header declares
}

// A Command is the file of a command.
type Command struct {
	Document
	Name        string // the name of the file, without ".md" or ".toml"
	Description string // the field of the header, or else the first paragraph of the body
	Fields      Fields // of the header
	File        string // the name of the file
}

// An Agent is the file of an agent.
type Agent struct {
	Document
	Name        string // the name in the header, or else the name of the file, without ".md"
	Description string // the field of the header
	Fields      Fields // of the header
}

// ParseSkill reads the SKILL.md of a directory. dir is the name or the path of the directory or of
// the file, or "" if the program has only the bytes; then no rule compares the names. ParseSkill
// accepts every input. The Diagnostics are the defects by the Agent Skills specification: an error
// is a reason for the reference validator to reject the skill. [Skill.Check] has the rules of
// another client. Unlike Lint of package toolshelf, ParseSkill compares names without Unicode
// normalization.
func ParseSkill(dir string, data []byte) Skill {
	dir = directoryName(dir)
	doc, file := read(dir, "", data)
	doc.Diagnostics = newDiagnostics(lint.Default().Skill(file))
	fields := doc.Frontmatter.Fields()
	return Skill{Document: doc, Name: dir, Description: fields.Description, Fields: fields}
}

// ParseCommand reads the file of a command. name is the name or the path of the file, such as
// "review.md". If the name ends in ".toml", the whole data is the header, the Body is a copy of the
// field prompt, and data of more than 64 KiB have no fields, with a diagnostic. ParseCommand
// accepts every input. The Diagnostics are those of Lint of package toolshelf for the header, the
// placeholders and invisible characters.
func ParseCommand(name string, data []byte) Command {
	doc, file := read("", name, data)
	doc.Diagnostics = newDiagnostics(lint.Default().Text(client.Commands, file))
	description, _ := matter.Description(file.Doc, doc.Body)
	return Command{Document: doc, Name: trimEnding(name), Description: description,
		Fields: doc.Frontmatter.Fields(), File: name}
}

// ParseAgent reads the file of an agent. name is the name or the path of the file, such as
// "reviewer.md". ParseAgent accepts every input. The Diagnostics are the defects of the header and
// invisible characters; [Agent.Check] has the fields that a client requires.
func ParseAgent(name string, data []byte) Agent {
	doc, file := read("", name, data)
	doc.Diagnostics = newDiagnostics(lint.Default().Text(client.Agents, file))
	fields := doc.Frontmatter.Fields()
	return Agent{Document: doc, Name: cmp.Or(fields.Name, trimEnding(name)),
		Description: fields.Description, Fields: fields}
}

// read parses the data of a file with a name, or of the SKILL.md of a directory.
func read(dir, name string, data []byte) (Document, lint.File) {
	parsed, _ := matter.ParseFile(name, data, true)
	body := parsed.Text(data)
	doc := Document{Raw: data, Frontmatter: NewFrontmatter(parsed.Frontmatter),
		Body: body[:len(body):len(body)]}
	return doc, lint.File{Name: dir, Path: name, Raw: data, Doc: parsed}
}

// directoryName returns the name of the directory of a skill, for the path of the directory or of
// its SKILL.md.
func directoryName(dir string) string {
	dir = path.Clean("/" + filepath.ToSlash(dir))
	if strings.EqualFold(path.Base(dir), "SKILL.md") {
		dir = path.Dir(dir)
	}
	return strings.TrimPrefix(path.Base(dir), "/") // "" for the top
}

// trimEnding returns the last element of a path without its ending.
func trimEnding(name string) string {
	name = filepath.ToSlash(name)
	name = name[strings.LastIndexByte(name, '/')+1:]
	if n := len(name) - len(".md"); n > 0 && strings.EqualFold(name[n:], ".md") {
		return name[:n]
	}
	return strings.TrimSuffix(name, ".toml")
}

func newDiagnostics(problems []problem.Problem) (all []Diagnostic) {
	for _, p := range problems {
		all = append(all, NewDiagnostic(p))
	}
	return all
}

// A CheckError has the reasons why a client rejects a file.
type CheckError struct {
	Client      string // the title of the client, such as "Claude Code"
	Diagnostics []Diagnostic
}

// Error returns the first reason, and the number of the others.
func (e *CheckError) Error() string {
	all := make([]problem.Problem, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		all[i] = problem.Problem{Line: d.Line, Message: d.Message, Suggestion: d.Suggestion}
	}
	return e.Client + " rejects the file: " + problem.Summary(all)
}

// Check returns a [*CheckError] with the reasons why a client rejects the skill, or nil. The rules
// are the Fields and Strict of the row, as for LintFor and WithStrict of package toolshelf. For a
// row that is not valid, Check returns the error of [client.Client.Check].
func (s Skill) Check(c client.Client) error {
	_, file := read(s.Name, "", s.Raw)
	return check(c, client.Skills, file)
}

// Set is [Document.Set], and changes a field of a TOML file too.
func (c Command) Set(key, value string) ([]byte, error) { return set(c.File, c.Raw, key, value) }

// Check is to a command as [Skill.Check] is to a skill.
func (c Command) Check(by client.Client) error {
	_, file := read("", c.File, c.Raw)
	return check(by, client.Commands, file)
}

// Check is to an agent as [Skill.Check] is to a skill.
func (a Agent) Check(c client.Client) error {
	_, file := read("", "", a.Raw)
	return check(c, client.Agents, file)
}

func check(c client.Client, kind client.Files, file lint.File) error {
	if err := c.Check(); err != nil {
		return err
	}
	found := newDiagnostics(lint.For(c).Rejects(kind, file))
	if len(found) == 0 {
		return nil
	}
	return &CheckError{Client: c.Title, Diagnostics: found}
}
