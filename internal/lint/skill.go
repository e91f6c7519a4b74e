package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// The limits of the Agent Skills specification, in characters
// (https://agentskills.io/specification).
const (
	maxSkillName          = 64
	maxSkillDescription   = 1024
	maxSkillCompatibility = 500
)

// skillFields are the fields that the specification has.
var skillFields = []string{"name", "description", "license", "compatibility", "metadata", "allowed-tools"}

var byteOrderMark = []byte("\uFEFF")

// Skill holds a SKILL.md to the rules of the reference validator.
func Skill(f File) []problem.Problem {
	found := f.header(true)
	if bytes.HasPrefix(f.Raw, byteOrderMark) {
		found = append(found, f.at(matter.Field{Line: 1}, problem.Error, problem.SkillByteOrderMark,
			"the file begins with a byte order mark, so that other clients find no frontmatter", "save the file as UTF-8 without a byte order mark"))
	}
	first, rest, _ := bytes.Cut(bytes.TrimPrefix(f.Raw, byteOrderMark), []byte("\n"))
	for range f.Doc.Line - 1 {
		first, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	switch {
	case string(bytes.TrimRight(first, " \t\r")) == "---" && f.Doc.Format == matter.YAML:
	case f.Doc.Format == "":
		explained := slices.ContainsFunc(f.Doc.Problems, func(p problem.Problem) bool {
			return p.Code == problem.FrontmatterUnterminated || p.Code == problem.FrontmatterNotAMapping || p.Code == problem.FrontmatterUnknownFence
		})
		if !explained {
			found = append(found, f.at(matter.Field{Line: 1}, problem.Error, problem.SkillFrontmatterMissing,
				"there is no frontmatter", `begin the file with a line "---", the fields name and description, and a line "---"`))
		}
		return found
	default:
		return append(found, f.at(matter.Field{Line: f.Doc.Line}, problem.Error, problem.SkillFrontmatterNotYAML,
			`the frontmatter is not YAML after a line "---", which is all that other clients read`, `write it as "key: value" between two lines "---"`))
	}
	if i := bytes.IndexByte(first, '\t'); i >= 0 {
		found = append(found, f.at(matter.Field{Line: f.Doc.Line, Column: 1 + i}, problem.Error, problem.SkillYAMLTab,
			`some clients, and the reference validator, do not read a frontmatter with a tab after the "---"`, "remove it"))
	}
	found = append(found, f.skillRules()...)
	return append(found, f.fenceInField(found)...)
}

// skillRules are those for a frontmatter that is YAML between two fences.
func (f *File) skillRules() []problem.Problem {
	var found []problem.Problem
	for _, p := range f.Doc.Strict() {
		found = append(found, p.In(f.Path))
	}
	found = append(found, f.unexpectedFields()...)
	found = append(found, f.skillName()...)
	found = append(found, f.skillDescription()...)
	return append(found, f.skillCompatibility()...)
}

// fenceInField reports a "---" in the frontmatter, where the reference validator
// takes it to end. That is an error if what is left to it is refused for this
// reason alone.
func (f *File) fenceInField(known []problem.Problem) []problem.Problem {
	i := bytes.Index(f.Doc.Header, []byte("---"))
	if i < 0 {
		return nil
	}
	left, severity := *f, problem.Warning
	left.Doc, _ = matter.Parse(slices.Concat([]byte("---\n"), f.Doc.Header[:i], []byte("\n---\n")), true)
	refused := func(d problem.Problem) bool { return d.Severity == problem.Error }
	if !slices.ContainsFunc(known, refused) && slices.ContainsFunc(append(left.header(true), left.skillRules()...), refused) {
		severity = problem.Error
	}
	begin := bytes.LastIndexByte(f.Doc.Header[:i], '\n') + 1
	at := matter.Field{Line: f.Doc.Line + 1 + bytes.Count(f.Doc.Header[:i], []byte("\n")), Column: 1 + utf8.RuneCount(f.Doc.Header[begin:i])}
	return []problem.Problem{f.at(at, severity, problem.SkillFenceInField,
		`some clients, and the reference validator, take the "---" here for the end of the frontmatter`, "write another dash")}
}

func (f *File) unexpectedFields() []problem.Problem {
	var found []problem.Problem
	seen := make(map[string]bool)
	for _, field := range f.Doc.Fields {
		key := field.Key
		if seen[key] || slices.Contains(skillFields, key) {
			continue
		}
		seen[key] = true
		suggestion := `move it below "metadata", or remove it`
		if slices.Contains(clientFields, key) {
			suggestion = "keep it only if all clients that the skill is for know it, as this library does"
		}
		if meant := nearestField(key); meant != "" {
			suggestion = "write " + meant
		}
		found = append(found, f.at(field, problem.Error, problem.SkillFieldUnexpected,
			"the Agent Skills specification has no field "+strconv.Quote(shorten(key)), suggestion))
	}
	return found
}

// clientFields are fields of no specification that GetSkill and SkillsPrompt
// act on. Anywhere else than at the top they would do nothing.
var clientFields = []string{"disable-model-invocation", "user-invocable"}

// nearestField is the field that its author may have meant by a key that is
// none, such as allowed_tools or licence; "" if there is no such.
func nearestField(key string) string {
	if len(key) > 2*len("compatibility") {
		return ""
	}
	key = strings.ReplaceAll(key, "_", "-")
	for i, field := range skillFields {
		if names.Nearest(key, slices.Values(skillFields[i:i+1]), len(field)/4, nil) != "" {
			return field
		}
	}
	return ""
}

// skillName checks the name, which counts as it is after NFKC normalization.
func (f *File) skillName() []problem.Problem {
	field, ok := f.field("name")
	folder := f.Name
	if !ok {
		return []problem.Problem{f.at(field, problem.Error, problem.SkillNameMissing, "there is no name", skillNameFix("", folder))}
	}
	text, ok := scalar(field.Value)
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return []problem.Problem{f.at(field, problem.Error, problem.SkillNameNotText, "the name is "+notText(ok), skillNameFix("", folder))}
	}
	var found []problem.Problem
	fix := skillNameFix(text, folder)
	report := func(broken bool, code problem.Code, message string) {
		if broken {
			found = append(found, f.at(field, problem.Error, code, message, fix))
		}
	}
	name := norm.NFKC.String(text)
	n := utf8.RuneCountInString(name)
	report(n > maxSkillName, problem.SkillNameTooLong, fmt.Sprintf("the name has %d characters, where %d are allowed", n, maxSkillName))
	report(name != strings.ToLower(name), problem.SkillNameNotLowercase, "the name has upper case letters")
	report(name[0] == '-' || name[len(name)-1] == '-', problem.SkillNameHyphenAtEdge, "the name begins or ends with a hyphen")
	report(strings.Contains(name, "--"), problem.SkillNameDoubleHyphen, "the name has two hyphens in a row")
	if i := strings.IndexFunc(name, notInSkillName); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		report(true, problem.SkillNameCharacters, fmt.Sprintf("the name has the character %q, where letters, digits and hyphens are allowed", r))
	}
	if len(found) == 0 && strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		found = append(found, f.at(field, problem.Warning, problem.SkillNameNotASCII,
			"the name has letters other than a to z, which some clients refuse", "use a to z, digits and hyphens"))
	}
	report(name != norm.NFKC.String(folder), problem.SkillNameMismatch, "the name is not that of the folder, "+strconv.Quote(folder))
	return found
}

