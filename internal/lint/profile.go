package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Profile judges files as a client does. An error is a file that the client rejects, and a
// warning is a defect that the client tolerates: the client ignores or changes a value.
type Profile struct {
	client client.Client
	meant  map[client.Files][]string // the keys that a misspelled key can mean
}

// Clients returns the client of the profile, or no client for the Agent Skills specification.
func (p *Profile) Clients() []client.Client {
	if len(p.client.Servers.Files) == 0 {
		return nil
	}
	return []client.Client{p.client}
}

// Default is the profile of the Agent Skills specification, with the keys of all clients.
var Default = sync.OnceValue(func() *Profile {
	p := For(client.AgentSkills())
	for kind := range p.meant {
		p.meant[kind] = keysOf(kind, append([]client.Client{p.client}, client.All()...)...)
	}
	return p
})

// For returns the profile of a client. A client without fields for skills follows the fields of the
// specification.
func For(c client.Client) *Profile {
	p := &Profile{client: c, meant: map[client.Files][]string{}}
	for _, kind := range []client.Files{client.Commands, client.Skills, client.Agents} {
		of := []client.Client{c}
		if !slices.ContainsFunc(c.Fields, func(f client.Field) bool { return f.In(kind) }) {
			of = append([]client.Client{client.AgentSkills()}, client.All()...)
			if kind == client.Skills {
				p.client.Fields = append(slices.Clone(c.Fields), of[0].Fields...)
			}
		}
		p.meant[kind] = keysOf(kind, of...)
	}
	return p
}

// ownKeys are the keys of this library.
var ownKeys = []string{"is_dependency", "tags"}

// keysOf returns the keys of a kind of files, each once, and the keys of this library.
func keysOf(kind client.Files, clients ...client.Client) (keys []string) {
	for _, c := range clients {
		for _, f := range c.Fields {
			if f.In(kind) && !slices.Contains(keys, f.Name) {
				keys = append(keys, f.Name)
			}
		}
	}
	return append(keys, ownKeys...)
}

// knownKeys are the keys of all clients for all kinds of files. No known key is misspelled.
var knownKeys = sync.OnceValue(func() map[string]bool {
	known := map[string]bool{}
	for _, kind := range []client.Files{client.Commands, client.Skills, client.Agents} {
		for _, key := range keysOf(kind, append(client.All(), client.AgentSkills())...) {
			known[key] = true
		}
	}
	return known
})

// specified are the fields of the Agent Skills specification.
var specified = sync.OnceValue(func() []string {
	keys := keysOf(client.Skills, client.AgentSkills())
	return keys[:len(keys)-len(ownKeys)]
})

// specifiedName is the field name of the specification.
var specifiedName = sync.OnceValue(func() client.Field { return Default().field(client.Skills, "name") })

// field returns the field of a kind of files, or a field without rules.
func (p *Profile) field(kind client.Files, name string) client.Field {
	for _, f := range p.client.Fields {
		if f.Name == name && f.In(kind) {
			return f
		}
	}
	return client.Field{Name: name}
}

// requires reports whether the client rejects files of a kind without a header.
func (p *Profile) requires(kind client.Files) bool {
	return slices.ContainsFunc(p.client.Fields, func(f client.Field) bool { return f.Required && f.In(kind) })
}

// demands reports whether the client has a rule by which the client rejects a file of a kind.
func (p *Profile) demands(kind client.Files) bool {
	return slices.ContainsFunc(p.client.Fields, func(f client.Field) bool {
		return (f.Required || f.Slug || f.Directory || f.Limit > 0) && f.In(kind)
	})
}

// title names the client in a message.
func (p *Profile) title() string {
	if p.client.Name == client.AgentSkills().Name {
		return "the Agent Skills specification"
	}
	return cmp.Or(p.client.Title, p.client.Name, "the client")
}

