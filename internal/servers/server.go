// Package servers reads MCP servers from files and plugins by the rules of package client, and
// fills in their variables. The package starts nothing.
package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/plugin"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Values are the fields of a server in which variables can be.
type Values struct {
	Command      string
	Args         []string
	Env          map[string]string
	EnvFile, Dir string
	URL          string
	Headers      map[string]string
}

// Map returns a copy with the results of f for the texts. The key is the name of a variable or of a
// header.
func (v Values) Map(f func(field, key, text string) string) Values {
	each := func(field string, values map[string]string) map[string]string {
		values = maps.Clone(values)
		for _, key := range Names(values) {
			values[key] = f(field, key, values[key])
		}
		return values
	}
	v.Command, v.Args = f("command", "", v.Command), slices.Clone(v.Args)
	for i, text := range v.Args {
		v.Args[i] = f("args", "", text)
	}
	v.EnvFile, v.Dir, v.URL = f("env_file", "", v.EnvFile), f("dir", "", v.Dir), f("url", "", v.URL)
	v.Env, v.Headers = each("env", v.Env), each("header", v.Headers)
	return v
}

// Clone returns a copy.
func (v Values) Clone() Values { return v.Map(func(_, _, text string) string { return text }) }

// unnamed returns the texts outside of Env and Headers.
func (v Values) unnamed() []string {
	return append([]string{v.Command, v.Dir, v.URL, v.EnvFile}, v.Args...)
}

// A Server is an entry of a Source that the client can use.
type Server struct {
	*Source
	Values

	Name, Bare         string // with and without the name of the plugin
	Transport          string
	Disabled, Approved bool
	Allowed, Denied    []string
	Start, Call        time.Duration
	Problems           []problem.Problem

	// With Gated, the digest of the entry and of the files that the command line names, by their
	// paths below Source.Base. If such a file cannot be read, the digest is "".
	Digest string
	Files  map[string]*Covered

	entry    json.RawMessage
	line     int
	from     map[string]binding // by the field and the key
	findings []problem.Problem  // of the files

	words   []string // of the command line, with which lists compare
	address *url.URL // nil without a URL
}

// A binding is a value that is a variable as a whole, such as the names in env_vars of Codex.
type binding struct{ variable, prefix string }

// Path returns the full path of the file.
func (s *Server) Path() string { return s.FS.Path(s.On) }

// State returns a text that changes with the server.
func (s *Server) State() string {
	return fmt.Sprint(s.Digest, maphash.Bytes(seed, s.entry), s.Disabled, s.Approved)
}

var seed = maphash.MakeSeed()

// Key returns the key of the entry in Pending.New.
func (s *Server) Key() string { return path.Base(s.Below) + "#" + s.Bare }

func (s *Server) problem(code problem.Code, severity problem.Severity,
	message, suggestion string) problem.Problem {
	p := s.Source.problem(code, severity, "server "+quoted(s.Name)+": "+message, suggestion)
	p.Line, p.Key = s.line, escape.Name(escape.Cut(s.Bare, maxShown))
	return p
}

func (s *Server) ignore(key, reason string) {
	s.Problems = append(s.Problems, s.problem(problem.ServerFieldIgnored, problem.Warning,
		"the field "+quoted(key)+" is ignored: "+reason, "correct or remove the field"))
}

// maxShown is the number of bytes of a name or a value in a problem.
const maxShown = 200

func quoted(text string) string { return `"` + escape.Name(escape.Cut(text, maxShown)) + `"` }

func quoteAll(names []string) string {
	names = slices.Clone(names)
	for i, name := range names {
		names[i] = quoted(name)
	}
	return strings.Join(names, ", ")
}

// The types of values that are no types of package encoding/json.
type (
	// A commandLine is a text, or a list of the command and its arguments.
	commandLine struct{ *Values }

	// A limit is a time limit in units.
	limit struct {
		*time.Duration
		unit time.Duration
	}
)

func (c commandLine) UnmarshalJSON(text []byte) error {
	if text[0] != '[' {
		return json.Unmarshal(text, &c.Command)
	}
	err := json.Unmarshal(text, &c.Args)
	if err == nil && len(c.Args) > 0 {
		c.Command, c.Args = c.Args[0], c.Args[1:]
	}
	return err
}

func (l limit) UnmarshalJSON(text []byte) error {
	n := 0.0
	if json.Unmarshal(text, &n) != nil || n <= 0 || n*float64(l.unit) > 1e18 {
		return errors.New("the value is not a positive number")
	}
	*l.Duration = time.Duration(n * float64(l.unit))
	return nil
}

// members returns the members of the entry, or the reason why the entry is not valid.
func (s *Server) members() (keys []string, values map[string]json.RawMessage, reason string) {
	if len(s.entry) > maxEntry {
		return nil, nil, fmt.Sprintf("the entry has more than %d bytes", maxEntry)
	}
	keys, values, repeated := plugin.Members(s.entry)
	if values == nil {
		return nil, nil, "the entry is no object"
	}
	for _, key := range keys {
		more, tooDeep := repeats(values[key], 1)
		if repeated = append(repeated, more...); tooDeep {
			return nil, nil, fmt.Sprintf("the entry is nested deeper than %d", maxDepth)
		}
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(repeated))) {
		s.Problems = append(s.Problems, s.problem(problem.DuplicateKey, problem.Warning,
			"two values have the key "+quoted(key)+"; the last value counts", "remove one of the values"))
	}
	return keys, values, ""
}

