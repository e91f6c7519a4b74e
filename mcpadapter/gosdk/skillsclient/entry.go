package skillsclient

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// The limits of the specification for a skill.
const (
	maxFiles     = 512
	maxSkillSize = 16 << 20
	maxName      = 64 // characters
)

var (
	nameForm   = regexp.MustCompile(`^[\pL\p{Nd}]+(-[\pL\p{Nd}]+)*$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// A Skill is an entry of skills/list or skills/get that passed all checks. The identity of
// a skill is the pair of Server and URI. A Skill is immutable: after a change, the server
// publishes another entry. An approval of a user therefore holds for the URIs and digests
// of Files, and for nothing else.
type Skill struct {
	Server      string         // the label of the server
	URI         string         // of SKILL.md
	Dir         string         // the directory in [Server.FS], and so the name of the skill in a catalog
	Name        string         // the name in the frontmatter; several skills may have the same name
	Description string         // the description in the frontmatter
	Frontmatter map[string]any // all fields, as decoded by encoding/json, with json.Number for numbers
	Files       []File         // by the bytes of Path; SKILL.md is always a file
}

// A File is a file of a [Skill].
type File struct {
	Path   string // relative to the directory of the skill, with slashes; satisfies fs.ValidPath
	URI    string
	Size   int64  // bytes
	Digest string // "sha256:" and 64 lowercase hexadecimal digits
}

// file returns the file with a path.
func (s *Skill) file(path string) (File, bool) {
	i, ok := slices.BinarySearchFunc(s.Files, path, func(f File, path string) int { return cmp.Compare(f.Path, path) })
	if !ok {
		return File{}, false
	}
	return s.Files[i], true
}

// A held is an entry that the Server holds, and the place of the entry in a layer.
type held struct {
	Skill
	head    []byte // see frontmatterHead
	version string // of SKILL.md: the digests of the file and of head
	broken  *Error // why the entry is rejected
	extra   bool   // the entry is of Get, and the list did not contain the entry

	once  sync.Once
	files *filetree.FS // see Server.filesOf
}

// rejected returns a held for an entry that fails the checks. The only file is a SKILL.md,
// which cannot be read. Without a valid URI, the entry has no Dir.
func rejected(label, uri string, err *Error) *held {
	err.Server, err.URI = label, uri
	h := &held{Skill: Skill{Server: label, URI: uri, Files: []File{{Path: skillFile, URI: uri}}}, broken: err}
	if _, dir, invalid := parseSkillURI(label, uri); invalid == nil {
		h.Dir = dir
	}
	return h
}

// parseEntry checks an entry of a server.
func parseEntry(label string, raw json.RawMessage) *held {
	var entry struct {
		URI         string          `json:"uri"`
		Frontmatter json.RawMessage `json:"frontmatter"`
		Resources   json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return rejected(label, entry.URI, &Error{Kind: ErrInvalidEntry, Message: "the entry is not a skill", Err: err})
	}
	h := &held{Skill: Skill{Server: label, URI: entry.URI}}
	for _, check := range []func() *Error{
		h.parseURI,
		func() *Error { return h.parseResources(entry.Resources) },
		func() *Error { return h.parseFrontmatter(entry.Frontmatter) },
	} {
		if err := check(); err != nil {
			return rejected(label, entry.URI, err)
		}
	}
	return h
}

func (h *held) parseURI() (err *Error) {
	if h.Name, h.Dir, err = parseSkillURI(h.Server, h.URI); err == nil && !validName(h.Name) {
		return failf(ErrInvalidEntry, "the skill has the invalid name %s; use up to 64 lowercase letters, digits and single hyphens", quote(h.Name))
	}
	return err
}

// validName applies the rules of the Agent Skills specification, which the catalog reads
// as all lowercase letters.
func validName(name string) bool {
	return nameForm.MatchString(name) && name == strings.ToLower(name) &&
		utf8.RuneCountInString(name) <= maxName
}

func (h *held) parseResources(raw json.RawMessage) *Error {
	var dynamic string
	if json.Unmarshal(raw, &dynamic) == nil && dynamic == "dynamic" {
		return failf(ErrDynamic, "the server generates the skill and publishes no digests; the files cannot be verified")
	}
	type resource struct {
		URI    string `json:"uri"`
		Size   *int64 `json:"size"`
		Digest string `json:"digest"`
	}
	var total int64
	for r, malformed := range elements[resource](raw) {
		if malformed != nil {
			return failf(ErrInvalidEntry, "the resources are neither a list of files nor \"dynamic\"")
		}
		if len(h.Files) == maxFiles {
			return failf(ErrTooLarge, "the skill has more than %d files", maxFiles)
		}
		path, err := parseFileURI(h.URI, r.URI)
		switch {
		case err != nil:
			return err
		case r.Size == nil || *r.Size < 0:
			return failf(ErrInvalidEntry, "the file %s has no valid size", quote(path))
		case !digestForm.MatchString(r.Digest):
			return failf(ErrInvalidEntry, "the file %s has no valid digest; use sha256: and 64 lowercase hexadecimal digits", quote(path))
		case *r.Size > maxSkillSize || total+*r.Size > maxSkillSize:
			return failf(ErrTooLarge, "the skill has more than %d bytes", maxSkillSize)
		}
		total += *r.Size
		h.Files = append(h.Files, File{Path: path, URI: r.URI, Size: *r.Size, Digest: r.Digest})
	}
	slices.SortFunc(h.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return h.checkPaths()
}

// checkPaths rejects files that cannot be in one directory.
func (h *held) checkPaths() *Error {
	if own, ok := h.file(skillFile); !ok || own.URI != h.URI {
		return failf(ErrInvalidEntry, "the resources do not contain SKILL.md")
	}
	keys := make([]string, len(h.Files)) // with separators before all other bytes, so the files of a directory follow the directory
	for i, f := range h.Files {
		if f.Path != skillFile && strings.EqualFold(f.Path, skillFile) {
			return failf(ErrInvalidEntry, "the resources contain SKILL.md and %s, which other systems confuse", quote(f.Path))
		}
		keys[i] = strings.ReplaceAll(f.Path, "/", "\x00")
	}
	slices.Sort(keys)
	for i, key := range keys[1:] {
		path := strings.ReplaceAll(keys[i], "\x00", "/")
		switch {
		case key == keys[i]:
			return failf(ErrInvalidEntry, "the resources contain the file %s twice", quote(path))
		case strings.HasPrefix(key, keys[i]+"\x00"):
			return failf(ErrInvalidEntry, "the resources contain %s as a file and as a directory", quote(path))
		}
	}
	return nil
}

// maxRawHead is the maximum size of the JSON of a frontmatter with matter.MaxHead bytes. An
// escape such as \u00e9 has six bytes.
const maxRawHead = 8 * matter.MaxHead

func (h *held) parseFrontmatter(raw json.RawMessage) *Error {
	if len(raw) > maxRawHead { // a decoded value needs much more memory than its text
		return failf(ErrTooLarge, "the frontmatter has more than %d bytes", matter.MaxHead)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&h.Frontmatter); err != nil || h.Frontmatter == nil {
		return failf(ErrInvalidEntry, "the frontmatter is not a JSON object")
	}
	name, _ := h.Frontmatter["name"].(string)
	if name != h.Name {
		return failf(ErrInvalidEntry, "the name %s in the frontmatter is not the last segment of the path, %s", quote(name), quote(h.Name))
	}
	h.Description, _ = h.Frontmatter["description"].(string)
	if strings.TrimSpace(h.Description) == "" {
		return failf(ErrInvalidEntry, "the frontmatter has no description")
	}
	head, err := frontmatterHead(h.Frontmatter)
	switch {
	case len(head) > matter.MaxHead:
		return failf(ErrTooLarge, "the frontmatter has more than %d bytes", matter.MaxHead)
	case err != nil || !sameFrontmatter(head, h.Frontmatter):
		return failf(ErrInvalidEntry, "the frontmatter is not representable in YAML")
	}
	own, _ := h.file(skillFile)
	h.head, h.version = head, own.Digest+"+"+digestOf(head)
	return nil
}
