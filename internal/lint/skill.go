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
	s.found = s.header()
	s.ofFile()
	if s.isYAML() {
		s.ofFields()
		reconcile(s.found)
		s.fenceInField()
	}
	return s.profile.Judge(s.kind, s.found)
}

// A skill is a SKILL.md with the values that the rules check.
type skill struct {
	File
	fence                            string // line of the opening fence, without the line break
	name, description, compatibility value
	normalized                       string // trimmed name after NFKC normalization
	found                            []problem.Problem
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
	before := bytes.TrimSuffix(bytes.TrimPrefix(f.Raw[:f.Doc.Start], byteOrderMark), []byte("\n"))
	s.fence = string(before[bytes.LastIndexByte(before, '\n')+1:])
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
	v := value{Field: field, present: ok, scalar: field.Value.Kind < matter.Sequence}
	if v.scalar && field.Value.Kind != matter.Null {
		v.text = field.Value.Text
	}
	return v
}

// empty reports whether a scalar is present and has no text.
func (v *value) empty() bool { return v.present && v.scalar && strings.TrimSpace(v.text) == "" }

// isYAML reports whether the frontmatter is YAML between lines "---".
func (s *skill) isYAML() bool {
	return s.Doc.Format == matter.YAML && strings.TrimRight(s.fence, " \t\r") == "---"
}

// report adds an error at a place if something is wrong.
func (s *skill) report(
	wrong bool, code problem.Code, place matter.Field, message, suggestion string,
) {
	if wrong {
		s.found = append(s.found, s.at(place, problem.Error, code, message, suggestion))
	}
}

// ofFile checks the rules for every SKILL.md.
func (s *skill) ofFile() {
	start, fence := matter.Field{Line: 1}, matter.Field{Line: s.Doc.Line}
	s.report(bytes.HasPrefix(s.Raw, byteOrderMark), problem.SkillByteOrderMark, start,
		"the file begins with a byte order mark; other clients find no frontmatter",
		"save the file as UTF-8 without a byte order mark")
	s.report(s.Doc.Format == "" && !s.explained(), problem.SkillFrontmatterMissing, start,
		"frontmatter is missing",
		`begin the file with a line "---", the fields name and description, and a line "---"`)
	s.report(s.Doc.Format != "" && !s.isYAML(), problem.SkillFrontmatterNotYAML, fence,
		`the frontmatter is not YAML between lines "---"; other clients read only YAML`,
		`write the fields as "key: value" between two lines "---"`)
	fence.Column = 1 + strings.IndexByte(s.fence, '\t')
	s.report(fence.Column > 0 && s.isYAML(), problem.SkillYAMLTab, fence,
		`some clients, including the reference validator, reject a tab after "---"`, "remove the tab")
}

// ofFields checks the fields of a frontmatter that is YAML.
func (s *skill) ofFields() {
	if s.profile.client.Strict {
		for _, p := range strictProblems(&s.Doc) {
			s.found = append(s.found, p.In(s.Path))
		}
	}
	if !s.rejects || s.profile.client.Strict { // otherwise warnings
		s.unexpectedFields()
	}
	s.ofName()
	const describe = "describe what the skill does and when to use it"
	d, c := s.description, s.compatibility
	s.report(!d.present, problem.SkillDescriptionMissing, d.Field, "description is missing", describe)
	if !d.scalar || d.empty() {
		s.report(true, problem.SkillDescriptionNotText, d.Field, notText(d.Field), describe)
	}
	s.limit(problem.SkillDescriptionTooLong, "description", d)
	if !c.scalar {
		s.report(true, problem.SkillCompatibilityNotText, c.Field, notText(c.Field),
			"write the compatibility as text")
	}
	s.limit(problem.SkillCompatibilityTooLong, "compatibility", c)
	metadata, ok := s.field("metadata")
	if kind := metadata.Value.Kind; ok && kind != matter.Mapping && kind != matter.Null {
		s.found = append(s.found, s.at(metadata, problem.Warning, problem.SkillMetadataNotAMapping,
			"metadata is not a mapping; clients ignore the value",
			`write each value as "key: value" in an indented line below metadata`))
	}
	s.found = append(s.found, s.fields()...)
}

// unexpectedFields reports the last field of each key that the client does not define.
func (s *skill) unexpectedFields() {
	for _, field := range s.unique {
		defines := func(f client.Field) bool { return f.Name == field.Key && f.In(s.kind) }
		if !slices.ContainsFunc(s.profile.client.Fields, defines) {
			s.report(true, problem.SkillFieldUnexpected, field, s.profile.title()+
				" does not define the field "+strconv.Quote(shorten(field.Key)), s.fieldSuggestion(field))
		}
	}
}

