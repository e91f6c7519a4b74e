package mcpgo

import (
	"context"
	"encoding/base64"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// addSkills adds the template of skills and the current skills, if the adapter serves
// skills.
func (b *binding) addSkills(ctx context.Context) {
	if !b.adapter.ServesSkills() {
		return
	}
	for _, t := range mcpadapter.ResourceTemplates() {
		b.server.AddResourceTemplate(mcp.NewResourceTemplate(t.URITemplate, t.Name, mcp.WithTemplateDescription(t.Description)), b.group.readResource)
	}
	b.syncResources(ctx)
}

// syncResources registers new and changed skills, and removes the resources without a
// skill. If the catalog cannot be read, the resources stay.
func (b *binding) syncResources(ctx context.Context) {
	read := func() (all []mcpadapter.Resource, err error) {
		for cursor := (*string)(nil); ; {
			page, err := b.session.ListResources(ctx, cursor)
			if err != nil {
				return nil, err
			}
			all = append(all, page.Resources...)
			if cursor = &page.NextCursor; *cursor == "" {
				return all, nil
			}
		}
	}
	b.group.resources.sync(b.resources, read, func(added []mcpadapter.Resource, removed []string) {
		var resources []server.ServerResource
		for _, r := range added {
			resources = append(resources, server.ServerResource{Resource: newResource(r), Handler: b.group.readResource})
		}
		if removed != nil {
			b.server.DeleteResources(removed...)
		}
		if resources != nil {
			b.server.AddResources(resources...)
		}
	})
}

func newResource(r mcpadapter.Resource) mcp.Resource {
	return mcp.Resource{URI: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIMEType, Size: r.Size}
}

func contents(c mcpadapter.ResourceContents) []mcp.ResourceContents {
	if c.IsText() {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: c.URI, MIMEType: c.MIMEType, Text: string(c.Data)}}
	}
	return []mcp.ResourceContents{mcp.BlobResourceContents{URI: c.URI, MIMEType: c.MIMEType, Blob: base64.StdEncoding.EncodeToString(c.Data)}}
}
