package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Skill checks a SKILL.md against the rules of a client, and reports invisible characters. Skill
// returns at most problem.Max problems of the rules, in the order of problem.Compare. The limit
// does not apply to invisible characters: other defects must not hide an attack.
func (p *Profile) Skill(f File) []problem.Problem {
	s := newSkill(f, p)
	found := s.problems()
	slices.SortFunc(found, problem.Compare)
	return slices.Concat(problem.Limit(found), s.miscounted(), s.invisible())
}

// problems returns the problems of the rules.
func (s *skill) problems() []problem.Problem {
	found := append(s.header(), s.check(fileRules)...)
	if s.isYAML() {
		found = append(found, s.ofFields()...)
		reconcile(found)
		found = append(found, s.fenceInField(found)...)
	}
	return s.profile.Judge(s.kind, found)
}

// A skill is a SKILL.md with the values that the rules check.
type skill struct {
	File
	fence                            string // line of the opening fence, without the line break
	name, description, compatibility value
	normalized                       string // trimmed name after NFKC normalization
}

// A value is a field that the specification defines as text.
type value struct {
	matter.Field
	present bool
	scalar  bool   // not a list or a mapping
	text    string // as a validator counts the text: with the line break at the end of a block
}

func newSkill(f File, p *Profile) *skill {
	s := &skill{File: f}
	s.prepare(client.Skills, p)
	text := bytes.TrimPrefix(f.Raw, byteOrderMark)
	for range f.Doc.Line - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	s.fence = string(first)
	s.name, s.description, s.compatibility = s.value("name"), s.value("description"), s.value("compatibility")
	s.normalized = s.normalize(strings.TrimSpace(s.name.text))
	return s
}

func (s *skill) normalize(name string) string {
	if s.NFKC == nil {
		return name
	}
	return s.NFKC(name)
}

func (s *skill) value(key string) value {
	field, ok := s.field(key)
	v := value{Field: field, present: ok}
	switch field.Value.Kind {
	case matter.Sequence, matter.Mapping:
	case matter.Null:
		v.scalar = true
	default:
		v.scalar, v.text = true, field.Value.Text
	}
	return v
}

// empty reports whether a scalar is present and has no text.
func (v *value) empty() bool { return v.present && v.scalar && strings.TrimSpace(v.text) == "" }

// isYAML reports whether the frontmatter is YAML between lines "---".
func (s *skill) isYAML() bool {
	return s.Doc.Format == matter.YAML && strings.TrimRight(s.fence, " \t\r") == "---"
}

// ofFields checks the fields of a frontmatter that is YAML.
func (s *skill) ofFields() []problem.Problem {
	var found []problem.Problem
	if s.profile.client.Strict {
		for _, p := range strictProblems(&s.Doc) {
			found = append(found, p.In(s.Path))
		}
	}
	return slices.Concat(found, s.check(fieldRules), s.fields())
}

// reconcile gives the problems of one field one correction: the correction of a rule for
// the value, or else the correction of the notation.
func reconcile(found []problem.Problem) {
	decided := make(map[string]string)
	for _, p := range found {
		switch p.Code {
		case problem.SkillDescriptionNotText, problem.SkillCompatibilityNotText, problem.SkillMetadataNotAMapping:
			decided[p.Key] = p.Suggestion
		case problem.SkillNameNotText, problem.SkillNameTooLong, problem.SkillNameNotLowercase, problem.SkillNameHyphenAtEdge,
			problem.SkillNameDoubleHyphen, problem.SkillNameCharacters, problem.SkillNameMismatch:
			if strings.Contains(p.Suggestion, nameKey) {
				decided[p.Key] = p.Suggestion
			}
		}
	}
	for i := range found {
		p := &found[i]
		if _, ok := matter.Written(p.Suggestion); !ok {
			continue
		}
		if suggestion := decided[p.Key]; suggestion != "" {
			p.Suggestion = suggestion
		}
		for j := range found {
			q := &found[j]
			if notation := q.Code == problem.SkillYAMLAnchor || q.Code == problem.SkillYAMLTag; notation && q.Line == p.Line && q.Column == p.Column {
				q.Suggestion = p.Suggestion
			}
		}
	}
}

