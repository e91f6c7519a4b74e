// Package publish offers the skills of a catalog as resources of the Model Context Protocol: the
// URIs, the entries with the digests of all files (SEP-2640), the files, and the directories.
package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// Skills are the published skills of a catalog. All methods are safe for concurrent use.
type Skills struct {
	catalog *toolshelf.Catalog
	bridge  bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile]
	held    Held // of sessions without an entry of their own
	known   knownURIs
}

// Of returns the published skills of a catalog.
func Of(catalog *toolshelf.Catalog) *Skills {
	return &Skills{
		catalog: catalog,
		bridge:  bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](catalog),
		held:    Held{lifetime: sharedLifetime},
	}
}

// A Refusal is the error of a request whose URI or cursor is invalid.
type Refusal struct {
	Message string
	Changed string // the URI of the skill whose files differ from its entry; "" for an invalid request
}

func (r *Refusal) Error() string { return r.Message }

func invalidCursor(cursor string) *Refusal {
	return &Refusal{Message: paging.InvalidCursor(escape.Quote(cursor))}
}

func noSkill(uri string) *Refusal {
	return &Refusal{Message: "No skill is served at " + escape.Quote(uri) +
		"; skills/list returns the URIs"}
}

func noResource(uri string) *Refusal { return &Refusal{Message: NoResource(uri)} }

// NoResource returns the message for a URI of no file.
func NoResource(uri string) string {
	return "No resource is served at " + escape.Quote(uri) + "; skills/list returns the URIs"
}

// changed returns the error for a file that differs from the entry of a skill. skill is the
// URI of the entry.
func changed(uri, skill string) *Refusal {
	return &Refusal{Changed: skill, Message: escape.Quote(uri) +
		" has changed since the client fetched the entry of the skill " + escape.Quote(skill) +
		"; call skills/get for a fresh entry, and read again"}
}

// A Skill is a published skill with its files.
type Skill struct {
	publication
	manifest manifest
}

// A manifest lists the files of a skill.
type manifest = bridge.Manifest[toolshelf.SkillInfo, toolshelf.SkillFile]

// errChanged reports a skill that changes while the adapter reads its files.
var errChanged = errors.New("the skill changed during the request")

// changing reports whether an error of a manifest means that the files are changing.
func changing(err error) bool {
	var problem errUnpublishable
	return errors.Is(err, errChanged) || errors.Is(err, toolshelf.ErrFileRead) &&
		!errors.As(err, &problem)
}

// served ranges over publications with their files. choose gets all publications, in the
// order of their URIs, and returns the publications of the range. If a skill cannot be
// published, served yields the reason and the publication, and continues. If the catalog
// cannot be read, served yields the error with a zero Skill, and ends the range. If
// the directory of skills is missing, the range is empty, and served calls choose without
// publications.
func (s *Skills) served(ctx context.Context, choose func([]publication) []publication) iter.Seq2[Skill, error] {
	return func(yield func(Skill, error) bool) {
		var chosen []publication
		next, listed := 0, false
		for m, err := range s.bridge.SkillManifests(ctx,
			func(skills []toolshelf.SkillInfo) (names []string) {
				published, _ := s.publications(skills)
				chosen, listed = choose(published), true
				for _, p := range chosen {
					names = append(names, p.Name)
				}
				return names
			}) {
			if err != nil && m.Skill.Name == "" {
				if err = IgnoreMissing(ctx, s.catalog, err); err != nil {
					yield(Skill{}, err)
				} else if !listed {
					choose(nil)
				}
				return
			}
			p := chosen[next]
			next++
			if err == nil {
				if _, refused := unpublishable(m.Skill); refused ||
					m.Skill.DeclaredName != p.DeclaredName {
					err = errChanged
				} else {
					err = checkManifest(m)
				}
			}
			if !yield(Skill{p, m}, err) {
				return
			}
		}
	}
}

// IgnoreMissing returns err, or nil if err reports a missing directory of the catalog. If the root
// is missing too, IgnoreMissing returns the error for the root.
func IgnoreMissing(ctx context.Context, catalog *toolshelf.Catalog, err error) error {
	if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		_, err = catalog.Stat(ctx, ".")
	}
	return err
}

// Page returns the skills after a cursor, at most size and paging.MaxRows, and the cursor of the
// next page. The scope names the list.
func (s *Skills) Page(
	ctx context.Context, scope string, cursor *string, size int,
) (page []Skill, next string, err error) {
	var invalid error
	choose := func(published []publication) (rest []publication) {
		rest, invalid = after(published, scope, cursor, publication.URI)
		return rest
	}
	size = min(size, paging.MaxRows)
	for skill, err := range s.served(ctx, choose) {
		switch {
		case err != nil && skill.root == "":
			return nil, "", err
		case err != nil:
			continue
		case len(page) == size:
			return page, cursorAfter(page[size-1].publication, scope, publication.URI), nil
		}
		page = append(page, skill)
	}
	return page, "", invalid
}

// after returns the items after a cursor, or all items for a nil cursor. The items are in
// the byte order of their keys. The scope names the list; a cursor of another list is
// invalid.
func after[T any](items []T, scope string, cursor *string, key func(T) string) ([]T, error) {
	if cursor == nil {
		return items, nil
	}
	encoded, ok := strings.CutPrefix(*cursor, scope+".")
	if !ok || encoded == "" {
		return nil, invalidCursor(*cursor)
	}
	_, page, err := toolshelf.Paginate(items, toolshelf.Page{Size: 1, Cursor: encoded}, key)
	if err != nil {
		return nil, invalidCursor(*cursor)
	}
	return items[page.Page-1:], nil // pages of one item are numbered from 1
}

