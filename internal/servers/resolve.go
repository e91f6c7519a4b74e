package servers

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/paths"
)

// maxText bounds a text with the values of its variables, in bytes.
const maxText = 1 << 20

// A lookupFunc returns the value of a variable.
type lookupFunc = func(name string) (value string, ok bool)

// unset is a lookupFunc without variables.
func unset(string) (string, bool) { return "", false }

// Rules are the row of a client, or of a format of plugins.
type Rules struct {
	client.Client
	syntax func() *regexp.Regexp // of variables; nil if the client has none
}

func newRules(row client.Client) *Rules {
	return &Rules{row, sync.OnceValue(func() *regexp.Regexp {
		if row.Servers.Variables == "" {
			return nil
		}
		syntax, _ := regexp.Compile(row.Servers.Variables)
		return syntax
	})}
}

// A variable is a match of client.ServerRules.Variables.
type variable struct {
	name    string
	instead *string // the text in place of a value
	orEmpty bool    // instead also replaces an empty value
	command bool    // of a shell
}

// scan returns a text with the result of f in place of each variable, in a single pass.
func (r *Rules) scan(text string, f func(variable) string) string {
	if !strings.ContainsAny(text, "${`") || r.syntax() == nil {
		return text
	}
	var b strings.Builder
	last, names := 0, r.syntax().SubexpNames()
	for _, m := range r.syntax().FindAllStringSubmatchIndex(text, -1) {
		v := variable{}
		for i := 1; i < len(names); i++ {
			if m[2*i] < 0 {
				continue
			}
			part := text[m[2*i]:m[2*i+1]]
			switch names[i] {
			case "":
				v.name = part
			case "command":
				v.command = true
			default:
				v.instead, v.orEmpty = &part, names[i] == "otherwise"
			}
		}
		b.WriteString(text[last:m[0]])
		b.WriteString(f(v))
		last = m[1]
	}
	return b.String() + text[last:]
}

// known returns the value of a variable that the place of the server decides.
func (s *Server) known(name string) (value string, ok bool) {
	dir, ok := s.Row.Servers.Dirs[name]
	switch {
	case ok && dir == client.PluginDir && s.Plugin != "":
		return s.Base.path, true
	case ok:
		value, ok = s.Known[dir]
	}
	return value, ok
}

// A filling has the variables without a value, and the first other problem.
type filling struct {
	missing []string
	problem string
}

// fill returns a text with the values of its variables.
func (s *Server) fill(text string, lookup lookupFunc, r *filling) string {
	size := len(text)
	return s.Row.scan(text, func(v variable) string {
		if v.command {
			r.problem = "a text runs a command of a shell, which toolshelf does not run"
			return ""
		}
		value, ok := s.known(v.name)
		if !ok {
			value, ok = lookup(v.name)
		}
		if v.instead != nil && (!ok || value == "" && v.orEmpty) {
			value, ok = *v.instead, true
		}
		if !ok {
			r.missing = append(r.missing, v.name)
		}
		if size += len(value); size > maxText+len(text) {
			r.problem = fmt.Sprintf("a text with its values has more than %d bytes", maxText)
			return ""
		}
		return value
	})
}

// variables returns the names of the variables in texts, sorted, except for the known directories.
func (s *Server) variables(texts ...string) (names []string) {
	for _, text := range texts {
		s.Row.scan(text, func(v variable) string {
			if _, ok := s.known(v.name); !ok && !v.command {
				names = append(names, v.name)
			}
			return ""
		})
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Resolve fills the values of variables into v. A value is not scanned for variables. The code is
// "" or the code of an error with the reason, which has no value.
func (s *Server) Resolve(v Values, lookup lookupFunc) (_ Values, code, reason string) {
	if s == nil { // the program has made the server
		return v, "", ""
	}
	var all filling
	r := v.Map(func(field, key, text string) string {
		b, ok := s.from[field+"\x00"+key]
		switch {
		case s.Row.Servers.Closed && slices.Contains([]string{"command", "url", "header"}, field):
			return text // Agent Plugins fills in args, env and cwd only
		case !ok:
			return s.fill(text, lookup, &all)
		}
		value, ok := lookup(b.variable)
		if !ok {
			all.missing = append(all.missing, b.variable)
		}
		return b.prefix + value
	})
	prefix := fmt.Sprintf("server %s: ", quoted(s.Name))
	switch slices.Sort(all.missing); {
	case len(all.missing) > 0:
		names := quoteAll(slices.Compact(all.missing))
		return v, "INVALID_ARGUMENTS", prefix + "set the variables " + names
	case all.problem != "":
		return v, "INVALID_ARGUMENTS", prefix + all.problem
	case s.Plugin == "":
		return r, "", ""
	case strings.ContainsAny(r.Command, `/\`) && !s.confine(&r.Command):
		return v, "OUTSIDE_ROOT", prefix + "the command " + quoted(v.Command) + " leads out of the plugin"
	case r.Dir != "" && !s.confine(&r.Dir):
		return v, "OUTSIDE_ROOT", prefix + "the directory " + quoted(v.Dir) + " leads out of the plugin"
	}
	return r, "", ""
}

// confine makes a relative path of a plugin absolute, and reports whether the path stays within the
// plugin. An absolute path outside is no path of the plugin.
func (s *Server) confine(p *string) bool {
	name := s.below(*p)
	if absolute(*p) {
		root := strings.TrimSuffix(filepath.ToSlash(s.Base.path), "/") + "/"
		return name != "" || !strings.HasPrefix(filepath.ToSlash(*p), root)
	}
	*p = filepath.Join(s.Base.path, name)
	return name != ""
}

func absolute(text string) bool {
	return path.IsAbs(filepath.ToSlash(text)) || filepath.IsAbs(text)
}

// below returns the path below the base to which a path leads, or "" for a path outside. A path
// with ".." after a name is outside too, because the name can be a link.
func (s *Server) below(text string) string {
	slashed := filepath.ToSlash(text)
	switch {
	case slices.Contains(strings.Split(slashed, "/"), ".."):
		return ""
	case absolute(text):
		name, _ := paths.Below(s.Base.path, ".", slashed)
		return name
	case !filepath.IsLocal(text):
		return ""
	}
	return path.Clean(slashed)
}
