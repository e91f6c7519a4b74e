package publish

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A publication is a skill of the catalog with its place among the URIs.
type publication struct {
	toolshelf.SkillInfo
	subdir string // of the skill, below its layer
	root   string // path of the URI of the skill's directory; ends with the declared name
	uri    string // of SKILL.md
}

// URI returns the URI of SKILL.md, which identifies the skill.
func (p publication) URI() string { return p.uri }

// skillFile is the name of a skill's own file. A file with another spelling of the name,
// such as skill.md, is published with this name.
const skillFile = "SKILL.md"

// publications returns the skills that have a URI, in the order of their URIs, and a
// diagnostic for each of the other skills.
func (s *Skills) publications(infos []toolshelf.SkillInfo) ([]publication, []toolshelf.Diagnostic) {
	var candidates []publication
	var omitted []toolshelf.Diagnostic
	for _, info := range infos {
		if problem, ok := unpublishable(info); ok {
			omitted = append(omitted, problem)
			continue
		}
		candidates = append(candidates, publication{SkillInfo: info,
			subdir: s.bridge.SkillSubdir(info)})
	}
	places(candidates, layerPrefixes(s.bridge.SkillLayers()))
	accepted, taken := separate(candidates)
	slices.SortFunc(accepted, func(p, q publication) int { return cmp.Compare(p.URI(), q.URI()) })
	s.known.add(accepted)
	return accepted, append(omitted, taken...)
}

// layerPrefixes returns the first elements of the URIs of each layer. A single layer has
// no prefix. Otherwise the prefix of a layer is its name. A prefix contains no path of the
// host: of an absolute path, only the last element remains.
func layerPrefixes(layers []string) map[string]string {
	prefixes := make(map[string]string, len(layers))
	if len(layers) < 2 {
		return prefixes
	}
	used := make(map[string]bool)
	for _, name := range layers {
		if _, ok := prefixes[name]; ok {
			continue
		}
		slashed := filepath.ToSlash(name)
		elements := slices.DeleteFunc(strings.Split(slashed, "/"),
			func(e string) bool { return e == "" || e == "." || e == ".." })
		if len(elements) > 1 && (path.IsAbs(slashed) || filepath.IsAbs(name)) {
			elements = elements[len(elements)-1:]
		}
		prefix := cmp.Or(strings.Join(elements, "/"), "layer")
		unique := prefix
		for n := 2; used[unique]; n++ {
			unique = fmt.Sprintf("%s-%d", prefix, n)
		}
		used[unique] = true
		prefixes[name] = unique
	}
	return prefixes
}

// places sets the root of each publication: the prefix of the layer, the directories
// above the skill, and the declared name. If a directory above is a published skill, the
// path begins with the root of that skill.
func places(all []publication, prefixes map[string]string) {
	type place struct{ layer, subdir string }
	at := make(map[place]*publication, len(all))
	for i, p := range all {
		at[place{p.Layer, p.subdir}] = &all[i]
	}
	var root func(p *publication) string
	root = func(p *publication) string {
		if p.root != "" {
			return p.root
		}
		base, below := prefixes[p.Layer], ""
		for dir := p.subdir; dir != "."; {
			if dir = path.Dir(dir); at[place{p.Layer, dir}] != nil {
				base = root(at[place{p.Layer, dir}])
				break
			}
			below = path.Join(path.Base(dir), below)
		}
		p.root = path.Join(base, below, p.DeclaredName)
		p.uri = URI(p.root + "/" + skillFile)
		return p.root
	}
	for i := range all {
		root(&all[i])
	}
}

// separate removes publications until each URI has one meaning: no two skills have the
// same URI, and a skill whose URI is below the directory of another skill is in this
// directory. A skill with the name of its directory precedes a skill with another name.
func separate(all []publication) (accepted []publication, taken []toolshelf.Diagnostic) {
	at := make(map[string]publication, len(all))      // by root
	below := make(map[string][]publication, len(all)) // by each path above a root
	clash := func(p publication) (publication, bool) {
		if other, ok := at[p.root]; ok {
			return other, true
		}
		for up := path.Dir(p.root); up != "."; up = path.Dir(up) {
			if other, ok := at[up]; ok && !other.contains(p) {
				return other, true
			}
		}
		for _, other := range below[p.root] {
			if !p.contains(other) {
				return other, true
			}
		}
		return publication{}, false
	}
	place := func(p publication) {
		if other, ok := clash(p); ok {
			taken = append(taken, unpublished(p.SkillInfo, DiagSkillURITaken,
				fmt.Sprintf("the URI %s belongs to the skill in the directory %s", p.URI(),
					escape.Quote(other.Name)), "rename one of the skills"))
			return
		}
		accepted = append(accepted, p)
		at[p.root] = p
		for up := path.Dir(p.root); up != "."; up = path.Dir(up) {
			below[up] = append(below[up], p)
		}
	}
	for _, named := range []bool{true, false} {
		for _, p := range all {
			if (path.Base(p.subdir) == p.DeclaredName) == named {
				place(p)
			}
		}
	}
	return accepted, taken
}

// contains reports whether q is a nested skill of p with the URI of its directory in p.
func (p publication) contains(q publication) bool {
	rest, ok := strings.CutPrefix(q.root, p.root+"/")
	return ok && p.Layer == q.Layer && q.subdir == path.Join(p.subdir, rest)
}

// maxSkillName is the maximum length of a skill's name in characters.
const maxSkillName = 64