// notInSkillName reports a character that is no letter, number or hyphen, as
// the reference validator's str.isalnum has it.
func notInSkillName(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

func validSkillName(name string) bool { return name != "" && name == skillSpelling(name) }

// skillSpelling is a valid name that reads like name; "" if nothing of it can
// be in one.
func skillSpelling(name string) string {
	words := strings.FieldsFunc(strings.ToLower(norm.NFKC.String(name)), func(r rune) bool { return r == '-' || notInSkillName(r) })
	runes := []rune(strings.Join(words, "-"))
	return strings.TrimRight(string(runes[:min(len(runes), maxSkillName)]), "-")
}

// skillNameFix says how a declared name and that of the folder become one that
// is valid. The folder's goes first, since it is what the skill is called here.
func skillNameFix(declared, folder string) string {
	name := folder
	if !validSkillName(folder) {
		if name = skillSpelling(declared); name == "" {
			name = skillSpelling(folder)
		}
	}
	if name == "" {
		return "give the name and the folder lower case letters, digits and hyphens"
	}
	var steps []string
	if declared != name {
		steps = append(steps, "write name: "+name)
	}
	if folder != name {
		steps = append(steps, "rename the folder to "+strconv.Quote(name))
	}
	return strings.Join(steps, " and ")
}

func (f *File) skillDescription() []problem.Problem {
	field, ok := f.field("description")
	if !ok {
		return []problem.Problem{f.at(field, problem.Error, problem.SkillDescriptionMissing, "there is no description", describeSkill)}
	}
	text, ok := scalar(field.Value)
	if !ok || strings.TrimSpace(text) == "" {
		return []problem.Problem{f.at(field, problem.Error, problem.SkillDescriptionNotText, "the description is "+notText(ok), describeSkill)}
	}
	return f.tooLong(field, text, maxSkillDescription, problem.SkillDescriptionTooLong)
}

const describeSkill = "add one that says what the skill does and when to use it"

func (f *File) skillCompatibility() []problem.Problem {
	field, ok := f.field("compatibility")
	if !ok {
		return nil
	}
	text, ok := scalar(field.Value)
	if !ok {
		return []problem.Problem{f.at(field, problem.Error, problem.SkillCompatibilityNotText, "the compatibility is "+notText(ok), "write it as one text")}
	}
	return f.tooLong(field, text, maxSkillCompatibility, problem.SkillCompatibilityTooLong)
}

func (f *File) tooLong(field matter.Field, text string, limit int, code problem.Code) []problem.Problem {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return nil
	}
	return []problem.Problem{f.at(field, problem.Error, code,
		fmt.Sprintf("the %s has %d characters, where %d are allowed", field.Key, n, limit), fmt.Sprintf("shorten it by %d", n-limit))}
}

// scalar is the text of a value that is one, with the line break at the end of
// a block, as a validator counts it; ok is false for a list and a mapping.
func scalar(v matter.Value) (text string, ok bool) {
	switch v.Kind {
	case matter.Sequence, matter.Mapping:
		return "", false
	case matter.Null:
		return "", true
	default:
		return v.Text, true
	}
}

func notText(isScalar bool) string {
	if isScalar {
		return "empty"
	}
	return "a list or a mapping, where a text is needed"
}

// shorten cuts a text that is quoted in a message.
func shorten(s string) string {
	const limit = 60
	runes := []rune(s[:min(len(s), 4*limit)])
	if len(runes) <= limit {
		return s
	}
	return string(runes[:limit-1]) + "…"
}
