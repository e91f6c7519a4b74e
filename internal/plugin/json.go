package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// read returns the text of a file of a directory. The problem of a missing file is nil, and the
// text is nil.
func (f *finder) read(d *directory, file string) ([]byte, *problem.Problem) {
	if !d.has(file) {
		return nil, nil
	}
	fail := func(code problem.Code, message, suggestion string) ([]byte, *problem.Problem) {
		p := problem.New(code, problem.Error, escape.Path(d.join(file)), message, suggestion)
		return nil, &p
	}
	data, err := d.files.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == access.ErrTooLarge:
		message := fmt.Sprintf("the file has more than %d bytes", f.options.MaxSize)
		return fail(problem.FileTooLarge, message, "shorten the file")
	case err != nil:
		return fail(problem.FileRead, "cannot read the file: "+escape.Reason(err), "let the program read the file")
	}
	return data, nil
}

// An object is a JSON object. Of several members with one name, the last member counts, as in the
// clients.
type object struct {
	place    string // before the name of a member in a problem, such as "plugins[3]."
	path     string // of the file
	members  map[string]json.RawMessage
	keys     []string // in the order of the file, without repetition
	problems *[]problem.Problem
}

// split sets the members to the members of a value that is an object.
func (o *object) split(value json.RawMessage) {
	var repeated []string
	o.keys, o.members, repeated = Members(value)
	for _, key := range repeated {
		o.report(problem.DuplicateKey, problem.Warning, key,
			"the object has two members with the name "+o.quote(key)+"; the last member counts",
			"remove one of the members")
	}
}

// parse reads a file that contains one object.
func parse(file string, data []byte, problems *[]problem.Problem) (*object, *problem.Problem) {
	file = escape.Path(file)
	invalid := func(line int, message, suggestion string) (*object, *problem.Problem) {
		return nil, &problem.Problem{Code: problem.PluginInvalid, Severity: problem.Error, Path: file, Line: line, Message: message, Suggestion: suggestion}
	}
	if marked, ok := bytes.CutPrefix(data, []byte("\ufeff")); ok {
		data = marked
		mark := problem.New(problem.PluginFieldIgnored, problem.Warning, file,
			"the file begins with a byte order mark, which other programs reject",
			"save the file as UTF-8 without a byte order mark")
		mark.Line = 1
		*problems = append(*problems, mark)
	}
	if !utf8.Valid(data) {
		return invalid(0, "the file is not UTF-8", "save the file as UTF-8")
	}
	if !json.Valid(data) {
		var syntax *json.SyntaxError
		if !errors.As(json.Unmarshal(data, new(json.RawMessage)), &syntax) {
			return invalid(0, "the file is not JSON", "correct the syntax")
		}
		line := 1 + bytes.Count(data[:min(max(syntax.Offset, 0), int64(len(data)))], []byte("\n"))
		return invalid(line, "the file is not JSON: "+escape.Name(syntax.Error()), "correct the syntax")
	}
	data = bytes.TrimLeft(data, " \t\r\n")
	if !isObject(data) {
		return invalid(1, "the file does not contain an object", "begin the file with {")
	}
	o := &object{path: file, problems: problems}
	o.split(data)
	return o, nil
}

// child returns a member as an object.
func (o *object) child(place string, value json.RawMessage) (*object, bool) {
	if !isObject(value) {
		return nil, false
	}
	c := &object{place: place, path: o.path, problems: o.problems}
	c.split(value)
	return c, true
}

func (o *object) quote(key string) string { return `"` + escape.Name(shortened(o.place+key)) + `"` }

func (o *object) report(code problem.Code, severity problem.Severity, key, message, suggestion string) {
	*o.problems = append(*o.problems, problem.Problem{Code: code, Severity: severity, Path: o.path, Key: escape.Name(shortened(key)), Message: message, Suggestion: suggestion})
	if len(*o.problems) > maxProblems {
		*o.problems = problem.Limit(*o.problems)
	}
}

// maxProblems bounds the memory of the problems of a file.
const maxProblems = 1000

// with returns an object with the same members and another list of problems.
func (o *object) with(problems *[]problem.Problem) *object {
	c := *o
	c.problems = problems
	return &c
}

// ignore reports a member with another type than the documented types.
func (o *object) ignore(key, want string) {
	o.report(problem.PluginFieldIgnored, problem.Warning, key, "the field "+o.quote(key)+" is ignored: the value is not "+want, "write "+want)
}

// has reports whether the object has a member other than null.
func (o *object) has(key string) bool {
	v, ok := o.members[key]
	return ok && string(v) != "null"
}

// text returns a member that is a text. A missing member is "".
func (o *object) text(key string) string {
	if !o.has(key) {
		return ""
	}
	s, ok := Text(o.members[key])
	if !ok {
		o.ignore(key, "a text")
	}
	return s
}

// texts returns a member that is a text or a list of texts.
func (o *object) texts(key, want string) []string {
	if !o.has(key) {
		return nil
	}
	value := o.members[key]
	if value[0] == '"' {
		return []string{o.text(key)}
	}
	items, ok := list(value)
	if !ok {
		o.ignore(key, want)
		return nil
	}
	all := make([]string, 0, len(items))
	for i, item := range items {
		if s, isText := Text(item); isText {
			all = append(all, s)
		} else if ok { // only the first, because a list can have many items
			o.ignore(fmt.Sprintf("%s[%d]", key, i), "a text")
			ok = false
		}
	}
	return all
}

// shortened returns the beginning of a text for a message.
func shortened(s string) string { return escape.Cut(s, 200) }

// below returns the clean form of a path relative to a directory, or the reason why the path is
// not valid.
func below(given string) (clean, reason string) {
	slashed := strings.TrimSuffix(given, "/")
	switch {
	case given == "":
		return "", "is empty"
	case len(given) > maxPath, strings.Count(given, "/") > maxDepth:
		return "", "is too long"
	case strings.Contains(given, `\`):
		return "", "has a backslash"
	case strings.HasPrefix(given, "/"), given == "~", strings.HasPrefix(given, "~/"), len(given) > 1 && given[1] == ':':
		return "", "is not relative"
	case strings.ContainsFunc(given, func(r rune) bool { return r < ' ' || r == 0x7f || r == utf8.RuneError }):
		return "", "has a control character"
	}
	clean = path.Clean(slashed)
	if !fs.ValidPath(clean) { // begins with ".."
		return "", "leads outside"
	}
	return clean, ""
}

// maxPath bounds a path of a manifest, in bytes, and maxDepth the number of its directories.
const maxPath, maxDepth = 4096, 64

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
	keys, values = make([]string, 0, 8), make(map[string]json.RawMessage)
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