// ofName checks the name after File.NFKC.
func (s *skill) ofName() {
	name := s.normalized
	report := func(wrong bool, code problem.Code, message string) {
		if wrong {
			s.report(true, code, s.name.Field, message, s.nameSuggestion())
		}
	}
	report(!s.name.present, problem.SkillNameMissing, "name is missing")
	if !s.name.scalar || s.name.empty() {
		report(true, problem.SkillNameNotText, notText(s.name.Field))
	}
	if limit := s.profile.field(s.kind, "name").Limit; exceeds(name, limit) {
		report(true, problem.SkillNameTooLong, tooLong("name", name, limit))
	}
	report(name != strings.ToLower(name), problem.SkillNameNotLowercase,
		"name contains an uppercase letter")
	report(name != strings.Trim(name, "-"), problem.SkillNameHyphenAtEdge,
		"name begins or ends with a hyphen")
	report(strings.Contains(name, "--"), problem.SkillNameDoubleHyphen,
		"name contains two consecutive hyphens")
	if i := strings.IndexFunc(name, notInName); i >= 0 {
		r, _ := utf8.DecodeRuneInString(name[i:])
		report(true, problem.SkillNameCharacters, fmt.Sprintf(
			"name contains the character %q; use letters, digits and hyphens", r))
	}
	if validName(name) && strings.ContainsFunc(name, notASCII) {
		s.found = append(s.found, s.at(s.name.Field, problem.Warning, problem.SkillNameNotASCII,
			"name contains letters other than a to z; some clients reject these letters",
			"use a to z, digits and hyphens"))
	}
	if name != "" && s.Name != "" && name != s.normalize(s.Name) {
		declared := strconv.Quote(shorten(strings.TrimSpace(s.name.text)))
		report(true, problem.SkillNameMismatch,
			"name "+declared+" does not match the "+s.owner()+" name "+strconv.Quote(s.Name))
	}
}

// limit reports a text that is longer than the client allows.
func (s *skill) limit(code problem.Code, key string, v value) {
	if limit := s.profile.field(s.kind, key).Limit; exceeds(v.text, limit) {
		s.report(true, code, v.Field, tooLong(key, v.text, limit), shortenBy(v.text, limit))
	}
}

func exceeds(text string, limit int) bool {
	return limit > 0 && utf8.RuneCountInString(text) > limit
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
func (s *skill) fenceInField() {
	header := s.Doc.Header
	i := strings.Index(header, "---")
	if i < 0 {
		return
	}
	isError := func(p problem.Problem) bool { return p.Severity == problem.Error }
	severity := problem.Warning
	if s.profile.client.Strict && !slices.ContainsFunc(s.found, isError) {
		rest := s.File
		rest.Raw = []byte("---\n" + header[:i] + "\n---\n")
		rest.Doc, _ = matter.Parse(rest.Raw, true)
		r := newSkill(rest, s.profile)
		r.found = r.header()
		if r.ofFields(); slices.ContainsFunc(r.found, isError) {
			severity = problem.Error
		}
	}
	place := placeAfter([]byte(header[:i]))
	place.Line += s.Doc.Line
	s.found = append(s.found, s.at(place, severity, problem.SkillFenceInField,
		`some clients, including the reference validator, end the frontmatter at this "---"`,
		"use another dash"))
}

// effectiveFields are the top-level fields of skills that toolshelf supports in addition to the
// specification. Below "metadata" these fields have no effect.
var effectiveFields = []string{"disable-model-invocation", "user-invocable"}

var byteOrderMark = []byte("\uFEFF")

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

func (s *skill) fieldSuggestion(place matter.Field) string {
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
func (s *skill) nameSuggestion() string {
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

func notText(place matter.Field) string {
	if place.Value.Kind == matter.Sequence || place.Value.Kind == matter.Mapping {
		return place.Key + " is a list or a mapping; text is required"
	}
	return place.Key + " is empty"
}

func tooLong(key, text string, limit int) string {
	return fmt.Sprintf("%s has %d characters; at most %d are allowed", key, utf8.RuneCountInString(text), limit)
}

func shortenBy(text string, limit int) string {
	return fmt.Sprintf("remove %d characters", utf8.RuneCountInString(text)-limit)
}
