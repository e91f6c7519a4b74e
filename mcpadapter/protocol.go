package mcpadapter

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The revisions of the protocol that Session speaks, newest first. From
// 2026-07-28 on each request says which revision it is in, and there is no
// handshake; before, initialize agrees on one. The specification calls these
// eras modern and legacy.
var (
	modernVersions = []string{"2026-07-28"}
	legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
)

// ProtocolVersions returns the revisions of the protocol that Session speaks,
// newest first.
func ProtocolVersions() []string {
	return append(append([]string{}, modernVersions...), legacyVersions...)
}

const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

// params are the members of a request's params, as they came.
type params map[string]json.RawMessage

func parseParams(raw json.RawMessage) (params, *RPCError) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var p params
	if err := json.Unmarshal(raw, &p); err != nil {
		if !json.Valid(raw) {
			return nil, &RPCError{Code: CodeParseError, Message: "the params are not valid JSON"}
		}
		return nil, invalidParams("the params are not an object")
	}
	return p, nil
}

// has reports whether a member is there and not null.
func (p params) has(name string) bool {
	v, ok := p[name]
	return ok && string(v) != "null"
}

// text returns a member that must be a string.
func (p params) text(name string) (string, *RPCError) {
	var s string
	if v := p[name]; len(v) == 0 || v[0] != '"' || json.Unmarshal(v, &s) != nil {
		return "", invalidParams("%q is not a string; it is required", name)
	}
	return s, nil
}

// cursor returns the cursor of a list; nil for none. Null is none, too, as the
// contract of tools/list has it in its request; "" is a cursor.
func (p params) cursor() (*string, *RPCError) {
	if !p.has("cursor") {
		return nil, nil
	}
	s, err := p.text("cursor")
	if err != nil {
		return nil, invalidParams("Invalid cursor: it is not a string; ask without a cursor for the first page of this list")
	}
	return &s, nil
}

// modern reports whether a request is of the modern era, which is for it to say.
// Such a request must be complete; see "Per-request protocol fields" in the
// specification.
func (p params) modern() (bool, *RPCError) {
	if !p.has("_meta") {
		return false, nil
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(p["_meta"], &meta) != nil {
		return false, invalidParams(`"_meta" is not an object`)
	}
	value, ok := meta[metaVersion]
	if !ok {
		return false, nil
	}
	var version string
	if value[0] != '"' || json.Unmarshal(value, &version) != nil {
		return false, invalidParams("%q in _meta is not a string", metaVersion)
	}
	for _, legacy := range legacyVersions {
		if version == legacy {
			return false, nil // the handshake decides
		}
	}
	if version != modernVersions[0] {
		data, _ := encode(struct {
			Supported []string `json:"supported"`
			Requested string   `json:"requested"`
		}{ProtocolVersions(), truncate(version)})
		return false, &RPCError{Code: CodeUnsupportedVersion, Message: "Unsupported protocol version " + quote(version), Data: data}
	}
	var capabilities map[string]json.RawMessage
	if v, ok := meta[metaCapabilities]; !ok || json.Unmarshal(v, &capabilities) != nil || capabilities == nil {
		return false, invalidParams("%q is missing in _meta, or not an object; send {} for no capabilities", metaCapabilities)
	}
	return true, nil
}

// modern is how a result of the modern era begins: an object that is still
// open. A scope is for results that may be kept, for ttl milliseconds; "" is
// for others.
func (c config) modern(ttl int, scope string) []byte {
	b := []byte(`{"resultType":"complete",`)
	if scope != "" {
		b = strconv.AppendInt(append(b, `"ttlMs":`...), int64(ttl), 10)
		b = append(b, `,"cacheScope":"`+scope+`",`...)
	}
	return fmt.Appendf(b, `"_meta":{%q:%s}`, metaServer, c.serverInfo())
}

func (c config) serverInfo() []byte {
	b := escape.AppendJSON([]byte(`{"name":`), c.name)
	return append(escape.AppendJSON(append(b, `,"version":`...), c.version), '}')
}
