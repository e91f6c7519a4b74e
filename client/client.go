// Package client describes the programs that read commands, skills, agents and instructions
// from files: where each program looks, how each program names the files, how each program fills
// arguments into the texts, and which fields each program documents.
//
// The package is data. A [Client] is a row of a table, and each function such as [Claude] returns
// a new copy of a row. A program may change the copy, or write a row of its own:
//
//	mine := client.Claude()
//	mine.Name = "mine"
//	mine.Commands = append(mine.Commands, client.Place{Dir: "prompts", Pattern: "*.md"})
//
// A comment beside each list of a row names the source and the date of the source: the
// documentation or the source code of the client, unless the comment says "third party".
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package client

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	edits "github.com/toolshelf-go/toolshelf/internal/names"
)

// A Client is a program that reads commands and skills.
type Client struct {
	Name  string // the key of [Lookup], such as "claude"
	Title string // the name in the documentation of the client, such as "Claude Code"

	// The places of the files. A place has precedence over all later places of its list.
	Commands     []Place
	Skills       []Place
	Agents       []Place
	Instructions []Place

	// The client replaces @path in an instruction by the file, over at most this number of files; 0
	// means no imports.
	ImportHops int
	// The client reads at most this number of bytes of the single files of Instructions in the
	// project; 0 means no limit.
	InstructionBytes int

	// Mention precedes the name of an agent in the line of a user, as in "@reviewer check this". ""
	// means that the client has no line of this kind; any other Mention begins with "@".
	Mention string

	// Plugins are the places in which each directory with a manifest is a plugin. The pattern is
	// "*/" and the path of the manifest, one of Manifests.
	Plugins []Place

	// Manifests are the files that make a directory a plugin of the client, relative to the
	// directory. The first existing file counts.
	Manifests []string

	Servers ServerRules // of MCP servers

	// Rules are the placeholder rules of the texts of commands, and SkillRules the rules of the
	// texts of skills. They are zero, the default rules, if the client documents no rules, or fills
	// no arguments into skills.
	Rules, SkillRules Rules

	// Switches are the settings in which a user hides skills, the highest precedence first.
	Switches []Switch

	// Fields are the fields of the headers. Fields is nil if the client documents no limit and no
	// field beyond the fields of [AgentSkills].
	Fields []Field

	// Strict means that the client rejects a skill whose header has another field, or YAML with
	// flow style, anchors, tags or tabs, as the reference validator of Agent Skills does.
	Strict bool
}

// A Place is a set of files below a directory.
type Place struct {
	Base Base
	Dir  string // below Base, with slashes; "." is Base itself
	// The paths of the files below Dir, as in "**/*.md" or "*/SKILL.md"; see [Place.Check].
	Pattern string
	Name    NameRule // where the name of a file comes from
	Prefix  string   // begins each name, as in "prompts:review"
	Parents bool     // the client also looks in the parent directories of the project
	// Skills and instructions only: the client also looks in each directory from the project down
	// to the file in question.
	Below bool

	// Instructions only. The pattern of a single file, such as "AGENTS.md", has no wildcard. All
	// other files are rules, whose headers state when they apply.
	Fallback Fallback // of a single file: read in place of other files
	Globs    string   // of rules: the key of the globs, such as "paths"
	// Of rules: the key that can say always, by the globs, or on request, such as "inclusion".
	When string
	// Of rules: without globs and without When, a rule applies on request; otherwise always.
	OnRequest bool
	// Of rules: a glob without a slash matches the names of files at any depth, not only in the
	// project's directory.
	AnyDepth bool
}

// A Fallback states which other single files of the list make a client ignore a single file. An
// empty file counts as missing, and the places of the user count as one directory.
type Fallback int

const (
	// NoFallback reads the file in any case.
	NoFallback Fallback = iota

	// InDirectory reads the file in a directory in which no earlier single file of the list exists.
	InDirectory

	// InProject is InDirectory, and no single file without a Fallback exists in the project's
	// directory and in its parents.
	InProject
)

