package mcpadapter

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A SkillEntry describes a skill in the form of the skills extension of the Model
// Context Protocol (SEP-2640).
type SkillEntry struct {
	URI         string          `json:"uri"`         // of SKILL.md
	Frontmatter json.RawMessage `json:"frontmatter"` // all fields of the frontmatter, as a JSON object
	Resources   []SkillResource `json:"resources"`   // all files of the skill, including SKILL.md
}

// A SkillResource is a file of a skill.
type SkillResource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 lowercase hexadecimal digits
	Size   int64  `json:"size"`   // in bytes
}

// A SkillList is one page of skills.
type SkillList struct {
	Skills     []SkillEntry // the skills of the page
	NextCursor string       // the cursor of the next page; "" on the last page
}

// A servedSkill is a publication with its files.
type servedSkill struct {
	publication
	manifest manifest
}

// A manifest lists the files of a skill.
type manifest = bridge.Manifest[toolshelf.SkillInfo, toolshelf.SkillFile]

// errChanged reports a skill that changes while the adapter reads its files.
var errChanged = errors.New("the skill changed during the request")

// served ranges over publications with their files. choose gets all publications, in the
// order of their URIs, and returns the publications of the range. If a skill cannot be
// published, served yields the reason and the publication, and continues. If the catalog
// cannot be read, served yields the error with a zero servedSkill, and ends the range. If
// the directory of skills is missing, the range is empty, and served calls choose without
// publications.
func (a *Adapter) served(ctx context.Context, choose func([]publication) []publication) iter.Seq2[servedSkill, error] {
	return func(yield func(servedSkill, error) bool) {
		var chosen []publication
		next, listed := 0, false
		for m, err := range bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](a.model).SkillManifests(ctx, func(skills []toolshelf.SkillInfo) (names []string) {
			published, _ := a.publications(skills)
			chosen, listed = choose(published), true
			for _, p := range chosen {
				names = append(names, p.Name)
			}
			return names
		}) {
			if err != nil && m.Skill.Name == "" {
				if err = a.ignoreMissing(ctx, err); err != nil {
					yield(servedSkill{}, err)
				} else if !listed {
					choose(nil)
				}
				return
			}
			p := chosen[next]
			next++
			if err == nil {
				if _, refused := unpublishable(m.Skill); refused || m.Skill.DeclaredName != p.DeclaredName {
					err = errChanged
				} else {
					err = checkManifest(m)
				}
			}
			if !yield(servedSkill{p, m}, err) {
				return
			}
		}
	}
}

// ListSkills returns one page of the skills that the adapter publishes, in the order of
// their URIs. The page has the size of WithPageSize, but at most 100 skills. A nil cursor
// requests the first page. A cursor stays valid if skills are added or removed. If the
// directory of skills is missing, the page is empty. [Adapter.SkillDiagnostics] reports
// the skills that the adapter does not publish.
//
// The frontmatter, the digests and the sizes of an entry describe one state of the skill.
// The session remembers the digests, so that ReadResource returns no file that differs
// from the entry.
//
// ListSkills returns an *RPCError with CodeInvalidParams for a cursor that does not come
// from ListSkills, including "". All other errors are those of Catalog.ListSkills.
//
// The cost is the cost of Catalog.ListSkills, and of Catalog.GetSkill with Digests for the
// skills of the page and the first skill of the next page.
func (s *Session) ListSkills(ctx context.Context, cursor *string) (list SkillList, err error) {
	defer s.adapter.hider.error(&err)
	skills, next, err := s.adapter.skillPage(ctx, "skills", cursor)
	if err != nil {
		return SkillList{}, err
	}
	list = SkillList{Skills: []SkillEntry{}, NextCursor: next}
	for _, skill := range skills {
		list.Skills = append(list.Skills, s.publish(ctx, skill))
	}
	return list, nil
}

// GetSkill returns the entry of the skill with the given URI, the URI of its SKILL.md.
// The entry is current, and replaces the digests that the session remembers.
//
// GetSkill returns an *RPCError with CodeInvalidParams if the adapter publishes no skill
// with the URI, and with CodeInternalError if the files change during the call. All other
// errors are those of Catalog.ListSkills. The cost is the cost of Catalog.ListSkills and
// of Catalog.GetSkill with Digests for the skill.
func (s *Session) GetSkill(ctx context.Context, uri string) (entry SkillEntry, err error) {
	defer s.adapter.hider.error(&err)
	place, ok := parseSkillURI(uri)
	if !ok || path.Base(place) != skillFile {
		return SkillEntry{}, noSkill(uri)
	}
	for skill, err := range s.adapter.served(ctx, func(published []publication) []publication {
		i := slices.IndexFunc(published, func(p publication) bool { return p.root == path.Dir(place) })
		return published[max(i, 0) : i+1]
	}) {
		switch {
		case err == nil:
			return s.publish(ctx, skill), nil
		case skill.root == "":
			return SkillEntry{}, err
		case changing(err):
			return SkillEntry{}, changed(uri, uri)
		}
	}
	return SkillEntry{}, noSkill(uri)
}

func noSkill(uri string) *RPCError {
	return invalidParams("No skill is served at %s; skills/list returns the URIs", escape.Quote(uri))
}

// changing reports whether an error of a manifest means that the files are changing.
func changing(err error) bool {
	var problem errUnpublishable
	return errors.Is(err, errChanged) || errors.Is(err, toolshelf.ErrFileRead) && !errors.As(err, &problem)
}

// entry returns the entry of a skill.
func (s servedSkill) entry() SkillEntry {
	frontmatter, _ := s.manifest.Skill.Frontmatter.MarshalJSON() // never fails
	e := SkillEntry{URI: s.uri(), Frontmatter: frontmatter, Resources: make([]SkillResource, len(s.manifest.Files))}
	for i, f := range s.manifest.Files {
		e.Resources[i] = SkillResource{URI: s.fileURI(f.Path), Digest: "sha256:" + f.SHA256, Size: f.Size}
	}
	return e
}

// own returns the path of the skill's own file in the manifest.
func (s servedSkill) own() string { return path.Base(filepath.ToSlash(s.manifest.Skill.Path)) }

// fileURI returns the URI of a file of the manifest.
func (s servedSkill) fileURI(name string) string {
	if name == s.own() {
		name = skillFile
	}
	return skillURI(s.root + "/" + name)
}

// file returns the file of the manifest with a path below the skill's directory.
func (s servedSkill) file(name string) (toolshelf.SkillFile, bool) {
	if name == skillFile {
		name = s.own()
	}
	i, ok := slices.BinarySearchFunc(s.manifest.Files, name, func(f toolshelf.SkillFile, name string) int { return strings.Compare(f.Path, name) })
	if !ok {
		return toolshelf.SkillFile{}, false
	}
	return s.manifest.Files[i], true
}

// skillPage returns one page of the served skills, and the cursor of the next page.
func (a *Adapter) skillPage(ctx context.Context, scope string, cursor *string) (page []servedSkill, next string, err error) {
	key := func(p publication) string { return p.uri() }
	var invalid error
	choose := func(published []publication) []publication {
		var rest []publication
		rest, invalid = after(published, scope, cursor, key)
		return rest
	}
	size := a.listSize()
	for skill, err := range a.served(ctx, choose) {
		switch {
		case err != nil && skill.root == "":
			return nil, "", err
		case err != nil:
			continue
		case len(page) == size:
			return page, cursorAfter(page[size-1].publication, scope, key), nil
		}
		page = append(page, skill)
	}
	return page, "", invalid
}
