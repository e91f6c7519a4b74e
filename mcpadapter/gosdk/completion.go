package gosdk

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const complete = "completion/complete"

// complete completes arguments of commands and of the adapter's tools. The SDK's
// ServerOptions.CompletionHandler completes all other arguments.
func (b *binding) complete(ctx context.Context, s server, req *mcp.CompleteRequest) (mcp.Result, error) {
	ref := req.Params.Ref
	if ref == nil || ref.Type != "ref/prompt" {
		return s.forward(ctx, complete)
	}
	c, err := b.adapter.Complete(ctx, ref.Name, req.Params.Argument.Name, req.Params.Argument.Value)
	if err == nil {
		return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: c.Values, Total: c.Total, HasMore: c.HasMore}}, nil
	}
	res, other := s.forward(ctx, complete)
	var none *jsonrpc.Error
	noHandler := errors.As(other, &none) && none.Code == jsonrpc.CodeMethodNotFound // the server has no CompletionHandler
	if noHandler || other != nil && commandFailed(err) {
		return nil, protocolError(err)
	}
	return res, other
}
