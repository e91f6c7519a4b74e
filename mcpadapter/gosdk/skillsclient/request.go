package skillsclient

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
)

// The limits of a list.
const (
	maxPages    = 1000
	maxEntries  = 10_000
	maxListSize = 32 << 20 // bytes of all entries
	maxCursor   = 16 << 10 // bytes
	maxTTL      = 24 * time.Hour
)

type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type listResult struct {
	mcp.ResultBase
	Skills     json.RawMessage `json:"skills"`
	NextCursor string          `json:"nextCursor"` // "" ends the list, as in the SDK
	TTL        *int64          `json:"ttlMs"`
}

type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

type getResult struct {
	mcp.ResultBase
	Skill json.RawMessage `json:"skill"`
}

// A pageList is the result of all pages of a list.
type pageList struct {
	entries    []*held
	ttl        *time.Duration // the shortest ttlMs of the pages; nil if a page has none
	incomplete *Error         // the limit that ended the list; nil for a whole list
}

// requestList requests the pages of the list. At a limit, requestList returns the entries so
// far.
func (s *Server) requestList(ctx context.Context) (list pageList, failed error) {
	seen := make(map[string]bool)
	size, values := 0, valueCounter{}
	stop := func(format string, args ...any) (pageList, error) {
		list.incomplete = s.fail("", failf(ErrInvalidList, "the list is incomplete: "+format+"; get other skills by URI", args...))
		return list, nil
	}
	for cursor := ""; ; {
		page, err := mcp.CallCustomMethod[*listParams, *listResult](ctx, s.session, listMethod, &listParams{Cursor: cursor})
		if err != nil {
			return list, err
		}
		if fresh := duration(page.TTL); len(seen) == 0 || list.ttl != nil && (fresh == nil || *fresh < *list.ttl) {
			list.ttl = fresh
		}
		for raw, err := range elements[json.RawMessage](page.Skills) {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return list, err
			}
			size += len(raw)
			values.add(raw, false)
			switch {
			case len(list.entries) == maxEntries:
				return stop("the server has more than %d entries", maxEntries)
			case size > s.maxList:
				return stop("the entries have more than %d bytes", s.maxList)
			case values.n > maxValues:
				return stop("the entries have more than %d JSON values", maxValues)
			}
			list.entries = append(list.entries, parseEntry(s.label, raw))
		}
		seen[cursor] = true
		switch cursor = page.NextCursor; {
		case cursor == "":
			return list, nil
		case seen[cursor]:
			return list, failf(ErrInvalidList, "the cursor %s occurs twice", quote(cursor))
		case len(cursor) > maxCursor:
			return stop("the cursor of a page has more than %d bytes", maxCursor)
		case len(seen) == maxPages:
			return stop("the list has more than %d pages", maxPages)
		}
	}
}

// elements ranges over the elements of a JSON array, and decodes each element when the range
// reaches the element. The range of a missing array and of null is empty. For another JSON
// value, the range yields an error and ends.
func elements[T any](raw json.RawMessage) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		d := json.NewDecoder(bytes.NewReader(raw))
		start, err := d.Token()
		switch {
		case start == nil && (err == nil || err == io.EOF): // null or missing
			return
		case err == nil && start != json.Delim('['):
			err = errNoArray
		}
		for err == nil && d.More() {
			var v T
			if err = d.Decode(&v); err == nil && !yield(v, nil) {
				return
			}
		}
		if err != nil {
			yield(*new(T), err)
		}
	}
}

var errNoArray = errors.New("the value is not an array")

