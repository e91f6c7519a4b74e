package publish

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

// A Resource is a file or a directory of a skill, with the fields of mcpadapter.Resource.
type Resource struct {
	URI, Name, Description, MIMEType string
	Size                             *int64
}

// DirectoryType is the MIMEType of a directory.
const DirectoryType = "inode/directory"

// Template is the template of the URIs of all files.
const Template = scheme + "{+path}"

// Contents are the bytes of a file.
type Contents struct {
	MIMEType string
	Data     []byte
}

// IsText reports whether data is UTF-8 without NUL.
func IsText(data []byte) bool { return utf8.Valid(data) && !slices.Contains(data, 0) }

// Resource returns the description of SKILL.md.
func (s Skill) Resource() Resource {
	file, _ := s.file(skillFile)
	return s.resource(file)
}

// resource returns the description of a file.
func (s Skill) resource(f toolshelf.SkillFile) Resource {
	r := Resource{URI: s.fileURI(f.Path), Name: path.Base(f.Path), MIMEType: mediaType(f.Path),
		Size: &f.Size}
	if r.URI == s.URI() {
		r.Name, r.Description, r.MIMEType = s.manifest.Skill.DeclaredName, s.manifest.Skill.Description, markdown
	}
	return r
}

// Read returns a file of a published skill to the client of a session. See Session.ReadResource.
func (s *Skills) Read(ctx context.Context, session *Held, uri string) (Contents, error) {
	place, ok := ParseURI(uri)
	if !ok {
		return Contents{}, noResource(uri)
	}
	for skill, err := range s.served(ctx, func(published []publication) []publication { return enclosing(published, place) }) {
		switch {
		case err != nil && skill.root == "":
			return Contents{}, err
		case err != nil && changing(err):
			return Contents{}, changed(uri, skill.URI())
		case err != nil:
			continue // an enclosing skill may publish the file
		}
		file, ok := skill.file(strings.TrimPrefix(place, skill.root+"/"))
		if !ok || skill.fileURI(file.Path) != uri {
			continue
		}
		if skill := s.stale(session, uri, "sha256:"+file.SHA256); skill != "" {
			return Contents{}, changed(uri, skill)
		}
		data, err := s.catalog.ReadSkillFile(ctx, skill.Name, file.Path)
		switch {
		case err != nil && (ctx.Err() != nil || errors.Is(err, toolshelf.ErrClosed)):
			return Contents{}, err
		case err != nil || digestOf(data) != file.SHA256:
			return Contents{}, changed(uri, skill.URI())
		}
		kind := skill.resource(file).MIMEType
		switch {
		case kind == "" && IsText(data):
			kind = "text/plain"
		case kind == "":
			kind = "application/octet-stream"
		}
		return Contents{kind, data}, nil
	}
	if skill := s.stale(session, uri, ""); skill != "" {
		return Contents{}, changed(uri, skill)
	}
	return Contents{}, noResource(uri)
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

// Directory returns the files and directories that a directory contains directly, after a cursor
// and in the order of their URIs, at most size and paging.MaxRows, and the cursor of the next page.
func (s *Skills) Directory(
	ctx context.Context, uri string, cursor *string, size int,
) (page []Resource, next string, err error) {
	place, ok := ParseURI(uri)
	var children map[string]Resource
	if ok {
		if children, err = s.children(ctx, place); err != nil {
			return nil, "", err
		}
	}
	if children == nil {
		return nil, "", &Refusal{Message: "No directory is served at " + escape.Quote(uri) +
			"; the URI of a skill without /" + skillFile + " is a directory"}
	}
	key := func(r Resource) string { return r.URI }
	all := slices.SortedFunc(maps.Values(children),
		func(x, y Resource) int { return cmp.Compare(x.URI, y.URI) })
	scope := "directory-" + digestOf([]byte(uri))[:16]
	page, err = after(all, scope, cursor, key)
	if size = min(size, paging.MaxRows); err == nil && len(page) > size {
		page, next = page[:size], cursorAfter(page[size-1], scope, key)
	}
	return page, next, err
}

// children returns the direct children of a directory by URI, or nil if no skill contains
// the directory.
func (s *Skills) children(
	ctx context.Context, place string,
) (children map[string]Resource, err error) {
	add := func(all ...Resource) {
		if children == nil {
			children = make(map[string]Resource)
		}
		for _, r := range all {
			if known, ok := children[r.URI]; !ok || known.MIMEType == DirectoryType {
				children[r.URI] = r
			}
		}
	}
	for skill, err := range s.served(ctx, func(published []publication) (containing []publication) {
		for _, p := range published {
			if rest, ok := strings.CutPrefix(p.root, place+"/"); ok { // above the skill
				next, _, _ := strings.Cut(rest, "/")
				add(directory(place + "/" + next))
			}
			if strings.HasPrefix(place+"/", p.root+"/") {
				containing = append(containing, p)
			}
		}
		return containing
	}) {
		switch {
		case err == nil:
			if all, ok := skill.in(strings.TrimPrefix(place+"/", skill.root+"/")); ok {
				add(all...)
			}
		case skill.root == "":
			return nil, err
		case changing(err):
			return nil, changed(URI(place), skill.URI())
		}
	}
	return children, nil
}

// in returns the children of a directory of the skill. ok is false if the skill has no such
// directory.
func (s Skill) in(dir string) (all []Resource, ok bool) {
	if dir = path.Clean(dir); dir != "." && !slices.Contains(s.manifest.Dirs, dir) {
		return nil, false
	}
	for _, d := range s.manifest.Dirs {
		if path.Dir(d) == dir {
			all = append(all, directory(s.root+"/"+d))
		}
	}
	for _, f := range s.manifest.Files {
		if path.Dir(f.Path) == dir {
			all = append(all, s.resource(f))
		}
	}
	return all, true
}

func directory(at string) Resource {
	return Resource{URI: URI(at), Name: path.Base(at), MIMEType: DirectoryType}
}

const markdown = "text/markdown"

// mediaTypes are the media types of frequent files of skills. The table of package mime
// depends on the host.
var mediaTypes = map[string]string{
	".css":  "text/css",
	".csv":  "text/csv",
	".gif":  "image/gif",
	".htm":  "text/html",
	".html": "text/html",
	".jpeg": "image/jpeg",
	".jpg":  "image/jpeg",
	".js":   "text/javascript",
	".json": "application/json",
	".md":   markdown,
	".mjs":  "text/javascript",
	".pdf":  "application/pdf",
	".png":  "image/png",
	".py":   "text/x-python",
	".sh":   "application/x-sh",
	".svg":  "image/svg+xml",
	".toml": "application/toml",
	".txt":  "text/plain",
	".webp": "image/webp",
	".xml":  "application/xml",
	".yaml": "application/yaml",
	".yml":  "application/yaml",
	".zip":  "application/zip",
}

// mediaType returns the media type of a file by the end of its name, or "".
func mediaType(name string) string { return mediaTypes[strings.ToLower(path.Ext(name))] }
