package lint

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Command identifies a command file.
type Command struct {
	Name   string
	Path   string // below the layer, with slashes
	Listed bool   // a catalog without filters lists the command
}

// Commands checks the commands of a catalog and the references between them. Set
// the exported fields, add every command and skill, and then check the files.
// Concurrent calls of Check are safe.
type Commands struct {
	Profile *Profile
	Nested  bool                             // names may contain directories
	Valid   func(element string) bool        // reports a valid element of a name
	Present func(path, fromRoot string) bool // reports a file at a path below any layer, or at fromRoot below the root; fromRoot may be empty

	names       []string
	known       map[string]bool     // every name
	last        map[string]bool     // last element of every command name, and every skill name
	directories map[string]bool     // directories of nested commands, with a trailing ":"
	files       map[string][]string // lowercase base name → paths below the layers
}

// Add adds a command as a possible target of references.
func (l *Commands) Add(c Command) {
	l.prepare()
	base := strings.ToLower(path.Base(c.Path))
	l.files[base] = append(l.files[base], c.Path)
	l.names = append(l.names, c.Name)
	l.known[c.Name] = true
	directory := strings.LastIndexByte(c.Name, ':') + 1
	l.last[c.Name[directory:]] = true
	if l.Nested && directory > 0 {
		l.directories[c.Name[:directory]] = true
	}
}

// AddSkill adds a skill as a possible target of references, because several clients run
// skills as commands.
func (l *Commands) AddSkill(name string) {
	l.prepare()
	l.last[name] = true
}

func (l *Commands) prepare() {
	if l.known == nil {
		l.known, l.last, l.directories = make(map[string]bool), make(map[string]bool), make(map[string]bool)
		l.files = make(map[string][]string)
	}
}

// Check returns the problems of a command: at most problem.Max problems of the
// frontmatter, at most maxReferences missing references, a hint that does not fit the
// placeholders, and the invisible characters.
func (l *Commands) Check(f File, command Command) []problem.Problem {
	f.prepare(client.Commands, l.Profile)
	return append(f.text(command.Listed), l.references(f, command)...)
}

// Text checks a command, an agent or an instruction without the other files of a catalog.
func (p *Profile) Text(kind client.Files, f File) []problem.Problem {
	f.prepare(kind, p)
	return f.text(true)
}

// text returns the problems of the frontmatter, of the placeholders and of invisible characters. A
// file that no list shows may omit fields.
func (f *File) text(listed bool) []problem.Problem {
	found := f.profile.Judge(f.kind, f.header())
	if f.kind == client.Instructions {
		return append(problem.Limit(found), f.invisible()...)
	}
	field, ok := f.field("description")
	required := f.profile.field(f.kind, "description").Required // fields reports the missing field as an error
	if listed && !required && !f.explained() && strings.TrimSpace(field.Value.String()) == "" {
		if !ok {
			field = matter.Field{Key: field.Key}
		}
		missing := f.at(field, problem.Warning, problem.NoDescription,
			"description is missing in the frontmatter", "describe what the "+nouns[f.kind]+" does and when to use it")
		found = append([]problem.Problem{missing}, found...)
	}
	if listed {
		found = append(found, f.fields()...)
	}
	if f.promptless(found) {
		field, ok := f.field("prompt")
		if !ok {
			field = matter.Field{Key: field.Key}
		}
		found = append(found, f.at(field, problem.Warning, problem.NoText, "the command has no text", "write the text in the field prompt"))
	}
	found = append(found, f.misspelledKeys()...)
	if f.kind == client.Commands {
		return slices.Concat(problem.Limit(found), f.hint(), f.invisible())
	}
	return append(problem.Limit(slices.Concat(found, f.declaredName(), f.toolRules())), f.invisible()...)
}

// nouns are the kinds of files in messages.
var nouns = map[client.Files]string{client.Commands: "command", client.Agents: "agent"}

// declaredName reports a name in the header that no file can have.
func (f *File) declaredName() []problem.Problem {
	field, ok := f.field("name")
	if text := strings.TrimSpace(field.Value.String()); !ok || text == "" || names.Loose(text) {
		return nil
	}
	return []problem.Problem{f.at(field, problem.Error, problem.InvalidAgentName, "the name in the frontmatter is not a safe path element, and has no effect",
		`write a name without "/", "\", "..", control characters and leading dot`)}
}

// toolRules reports the first rule of each field that no client can read.
func (f *File) toolRules() (found []problem.Problem) {
	for _, field := range f.unique {
		if !slices.Contains([]string{"tools", "disallowed-tools", "disallowedTools"}, field.Key) {
			continue
		}
		for _, text := range toolsOf(field.Value) {
			if err := ToolRules(text, func(string, string) {}); err != nil {
				message, suggestion, _ := strings.Cut(err.Error(), "; ")
				found = append(found, f.at(field, problem.Warning, problem.ToolRuleInvalid, message, suggestion))
				break
			}
		}
	}
	return found
}

// promptless reports whether the file is a command in TOML without a text, and no found problem is
// the cause.
func (f *File) promptless(found []problem.Problem) bool {
	if f.kind != client.Commands || !strings.HasSuffix(f.Path, ".toml") || len(bytes.TrimSpace(f.Doc.Text(f.Raw))) > 0 {
		return false
	}
	return (len(f.Doc.Fields) > 0 || len(f.Doc.Problems) == 0) && !slices.ContainsFunc(found, func(p problem.Problem) bool {
		return p.Code == problem.FieldMissing && p.Key == "prompt"
	})
}
