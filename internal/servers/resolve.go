package servers

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// maxText bounds a text with the values of its variables, in bytes.
const maxText = 1 << 20

// A lookupFunc returns the value of a variable.
type lookupFunc = func(name string) (value string, ok bool)

// Resolve fills the values of variables into v. A value is not scanned for variables. The code is
// "" or the code of an error with the reason, which has no value.
func (s *Server) Resolve(v Values, lookup lookupFunc) (_ Values, code, reason string) {
	if s == nil { // the program has made the server
		return v, "", ""
	}
	var unset, failed []string
	fill := func(text string) string {
		filled, missing, problem := s.expand(text, lookup)
		if unset = append(unset, missing...); problem != "" {
			failed = append(failed, problem)
		}
		return filled
	}
	each := func(field string, values map[string]string) {
		for _, key := range Names(values) {
			b, ok := s.from[field+"\x00"+key]
			if !ok {
				values[key] = fill(values[key])
			} else if value, ok := lookup(b.variable); ok {
				values[key] = b.prefix + value
			} else {
				unset = append(unset, b.variable)
			}
		}
	}
	r := v.Clone()
	for i, a := range r.Args {
		r.Args[i] = fill(a)
	}
	r.EnvFile, r.Dir = fill(v.EnvFile), fill(v.Dir)
	if each("env", r.Env); !s.Rules.Closed { // Agent Plugins fills in args, env and cwd only
		r.Command, r.URL = fill(v.Command), fill(v.URL)
		each("header", r.Headers)
	}
	prefix := fmt.Sprintf("server %s: ", quoted(s.Name))
	switch {
	case len(unset) > 0:
		slices.Sort(unset)
		return v, "INVALID_ARGUMENTS", prefix + "set the variables " + strings.Join(quoteAll(slices.Compact(unset)), ", ")
	case len(failed) > 0:
		return v, "INVALID_ARGUMENTS", prefix + failed[0]
	case s.Plugin == "":
		return r, "", ""
	case !s.confine(&r.Command, false):
		return v, "OUTSIDE_ROOT", prefix + "the command " + quoted(v.Command) + " leads out of the plugin"
	case !s.confine(&r.Dir, true):
		return v, "OUTSIDE_ROOT", prefix + "the directory " + quoted(v.Dir) + " leads out of the plugin"
	}
	return r, "", ""
}

func quoteAll(names []string) (all []string) {
	for _, name := range names {
		all = append(all, quoted(name))
	}
	return all
}

// confine makes a relative path of a plugin absolute, and reports whether the path stays within the
// plugin. A command without a separator is a name, and an absolute path outside is no path of the
// plugin.
func (s *Server) confine(p *string, dir bool) bool {
	text := filepath.ToSlash(*p)
	if text == "" || !dir && !strings.Contains(text, "/") {
		return true
	}
	if !path.IsAbs(text) && !filepath.IsAbs(*p) {
		if !fs.ValidPath(path.Clean(text)) {
			return false
		}
		*p = filepath.Join(s.BaseDir, *p)
		return true
	}
	root := strings.TrimSuffix(filepath.ToSlash(s.BaseDir), "/") + "/"
	_, inside := paths.Below(s.BaseDir, ".", *p)
	return inside || !strings.HasPrefix(text, root)
}

// expand fills the values of variables into a text, in a single pass.
func (s *Server) expand(text string, lookup lookupFunc) (filled string, unset []string, problem string) {
	var b strings.Builder
	for i := 0; i < len(text); {
		name, instead, n := s.variable(text[i:])
		if n == 0 {
			if s.Rules.Forms&client.VarShell != 0 && (text[i] == '`' || strings.HasPrefix(text[i:], "$(")) {
				problem = "a text runs a command of a shell, which toolshelf does not run"
			}
			b.WriteByte(text[i])
			i++
			continue
		}
		i += n
		dir, known := s.Rules.Dirs[name]
		value, ok := s.Known[dir]
		if !known || !ok {
			value, ok = lookup(name)
		}
		if instead != nil && (!ok || value == "" && s.Rules.Forms&client.VarShell != 0) {
			value, ok = *instead, true
		}
		if !ok {
			unset = append(unset, name)
		}
		if b.Len()+len(value) > maxText {
			return "", unset, fmt.Sprintf("a text with the values of its variables has more than %d bytes", maxText)
		}
		b.WriteString(value)
	}
	return b.String(), unset, problem
}

// variable returns the variable at the start of a text, the text to use without a value or nil, and
// the length of the variable, which is 0 if the text does not begin with a variable of the client.
func (s *Server) variable(text string) (name string, instead *string, n int) {
	forms := s.Rules.Forms
	inner, end := "", strings.IndexByte(text, '}')
	switch {
	case text[0] == '{' && forms&client.VarCurly != 0 && end > 0:
		kind, rest, ok := strings.Cut(text[1:end], ":")
		if !ok || rest == "" || kind != "env" && kind != "file" || strings.Contains(rest, "{") {
			return "", nil, 0
		}
		return strings.TrimPrefix(text[1:end], "env:"), nil, end + 1
	case text[0] != '$' || len(text) < 2:
		return "", nil, 0
	case text[1] == '{' && end > 2:
		inner = text[2:end]
	case text[1] != '{' && forms&client.VarDollar != 0:
		for n = 1; n < len(text) && isNameByte(text[n]) && (n > 1 || text[n] > '9'); n++ {
		}
		if n == 1 {
			return "", nil, 0
		}
		return text[1:n], nil, n
	default:
		return "", nil, 0
	}
	_, known := s.Rules.Dirs[inner]
	switch kind, rest, ok := strings.Cut(inner, ":"); {
	case known:
		return inner, nil, end + 1
	case forms&client.VarPrefixed != 0 && ok && rest != "":
		if kind == "env" {
			inner = rest
		}
		return inner, nil, end + 1
	case forms&client.VarBraces == 0:
		return "", nil, 0
	case forms&client.VarDefault != 0:
		if before, after, ok := strings.Cut(inner, ":-"); ok && before != "" {
			return before, &after, end + 1
		}
	}
	return inner, nil, end + 1
}

func isNameByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// variables returns the names of the variables in texts, sorted, except for the known directories.
func (s *Server) variables(texts ...string) []string {
	var names []string
	for _, text := range texts {
		_, unset, _ := s.expand(text, func(string) (string, bool) { return "", false })
		names = append(names, unset...)
		for i := 0; i < len(text); i++ { // a variable with a default is set
			if name, instead, n := s.variable(text[i:]); n > 0 {
				if i += n - 1; instead != nil {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
