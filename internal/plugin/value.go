package plugin

import (
	"bytes"
	"encoding/json"
)

// The functions of this file read parts of a valid JSON text without copies. Package encoding/json
// would copy each value at each level, and would not report the repetition of a key.

// end returns the index after the value that begins at i.
func end(text []byte, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			continue
		default: // a number or a word
			for i+1 < len(text) && bytes.IndexByte([]byte(",:]} \t\r\n"), text[i+1]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return i
}

// Each calls f with the values of a list, or with the keys and the values of an object, in turn.
func Each(value json.RawMessage, f func(part json.RawMessage)) {
	for i := 1; i < len(value); {
		switch value[i] {
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		case ']', '}':
			return
		default:
			after := end(value, i)
			f(value[i:after:after])
			i = after
		}
	}
}

// Members returns the keys of an object in the order of the file, and the values. Of several members
// with a key, the last counts, as in the clients, and repeated has the key for each further member.
func Members(object json.RawMessage) (keys []string, values map[string]json.RawMessage, repeated []string) {
	if !isObject(object) {
		return nil, nil, nil
	}
	values = make(map[string]json.RawMessage)
	key, isKey := "", false
	Each(object, func(part json.RawMessage) {
		if isKey = !isKey; isKey {
			key = keyText(part)
			return
		}
		if _, ok := values[key]; ok {
			repeated = append(repeated, key)
		} else {
			keys = append(keys, key)
		}
		values[key] = part
	})
	return keys, values, repeated
}

// usual has the usual keys, so that the keys of many objects share memory.
var usual = func() map[string]string {
	keys := make(map[string]string)
	for _, key := range []string{"name", "version", "description", "author", "email", "url", "homepage",
		"repository", "license", "keywords", "source", "strict", "category", "tags", "commands",
		"skills", "agents", "hooks", "mcpServers", "displayName", "$schema"} {
		keys[`"`+key+`"`] = key
	}
	return keys
}()

// keyText returns the text of a key.
func keyText(key json.RawMessage) string {
	if text, ok := usual[string(key)]; ok {
		return text
	}
	text, _ := Text(key)
	return text
}

// list returns the items of a value that is a list.
func list(value json.RawMessage) (items []json.RawMessage, ok bool) {
	if len(value) == 0 || value[0] != '[' {
		return nil, false
	}
	Each(value, func(item json.RawMessage) { items = append(items, item) })
	return items, true
}

// Text returns a value that is a text.
func Text(value json.RawMessage) (s string, ok bool) {
	if len(value) == 0 || value[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1]), true
	}
	return s, json.Unmarshal(value, &s) == nil
}

func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }
