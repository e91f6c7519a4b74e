package toolshelf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A Diagnostic is something about a file that its author may want to mend.
// Nothing else is affected by it: what can be loaded is loaded.
type Diagnostic struct {
	Code       string `json:"code"`                 // what kind, such as "INVALID_COMMAND_NAME"; does not change between versions
	Severity   string `json:"severity"`             // "error": the file is not served as its author meant, here or, by the strict rules of Lint, in other clients; "warning": it is
	Path       string `json:"path"`                 // the layer as the option has it, and the path of the file below it
	Line       int    `json:"line,omitempty"`       // 1-based; 0 where the file itself is meant
	Column     int    `json:"column,omitempty"`     // 1-based, in characters; 0 where the line is meant
	Key        string `json:"key,omitempty"`        // the frontmatter key concerned
	Message    string `json:"message"`              // what is wrong, in one line
	Suggestion string `json:"suggestion,omitempty"` // what to do or to write instead, where that is known
}

// The severities of a Diagnostic.
const (
	SeverityError   = index.Error   // "error"
	SeverityWarning = index.Warning // "warning"
)

// String returns the diagnostic as compilers print theirs:
// "path:line:column: severity: message; suggestion [CODE]", without a line or
// column of 0.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.Path)
	for _, n := range []int{d.Line, d.Column} {
		if n > 0 {
			fmt.Fprintf(&b, ":%d", n)
		}
	}
	fmt.Fprintf(&b, ": %s: %s", d.Severity, d.Message)
	if d.Suggestion != "" {
		b.WriteString("; " + d.Suggestion)
	}
	fmt.Fprintf(&b, " [%s]", d.Code)
	return b.String()
}

