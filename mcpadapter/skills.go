package mcpadapter

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/publish"
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
	defer s.adapter.refuse(&err)
	skills, next, err := s.adapter.skills.Page(ctx, "skills", cursor, s.adapter.config.pageSize)
	if err != nil {
		return SkillList{}, err
	}
	list = SkillList{Skills: []SkillEntry{}, NextCursor: next}
	for _, skill := range skills {
		list.Skills = append(list.Skills, s.hold(ctx, skill))
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
	defer s.adapter.refuse(&err)
	skill, err := s.adapter.skills.Get(ctx, uri)
	if err != nil {
		return SkillEntry{}, err
	}
	return s.hold(ctx, skill), nil
}

// hold returns the entry of a skill, and remembers the entry when the client receives it.
func (s *Session) hold(ctx context.Context, skill publish.Skill) SkillEntry {
	s.adapter.skills.Hold(ctx, &s.held, skill)
	files := skill.Files()
	e := SkillEntry{URI: skill.URI(), Frontmatter: skill.Frontmatter(), Resources: make([]SkillResource, len(files))}
	for i, f := range files {
		e.Resources[i] = SkillResource(f)
	}
	return e
}

// refuse converts a Refusal to an *RPCError, and hides the root in every error.
func (a *Adapter) refuse(err *error) {
	var refused *publish.Refusal
	if errors.As(*err, &refused) {
		rpcErr := invalidParams("%s", refused.Message)
		if refused.Changed != "" {
			rpcErr.Code = CodeInternalError
			rpcErr.Data = append(escape.AppendJSON([]byte(`{"uri":`), refused.Changed), '}')
		}
		*err = rpcErr
	}
	a.hider.error(err)
}

// A Resource is a file or a directory in the form of the Model Context Protocol.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"` // of a SKILL.md: the name of the skill; otherwise the last element of the path
	Description string `json:"description,omitempty"`
	MIMEType    string `json:"mimeType,omitempty"` // DirectoryType for a directory; "" if the name does not determine the type
	Size        *int64 `json:"size,omitempty"`     // in bytes; nil for a directory
}

// DirectoryType is the MIMEType of a directory.
const DirectoryType = publish.DirectoryType

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
		URITemplate: publish.Template,
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
	return publish.IsText(c.Data)
}

// ListResources returns one page of the resources: the SKILL.md of each published skill,
// with the name and the description of the skill. The other files of a skill are in its
// entry; see ListSkills. The pages, the errors and the cost are those of ListSkills.
func (s *Session) ListResources(ctx context.Context, cursor *string) (list ResourceList, err error) {
	defer s.adapter.refuse(&err)
	skills, next, err := s.adapter.skills.Page(ctx, "resources", cursor, s.adapter.config.pageSize)
	if err != nil {
		return ResourceList{}, err
	}
	list = ResourceList{Resources: []Resource{}, NextCursor: next}
	for _, skill := range skills {
		list.Resources = append(list.Resources, Resource(skill.Resource()))
	}
	return list, nil
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
	defer s.adapter.refuse(&err)
	c, err := s.adapter.skills.Read(ctx, &s.held, uri)
	if err != nil {
		return ResourceContents{}, err
	}
	return ResourceContents{uri, c.MIMEType, c.Data}, nil
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
	defer s.adapter.refuse(&err)
	children, next, err := s.adapter.skills.Directory(ctx, uri, cursor, s.adapter.config.pageSize)
	if err != nil {
		return ResourceList{}, err
	}
	list = ResourceList{Resources: make([]Resource, len(children)), NextCursor: next}
	for i, r := range children {
		list.Resources[i] = Resource(r)
	}
	return list, nil
}

// Codes of diagnostics that only SkillDiagnostics reports.
const (
	DiagSkillNoURI        = publish.DiagSkillNoURI        // error: the name of the skill cannot be the last element of a URI
	DiagSkillURITaken     = publish.DiagSkillURITaken     // error: the URI of the skill belongs to another skill
	DiagSkillTooManyFiles = publish.DiagSkillTooManyFiles // error: the skill has more than 512 files
	DiagSkillTooLarge     = publish.DiagSkillTooLarge     // error: the files of the skill have more than 16 MiB
)

// SkillDiagnostics returns a diagnostic for each skill of the catalog that the adapter
// does not publish over the Model Context Protocol. The Code and the Message state the
// reason. All other skills are published.
//
// SkillDiagnostics returns no diagnostic and no error if the directory of skills is
// missing, and otherwise the errors of Catalog.ListSkills. The cost is the cost of
// Session.ListSkills for all skills.
func (a *Adapter) SkillDiagnostics(ctx context.Context) (all []toolshelf.Diagnostic, err error) {
	defer a.hider.error(&err)
	return a.skills.Diagnostics(ctx)
}