// The fields of an entry that are no fields of a Server.
type fields struct {
	kind, httpURL, bearer string
	pass                  []string
	names                 map[string]string
	off, on               bool
}

// A target is the place of the value of a field.
type target struct {
	role  client.ServerRole
	value any
}

// parse sets the fields of the entry. The reason why the client cannot use the entry is not "".
func (s *Server) parse() (reason string) {
	keys, values, reason := s.members()
	if reason != "" {
		return reason
	}
	f := fields{on: true}
	targets := [...]target{{"type", &f.kind}, {"command", &commandLine{&s.Values}}, {"args", &s.Args},
		{"env", &s.Env}, {"env_names", &f.pass}, {"env_file", &s.EnvFile}, {"cwd", &s.Dir},
		{"url", &s.URL}, {"http_url", &f.httpURL}, {"headers", &s.Headers}, {"header_names", &f.names},
		{"bearer", &f.bearer}, {"disabled", &f.off}, {"enabled", &f.on}, {"allowed", &s.Allowed},
		{"denied", &s.Denied}, {"start_s", &limit{&s.Start, time.Second}},
		{"start_ms", &limit{&s.Start, time.Millisecond}}, {"call_s", &limit{&s.Call, time.Second}},
		{"call_ms", &limit{&s.Call, time.Millisecond}}}
	for _, key := range keys {
		role, known := s.Row.Servers.Fields[key]
		switch {
		case string(values[key]) == "null" || known && role == "":
			continue
		case !known && s.Row.Servers.Closed:
			return "the format has no field " + quoted(key)
		case !known:
			s.ignore(key, s.Row.Name+" has no such field")
			continue
		}
		i := slices.IndexFunc(targets[:], func(t target) bool { return t.role == role })
		err := json.Unmarshal(values[key], targets[i].value)
		if _, ok := targets[i].value.(*limit); ok && err != nil {
			s.ignore(key, "the value is not a positive number")
		} else if err != nil {
			return "the value of " + quoted(key) + " has the wrong type"
		}
	}
	s.Disabled = f.off || !f.on
	if len(s.Allowed) == 1 && s.Allowed[0] == "*" {
		s.Allowed = nil
	}
	for _, name := range f.pass {
		s.bind(&s.Env, "env", name, binding{variable: name})
	}
	for name, variable := range f.names {
		s.bind(&s.Headers, "header", name, binding{variable: variable})
	}
	if f.bearer != "" {
		s.bind(&s.Headers, "header", "Authorization", binding{f.bearer, "Bearer "})
	}
	return s.choose(f.kind, f.httpURL)
}

func (s *Server) bind(values *map[string]string, field, key string, to binding) {
	if *values == nil {
		*values = map[string]string{}
	}
	if s.from == nil {
		s.from = map[string]binding{}
	}
	(*values)[key], s.from[field+"\x00"+key] = "", to
}

// choose sets the transport, and removes the fields of the other transports.
func (s *Server) choose(kind, httpURL string) (reason string) {
	rules := s.Row.Servers
	transport, known := rules.Types[kind]
	switch {
	case kind != "" && !known && rules.Types != nil:
		return s.Row.Name + " has no type " + quoted(kind)
	case rules.Closed:
		if reason := s.closed(transport); reason != "" {
			return reason
		}
	case httpURL != "":
		s.URL, transport = httpURL, "http"
	case known:
	case s.Command != "":
		transport = "stdio"
	case s.URL != "":
		if transport = rules.URL; transport == "" {
			return `the entry has a URL and no type; add "type": "http"`
		}
	}
	switch s.Transport = transport; {
	case transport == "stdio" && s.Command != "":
		s.URL, s.Headers = "", nil
	case transport != "stdio" && s.URL != "":
		s.Values = Values{URL: s.URL, Headers: s.Headers}
	default:
		return "the entry has neither a command nor a URL for its type"
	}
	return ""
}

// closed checks an entry by section 7.2.1 of Agent Plugins 1.0.0.
func (s *Server) closed(transport string) (reason string) {
	local := s.Command != "" || s.Args != nil || s.Env != nil || s.Dir != ""
	remote := s.URL != "" || s.Headers != nil
	in := func(root string) bool { return s.Dir == root || strings.HasPrefix(s.Dir, root+"/") }
	switch {
	case transport == "" || remote == (transport == "stdio") || local && transport != "stdio":
		return "the entry needs a type, and the fields of the type only"
	case transport != "stdio":
		return s.closedURL()
	case strings.ContainsAny(s.Command, `/\`) && !strings.HasPrefix(s.Command, "./"):
		return `the command is neither a name nor a path that begins with "./"`
	case s.Dir == "":
		s.Dir = "."
	case !in(".") && !in("${PLUGIN_ROOT}") && !in("${PLUGIN_DATA}"):
		return `the directory begins with none of "./", "${PLUGIN_ROOT}" and "${PLUGIN_DATA}"`
	}
	return ""
}

func (s *Server) closedURL() (reason string) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" ||
		u.Scheme != "https" && !loopback(u) {
		return "the URL is not an https URL without a user and a fragment"
	}
	seen := map[string]bool{}
	for name := range s.Headers {
		if seen[strings.ToLower(name)] {
			return "two headers differ only in letter case"
		}
		seen[strings.ToLower(name)] = true
	}
	return ""
}

// loopback reports whether the host of an http URL is this computer.
func loopback(u *url.URL) bool {
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && ip.IsLoopback())
}