// Lint returns every problem of every command and skill, hidden, shadowed and
// filtered ones included, sorted by path, line, column, code, key and message.
// No problem is an empty list, not an error.
//
// It is stricter than the methods that serve the files. A skill is held to the
// rules of the Agent Skills reference validator
// (https://github.com/agentskills/agentskills, skills-ref): what that refuses
// is an error here, since other clients refuse it too, although ListSkills
// lists the skill and its Diagnostics may call the same problem a warning. More
// is an error here, since other readers refuse it: a name or description that is
// null, which the validator takes for the text "null"; fences that are not alone
// in their line; what comes after a "---" within the frontmatter; the characters
// U+0085, U+2028, U+2029 and U+FEFF; and the escape "\/" in quotes. Only of "<<"
// and "=", as a value or a key, it is the validator that refuses more.
//
// The codes, with E for errors and W for warnings:
//
//	of all files
//	DIRECTORY_NOT_FOUND          W  none of the directories that the options name exists
//	FILE_READ_ERROR              E  the file cannot be read (W: a file of a skill, or a folder of it)
//	FILE_TOO_LARGE               E  it is larger than WithMaxFileSize allows
//	LINK_NOT_FOLLOWED            E  a link leads outside, to nothing, or is not allowed (W: in a circle, or among the files of a skill)
//	FOLDER_UNREADABLE            E  a folder below that of a layer cannot be read (W: one of the user's, of WithConventionalDirs)
//	NOT_A_FILE                   W  a folder has the name of a command, or a file of a skill is a pipe or a device
//	SHADOWED                     W  a file that comes first has the same name
//	NAME_DIFFERS_IN_CASE         W  another name is the same but for letter case
//	NOT_UTF8                     W  a byte is no text (skills: E)
//	CONTROL_CHARACTER            W  the frontmatter holds a character such as NUL (skills: E)
//	DUPLICATE_KEY                W  a key is there twice (skills: E)
//	FRONTMATTER_RECOVERED        W  a value, or the whole, is not valid YAML and was read as text (skills: E)
//	FRONTMATTER_NOT_A_MAPPING    W  the frontmatter holds no fields and was taken as text (skills: E)
//	FRONTMATTER_UNTERMINATED     E  the frontmatter is not closed, or far too long, and was taken as text
//	FRONTMATTER_REFUSED          E  it is nested too deep, or too large once its aliases are resolved
//	FRONTMATTER_INVALID          E  TOML or JSON that cannot be read
//	FRONTMATTER_AFTER_BLANK_LINES W  blank lines come before the frontmatter (skills: E)
//	FRONTMATTER_UNKNOWN_FENCE    E  the first line is not quite a fence, so the fields after it were taken as text
//	FRONTMATTER_VALUE_CUT        W  YAML takes a part of a text for a comment, an anchor or a tag
//	ALLOWED_TOOLS_UNBALANCED     W  parentheses in allowed-tools do not match
//	FRONTMATTER_NOT_KEPT         W  lists omit a part of it, since the catalog has more than 32 MiB of large frontmatters
//
//	of commands
//	INVALID_COMMAND_NAME         E  no command can have the file's or folder's name
//	TOO_DEEP                     W  a folder is more levels down than are looked at
//	NO_DESCRIPTION               W  a command that is listed has no description in its frontmatter
//	REFERENCE_NOT_FOUND          W  the text refers to a command that is not there; see below
//
//	of skills
//	INVALID_SKILL_NAME           E  the folder's name is not one safe path element
//	TOO_MANY_FOLDERS             W  skills are not looked for in all folders, since there are too many
//	TOO_MANY_FILES               W  the list of a skill's files ends early; see GetSkill
//	SKILL_FILE_MISSING           E  the folder has no SKILL.md
//	SKILL_FILE_UNUSED            W  a layer has a SKILL.md, and so have its subdirectories, which are the skills
//	SKILL_BYTE_ORDER_MARK        E  SKILL.md begins with a byte order mark
//	SKILL_FRONTMATTER_MISSING    E  SKILL.md has no frontmatter
//	SKILL_FRONTMATTER_NOT_YAML   E  its frontmatter is TOML or JSON, or begins with another line than "---"
//	SKILL_FENCE_IN_FIELD         W  its frontmatter has a "---" that some clients take for the end (E: they refuse it so)
//	SKILL_YAML_FLOW_STYLE        E  a list or mapping in brackets
//	SKILL_YAML_ANCHOR            E  an anchor or an alias
//	SKILL_YAML_TAG               E  a tag
//	SKILL_YAML_TAB               E  a tab outside of quotes, blocks and comments
//	SKILL_YAML_INDENTATION       E  mappings side by side are indented differently
//	SKILL_FIELD_UNEXPECTED       E  a field that the specification does not have
//	SKILL_NAME_MISSING           E  no name
//	SKILL_NAME_NOT_TEXT          E  the name is empty, a list or a mapping
//	SKILL_NAME_TOO_LONG          E  it has more than 64 characters after NFKC normalization, as for the rules that follow
//	SKILL_NAME_NOT_LOWERCASE     E  it has an upper case letter
//	SKILL_NAME_HYPHEN_AT_EDGE    E  it begins or ends with a hyphen
//	SKILL_NAME_DOUBLE_HYPHEN     E  it has two hyphens in a row
//	SKILL_NAME_CHARACTERS        E  it has a character that is no letter, digit or hyphen
//	SKILL_NAME_MISMATCH          E  it is not the folder's name
//	SKILL_NAME_NOT_ASCII         W  it is right, but has letters other than a to z, which some clients refuse
//	SKILL_DESCRIPTION_MISSING    E  no description
//	SKILL_DESCRIPTION_NOT_TEXT   E  the description is empty, a list or a mapping
//	SKILL_DESCRIPTION_TOO_LONG   E  it has more than 1,024 characters
//	SKILL_COMPATIBILITY_NOT_TEXT E  the compatibility is a list or a mapping
//	SKILL_COMPATIBILITY_TOO_LONG E  it has more than 500 characters
//
// A text of a command refers to another command where it links to a Markdown
// file in a folder of commands, as in "[x](other.md)", where it says
// "/folder:name" of a subfolder of one, and where it has the reader run
// "/two-words", which are no placeholder such as "/your-command". Anything else
// may be a path, a route or a command of the client's own, and is not reported;
// nor is what is in a block of code, but for "/folder:name". Of one file at most
// 100 references are reported, each once. Of one frontmatter, and of the files of
// one skill, at most 50 problems are, of which the last says how many more there
// are.
//
// The cost is that of List and ListSkills, the reading of every command and
// SKILL.md, whole, and a look at each file of a skill as for GetSkill. A ctx that
// ends, and Close, end Lint between two files at the latest. For the errors see
// List; a missing directory that an option names is a diagnostic here, a missing
// default directory is empty, and a missing root is ErrDirectoryNotFound.
func (c *Catalog) Lint(ctx context.Context) ([]Diagnostic, error) {
	const op = "Lint"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	if !c.enter() {
		return nil, closedError(op)
	}
	defer c.pending.Done()
	skills, skillsErr := c.config.skills.snapshot(ctx, c.skills)
	commands, commandsErr := c.config.commands.snapshot(ctx, c.commands)
	all := []Diagnostic{}
	for _, part := range []struct {
		err  error
		lint func() ([]Diagnostic, error)
	}{
		{c.commandsError(op, commandsErr), func() ([]Diagnostic, error) {
			l := newCommandLint(c, commands, skills)
			return c.lintFiles(ctx, c.commands, commands, l.file, func(*index.Entry) []Diagnostic { return nil })
		}},
		{c.skillsError(op, skillsErr), func() ([]Diagnostic, error) {
			return c.lintFiles(ctx, c.skills, skills, c.lintSkill, func(e *index.Entry) []Diagnostic { return c.lintSkillFolder(ctx, e) })
		}},
	} {
		if missing, ok := missingFolder(part.err); ok {
			all = append(all, missing)
			continue
		}
		if part.err != nil {
			return nil, part.err
		}
		found, err := await(ctx, c, part.lint)
		if errors.Is(err, fs.ErrClosed) {
			err = closedMeanwhile(op)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b Diagnostic) int { return index.CompareProblems(index.Problem(a), index.Problem(b)) })
	return slices.Compact(all), nil // the files of a skill within a skill belong to both
}