// ask returns the result of a request, which ends after the timeout of the server, or the error of
// the context as soon as the context ends, because nothing interrupts the decoding of a large
// response. do then ends after the decoding. A panic of do reaches the caller.
func ask[T any](ctx context.Context, s *Server, do func(context.Context) (T, error)) (T, error) {
	if s.closed.Load() {
		return *new(T), ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	select {
	case o := <-parallel.Go(func() (T, error) { return do(ctx) }):
		if exit := o.Exit(); exit != nil && exit.Goexit() {
			return *new(T), errNoResult
		}
		return o.Result()
	case <-ctx.Done():
		return *new(T), ctx.Err()
	}
}

// errNoResult reports that middleware of the program has called runtime.Goexit.
var errNoResult = errors.New("the request has no result")

// duration converts the ttlMs of a result.
func duration(ms *int64) *time.Duration {
	if ms == nil {
		return nil
	}
	d := time.Duration(min(max(*ms, 0), maxTTL.Milliseconds())) * time.Millisecond
	return &d
}

// requestEntry requests the entry of one skill.
func (s *Server) requestEntry(ctx context.Context, uri string) (*held, error) {
	h, err := ask(ctx, s, func(ctx context.Context) (*held, error) {
		result, err := mcp.CallCustomMethod[*getParams, *getResult](ctx, s.session, getMethod, &getParams{URI: uri})
		if err != nil {
			return nil, err
		}
		return parseEntry(s.label, result.Skill), nil
	})
	switch {
	case err != nil:
		return nil, s.fail(uri, err)
	case h.URI != uri:
		return nil, s.fail(uri, failf(ErrInvalidEntry, "the server returned the entry of %s", quote(h.URI)))
	}
	return h, nil
}

// requestFile requests a file and verifies the content. The request goes around the cache
// of the SDK, which would return a stale file until its ttlMs passes.
func (s *Server) requestFile(ctx context.Context, f File) ([]byte, error) {
	raw, err := ask(ctx, s, func(ctx context.Context) ([]byte, error) {
		result, err := mcp.CallCustomMethod[*mcp.ReadResourceParams, *mcp.ReadResourceResult](ctx, s.session, readMethod, &mcp.ReadResourceParams{URI: f.URI})
		if err != nil {
			return nil, err
		}
		raw, invalid := contents(result, f.URI)
		if invalid == nil {
			invalid = verify(raw, f)
		}
		if invalid != nil {
			return nil, invalid
		}
		return raw, nil
	})
	if err == nil {
		return raw, nil
	}
	var refused *jsonrpc.Error
	var invalid *Error
	if errors.As(err, &refused) || errors.As(err, &invalid) {
		s.suspects.Add(1) // the server may have changed the skill
	}
	return nil, s.fail(f.URI, err)
}

// contents returns the bytes of a result of resources/read.
func contents(result *mcp.ReadResourceResult, uri string) ([]byte, *Error) {
	if len(result.Contents) != 1 || result.Contents[0] == nil {
		return nil, failf(ErrContents, "the server returned %d contents; want the file alone", len(result.Contents))
	}
	c := result.Contents[0]
	switch {
	case c.URI != uri:
		return nil, failf(ErrContents, "the server returned the file %s", quote(c.URI))
	case c.Blob != nil && c.Text != "":
		return nil, failf(ErrContents, "the server returned both a text and a blob")
	case c.Blob != nil:
		return c.Blob, nil
	}
	return []byte(c.Text), nil // not nil for an empty file
}

// verify compares the content of a file with the entry.
func verify(raw []byte, f File) *Error {
	const next = "; the file changed or was altered: get the skill again"
	if int64(len(raw)) != f.Size {
		return failf(ErrSize, "the file has %d bytes, not %d"+next, len(raw), f.Size)
	}
	if digest := digestOf(raw); digest != f.Digest {
		return failf(ErrDigest, "the file has the digest %s, not %s"+next, digest, f.Digest)
	}
	return nil
}

// digestOf returns the digest of a content, as in an entry.
func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// fail returns an Error of the server for a cause.
func (s *Server) fail(uri string, cause error) *Error {
	var e *Error
	var rpc *jsonrpc.Error
	switch {
	case errors.As(cause, &e):
	case errors.Is(cause, ErrClosed):
		e = failf(ErrClosed, "the Server is closed; call Host.Server again")
	case errors.Is(cause, mcp.ErrConnectionClosed):
		e = &Error{Message: "the session has ended; connect again", Err: cause}
	case errors.Is(cause, context.DeadlineExceeded):
		e = &Error{Message: "the server does not answer; try again, or raise Host.Timeout", Err: cause}
	case errors.As(cause, &rpc) && rpc.Code == jsonrpc.CodeInvalidParams && uri != "":
		e = &Error{Kind: ErrNotFound, Message: "the server does not serve the URI; list the skills, or get the skill again", Err: cause}
	case rpc != nil:
		e = &Error{Message: "the server refused the request; if the skill has changed, get the skill again", Err: cause}
	default:
		e = &Error{Message: "the request failed", Err: cause}
	}
	e.Server, e.URI = s.label, uri
	return e
}

// ReadFile returns a file of a skill, which List or Get has returned. The path is relative to
// the directory of the skill, as in [File]. The caller may modify the result.
//
// ReadFile verifies the file with the given skill: the size ([ErrSize]), the digest
// ([ErrDigest]) and, in a SKILL.md, every field of the frontmatter ([ErrFrontmatter]). A
// path that the skill does not list is [ErrUnlisted], and sends no request. A file that
// fails is never returned; get the skill again. ReadFile returns [ErrContents] if the server
// sends another resource, several resources, or both a text and a blob, and [ErrNotFound] if
// the server no longer serves the file.
//
// ReadFile sends resources/read, unless the Server has verified a file with this digest
// and size before and still holds the content. The Server holds up to 16 MiB.
func (s *Server) ReadFile(ctx context.Context, skill Skill, path string) ([]byte, error) {
	if skill.Server != s.label {
		return nil, s.fail(skill.URI, failf(ErrUnlisted, "the skill is of the server %s", quote(skill.Server)))
	}
	raw, err := s.read(ctx, &skill, path)
	if err != nil {
		return nil, err
	}
	return bytes.Clone(raw), nil
}

// read is ReadFile without a copy.
func (s *Server) read(ctx context.Context, skill *Skill, path string) ([]byte, error) {
	f, ok := skill.file(path)
	if !ok {
		return nil, s.fail(skill.URI, failf(ErrUnlisted, "the skill does not list the file %s; get the skill again for a new list", quote(path)))
	}
	var raw []byte
	kept := s.contents.Get(index.File{Path: f.Digest})
	switch {
	case kept == nil || int64(len(kept.Value)) != f.Size: // an entry may have a digest with a wrong size
		var err error
		if raw, err = s.requestFile(ctx, f); err != nil {
			return nil, err
		}
		s.contents.Put(&index.Cached[[]byte]{
			File: index.File{Path: f.Digest}, Value: raw, Size: int64(len(raw)),
		})
	case s.closed.Load():
		return nil, s.fail(f.URI, ErrClosed)
	default:
		raw = kept.Value
	}
	if path == skillFile && !sameFrontmatter(raw, skill.Frontmatter) {
		return nil, s.fail(f.URI, failf(ErrFrontmatter, "the frontmatter of the file differs from the entry; do not use the skill"))
	}
	return raw, nil
}
