// Package servers reads MCP servers from files and plugins by the rules of package client, and
// fills in their variables. The package starts nothing.
package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
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

// Or returns the values of v, or w if v is nil.
func (v *Values) Or(w Values) Values {
	if v == nil {
		return w
	}
	return *v
}

// Clone returns a copy.
func (v Values) Clone() Values {
	v.Args, v.Env, v.Headers = slices.Clone(v.Args), maps.Clone(v.Env), maps.Clone(v.Headers)
	return v
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

	// The digest of the entry and, with Gated, of the files that the command line names, by their
	// paths below Source.Base. If such a file cannot be read, the digest is "".
	Digest string
	Files  map[string]string

	entry    json.RawMessage
	line     int
	from     map[string]binding // by the field and the key
	findings []problem.Problem  // of the files
}

// A binding is a value that is a variable as a whole, such as the names in env_vars of Codex.
type binding struct{ variable, prefix string }

// Path returns the full path of the file.
func (s *Server) Path() string { return s.FS.Path(s.On) }

// Key returns the key of the entry in Pending.New.
func (s *Server) Key() string { return path.Base(s.Below) + "#" + s.Bare }

func (s *Server) problem(code problem.Code, severity problem.Severity, message, suggestion string) problem.Problem {
	return problem.Problem{Code: code, Severity: severity, Path: s.Place, Line: s.line, Key: escape.Name(shortened(s.Bare)),
		Message: fmt.Sprintf("server %q: %s", escape.Name(shortened(s.Name)), message), Suggestion: suggestion}
}

func shortened(text string) string {
	if len(text) <= 200 {
		return text
	}
	return strings.ToValidUTF8(text[:200], "") + "…"
}

// parse sets the fields of the entry. The reason why the client cannot use the entry is not "".
func (s *Server) parse() (reason string) {
	if len(s.entry) > maxEntry || s.entry[0] != '{' {
		return fmt.Sprintf("the entry is not an object of at most %d bytes", maxEntry)
	}
	repeated, tooDeep := repeats(s.entry, 0)
	if tooDeep {
		return fmt.Sprintf("the entry is nested deeper than %d levels", maxDepth)
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(repeated))) {
		s.Problems = append(s.Problems, s.problem(problem.DuplicateKey, problem.Warning,
			"two values have the key "+quoted(key)+"; the last value counts", "remove one of the values"))
	}
	var kind, httpURL, bearer string
	var pass []string
	var names map[string]string
	off, on := false, true
	targets := map[client.ServerRole]any{client.ServerType: &kind, client.ServerCommand: &s.Command,
		client.ServerArgs: &s.Args, client.ServerEnv: &s.Env, client.ServerEnvNames: &pass, client.ServerEnvFile: &s.EnvFile,
		client.ServerCwd: &s.Dir, client.ServerURL: &s.URL, client.ServerHTTPURL: &httpURL, client.ServerHeaders: &s.Headers,
		client.ServerHeaderNames: &names, client.ServerBearer: &bearer, client.ServerDisabled: &off,
		client.ServerEnabled: &on, client.ServerAllowed: &s.Allowed, client.ServerDenied: &s.Denied}
	all, _ := members(s.entry)
	for _, m := range all {
		role, known := s.Rules.Fields[m.key]
		err := error(nil)
		switch {
		case string(m.value) == "null" || known && role == client.ServerOther:
		case !known && s.Rules.Closed:
			return "the format has no field " + quoted(m.key)
		case !known:
			s.ignore(m.key, s.Client+" has no such field")
		case role >= client.ServerStartSeconds:
			s.limit(role, m)
		case role == client.ServerCommand && m.value[0] == '[':
			if err = json.Unmarshal(m.value, &s.Args); err == nil && len(s.Args) > 0 {
				s.Command, s.Args = s.Args[0], s.Args[1:]
			}
		default:
			err = json.Unmarshal(m.value, targets[role])
		}
		if err != nil {
			return "the value of " + quoted(m.key) + " has the wrong type"
		}
	}
	s.Disabled = off || !on
	if len(s.Allowed) == 1 && s.Allowed[0] == "*" {
		s.Allowed = nil
	}
	for _, name := range pass {
		s.bind(&s.Env, "env", name, binding{variable: name})
	}
	for name, variable := range names {
		s.bind(&s.Headers, "header", name, binding{variable: variable})
	}
	if bearer != "" {
		s.bind(&s.Headers, "header", "Authorization", binding{bearer, "Bearer "})
	}
	return s.choose(kind, httpURL)
}

func quoted(text string) string { return `"` + escape.Name(shortened(text)) + `"` }

func (s *Server) ignore(key, reason string) {
	s.Problems = append(s.Problems, s.problem(problem.ServerFieldIgnored, problem.Warning,
		"the field "+quoted(key)+" is ignored: "+reason, "correct or remove the field"))
}

// limit sets a limit of time.
func (s *Server) limit(role client.ServerRole, m member) {
	unit, target, n := time.Second, &s.Start, 0.0
	if role == client.ServerStartMillis || role == client.ServerCallMillis {
		unit = time.Millisecond
	}
	if role >= client.ServerCallSeconds {
		target = &s.Call
	}
	if json.Unmarshal(m.value, &n) != nil || n <= 0 || n*float64(unit) > 1e18 {
		s.ignore(m.key, "the value is not a positive number")
		return
	}
	*target = time.Duration(n * float64(unit))
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
	transport, known := s.Rules.Types[kind]
	switch {
	case kind != "" && !known && s.Rules.Types != nil:
		return s.Client + " has no type " + quoted(kind)
	case s.Rules.Closed:
		if reason := s.closed(transport); reason != "" {
			return reason
		}
		s.Transport = transport
	case httpURL != "":
		s.URL, s.Transport = httpURL, "http"
	case known:
		s.Transport = transport
	case s.Command != "":
		s.Transport = "stdio"
	case s.URL != "":
		if s.Transport = s.Rules.URL; s.Transport == "" {
			return `the entry has a URL and no type; add "type": "http"`
		}
	}
	switch {
	case s.Transport == "stdio" && s.Command != "":
		s.URL, s.Headers = "", nil
	case s.Transport != "stdio" && s.URL != "":
		s.Values = Values{URL: s.URL, Headers: s.Headers}
	default:
		return "the entry has neither a command nor a URL for its type"
	}
	return ""
}

// closed checks an entry by section 7.2.1 of Agent Plugins 1.0.0.
func (s *Server) closed(transport string) (reason string) {
	if transport == "" || (transport == "stdio") != (s.URL == "" && s.Headers == nil) ||
		transport != "stdio" && (s.Command != "" || s.Args != nil || s.Env != nil || s.Dir != "") {
		return "the entry needs a type, and the fields of the type only"
	}
	if transport == "stdio" {
		in := func(root string) bool { return s.Dir == root || strings.HasPrefix(s.Dir, root+"/") }
		switch {
		case strings.ContainsAny(s.Command, `/\`) && !strings.HasPrefix(s.Command, "./"):
			return `the command is neither a name nor a path that begins with "./"`
		case s.Dir == "":
			s.Dir = "."
		case !in(".") && !in("${PLUGIN_ROOT}") && !in("${PLUGIN_DATA}"):
			return `the directory begins with none of "./", "${PLUGIN_ROOT}" and "${PLUGIN_DATA}"`
		}
		return ""
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.Scheme != "https" && !loopback(u) {
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
