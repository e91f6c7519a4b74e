package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
)

// The limits of a file and of an entry. A problem reports an entry beyond a limit.
const (
	maxFile    = 1 << 20
	maxHome    = 16 << 20 // of a file of the user: ~/.claude.json also has the history
	maxServers = 1000
	maxEntry   = 64 << 10
	maxDepth   = 16
)

// decode returns a file as JSON without comments and trailing commas. The bytes keep their places.
func decode(name string, text []byte, comments, commas bool) (json.RawMessage, error) {
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
	if comments || commas {
		text = plain(text, comments, commas)
	}
	if !json.Valid(text) {
		err := json.Unmarshal(text, new(json.RawMessage))
		return nil, fmt.Errorf("the file is not JSON: %s", escape.Reason(err))
	}
	return bytes.TrimLeft(text, " \t\r\n"), nil
}

// plain replaces comments and trailing commas by blanks.
func plain(text []byte, comments, commas bool) []byte {
	out, comma := slices.Clone(text), -1
	for i := 0; i < len(out); {
		c, n := out[i], token(out[i:])
		switch {
		case c == '/' && comments && n > 1:
			for j := i; j < i+n; j++ {
				if out[j] != '\n' {
					out[j] = ' '
				}
			}
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0 && commas:
			out[comma], comma = ' ', -1
		case strings.IndexByte(" \t\r\n", c) < 0:
			comma = -1
		}
		i += n
	}
	return out
}

// token returns the length of the string or of the comment at the start of a text, or else 1.
func token(text []byte) int {
	switch {
	case text[0] == '"':
		return matter.AfterQuote(text, 0)
	case bytes.HasPrefix(text, []byte("//")):
		if n := bytes.IndexByte(text, '\n'); n >= 0 {
			return n
		}
		return len(text)
	case bytes.HasPrefix(text, []byte("/*")):
		if n := bytes.Index(text[2:], []byte("*/")); n >= 0 {
			return n + 4
		}
	}
	return 1
}

// lookup returns the value to which the keys lead, or nil.
func lookup(value json.RawMessage, keys ...string) json.RawMessage {
	for _, key := range keys {
		_, values, _ := plugin.Members(value)
		value = values[key]
	}
	return value
}

// join returns an object with the members of both objects. The members of first have precedence.
func join(first, second json.RawMessage) json.RawMessage {
	_, a, _ := plugin.Members(first)
	_, joined, _ := plugin.Members(second)
	if a == nil || joined == nil {
		return first
	}
	for key, value := range a {
		joined[key] = join(value, joined[key])
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
	_, _, keys = plugin.Members(value)
	plugin.Each(value, func(part json.RawMessage) {
		more, deep := repeats(part, depth+1)
		keys, tooDeep = append(keys, more...), tooDeep || deep
	})
	return keys, tooDeep
}