// A Switch is a key of a settings file in which a user states what the client shows of a skill. The
// settings concern the skills in the places of the client, and not the skills of plugins.
type Switch struct {
	Base Base
	// Below Base, with slashes, as in ".claude/settings.json"; the file is JSON or, with the ending
	// ".toml", TOML.
	File string
	Key  string // the keys from the top of the file, separated by dots, as in "skills.config"
	// The name in the settings: FromPath for the name of the directory, FromHeader for the field
	// name of the header.
	Name NameRule
	// The value of a name: all, the name without the description, only for the user, off. Without
	// Words, the key has a list of objects with name or path, and enabled.
	Words [4]string
}

// check returns an error if the switch is not valid.
func (s Switch) check() error {
	file := Place{Base: s.Base, Dir: s.File, Pattern: "*.md", Name: s.Name}
	if err := file.Check(); err != nil {
		return err
	}
	end := path.Ext(s.File)
	if s.Key == "" || s.Name == OnlyHeader || end != ".json" && end != ".toml" {
		return errors.New("a switch needs a file that ends with .json or .toml, a Key, " +
			"and the Name FromPath or FromHeader")
	}
	return nil
}

// A Base is the directory above the directory of a [Place].
type Base int

const (
	Project Base = iota // the root of the project
	Home                // the home directory of the user
	Config              // $XDG_CONFIG_HOME, or ~/.config; on Windows %APPDATA%
	System              // the top of the filesystem; only for MCP servers
)

// String returns the beginning of the path of a place, such as "~/".
func (b Base) String() string {
	if b < Project || b > System {
		return "Base(" + strconv.Itoa(int(b)) + ")"
	}
	return [...]string{Home: "~/", Config: "~/.config/", System: ""}[b]
}

// A NameRule states where the name of a command, a skill or an agent comes from.
type NameRule int

const (
	// FromPath takes the name from the path below the directory of the place: the part for the
	// wildcards of the pattern, with ":" in place of "/".
	FromPath NameRule = iota

	// FromHeader takes the field name of the header. Without the field, FromHeader takes the name
	// of the file, without its directories.
	FromHeader

	// OnlyHeader takes the field name of the header. A client ignores a file without the field.
	OnlyHeader
)

// A Field is a field of a header.
type Field struct {
	Name  string
	Kind  Kind
	Files Files // the files with the field; 0 means commands and skills

	Required bool // the client rejects a file without a text in the field
	// The client rejects other characters than lowercase letters, digits and single hyphens between
	// them.
	Slug      bool
	Directory bool // the client rejects a skill whose directory has another name
	Limit     int  // the client rejects a text with more characters; 0 means no limit
	// The client shows a model only the first characters of the text, followed by when_to_use; 0
	// means all.
	Cut int
}

// In reports whether files of a kind have the field.
func (f Field) In(kind Files) bool { return cmp.Or(f.Files, Commands|Skills)&kind != 0 }

// Files is a set of kinds of files, such as Commands|Skills.
type Files int

const (
	Commands Files = 1 << iota
	Skills
	Agents
	Instructions // of rules
)

// A Kind is the kind of the value of a [Field].
type Kind int

const (
	Text    Kind = iota
	Flag         // true or false
	List         // a list, or a text that separates the items by blanks or commas
	Mapping      // keys with values
)

// Path returns the path of the place for a reader, such as "~/.claude/commands".
func (p Place) Path() string { return p.Base.String() + p.Dir }

// Suffix returns the end of the pattern after the last "*", such as ".prompt.md". The name of a
// file omits the suffix.
func (p Place) Suffix() string { return p.Pattern[strings.LastIndexByte(p.Pattern, '*')+1:] }

// Nested reports whether the pattern begins with "**/": the client also reads the
// subdirectories, at any depth.
func (p Place) Nested() bool { return strings.HasPrefix(p.Pattern, "**/") }

