package skillsclient

import (
	"errors"
	"io"
	"net/http"
)

// MaxMessage is a size for the messages of a server, in bytes: a file of 16 MiB in base64,
// with room for the rest of the message. The limits of the SDK are 16 MiB by default. To
// read the largest skills, set MaxLineLength of an mcp.IOTransport and MaxEventSize of an
// mcp.StreamableClientTransport to MaxMessage.
const MaxMessage = 24 << 20

var errMessageTooLarge = errors.New("the response is larger than skillsclient.MaxMessage")

// LimitResponses returns a RoundTripper for the HTTPClient of an
// mcp.StreamableClientTransport. The SDK reads a JSON response without a limit. The read of
// a JSON response fails after [MaxMessage] bytes, which ends the session. Streams of events
// are not limited; the SDK limits each event. A nil base means http.DefaultTransport.
func LimitResponses(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return limited{base}
}

type limited struct{ base http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.base.RoundTrip(r)
	if err == nil && !isEventStream(response) {
		response.Body = &limitedBody{response.Body, MaxMessage}
	}
	return response, err
}

func isEventStream(r *http.Response) bool {
	const events = "text/event-stream"
	kind := r.Header.Get("Content-Type")
	return len(kind) >= len(events) && kind[:len(events)] == events
}

// A limitedBody fails after rest bytes.
type limitedBody struct {
	io.ReadCloser
	rest int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.rest <= 0 {
		return 0, errMessageTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.rest)])
	b.rest -= int64(n)
	return n, err
}
