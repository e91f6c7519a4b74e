package mcpadapter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Resource is a file or a directory in the form of the Model Context Protocol.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"` // of a SKILL.md: the name of the skill; otherwise the last element of the path
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"` // DirectoryType for a directory; "" if the name does not determine the type
	Size        *int64 `json:"size,omitempty"`     // in bytes; nil for a directory
}

// DirectoryType is the MIMEType of a directory.
const DirectoryType = "inode/directory"

// A ResourceList is one page of resources.
type ResourceList struct {
	Resources  []Resource // the resources of the page
	NextCursor string     // the cursor of the next page; "" on the last page
}

// A ResourceTemplate describes the URIs of the files of skills.
type ResourceTemplate struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// ResourceTemplates returns the templates of resources/templates/list: one template for
// the files of all skills.
func ResourceTemplates() []ResourceTemplate {
	return []ResourceTemplate{{
		URITemplate: skillScheme + "{+path}",
		Name:        "skill-file",
		Description: "A file of a skill. The entry of a skill in skills/list contains the URIs of its files.",
	}}
}

// ResourceContents are the bytes of a resource.
type ResourceContents struct {
	URI      string
	MIMEType string
	Data     []byte // the caller may modify the bytes
}

// IsText reports whether Data is UTF-8 without NUL. The protocol sends other bytes as a
// blob.
func (c ResourceContents) IsText() bool {
	return utf8.Valid(c.Data) && !slices.Contains(c.Data, 0)
}

// ListResources returns one page of the resources: the SKILL.md of each published skill,
// with the name and the description of the skill. The other files of a skill are in its
// entry; see ListSkills. The pages, the errors and the cost are those of ListSkills.
func (s *Session) ListResources(ctx context.Context, cursor *string) (list ResourceList, err error) {
	defer s.adapter.hider.error(&err)
	skills, next, err := s.adapter.skillPage(ctx, "resources", cursor)
	if err != nil {
		return ResourceList{}, err
	}
	list = ResourceList{Resources: []Resource{}, NextCursor: next}
	for _, skill := range skills {
		file, _ := skill.file(skillFile)
		list.Resources = append(list.Resources, skill.resource(file))
	}
	return list, nil
}

// resource returns the description of a file.
func (s servedSkill) resource(f toolshelf.SkillFile) Resource {
	r := Resource{URI: s.fileURI(f.Path), Name: path.Base(f.Path), MIMEType: mediaType(f.Path), Size: &f.Size}
	if r.URI == s.uri() {
		r.Name, r.Description, r.MIMEType = s.manifest.Skill.DeclaredName, s.manifest.Skill.Description, markdown
	}
	return r
}

