package mcpadapter

import (
	"encoding/base64"
	"encoding/json"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/publish"
)

// SkillsExtension is the identifier of the skills extension in the capabilities of a
// server. The settings of a server with an Adapter are {"directoryRead":true}.
const SkillsExtension = "io.modelcontextprotocol/skills"

// WithoutSkillResources makes the adapter serve no skills over the Model Context
// Protocol: the server declares neither resources nor the skills extension. The option
// does not remove the tools for skills; see WithTools.
//
// By default, an adapter serves every skill that a model may see (toolshelf.Exposure). The
// specification forbids to change a header, so a skill with toolshelf.ExposeName has its
// description. To hide further skills, use Catalog.View. With WithTools, see there.
func WithoutSkillResources() Option {
	return func(c *config) error { c.withoutSkills = true; return nil }
}

// ServesSkills reports whether the adapter serves skills over the Model Context Protocol: the
// catalog has a layer of skills that exists or that an option names, WithTools permits the skills,
// and the adapter has no WithoutSkillResources. ServesSkills stats the directories.
func (a *Adapter) ServesSkills() bool {
	return a.config.publishesSkills() && len(a.bridge.SkillLayers()) > 0
}

// publishesSkills reports whether the options permit resources of skills.
func (c config) publishesSkills() bool { return !c.withoutSkills && c.permits("get_skill") }

func (s *Session) listSkills(r request) (json.RawMessage, error) {
	list, err := s.ListSkills(r.ctx, r.cursor)
	return r.list("skills", list.Skills, list.NextCursor, 0, err)
}

func (s *Session) getSkill(r request) (json.RawMessage, error) {
	entry, err := s.GetSkill(r.ctx, r.uri)
	return r.list("skill", entry, "", 0, err)
}

func (s *Session) listResources(r request) (json.RawMessage, error) {
	list, err := s.ListResources(r.ctx, r.cursor)
	return r.list("resources", list.Resources, list.NextCursor, 0, err)
}

func (s *Session) listTemplates(r request) (json.RawMessage, error) {
	if r.cursor != nil { // the list has one page
		return nil, invalidCursor(*r.cursor)
	}
	return r.list("resourceTemplates", ResourceTemplates(), "", ttlTools, nil)
}

func (s *Session) readDirectory(r request) (json.RawMessage, error) {
	list, err := s.ReadDirectory(r.ctx, r.uri, r.cursor)
	return r.list("resources", list.Resources, list.NextCursor, uncacheable, err)
}

func (s *Session) readResource(r request) (json.RawMessage, error) {
	c, err := s.ReadResource(r.ctx, r.uri)
	if err != nil {
		return nil, err
	}
	b := r.begin(len(c.Data)*3/2, 0)
	b = escape.AppendJSON(append(b, `"contents":[{"uri":`...), c.URI)
	b = escape.AppendJSON(append(b, `,"mimeType":`...), c.MIMEType)
	if c.IsText() {
		b = escape.AppendJSON(append(b, `,"text":`...), string(c.Data))
	} else {
		b = append(b, `,"blob":"`...)
		b = append(base64.StdEncoding.AppendEncode(b, c.Data), '"')
	}
	return append(b, `}]}`...), nil
}

// maxSubscriptions is the maximum number of subscriptions of a session, and
// maxSubscribedURI is the maximum length of a URI in bytes. Linux limits a path to 4,096
// bytes, which are 12,288 bytes of a URI.
const (
	maxSubscriptions = 1000
	maxSubscribedURI = 16 << 10
)

// subscribe adds a subscription to a file of a skill. The transport sends the
// notifications; see Subscribed.
func (s *Session) subscribe(r request) (json.RawMessage, error) {
	if !s.adapter.config.listChanged {
		return nil, methodNotFound("resources/subscribe")
	}
	if _, ok := publish.ParseURI(r.uri); !ok || len(r.uri) > maxSubscribedURI {
		return nil, invalidParams("%s", publish.NoResource(r.uri))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.subscribed) >= maxSubscriptions && !s.subscribed[r.uri] {
		return nil, invalidParams("a session has at most %d subscriptions; unsubscribe from other resources first", maxSubscriptions)
	}
	if s.subscribed == nil {
		s.subscribed = make(map[string]bool)
	}
	s.subscribed[r.uri] = true
	return json.RawMessage(`{}`), nil
}

func (s *Session) unsubscribe(r request) (json.RawMessage, error) {
	if !s.adapter.config.listChanged {
		return nil, methodNotFound("resources/unsubscribe")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscribed, r.uri)
	return json.RawMessage(`{}`), nil
}

// Subscribed reports whether the client of the session has subscribed to a URI with
// resources/subscribe. A transport sends notifications/resources/updated for each
// subscribed URI that OnSkillsChange reports. Clients can subscribe only if the adapter
// has WithListChanged. A session has at most 1,000 subscriptions, each to a URI of at most
// 16 KiB.
func (s *Session) Subscribed(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subscribed[uri]
}