// isSkillName reports whether a name satisfies the rules of the Agent Skills
// specification, which the last element of a skill's path must satisfy.
func isSkillName(name string) bool { return len(name) <= maxSkillName && skillName.MatchString(name) }

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// notYAML are the defects of a frontmatter that the YAML parsers of clients reject. A
// client compares the frontmatter of an entry with the frontmatter that the client
// parses, so no client accepts such a skill.
var notYAML = []toolshelf.DiagnosticCode{
	agentmd.DiagFrontmatterRecovered,
	agentmd.DiagFrontmatterRefused,
	agentmd.DiagFrontmatterAfterBlankLines,
	agentmd.DiagFrontmatterUnknownFence,
	agentmd.DiagDuplicateKey,
	agentmd.DiagControlCharacter,
	agentmd.DiagSkillFrontmatterNotYAML,
}

// unpublishable returns the reason why a listed skill has no URI.
func unpublishable(s toolshelf.SkillInfo) (toolshelf.Diagnostic, bool) {
	report := func(
		code toolshelf.DiagnosticCode, message, suggestion string,
	) (toolshelf.Diagnostic, bool) {
		return unpublished(s, code, message, suggestion), true
	}
	if s.Path == "" || s.Frontmatter.Format == "" {
		for _, d := range s.Diagnostics {
			if d.Severity == toolshelf.SeverityError {
				return d, true
			}
		}
		return report(agentmd.DiagSkillFrontmatterMissing, "SKILL.md has no frontmatter",
			"add a name and a description")
	}
	if s.Frontmatter.Format != "yaml" {
		return report(agentmd.DiagSkillFrontmatterNotYAML, "the frontmatter is not YAML",
			"convert the frontmatter to YAML")
	}
	for _, d := range s.Diagnostics {
		if slices.Contains(notYAML, d.Code) {
			d.Severity, d.Message = toolshelf.SeverityError, notPublished+d.Message
			return d, true
		}
	}
	raw, _ := s.Frontmatter.MarshalJSON()
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // Frontmatter returns an object
	switch {
	case !isSkillName(s.DeclaredName) || !isJSONText(fields["name"]):
		return report(DiagSkillNoURI, fmt.Sprintf("a URI cannot end with the name %s",
			escape.Quote(s.DeclaredName)),
			"write a name of lowercase letters a to z, digits and single hyphens, with at most 64 characters")
	case fields["description"] == nil:
		return report(agentmd.DiagSkillDescriptionMissing, "the frontmatter has no description",
			"add a description")
	case s.Description == "" || !isJSONText(fields["description"]):
		return report(agentmd.DiagSkillDescriptionNotText, "the description is not a text",
			"write a text")
	}
	return toolshelf.Diagnostic{}, false
}

// isJSONText reports whether a JSON value is a string.
func isJSONText(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '"' }

// notPublished begins the messages of skills that are not published.
const notPublished = "not published over MCP: "

// unpublished returns the diagnostic of a skill that is not published.
func unpublished(
	s toolshelf.SkillInfo, code toolshelf.DiagnosticCode, message, suggestion string,
) toolshelf.Diagnostic {
	return toolshelf.Diagnostic{Code: code, Severity: toolshelf.SeverityError, Path: skillPlace(s),
		Message: notPublished + message, Suggestion: suggestion}
}

// skillPlace returns the path of a diagnostic of a skill.
func skillPlace(s toolshelf.SkillInfo) string {
	for _, d := range s.Diagnostics {
		if path.Base(d.Path) == path.Base(filepath.ToSlash(s.Path)) {
			return d.Path
		}
	}
	return path.Join(filepath.ToSlash(s.Layer), s.Name, path.Base(filepath.ToSlash(s.Path)))
}

// errUnpublishable is the error of a manifest that exceeds the limits of the
// specification or is incomplete. The problem states the reason.
type errUnpublishable struct{ problem toolshelf.Diagnostic }

func (e errUnpublishable) Error() string { return e.problem.Message }

// checkManifest returns the reason why a skill cannot be published with its files, or nil.
func checkManifest(m manifest) error {
	fail := func(code toolshelf.DiagnosticCode, message, suggestion string) error {
		return errUnpublishable{unpublished(m.Skill, code, message, suggestion)}
	}
	switch {
	case m.Truncated || len(m.Files) > bridge.MaxManifestFiles:
		return fail(DiagSkillTooManyFiles, fmt.Sprintf("the skill has more than %d files",
			bridge.MaxManifestFiles), "remove files that do not belong to the skill")
	case m.Bytes > bridge.MaxManifestBytes:
		return fail(DiagSkillTooLarge, fmt.Sprintf("the files of the skill have %d bytes; the limit is %d", m.Bytes, bridge.MaxManifestBytes), "remove or shorten files")
	}
	for _, d := range m.Skill.Diagnostics {
		incomplete := d.Code == agentmd.DiagFileRead || d.Code == agentmd.DiagFileTooLarge
		if incomplete {
			d.Severity, d.Message = toolshelf.SeverityError, notPublished+d.Message
			return errUnpublishable{d}
		}
	}
	return nil
}

// Codes of diagnostics that only Diagnostics reports.
const (
	DiagSkillNoURI        toolshelf.DiagnosticCode = "SKILL_NO_URI"         // error: the name of the skill cannot be the last element of a URI
	DiagSkillURITaken     toolshelf.DiagnosticCode = "SKILL_URI_TAKEN"      // error: the URI of the skill belongs to another skill
	DiagSkillTooManyFiles toolshelf.DiagnosticCode = "SKILL_TOO_MANY_FILES" // error: the skill has more than 512 files
	DiagSkillTooLarge     toolshelf.DiagnosticCode = "SKILL_TOO_LARGE"      // error: the files of the skill have more than 16 MiB
)
