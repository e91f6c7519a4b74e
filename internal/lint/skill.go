package lint

import (
	"bytes"
	"slices"
	"strings"
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
