package skillsclient

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// MaxMessage is a size for the messages of a server, in bytes: a file of 16 MiB in base64,
// with room for the rest of the message. The limits of the SDK are 16 MiB by default. To
// read the largest skills, set MaxLineLength of an mcp.IOTransport and MaxEventSize of an
// mcp.StreamableClientTransport to MaxMessage.
const MaxMessage = 24 << 20

// maxValues bounds the JSON values of a message. A value takes up to 100 bytes of memory
// after decoding, also a value of two bytes. A page of 24 MiB with files has half as many.
const maxValues = 1 << 20

var (
	errMessageTooLarge = errors.New("the response is larger than skillsclient.MaxMessage")
	errManyValues      = fmt.Errorf("the response has more than %d JSON values", maxValues)
)

// LimitResponses returns a RoundTripper for the HTTPClient of an
// mcp.StreamableClientTransport. The SDK reads a JSON response, and every response with an
// error status, without a limit. The read of these responses fails after [MaxMessage] bytes,
// which ends the session. A successful stream of events has no such limit; the SDK limits
// each event. The read of a message with more than 1,048,576 JSON values also fails, because
// a short value needs much memory after decoding. A nil base means http.DefaultTransport.
func LimitResponses(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return limited{base}
}

type limited struct{ base http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.base.RoundTrip(r)
	if err == nil {
		body := &limitedBody{ReadCloser: response.Body, rest: MaxMessage}
		body.events = isEventStream(response)
		response.Body = body
	}
	return response, err
}

// isEventStream reports whether the SDK reads a response event by event.
func isEventStream(r *http.Response) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "text/event-stream" && r.StatusCode >= 200 && r.StatusCode < 300
}

// A limitedBody fails after rest bytes, or after maxValues values of a message. A stream of
// events has no limit of bytes.
type limitedBody struct {
	io.ReadCloser
	rest   int64
	events bool
	values valueCounter
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if !b.events {
		if b.rest <= 0 {
			return 0, errMessageTooLarge
		}
		p = p[:min(int64(len(p)), b.rest)]
	}
	n, err := b.ReadCloser.Read(p)
	b.rest -= int64(n)
	if b.values.add(p[:n], b.events); b.values.n > maxValues {
		return 0, errManyValues
	}
	return n, err
}

// A valueCounter counts the commas, brackets and braces outside strings, and so at least the
// elements and members of a JSON text. A line break ends a string, because JSON has no line
// breaks in strings.
type valueCounter struct {
	n               int
	quoted, escaped bool
	inLine          bool // the line has a byte
}

// add counts the values of the next bytes. In a stream of events, an empty line begins a
// message.
func (c *valueCounter) add(raw []byte, events bool) {
	for _, b := range raw {
		switch {
		case b == '\n':
			if events && !c.inLine {
				c.n = 0
			}
			c.inLine, c.quoted, c.escaped = false, false, false
			continue
		case b == '\r':
			continue
		case c.escaped:
			c.escaped = false
		case b == '"':
			c.quoted = !c.quoted
		case c.quoted:
			c.escaped = b == '\\'
		case b == ',' || b == '[' || b == '{':
			c.n++
		}
		c.inLine = true
	}
}
