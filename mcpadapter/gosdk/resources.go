package gosdk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/paging"
)

const (
	listResources = "resources/list"
	listTemplates = "resources/templates/list"
	readResource  = "resources/read"
)

// resourceAnnouncer is the URI of the resource that makes the SDK declare resources and
// announce changes. No skill has this URI.
const resourceAnnouncer = "skill:announcer"

// listResources returns one page. The skills come first, then the server's own resources.
func (b *binding) listResources(ctx context.Context, s server, req *mcp.ListResourcesRequest) (*mcp.ListResourcesResult, error) {
	own, cacheable, err := s.resources(ctx, req)
	if err != nil {
		return nil, err
	}
	var cursor *string
	if req.Params != nil && req.Params.Cursor != "" {
		cursor = &req.Params.Cursor
	}
	client := b.clients.of(req.Session, b.adapter)
	publishes := publisher(ctx, client)
	resources, next, err := join(ctx, "resources", min(b.size, paging.MaxRows), own, cursor, func(cursor *string) (all []*mcp.Resource, next string, err error) {
		list, err := client.ListResources(ctx, cursor)
		for _, r := range list.Resources {
			all = append(all, newResource(r))
		}
		return all, list.NextCursor, err
	}, func(r *mcp.Resource) bool { return publishes(r.URI) })
	if err != nil {
		return nil, protocolError(err)
	}
	return &mcp.ListResourcesResult{Cacheable: cacheable, Resources: resources, NextCursor: next}, nil
}

func newResource(r mcpadapter.Resource) *mcp.Resource {
	resource := &mcp.Resource{URI: r.URI, Name: r.Name, Description: r.Description, MIMEType: r.MIMEType}
	if r.Size != nil {
		resource.Size = *r.Size
	}
	return resource
}

// listTemplates adds the templates of skills to the first page of the server's own
// templates.
func (b *binding) listTemplates(ctx context.Context, s server, req *mcp.ListResourceTemplatesRequest) (*mcp.ListResourceTemplatesResult, error) {
	res, err := s.forward(ctx, listTemplates)
	if err != nil {
		return nil, err
	}
	own, ok := res.(*mcp.ListResourceTemplatesResult)
	if !ok {
		return nil, fmt.Errorf("middleware returned a %T for %s", res, listTemplates)
	}
	if req.Params != nil && req.Params.Cursor != "" {
		return own, nil
	}
	page := *own
	page.Cacheable, page.ResourceTemplates = private(own.Cacheable), nil
	for _, t := range mcpadapter.ResourceTemplates() {
		if !slices.ContainsFunc(own.ResourceTemplates, func(o *mcp.ResourceTemplate) bool { return o.URITemplate == t.URITemplate }) {
			page.ResourceTemplates = append(page.ResourceTemplates, &mcp.ResourceTemplate{URITemplate: t.URITemplate, Name: t.Name, Description: t.Description})
		}
	}
	page.ResourceTemplates = append(page.ResourceTemplates, own.ResourceTemplates...)
	return &page, nil
}

// readResource returns a file of a skill, or forwards the request for one of the server's
// own resources.
func (b *binding) readResource(ctx context.Context, s server, req *mcp.ReadResourceRequest) (mcp.Result, error) {
	c, err := b.clients.of(req.Session, b.adapter).ReadResource(ctx, req.Params.URI)
	if err == nil {
		res, err := newResultOf[mcp.ReadResourceResult](req.Params.Meta)
		if err != nil {
			return nil, protocolError(err)
		}
		res.Cacheable = mcp.Cacheable{CacheScope: "private"}
		contents := &mcp.ResourceContents{URI: c.URI, MIMEType: c.MIMEType}
		if c.IsText() && len(c.Data) > 0 { // the SDK drops an empty text
			contents.Text = string(c.Data)
		} else {
			contents.Blob = append([]byte{}, c.Data...)
		}
		res.Contents = []*mcp.ResourceContents{contents}
		return res, nil
	}
	if !isInvalid(err) || req.Params.URI == resourceAnnouncer {
		return nil, protocolError(err)
	}
	res, ownErr := s.forward(ctx, readResource)
	var unknown *jsonrpc.Error
	if errors.As(ownErr, &unknown) && unknown.Code == jsonrpc.CodeInvalidParams {
		return nil, protocolError(err)
	}
	return res, ownErr
}

// resources returns the server's own resources and the cache hints of the list.
func (s server) resources(ctx context.Context, req *mcp.ListResourcesRequest) ([]*mcp.Resource, mcp.Cacheable, error) {
	params := cmp.Or(req.Params, &mcp.ListResourcesParams{})
	resources, cacheable, err := rowsBelow(whole(ctx), s, listResources, req, func(cursor string) *mcp.ListResourcesParams {
		return &mcp.ListResourcesParams{Meta: params.Meta, Cursor: cursor}
	}, func(page *mcp.ListResourcesResult) ([]*mcp.Resource, string, mcp.Cacheable) {
		return page.Resources, page.NextCursor, page.Cacheable
	})
	own := slices.DeleteFunc(slices.Clone(resources), func(r *mcp.Resource) bool { return r.URI == resourceAnnouncer })
	return own, cacheable, err
}
