package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
)

// The limits of a file and of an entry. A problem reports an entry beyond a limit.
const (
	maxFile    = 16 << 20 // ~/.claude.json also has the history of the user
	maxServers = 1000
	maxEntry   = 64 << 10
	maxDepth   = 16
)

// decode returns a file as JSON without comments and trailing commas. The bytes keep their places.
func decode(name string, text []byte, r *client.ServerRules) (json.RawMessage, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !utf8.Valid(text) {
		return nil, errors.New("the file is not UTF-8")
	}
	if strings.HasSuffix(name, ".toml") {
		table, _, err := matter.DecodeTOML(string(text))
		if err != nil {
			return nil, fmt.Errorf("the file is not TOML: %s", escape.Reason(err))
		}
		return json.Marshal(table)
	}
	if clean := plain(text, r.Comments, r.Commas); json.Valid(clean) {
		return bytes.TrimLeft(clean, " \t\r\n"), nil
	}
	err := json.Unmarshal(plain(text, r.Comments, r.Commas), new(json.RawMessage))
	return nil, fmt.Errorf("the file is not JSON: %s", escape.Reason(err))
}

// plain replaces comments and trailing commas by blanks.
func plain(text []byte, comments, commas bool) []byte {
	out, comma := slices.Clone(text), -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/' && comments && bytes.HasPrefix(out[i:], []byte("//")):
			for ; i < len(out) && out[i] != '\n'; i++ {
				out[i] = ' '
			}
		case c == '/' && comments && bytes.HasPrefix(out[i:], []byte("/*")):
			n := bytes.Index(out[i+2:], []byte("*/"))
			if n < 0 {
				return out
			}
			for end := i + n + 4; i < end; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
			i--
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0 && commas:
			out[comma] = ' '
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return out
}

// A member is a key of an object with its value.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the members of an object in the order of the file. Of several members with a key,
// the last counts, as in the clients, and repeated has the key.
func members(object json.RawMessage) (all []member, repeated []string) {
	if len(object) == 0 || object[0] != '{' {
		return nil, nil
	}
	at, key, isKey := map[string]int{}, "", false
	plugin.Each(object, func(part json.RawMessage) {
		if isKey = !isKey; isKey {
			key, _ = plugin.Text(part)
			return
		}
		if i, ok := at[key]; ok {
			all[i].value, repeated = part, append(repeated, key)
			return
		}
		at[key] = len(all)
		all = append(all, member{key, part})
	})
	return all, repeated
}

// lookup returns the value to which the keys lead, or nil.
func lookup(value json.RawMessage, keys ...string) json.RawMessage {
	for _, key := range keys {
		all, _ := members(value)
		i := slices.IndexFunc(all, func(m member) bool { return m.key == key })
		if i < 0 {
			return nil
		}
		value = all[i].value
	}
	return value
}

// join returns an object with the members of both objects. The members of first have precedence.
func join(first, second json.RawMessage) json.RawMessage {
	a, _ := members(first)
	b, _ := members(second)
	if a == nil || b == nil {
		return first
	}
	joined := map[string]json.RawMessage{}
	for _, m := range b {
		joined[m.key] = m.value
	}
	for _, m := range a {
		joined[m.key] = join(m.value, joined[m.key])
	}
	text, _ := json.Marshal(joined) // the values are valid
	return text
}

// repeats returns the keys that an object of a value has twice, and reports whether the value is
// nested too deep.
func repeats(value json.RawMessage, depth int) (keys []string, tooDeep bool) {
	if depth == maxDepth {
		return nil, true
	}
	if value[0] != '{' && value[0] != '[' {
		return nil, false
	}
	_, keys = members(value)
	plugin.Each(value, func(part json.RawMessage) {
		more, deep := repeats(part, depth+1)
		keys, tooDeep = append(keys, more...), tooDeep || deep
	})
	return keys, tooDeep
}

// canonical returns the value with sorted keys and without blanks.
func canonical(value json.RawMessage) string {
	var decoded any
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	if d.Decode(&decoded) != nil {
		return string(value)
	}
	text, _ := json.Marshal(decoded)
	return string(text)
}