// fenceInField reports a "---" inside the frontmatter. The reference validator
// ends the frontmatter there. The problem is an error if the validator rejects
// the rest of the frontmatter for no other known reason.
func (s *skill) fenceInField(known []problem.Problem) []problem.Problem {
	header := s.Doc.Header
	i := strings.Index(header, "---")
	if i < 0 {
		return nil
	}
	isError := func(p problem.Problem) bool { return p.Severity == problem.Error }
	severity := problem.Warning
	if s.profile.client.Strict && !slices.ContainsFunc(known, isError) {
		rest := s.File
		rest.Raw = []byte("---\n" + header[:i] + "\n---\n")
		rest.Doc, _ = matter.Parse(rest.Raw, true)
		if r := newSkill(rest, s.profile); slices.ContainsFunc(append(r.header(), r.ofFields()...), isError) {
			severity = problem.Error
		}
	}
	begin := strings.LastIndexByte(header[:i], '\n') + 1
	place := matter.Field{Line: s.Doc.Line + 1 + strings.Count(header[:i], "\n"), Column: 1 + utf8.RuneCountInString(header[begin:i])}
	return []problem.Problem{s.at(place, severity, problem.SkillFenceInField,
		`some clients, including the reference validator, end the frontmatter at this "---"`, "use another dash")}
}

// effectiveFields are the top-level fields of skills that toolshelf supports in addition to the
// specification. Below "metadata" these fields have no effect.
var effectiveFields = []string{"disable-model-invocation", "user-invocable"}

var byteOrderMark = []byte("\uFEFF")

// A rule is a condition that a SKILL.md must not meet.
type rule struct {
	code       problem.Code
	severity   problem.Severity
	condition  func(*skill) []matter.Field // places where the file meets the condition
	message    text
	suggestion text
}

// A text returns a message or a suggestion for a place.
type text func(s *skill, place matter.Field) string

// check applies rules.
func (s *skill) check(rules []rule) []problem.Problem {
	var found []problem.Problem
	for _, r := range rules {
		for _, place := range r.condition(s) {
			found = append(found, s.at(place, r.severity, r.code, r.message(s, place), r.suggestion(s, place)))
		}
	}
	return found
}

// fileRules apply to every SKILL.md.
var fileRules = []rule{
	{problem.SkillByteOrderMark, problem.Error, atStart(func(s *skill) bool { return bytes.HasPrefix(s.Raw, byteOrderMark) }),
		literal("the file begins with a byte order mark; other clients find no frontmatter"), literal("save the file as UTF-8 without a byte order mark")},
	{problem.SkillFrontmatterMissing, problem.Error, atStart(func(s *skill) bool { return s.Doc.Format == "" && !s.explained() }),
		literal("frontmatter is missing"), literal(`begin the file with a line "---", the fields name and description, and a line "---"`)},
	{problem.SkillFrontmatterNotYAML, problem.Error, atFence(func(s *skill) bool { return s.Doc.Format != "" && !s.isYAML() }),
		literal(`the frontmatter is not YAML between lines "---"; other clients read only YAML`), literal(`write the fields as "key: value" between two lines "---"`)},
	{problem.SkillYAMLTab, problem.Error, tabInFence,
		literal(`some clients, including the reference validator, reject a tab after "---"`), literal("remove the tab")},
}