// ReadResource returns a file of a published skill. ReadResource serves the files in the
// entries of ListSkills and GetSkill, and no other URI and no other spelling of a URI.
//
// If the client of the session holds an entry that is older than the file, ReadResource
// returns an *RPCError with CodeInternalError instead of the file. The message asks the
// client to call skills/get, and the member "uri" of Data names the skill. For a file of a
// nested skill, the entries of all enclosing skills count. The same error reports a file
// that changes during the call. Entries that another session has sent count for one
// minute, because a transport may create a session for each request.
//
// ReadResource returns an *RPCError with CodeInvalidParams if no published skill contains
// the file. The error does not depend on other files. All other errors are those of
// Catalog.ListSkills.
//
// The cost is the cost of GetSkill and of one read of the file.
func (s *Session) ReadResource(ctx context.Context, uri string) (contents ResourceContents, err error) {
	defer s.adapter.hider.error(&err)
	place, ok := parseSkillURI(uri)
	if !ok {
		return ResourceContents{}, noResource(uri)
	}
	for skill, err := range s.adapter.served(ctx, func(published []publication) []publication { return enclosing(published, place) }) {
		p := skill.publication
		switch {
		case err != nil && p.root == "":
			return ResourceContents{}, err
		case err != nil && changing(err):
			return ResourceContents{}, changed(uri, p.uri())
		case err != nil:
			continue // an enclosing skill may publish the file
		}
		file, ok := skill.file(strings.TrimPrefix(place, p.root+"/"))
		if !ok || skill.fileURI(file.Path) != uri {
			continue
		}
		if skill := s.stale(uri, "sha256:"+file.SHA256); skill != "" {
			return ResourceContents{}, changed(uri, skill)
		}
		data, err := s.adapter.model.ReadSkillFile(ctx, p.Name, file.Path)
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, toolshelf.ErrClosed)):
			return ResourceContents{}, err
		case err != nil || digestOf(data) != file.SHA256:
			return ResourceContents{}, changed(uri, p.uri())
		}
		c := ResourceContents{URI: uri, MIMEType: mediaType(file.Path), Data: data}
		if uri == p.uri() {
			c.MIMEType = markdown
		}
		if c.MIMEType == "" {
			c.MIMEType = "application/octet-stream"
			if c.IsText() {
				c.MIMEType = "text/plain"
			}
		}
		return c, nil
	}
	if skill := s.stale(uri, ""); skill != "" {
		return ResourceContents{}, changed(uri, skill)
	}
	return ResourceContents{}, noResource(uri)
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// enclosing returns the publications whose directory contains a path, the innermost first.
func enclosing(published []publication, place string) []publication {
	var all []publication
	for _, p := range published {
		if strings.HasPrefix(place, p.root+"/") {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(p, q publication) int { return len(q.root) - len(p.root) })
	return all
}

func noResource(uri string) *RPCError {
	return invalidParams("No resource is served at %s; skills/list returns the URIs", escape.Quote(uri))
}

// changed returns the error for a file that differs from the entry of a skill. skill is the
// URI of the entry.
func changed(uri, skill string) *RPCError {
	data := escape.AppendJSON([]byte(`{"uri":`), skill)
	return &RPCError{Code: CodeInternalError, Data: append(data, '}'), Message: escape.Quote(uri) +
		" has changed since the client fetched the entry of the skill " + escape.Quote(skill) + "; call skills/get for a fresh entry, and read again"}
}

// ReadDirectory returns one page of the files and directories that a directory of a
// published skill contains directly, in the order of their URIs. The page has the size of
// WithPageSize, but at most 100 resources. The URI of a directory has no slash at the end.
// The directories above a skill, which its URI begins with, are also directories.
//
// ReadDirectory returns an *RPCError with CodeInvalidParams for any other URI and for an
// invalid cursor, and with CodeInternalError if the files change during the call. All
// other errors are those of Catalog.ListSkills. The cost is the cost of GetSkill.
func (s *Session) ReadDirectory(ctx context.Context, uri string, cursor *string) (list ResourceList, err error) {
	defer s.adapter.hider.error(&err)
	place, ok := parseSkillURI(uri)
	if !ok {
		return ResourceList{}, noDirectory(uri)
	}
	children, err := s.adapter.children(ctx, place)
	if err != nil {
		return ResourceList{}, err
	}
	if children == nil {
		return ResourceList{}, noDirectory(uri)
	}
	all := make([]Resource, 0, len(children))
	for _, r := range children {
		all = append(all, r)
	}
	key := func(r Resource) string { return r.URI }
	slices.SortFunc(all, func(x, y Resource) int { return cmp.Compare(x.URI, y.URI) })
	scope := "directory-" + digestOf([]byte(uri))[:16]
	rest, err := after(all, scope, cursor, key)
	if err != nil {
		return ResourceList{}, err
	}
	list.Resources = rest
	if size := s.adapter.listSize(); len(rest) > size {
		list.Resources, list.NextCursor = rest[:size], cursorAfter(rest[size-1], scope, key)
	}
	return list, nil
}

func noDirectory(uri string) *RPCError {
	return invalidParams("No directory is served at %s; the URI of a skill without /%s is a directory", escape.Quote(uri), skillFile)
}

// children returns the direct children of a directory by URI, or nil if no skill contains
// the directory.
func (a *Adapter) children(ctx context.Context, place string) (map[string]Resource, error) {
	var children map[string]Resource
	add := func(r Resource) {
		if children == nil {
			children = make(map[string]Resource)
		}
		if known, ok := children[r.URI]; !ok || known.MIMEType == DirectoryType {
			children[r.URI] = r
		}
	}
	directory := func(at string) Resource {
		return Resource{URI: skillURI(at), Name: path.Base(at), MIMEType: DirectoryType}
	}
	for skill, err := range a.served(ctx, func(published []publication) (containing []publication) {
		for _, p := range published {
			if rest, ok := strings.CutPrefix(p.root, place+"/"); ok { // above the skill
				next, _, _ := strings.Cut(rest, "/")
				add(directory(place + "/" + next))
			}
			if place == p.root || strings.HasPrefix(place, p.root+"/") {
				containing = append(containing, p)
			}
		}
		return containing
	}) {
		p := skill.publication
		switch {
		case err != nil && p.root == "":
			return nil, err
		case err != nil && changing(err):
			return nil, changed(skillURI(place), p.uri())
		case err != nil:
			continue
		}
		below := strings.TrimPrefix(strings.TrimPrefix(place, p.root), "/")
		if below != "" && !slices.Contains(skill.manifest.Dirs, below) {
			continue
		}
		if children == nil {
			children = make(map[string]Resource)
		}
		for _, dir := range skill.manifest.Dirs {
			if path.Dir(dir) == cmp.Or(below, ".") {
				add(directory(p.root + "/" + dir))
			}
		}
		for _, f := range skill.manifest.Files {
			if path.Dir(f.Path) == cmp.Or(below, ".") {
				add(skill.resource(f))
			}
		}
	}
	return children, nil
}
