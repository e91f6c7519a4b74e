package mcpgo

import (
	"context"
	"encoding/base64"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// resources keeps a server's resources equal to the SKILL.md of the published skills.
type resources struct {
	session *mcpadapter.Session // the SDK has no skills/list, so no client holds an entry

	started atomic.Uint64 // number of started reads of the catalog

	mu         sync.Mutex // held while the server's resources change, but not while the catalog is read
	applied    uint64     // number of the latest read whose resources are registered
	registered map[string]mcpadapter.Resource
}

// addSkills adds the template of skills and the current skills, if the adapter serves
// skills.
func (b *binding) addSkills(ctx context.Context) {
	b.resources.session = b.adapter.NewSession()
	if !b.adapter.ServesSkills() {
		return
	}
	for _, t := range mcpadapter.ResourceTemplates() {
		b.server.AddResourceTemplate(mcp.NewResourceTemplate(t.URITemplate, t.Name, mcp.WithTemplateDescription(t.Description)), b.readResource)
	}
	b.syncResources(ctx)
}

// syncResources registers new and changed skills, and removes the resources without a
// skill. If the catalog cannot be read, the resources stay.
func (b *binding) syncResources(ctx context.Context) {
	r := &b.resources
	read := r.started.Add(1)
	current := make(map[string]mcpadapter.Resource)
	for cursor := (*string)(nil); ; {
		page, err := r.session.ListResources(ctx, cursor)
		if err != nil {
			return
		}
		for _, resource := range page.Resources {
			current[resource.URI] = resource
		}
		if cursor = &page.NextCursor; *cursor == "" {
			break
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if read < r.applied { // the resources of a later read are registered
		return
	}
	r.applied = read
	var added []server.ServerResource
	for uri, resource := range current {
		if old, ok := r.registered[uri]; !ok || !reflect.DeepEqual(old, resource) {
			added = append(added, server.ServerResource{Resource: newResource(resource), Handler: b.readResource})
		}
	}
	var removed []string
	for uri := range r.registered {
		if _, ok := current[uri]; !ok {
			removed = append(removed, uri)
		}
	}
	r.registered = current
	if removed != nil {
		b.server.DeleteResources(removed...)
	}
	if added != nil {
		b.server.AddResources(added...)
	}
}

func newResource(r mcpadapter.Resource) mcp.Resource {
	return mcp.Resource{URI: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIMEType, Size: r.Size}
}

func (b *binding) readResource(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	c, err := b.resources.session.ReadResource(ctx, req.Params.URI)
	var rpcErr *mcpadapter.RPCError
	if errors.As(err, &rpcErr) {
		return nil, errors.New(rpcErr.Message) // without the code, because the SDK sends -32603 for all errors
	}
	if err != nil {
		return nil, err
	}
	if c.IsText() {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: c.URI, MIMEType: c.MIMEType, Text: string(c.Data)}}, nil
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: c.URI, MIMEType: c.MIMEType, Blob: base64.StdEncoding.EncodeToString(c.Data)}}, nil
}