// Check returns an error if the place is not valid. The directory of a valid place is a clean
// relative path without "..". The pattern is a wildcard and the end of a file name, as in
// "*.md", or "*/" and the name of a file, as in "*/SKILL.md", or the name of a file. A
// pattern may begin with "**/" for all subdirectories.
func (p Place) Check() error {
	switch {
	case p.Base < Project || p.Base > Config:
		return fmt.Errorf("unknown base %d; use Project, Home or Config", int(p.Base))
	case p.Name < FromPath || p.Name > OnlyHeader:
		return fmt.Errorf("unknown name rule %d; use FromPath, FromHeader or OnlyHeader", int(p.Name))
	case !fs.ValidPath(p.Dir) || strings.Contains(p.Dir, `\`):
		return fmt.Errorf(`invalid directory %q; use a relative path such as ".claude/commands"`, p.Dir)
	case strings.Trim(p.Prefix, prefixRunes) != "":
		return fmt.Errorf(`invalid prefix %q; use letters, digits, "_", "-" and ":"`, p.Prefix)
	case !validPattern(p.Pattern):
		return fmt.Errorf(`invalid pattern %q; use a pattern such as "*.md", "**/*.md" or "*/SKILL.md"`,
			p.Pattern)
	}
	return nil
}

const prefixRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:"

func validPattern(pattern string) bool {
	file, nested := strings.CutPrefix(pattern, "**/")
	if below, ok := strings.CutPrefix(file, "*/"); ok && !nested {
		file = below
	} else {
		file = strings.TrimPrefix(file, "*")
	}
	return file != "" && !strings.ContainsAny(file, `*?[]{}/\`) && utf8.ValidString(file)
}

// Single reports whether the pattern is the name of a file, without a wildcard.
func (p Place) Single() bool { return !strings.Contains(p.Pattern, "*") }

// checkInstruction returns an error if a place of instructions is not valid.
func (p Place) checkInstruction() error {
	switch {
	case !p.Single() && (strings.Contains(p.Suffix(), "/") || p.Fallback != NoFallback):
		return errors.New("a pattern with a wildcard is for rules: " +
			`use a pattern such as "**/*.md", without Fallback`)
	case p.Single() && (p.Globs != "" || p.When != "" || p.OnRequest || p.AnyDepth):
		return errors.New("only rules can have Globs, When, OnRequest and AnyDepth; " +
			`use a pattern such as "**/*.md"`)
	case p.Base != Project && (p.Below || p.Fallback == InProject):
		return errors.New("only a place of the project can have Below and InProject")
	case p.Fallback < NoFallback || p.Fallback > InProject:
		return fmt.Errorf("unknown fallback %d; use InDirectory or InProject", int(p.Fallback))
	}
	return nil
}

// Check returns an error if a place, a field or a rule of the row is not valid. Two fields of the
// same files have different names. A row may have no place, as [AgentSkills].
func (c Client) Check() error {
	client := fmt.Sprintf("the client %q", c.Name)
	place := func(p Place) string { return fmt.Sprintf("the place %q of %s", p.Path(), client) }
	files := slices.Concat(c.Commands, c.Skills, c.Agents)
	return cmp.Or(
		checkEach(place, slices.Concat(files, c.Instructions), Place.Check),
		checkEach(place, files, Place.checkFiles),
		checkEach(place, slices.Concat(c.Commands, c.Agents), Place.checkNotBelow),
		checkEach(place, c.Instructions, Place.checkInstruction),
		checkEach(place, c.Plugins, c.checkPlugins),
		checkEach(func(s Switch) string {
			return fmt.Sprintf("the settings %q of %s", s.Base.String()+s.File, client)
		}, c.Switches, Switch.check),
		checkEach(func(Client) string { return client }, []Client{c}, Client.checkTexts),
		checkEach(func(Rules) string { return "the rules of " + client },
			[]Rules{c.Rules, c.SkillRules}, Rules.check),
		checkEach(func(ServerRules) string { return "the MCP servers of " + client },
			[]ServerRules{c.Servers}, ServerRules.check),
		checkEach(func(f Field) string { return fmt.Sprintf("the field %q of %s", f.Name, client) },
			c.Fields, new(checkedFields).add),
	)
}

// checkEach returns the error of the first invalid part of a row, after the name of the part.
func checkEach[T any](name func(T) string, parts []T, check func(T) error) error {
	for _, part := range parts {
		if err := check(part); err != nil {
			return fmt.Errorf("%s: %w", name(part), err)
		}
	}
	return nil
}

// checkFiles returns an error if a place of commands, skills or agents has a field of instructions.
func (p Place) checkFiles() error {
	if p.Fallback != NoFallback || p.Globs != "" || p.When != "" || p.OnRequest || p.AnyDepth {
		return errors.New("only Instructions can have Fallback, Globs, When, OnRequest and AnyDepth")
	}
	if p.Below && p.Base != Project {
		return errors.New("only a place of the project can have Below")
	}
	return nil
}

func (p Place) checkNotBelow() error {
	if p.Below {
		return errors.New("only Skills and Instructions can have Below")
	}
	return nil
}

func (c Client) checkPlugins(p Place) error {
	manifest, ok := strings.CutPrefix(p.Pattern, "*/")
	if !ok || !slices.Contains(c.Manifests, manifest) ||
		p.Name != FromPath || p.Prefix != "" || p.Parents {
		//lint:ignore ST1005 Plugins is the name of a field
		return errors.New(`Plugins need a pattern such as "*/.claude-plugin/plugin.json" ` +
			`with a path of Manifests, and no Name, Prefix and Parents`)
	}
	p.Pattern = "*.json"
	return p.Check()
}

func (c Client) checkTexts() error {
	switch {
	case c.Mention != "" && (c.Mention[0] != '@' || strings.ContainsAny(c.Mention, " \t\r\n")):
		return fmt.Errorf(`the Mention %q; use a text without blanks that begins with "@"`, c.Mention)
	case c.ImportHops < 0 || c.InstructionBytes < 0:
		return errors.New("a negative ImportHops or InstructionBytes; use 0 for none")
	}
	return nil
}

// checkedFields are the fields of a row before the field that add checks.
type checkedFields []Field

func (before *checkedFields) add(f Field) error {
	err := f.check()
	if err == nil && slices.ContainsFunc(*before, func(other Field) bool {
		return other.Name == f.Name && other.In(cmp.Or(f.Files, Commands|Skills))
	}) {
		err = errors.New("a second field has the name; remove one of the two fields")
	}
	*before = append(*before, f)
	return err
}

func (f Field) check() error {
	switch {
	case strings.TrimSpace(f.Name) == "":
		return errors.New(`the field has no name; use a key of the header, such as "description"`)
	case f.Kind < Text || f.Kind > Mapping:
		return fmt.Errorf("unknown kind %d; use Text, Flag, List or Mapping", int(f.Kind))
	case f.Files < 0 || f.Files > Commands|Skills|Agents:
		return fmt.Errorf("unknown files %d; use Commands, Skills and Agents, joined by |", int(f.Files))
	case f.Limit < 0 || f.Cut < 0:
		return errors.New("a negative Limit or Cut; use 0 for no limit")
	case (f.Limit > 0 || f.Cut > 0 || f.Slug || f.Directory) && f.Kind != Text:
		return errors.New("only a field of the kind Text can have Limit, Cut, Slug or Directory; " +
			"remove these rules")
	}
	return nil
}

// All returns the clients in the order of their names.
func All() []Client {
	return []Client{Amp(), Claude(), Cline(), Codex(), Copilot(), Crush(), Cursor(), Factory(),
		Gemini(), Goose(), Kilo(), Kiro(), Kit(), OpenCode(), Pi(), Qwen(), Roo(), VSCode(), Windsurf(),
		Zed()}
}

// Lookup returns the client with a name. For an unknown name, the error has the nearest name.
func Lookup(name string) (Client, error) {
	all := All()
	names := make([]string, len(all))
	for i, c := range all {
		if c.Name == name {
			return c, nil
		}
		names[i] = c.Name
	}
	nearest := ""
	if len(name) <= maxName {
		// A name with other letters in more than a third of its places is not similar.
		nearest = edits.Nearest(name, slices.Values(names), len(name)/3, nil)
	}
	if nearest == "" {
		return Client{}, fmt.Errorf("unknown client %.*q; use one of %s",
			maxName, name, strings.Join(names, ", "))
	}
	return Client{}, fmt.Errorf("unknown client %q; did you mean %q?", name, nearest)
}

// maxName bounds the part of an unknown name that an error contains, in bytes.
const maxName = 100
