package gosdk

import (
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// clients are the adapter's sessions of the SDK's sessions. A session of the adapter
// remembers the entries of skills that the client holds. The zero clients is empty.
type clients struct{ sessions sync.Map } // of *mcpadapter.Session by weak.Pointer[mcp.ServerSession]

// of returns the adapter's session for a session of the SDK. The adapter's session is
// dropped with the session of the SDK.
func (c *clients) of(ss *mcp.ServerSession, a *mcpadapter.Adapter) *mcpadapter.Session {
	key := weak.Make(ss)
	if s, ok := c.sessions.Load(key); ok {
		return s.(*mcpadapter.Session)
	}
	s, loaded := c.sessions.LoadOrStore(key, a.NewSession())
	if !loaded {
		runtime.AddCleanup(ss, func(key weak.Pointer[mcp.ServerSession]) { c.sessions.Delete(key) }, key)
	}
	return s.(*mcpadapter.Session)
}