// A wholeFile is a file that was read whole.
type wholeFile struct {
	entry *index.Entry
	place string // its path as diagnostics have it
	raw   []byte
	doc   matter.Document
}

// lintFiles returns what a snapshot says is wrong, and what check finds in each
// of its files and around it, several at a time. What the snapshot says of the
// text of a file gives way to what is found in it whole.
func (c *Catalog) lintFiles(ctx context.Context, x *index.Index, snapshot *index.Snapshot, check func(wholeFile) []Diagnostic, around func(*index.Entry) []Diagnostic) ([]Diagnostic, error) {
	files := slices.Collect(snapshot.Files())
	found := make([][]Diagnostic, len(files))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	seen := make(map[index.Problem]bool)
	for i, e := range files {
		if e.Broken == nil && e.Whole() {
			for _, p := range e.Problems {
				seen[p] = true
			}
		}
		workers.Go(func() error {
			if err := c.going(ctx); err != nil {
				return err
			}
			if e.Broken == nil {
				found[i] = c.lintFile(x, e, check)
			}
			found[i] = append(found[i], around(e)...)
			return c.going(ctx) // then not all may have been found
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	var all []Diagnostic
	for _, p := range snapshot.Problems {
		if !seen[p] {
			all = append(all, Diagnostic(p))
		}
	}
	return append(all, slices.Concat(found...)...), nil
}

func (c *Catalog) lintFile(x *index.Index, e *index.Entry, check func(wholeFile) []Diagnostic) []Diagnostic {
	f := wholeFile{entry: e, place: x.Place(e)}
	raw, _, err := c.readFile(x.Layer(e.Layer).FS, e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // vanished meanwhile
		return nil
	case err != nil:
		return []Diagnostic{{Code: string(ErrFileRead.Code), Severity: index.Error, Path: f.place,
			Message: "cannot be read: " + reason(err), Suggestion: "check that it is a file and may be read"}}
	}
	f.raw = raw
	f.doc, _ = matter.Parse(raw, true)
	return check(f)
}

// at is a diagnostic of a file, at a field of its frontmatter.
func (f *wholeFile) at(field matter.Field, severity, code, message, suggestion string) Diagnostic {
	return Diagnostic{Code: code, Severity: severity, Path: f.place, Line: field.Line, Column: field.Column,
		Key: strings.Clone(field.Key), Message: message, Suggestion: suggestion}
}

// header is the problems of a file's frontmatter. Those that lost what it says
// are errors; of a skill, all are that the reference validator refuses too.
func (f *wholeFile) header(skill bool) []Diagnostic {
	var found []Diagnostic
	for _, p := range f.doc.Problems {
		d := Diagnostic(index.FromHeader(p, f.place))
		switch {
		case p.Class == matter.ValueCut, p.Class == matter.UnbalancedTools:
		case skill, p.Class == matter.Unterminated, p.Class == matter.UnknownFence, p.Class == matter.Refused, p.Class == matter.Invalid:
			d.Severity = index.Error
		}
		found = append(found, d)
	}
	return found
}

// field returns the field that counts of those with a key, and else one that
// stands for the whole frontmatter.
func (f *wholeFile) field(key string) (field matter.Field, ok bool) {
	for _, field := range slices.Backward(f.doc.Fields) {
		if field.Key == key {
			return field, true
		}
	}
	return matter.Field{Key: key, Line: max(f.doc.Line, 1)}, false
}

// missingFolder is the diagnostic for a directory below the root that does not
// exist.
func missingFolder(err error) (Diagnostic, bool) {
	var e *Error
	var failed *index.LayerError
	if !errors.As(err, &e) || e.Code != ErrDirectoryNotFound.Code || errors.As(err, &failed) && failed.NoRoot {
		return Diagnostic{}, false
	}
	return Diagnostic{Code: string(e.Code), Severity: index.Warning, Path: e.Path,
		Message: e.Message, Suggestion: "make the folder, or name another one in the options"}, true
}