// fieldRules apply to a frontmatter that is YAML. The rules for a name apply to
// the name after File.NFKC.
var fieldRules = []rule{
	{problem.SkillFieldUnexpected, problem.Error, unexpectedFields, unexpectedField, fieldSuggestion},

	{problem.SkillNameMissing, problem.Error, inName(func(s *skill) bool { return !s.name.present }),
		literal("name is missing"), nameSuggestion},
	{problem.SkillNameNotText, problem.Error, inName(func(s *skill) bool { return !s.name.scalar || s.name.empty() }),
		notText, nameSuggestion},
	{problem.SkillNameTooLong, problem.Error, inName(func(s *skill) bool { return s.exceeds("name", s.normalized) }),
		func(s *skill, _ matter.Field) string { return tooLong("name", s.normalized, s.limit("name")) }, nameSuggestion},
	{problem.SkillNameNotLowercase, problem.Error, inName(func(s *skill) bool { return s.normalized != strings.ToLower(s.normalized) }),
		literal("name contains an uppercase letter"), nameSuggestion},
	{problem.SkillNameHyphenAtEdge, problem.Error, inName(func(s *skill) bool { return s.normalized != strings.Trim(s.normalized, "-") }),
		literal("name begins or ends with a hyphen"), nameSuggestion},
	{problem.SkillNameDoubleHyphen, problem.Error, inName(func(s *skill) bool { return strings.Contains(s.normalized, "--") }),
		literal("name contains two consecutive hyphens"), nameSuggestion},
	{problem.SkillNameCharacters, problem.Error, inName(func(s *skill) bool { return strings.ContainsFunc(s.normalized, notInName) }),
		invalidCharacter, nameSuggestion},
	{problem.SkillNameNotASCII, problem.Warning, inName(func(s *skill) bool { return validName(s.normalized) && strings.ContainsFunc(s.normalized, notASCII) }),
		literal("name contains letters other than a to z; some clients reject these letters"), literal("use a to z, digits and hyphens")},
	{problem.SkillNameMismatch, problem.Error, inName(func(s *skill) bool { return s.normalized != "" && s.Name != "" && s.normalized != s.normalize(s.Name) }),
		func(s *skill, _ matter.Field) string {
			return "name " + strconv.Quote(shorten(strings.TrimSpace(s.name.text))) + " does not match the " + s.owner() + " name " + strconv.Quote(s.Name)
		}, nameSuggestion},

	{problem.SkillDescriptionMissing, problem.Error, inDescription(func(v *value) bool { return !v.present }),
		literal("description is missing"), describe},
	{problem.SkillDescriptionNotText, problem.Error, inDescription(func(v *value) bool { return !v.scalar || v.empty() }),
		notText, describe},
	{problem.SkillDescriptionTooLong, problem.Error, tooLongIn("description"), tooLongText("description"), shortenText("description")},

	{problem.SkillCompatibilityNotText, problem.Error, inCompatibility(func(v *value) bool { return !v.scalar }),
		notText, literal("write the compatibility as text")},
	{problem.SkillCompatibilityTooLong, problem.Error, tooLongIn("compatibility"), tooLongText("compatibility"), shortenText("compatibility")},

	{problem.SkillMetadataNotAMapping, problem.Warning, metadataWithoutKeys,
		literal("metadata is not a mapping; clients ignore the value"), literal(`write each value as "key: value" in an indented line below metadata`)},
}

// Conditions at one place.

func atStart(met func(*skill) bool) func(*skill) []matter.Field {
	return func(s *skill) []matter.Field { return placeIf(met(s), matter.Field{Line: 1}) }
}

func atFence(met func(*skill) bool) func(*skill) []matter.Field {
	return func(s *skill) []matter.Field { return placeIf(met(s), matter.Field{Line: s.Doc.Line}) }
}

func inName(met func(*skill) bool) func(*skill) []matter.Field {
	return func(s *skill) []matter.Field { return placeIf(met(s), s.name.Field) }
}

func inDescription(met func(*value) bool) func(*skill) []matter.Field {
	return func(s *skill) []matter.Field { return placeIf(met(&s.description), s.description.Field) }
}

func inCompatibility(met func(*value) bool) func(*skill) []matter.Field {
	return func(s *skill) []matter.Field { return placeIf(met(&s.compatibility), s.compatibility.Field) }
}

// tooLongIn is the condition that the client rejects the length of a text.
func tooLongIn(key string) func(*skill) []matter.Field {
	return func(s *skill) []matter.Field {
		v := s.value(key)
		return placeIf(s.exceeds(key, v.text), v.Field)
	}
}

// limit returns the number of characters that the client allows, or 0.
func (s *skill) limit(key string) int { return s.profile.field(s.kind, key).Limit }

func (s *skill) exceeds(key, text string) bool {
	limit := s.limit(key)
	return limit > 0 && utf8.RuneCountInString(text) > limit
}

func placeIf(met bool, place matter.Field) []matter.Field {
	if !met {
		return nil
	}
	return []matter.Field{place}
}

func tabInFence(s *skill) []matter.Field {
	i := strings.IndexByte(s.fence, '\t')
	return placeIf(s.isYAML() && i >= 0, matter.Field{Line: s.Doc.Line, Column: 1 + i})
}