// cursorAfter returns the cursor of the items after an item.
func cursorAfter[T any](item T, scope string, key func(T) string) string {
	_, page, err := toolshelf.Paginate([]T{item, item}, toolshelf.Page{Size: 1}, key) // a first page with a next page
	if err != nil {
		panic(err) // the page is valid
	}
	return scope + "." + page.NextCursor
}

// Get returns the skill with the URI of a SKILL.md.
func (s *Skills) Get(ctx context.Context, uri string) (Skill, error) {
	place, ok := ParseURI(uri)
	if !ok || path.Base(place) != skillFile {
		return Skill{}, noSkill(uri)
	}
	for skill, err := range s.served(ctx, func(published []publication) []publication {
		i := slices.IndexFunc(published, func(p publication) bool { return p.root == path.Dir(place) })
		return published[max(i, 0) : i+1]
	}) {
		switch {
		case err == nil, skill.root == "":
			return skill, err
		case changing(err):
			return Skill{}, changed(uri, uri)
		}
	}
	return Skill{}, noSkill(uri)
}

// Hold remembers the entry of a skill for a session, and for the sessions without an entry of
// their own, when the client receives the entry.
func (s *Skills) Hold(ctx context.Context, session *Held, skill Skill) {
	uri, files := skill.URI(), skill.Files()
	then(ctx, uri, func() {
		session.hold(uri, files)
		s.held.hold(uri, files)
	})
}

// stale returns the URI of a skill whose entry the client of a session must fetch again before
// the client reads a file with a digest, or "". The digest "" differs from all digests.
func (s *Skills) stale(session *Held, file, digest string) string {
	for _, h := range []*Held{session, &s.held} {
		if skill, known := h.stale(file, digest); known {
			return skill
		}
	}
	return ""
}

// Frontmatter returns all fields of the frontmatter, as a JSON object.
func (s Skill) Frontmatter() json.RawMessage {
	frontmatter, _ := s.manifest.Skill.Frontmatter.MarshalJSON() // never fails
	return frontmatter
}

// A File is a file of a skill.
type File struct {
	URI    string
	Digest string // "sha256:" and 64 lowercase hexadecimal digits
	Size   int64
}

// Files returns all files of the skill, including SKILL.md.
func (s Skill) Files() []File {
	all := make([]File, len(s.manifest.Files))
	for i, f := range s.manifest.Files {
		all[i] = File{s.fileURI(f.Path), "sha256:" + f.SHA256, f.Size}
	}
	return all
}

// own returns the path of the skill's own file in the manifest.
func (s Skill) own() string { return path.Base(filepath.ToSlash(s.manifest.Skill.Path)) }

// fileURI returns the URI of a file of the manifest.
func (s Skill) fileURI(name string) string {
	if name == s.own() {
		name = skillFile
	}
	return URI(s.root + "/" + name)
}

// file returns the file of the manifest with a path below the skill's directory.
func (s Skill) file(name string) (toolshelf.SkillFile, bool) {
	if name == skillFile {
		name = s.own()
	}
	i, ok := slices.BinarySearchFunc(s.manifest.Files, name,
		func(f toolshelf.SkillFile, name string) int { return strings.Compare(f.Path, name) })
	if !ok {
		return toolshelf.SkillFile{}, false
	}
	return s.manifest.Files[i], true
}

// Diagnostics returns a diagnostic for each skill that is not published, in the order of the
// paths. A missing directory of skills has no diagnostics.
func (s *Skills) Diagnostics(ctx context.Context) ([]toolshelf.Diagnostic, error) {
	skills, err := s.catalog.ListSkills(ctx)
	if err != nil {
		return nil, IgnoreMissing(ctx, s.catalog, err)
	}
	_, all := s.publications(skills)
	for skill, err := range s.served(ctx, func(published []publication) []publication { return published }) {
		var problem errUnpublishable
		var ours *toolshelf.Error
		switch {
		case err == nil:
		case skill.root == "":
			return nil, err
		case errors.As(err, &problem):
			all = append(all, problem.problem)
		default:
			message := err.Error()
			if errors.As(err, &ours) {
				message = ours.Message
			}
			all = append(all, unpublished(skill.SkillInfo, agentmd.DiagFileRead, message,
				"check the files of the skill"))
		}
	}
	slices.SortStableFunc(all, func(x, y toolshelf.Diagnostic) int {
		return cmp.Compare(x.Path, y.Path)
	})
	return all, nil
}

// knownURIs remembers the URIs of published skills by the names of the catalog, because a
// removed skill has no URI any more.
type knownURIs struct {
	mu   sync.Mutex
	used bool
	uris map[string]string
}

// Remember makes URIs return the URIs of removed skills that a later call publishes.
func (s *Skills) Remember() {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	s.known.used = true
}

// add remembers the current publications beside earlier publications.
func (u *knownURIs) add(published []publication) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.used {
		return
	}
	const maxRemoved = 1000
	if u.uris == nil || len(u.uris) > len(published)+maxRemoved {
		u.uris = make(map[string]string, len(published))
	}
	for _, p := range published {
		u.uris[p.Name] = p.URI()
	}
}

// of returns the known URIs of names.
func (u *knownURIs) of(names []string) (uris []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, name := range names {
		if uri, ok := u.uris[name]; ok {
			uris = append(uris, uri)
		}
	}
	return uris
}

// URIs returns the sorted URIs of the named skills, before and after a change. If the
// catalog cannot be read, URIs returns the known URIs.
func (s *Skills) URIs(names []string) []string {
	uris := s.known.of(names)
	if skills, err := s.catalog.ListSkills(context.Background()); err == nil {
		s.publications(skills) // remembers the URIs
		uris = append(uris, s.known.of(names)...)
	}
	slices.Sort(uris)
	return slices.Compact(uris)
}
