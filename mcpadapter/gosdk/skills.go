package gosdk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/publish"
)

// The methods of the skills extension.
const (
	listSkills    = "skills/list"
	getSkill      = "skills/get"
	readDirectory = "resources/directory/read"
)

// skillParams are the params of the methods of the skills extension.
type skillParams struct {
	mcp.ParamsBase
	URI    string  `json:"uri,omitempty"`
	Cursor *string `json:"cursor,omitempty"`
}

type skillRequest = mcp.ServerRequest[*skillParams]

// A skillResult is the result of a method of the skills extension.
type skillResult struct {
	mcp.ResultBase
	ResultType string                  `json:"resultType,omitempty"` // "complete" for a modern request
	TTLMs      *int                    `json:"ttlMs,omitempty"`
	CacheScope string                  `json:"cacheScope,omitempty"`
	Skills     []mcpadapter.SkillEntry `json:"skills,omitzero"`    // of skills/list
	Skill      *mcpadapter.SkillEntry  `json:"skill,omitempty"`    // of skills/get
	Resources  []mcpadapter.Resource   `json:"resources,omitzero"` // of resources/directory/read
	NextCursor string                  `json:"nextCursor,omitempty"`
}

// addSkillMethods registers the methods of the skills extension. The middleware of a
// binding answers requests; the handlers answer if no binding serves skills.
func addSkillMethods(s *mcp.Server) error {
	for _, method := range []string{listSkills, getSkill, readDirectory} {
		err := mcp.AddReceivingCustomMethod(s, method, func(context.Context, *mcp.ServerSession, *skillParams) (*skillResult, error) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("Method not found: %q", method)}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// skills answers a request of the skills extension. If the adapter does not publish the
// skill, another binding of the server may publish the skill.
func (b *binding) skills(ctx context.Context, s server, method string, req *skillRequest) (mcp.Result, error) {
	params := req.Params
	if params == nil {
		params = new(skillParams)
	}
	client := b.clients.of(req.Session, b.adapter)
	res := new(skillResult)
	if isModern(params.Meta) {
		res.ResultType = "complete"
		if method != readDirectory {
			res.TTLMs, res.CacheScope = new(int), "private"
		}
	}
	var err error
	switch method {
	case listSkills:
		ctx, deliver := publish.Collect(ctx)
		others, otherErr := s.otherSkills(ctx, req, params)
		if otherErr != nil {
			return nil, otherErr
		}
		publishes := publisher(ctx, client)
		res.Skills, res.NextCursor, err = join(ctx, "skills", min(b.size, paging.MaxRows), others, params.Cursor,
			func(cursor *string) ([]mcpadapter.SkillEntry, string, error) {
				list, err := client.ListSkills(ctx, cursor)
				return list.Skills, list.NextCursor, err
			}, func(e mcpadapter.SkillEntry) bool { return publishes(e.URI) })
		if err == nil {
			for _, e := range res.Skills {
				deliver(e.URI)
			}
		}
	case getSkill:
		var entry mcpadapter.SkillEntry
		entry, err = client.GetSkill(ctx, params.URI)
		res.Skill = &entry
	case readDirectory:
		var list mcpadapter.ResourceList
		list, err = client.ReadDirectory(ctx, params.URI, params.Cursor)
		res.Resources, res.NextCursor = list.Resources, list.NextCursor
	}
	if err == nil {
		return res, nil
	}
	if method != listSkills && isInvalid(err) {
		if res, err := s.forward(ctx, method); err == nil {
			return res, nil
		}
	}
	return nil, protocolError(err)
}

// isInvalid reports whether the adapter has rejected the params of a request.
func isInvalid(err error) bool {
	var rejected *mcpadapter.RPCError
	return errors.As(err, &rejected) && rejected.Code == mcpadapter.CodeInvalidParams
}

// publisher returns a function that reports whether the adapter publishes a resource of
// the server or of another binding too. The first URI with the scheme of skills lists the
// skills, because a read for each URI would list the skills for each URI.
func publisher(ctx context.Context, client *mcpadapter.Session) func(uri string) bool {
	list := sync.OnceValues(func() (map[string]bool, error) {
		skills := make(map[string]bool) // by URI
		for cursor := (*string)(nil); ; {
			page, err := client.ListResources(ctx, cursor)
			if err != nil {
				return nil, err
			}
			for _, r := range page.Resources {
				skills[r.URI] = true
			}
			if page.NextCursor == "" {
				return skills, nil
			}
			cursor = &page.NextCursor
		}
	})
	return func(uri string) bool {
		if !strings.HasPrefix(uri, "skill://") {
			return false
		}
		skills, err := list()
		if err != nil || skills[uri] {
			return true // the request fails, or the adapter serves the SKILL.md
		}
		for i, c := range uri {
			if c == '/' && skills[uri[:i]+"/SKILL.md"] { // the skill may contain the file
				_, err := client.ReadResource(ctx, uri)
				return err == nil || !isInvalid(err)
			}
		}
		return false
	}
}

// otherSkills returns the skills of the other bindings of the server.
func (s server) otherSkills(ctx context.Context, req *skillRequest, params *skillParams) ([]mcpadapter.SkillEntry, error) {
	skills, _, err := rowsBelow(whole(ctx), s, listSkills, req, func(cursor string) *skillParams {
		page := *params
		if page.Cursor = nil; cursor != "" {
			page.Cursor = &cursor
		}
		return &page
	}, func(page *skillResult) ([]mcpadapter.SkillEntry, string, mcp.Cacheable) {
		return page.Skills, page.NextCursor, mcp.Cacheable{}
	})
	var none *jsonrpc.Error
	if errors.As(err, &none) && none.Code == jsonrpc.CodeMethodNotFound { // no other binding serves skills
		return nil, nil
	}
	return skills, err
}

// announceSkills makes the server announce that its list of resources has changed, and
// that subscribed resources have changed.
func announceSkills(s *mcp.Server, uris []string) {
	s.AddResource(&mcp.Resource{URI: resourceAnnouncer}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, mcp.ResourceNotFoundError(resourceAnnouncer)
	})
	for _, uri := range uris {
		// The only error is the error of a session that has ended.
		_ = s.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
	}
}