// unexpectedFields returns the last field of each key that the client does not define.
func unexpectedFields(s *skill) []matter.Field {
	if s.rejects && !s.profile.client.Strict {
		return nil // warnings
	}
	var found []matter.Field
	for _, field := range s.unique {
		if !slices.ContainsFunc(s.profile.client.Fields, func(f client.Field) bool { return f.Name == field.Key && f.In(s.kind) }) {
			found = append(found, field)
		}
	}
	return found
}

func metadataWithoutKeys(s *skill) []matter.Field {
	field, ok := s.field("metadata")
	return placeIf(ok && field.Value.Kind != matter.Mapping && field.Value.Kind != matter.Null, field)
}

// notInName reports characters other than letters, numbers and hyphens, like
// str.isalnum in the reference validator.
func notInName(r rune) bool { return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

func notASCII(r rune) bool { return r >= utf8.RuneSelf }

func validName(name string) bool { return name != "" && name == spelling(name) }

// spelling returns a valid name that resembles name; "" if name has no letter and
// no digit.
func spelling(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || notInName(r) })
	runes := []rune(strings.Join(words, "-"))
	return strings.TrimRight(string(runes[:min(len(runes), specifiedName().Limit)]), "-")
}

// Messages and suggestions.

func literal(s string) text { return func(*skill, matter.Field) string { return s } }

var describe = literal("describe what the skill does and when to use it")

func unexpectedField(s *skill, place matter.Field) string {
	return s.profile.title() + " does not define the field " + strconv.Quote(shorten(place.Key))
}

func fieldSuggestion(s *skill, place matter.Field) string {
	if key := s.spelling(place.Key); key != "" {
		return s.spell(place, key)
	}
	if slices.Contains(effectiveFields, place.Key) {
		return "keep the field only if all clients of the skill support the field, as this library does"
	}
	return `move the field below "metadata", or remove the field`
}

// owner names what has the name of the skill.
func (s *skill) owner() string {
	if s.Alone {
		return "file"
	}
	return "directory"
}

const nameKey = "name: "

// nameSuggestion states how the field "name" and the directory get the same valid name.
// nameSuggestion prefers the directory name, because the directory name is the name of
// the skill in toolshelf. The field is the end of the suggestion.
func nameSuggestion(s *skill, _ matter.Field) string {
	declared := strings.TrimSpace(s.name.text)
	name := s.Name
	if !validName(name) {
		if name = spelling(s.normalize(declared)); name == "" {
			name = spelling(s.normalize(s.Name))
		}
	}
	if name == "" {
		return "give the name and the " + s.owner() + " lowercase letters, digits and hyphens"
	}
	var steps []string
	if s.Name != name && s.Name != "" {
		steps = append(steps, "rename the "+s.owner()+" to "+strconv.Quote(name))
	}
	field := nameKey + matter.Value{Kind: matter.String, Text: name}.Scalar()
	switch {
	case !s.name.present:
		steps = append(steps, "add "+field)
	case declared != name:
		step := s.Doc.Write(s.name.Field, field)
		if step == "" {
			step = "give the name the value " + strconv.Quote(name)
		}
		steps = append(steps, step)
	}
	return strings.Join(steps, " and ")
}

func invalidCharacter(s *skill, _ matter.Field) string {
	i := strings.IndexFunc(s.normalized, notInName)
	r, _ := utf8.DecodeRuneInString(s.normalized[i:])
	return fmt.Sprintf("name contains the character %q; use letters, digits and hyphens", r)
}

func notText(_ *skill, place matter.Field) string {
	if place.Value.Kind == matter.Sequence || place.Value.Kind == matter.Mapping {
		return place.Key + " is a list or a mapping; text is required"
	}
	return place.Key + " is empty"
}

func tooLongText(key string) text {
	return func(s *skill, _ matter.Field) string { return tooLong(key, s.value(key).text, s.limit(key)) }
}

func shortenText(key string) text {
	return func(s *skill, _ matter.Field) string { return shortenBy(s.value(key).text, s.limit(key)) }
}

func tooLong(key, text string, limit int) string {
	return fmt.Sprintf("%s has %d characters; at most %d are allowed", key, utf8.RuneCountInString(text), limit)
}

func shortenBy(text string, limit int) string {
	return fmt.Sprintf("remove %d characters", utf8.RuneCountInString(text)-limit)
}