// Judge gives problems the severity that they have for the client, and removes the problems of
// rules that the client does not have. The given severities are those of a strict client.
func (p *Profile) Judge(kind client.Files, found []problem.Problem) []problem.Problem {
	if p.client.Strict {
		return found
	}
	name, description := p.field(kind, "name"), p.field(kind, "description")
	errorIf := func(rejected bool) problem.Severity {
		if rejected {
			return problem.Error
		}
		return problem.Warning
	}
	judged := found[:0]
	for _, q := range found {
		keep := true
		switch q.Code {
		case problem.SkillYAMLFlowStyle, problem.SkillYAMLAnchor, problem.SkillYAMLTag, problem.SkillYAMLTab, problem.SkillYAMLIndentation:
			keep = false
		case problem.SkillFrontmatterMissing, problem.SkillFrontmatterNotYAML, problem.FrontmatterUnterminated, problem.FrontmatterUnknownFence,
			problem.FrontmatterRefused, problem.FrontmatterInvalid, problem.FrontmatterNotAMapping:
			q.Severity = errorIf(p.requires(kind) || strings.HasSuffix(q.Path, ".toml"))
		case problem.SkillNameNotLowercase, problem.SkillNameHyphenAtEdge, problem.SkillNameDoubleHyphen, problem.SkillNameCharacters, problem.SkillNameNotASCII:
			keep = name.Slug
		case problem.SkillNameMismatch:
			keep = name.Directory
		case problem.SkillNameMissing:
			keep = name.Required
		case problem.SkillNameNotText:
			q.Severity = errorIf(name.Required)
		case problem.SkillDescriptionMissing, problem.SkillDescriptionNotText:
			q.Severity = errorIf(description.Required)
		case problem.SkillNameTooLong, problem.SkillDescriptionTooLong, problem.SkillCompatibilityTooLong, problem.FieldMissing, problem.FieldTooLong:
		case problem.SkillFieldUnexpected:
			keep, q.Severity = !slices.Contains(specified(), q.Key) && !slices.Contains(ownKeys, q.Key), problem.Warning
		case problem.SkillByteOrderMark, problem.SkillFenceInField, problem.SkillCompatibilityNotText, problem.SkillFileMissing,
			problem.NotUTF8, problem.ControlCharacter, problem.DuplicateKey, problem.FrontmatterRecovered, problem.FrontmatterAfterBlankLines:
			q.Severity = problem.Warning
		}
		if keep {
			judged = append(judged, q)
		}
	}
	return judged
}

// Rejects returns the errors of a file in its profile: the reasons why the client rejects the file,
// in the order of problem.Compare. The file needs only the bytes up to the end of the header.
func (p *Profile) Rejects(kind client.Files, f File) []problem.Problem {
	if !p.client.Strict && !p.demands(kind) && !strings.HasSuffix(f.Path, ".toml") {
		return nil
	}
	var found []problem.Problem
	f.rejects = true
	if kind == client.Skills {
		found = newSkill(f, p).problems()
	} else {
		f.prepare(kind, p)
		found = p.Judge(kind, append(f.header(), f.fields()...))
	}
	found = slices.DeleteFunc(found, func(q problem.Problem) bool { return q.Severity != problem.Error })
	slices.SortFunc(found, problem.Compare)
	return found
}

// fields returns the problems of fields that the client requires, limits or cuts, besides the
// fields that have rules of their own in a skill.
func (f *File) fields() (found []problem.Problem) {
	for _, known := range f.profile.client.Fields {
		if !known.In(f.kind) {
			continue
		}
		field, ok := f.field(known.Name)
		text := field.Value.String()
		n := utf8.RuneCountInString(text)
		ruled := f.kind == client.Skills && slices.Contains([]string{"name", "description", "compatibility"}, known.Name)
		empty := strings.TrimSpace(text) == "" && field.Value.Kind < matter.Sequence
		switch {
		case known.Cut > 0 && ok && !empty:
			found = append(found, f.cut(known, field)...)
		case ruled:
		case known.Required && empty && f.Named && known.Name == "name":
		case known.Required && empty && !f.explained():
			if !ok {
				field = matter.Field{Key: field.Key, Line: f.Doc.Line} // the opening fence, or the whole file
			}
			found = append(found, f.at(field, problem.Error, problem.FieldMissing, f.profile.title()+" requires the field "+known.Name, "add the field"))
		case known.Limit > 0 && n > known.Limit:
			found = append(found, f.at(field, problem.Error, problem.FieldTooLong, tooLong(known.Name, text, known.Limit), shortenBy(text, known.Limit)))
		}
	}
	return found
}

// cut reports a description of which the client shows a model only the beginning. The field
// when_to_use follows the description after " - ", as in Claude Code 2.1.330.
func (f *File) cut(known client.Field, field matter.Field) []problem.Problem {
	subject, n := "description has", utf8.RuneCountInString(field.Value.String())
	if more, ok := f.field("when_to_use"); ok && slices.Contains(f.profile.meant[f.kind], "when_to_use") {
		subject, n = `description and when_to_use, joined by " - ", have`, n+len(" - ")+utf8.RuneCountInString(more.Value.String())
	}
	disabled, _ := f.field("disable-model-invocation")
	if hidden, _ := disabled.Value.Bool(); hidden || n <= known.Cut {
		return nil
	}
	return []problem.Problem{f.at(field, problem.Warning, problem.DescriptionCut,
		fmt.Sprintf("%s %d characters; %s shows a model the first %d", subject, n, f.profile.title(), known.Cut),
		fmt.Sprintf("remove %d characters, or write the most important words first", n-known.Cut))}
}
