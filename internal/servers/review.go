package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Line returns the command line, or the URL, for a reader. Texts that look like secrets are masked.
func (v Values) Line() string {
	if v.URL != "" {
		return escape.Line(mask(v.URL))
	}
	words := append([]string{v.Command}, v.Args...)
	for i, w := range words {
		option := i > 1 && strings.HasPrefix(v.Args[i-2], "-") && secretName.MatchString(v.Args[i-2])
		if words[i] = mask(w); option && !strings.ContainsAny(w[:min(1, len(w))], "-$") {
			words[i] = masked
		}
	}
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\"'\\") {
			words[i] = strconv.Quote(w)
		}
	}
	return escape.Line(strings.Join(words, " "))
}

// Describe returns a line about a server.
func Describe(name, transport string, v Values) string {
	line := name + " (" + transport + "): " + v.Line()
	if len(v.Env) > 0 {
		line += "; env " + strings.Join(Names(v.Env), ", ")
	}
	if len(v.Headers) > 0 {
		line += "; headers " + strings.Join(Names(v.Headers), ", ")
	}
	return escape.Line(line)
}

// A Shown is what the JSON of a server shows.
type Shown struct {
	Client    string   `json:"client,omitempty"`
	Disabled  bool     `json:"disabled,omitempty"`
	Env       []string `json:"env,omitempty"`     // the names of the variables
	Headers   []string `json:"headers,omitempty"` // the names
	Layer     string   `json:"layer,omitempty"`
	Line      string   `json:"line"` // the command line or the URL
	Name      string   `json:"name,omitempty"`
	Path      string   `json:"path,omitempty"`
	Plugin    string   `json:"plugin,omitempty"`
	Transport string   `json:"transport,omitempty"`
}

// JSON returns the JSON of a server with values.
func (s Shown) JSON(v Values) ([]byte, error) {
	s.Line, s.Env, s.Headers = v.Line(), Names(v.Env), Names(v.Headers)
	return json.Marshal(s)
}

// Names returns the sorted names of variables or headers.
func Names(values map[string]string) []string { return slices.Sorted(maps.Keys(values)) }

// Text describes a server without the values of variables and headers.
func (s *Server) Text() string {
	var texts []string
	s.Map(func(_, _, text string) string {
		texts = append(texts, text)
		return text
	})
	kind := "url"
	if s.Transport == "stdio" {
		kind = "command"
	}
	var b strings.Builder
	for _, row := range [][]string{{"transport", s.Transport}, {kind, s.Line()}, {"host", host(s.URL)},
		{"directory", s.Dir}, append([]string{"environment"}, Names(s.Env)...),
		{"environment file", s.EnvFile}, append([]string{"headers"}, Names(s.Headers)...),
		append([]string{"variables"}, s.variables(texts...)...),
		append([]string{"allowed tools"}, s.Allowed...), append([]string{"denied tools"}, s.Denied...)} {
		if text := strings.Join(row[1:], ", "); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", row[0], escape.Line(text))
		}
	}
	return b.String()
}

func host(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// A finding is a problem, if the condition holds.
type finding struct {
	holds               bool
	code                problem.Code
	message, suggestion string
}

func (s *Server) found(all []finding) (found []problem.Problem) {
	for _, f := range all {
		if f.holds {
			found = append(found, s.problem(f.code, problem.Warning, f.message, f.suggestion))
		}
	}
	return found
}

// The suggestions of several findings.
const (
	inValue = "write a variable in place of the value"
	inText  = "write a variable in place of the text"
	read    = "read the command before you approve the server"
	alone   = "approve the server only if nobody else writes the file"
	several = "approve the server only if nobody else writes the files"
)

// Check returns the problems of the entry that the author can correct.
func (s *Server) Check() []problem.Problem {
	var all []finding
	s.Map(func(field, name, value string) string {
		literal := s.literal(value)
		pair := name + "=" + literal
		secret := name != "" && len(literal) >= 8 && mask(pair) != pair
		all = append(all, finding{secret, problem.ServerSecret,
			"the value of " + quoted(name) + " is a literal that looks like a secret", inValue})
		return value
	})
	line, pkg := s.Line(), s.unpinned()
	scheme, _, _ := strings.Cut(strings.ToLower(s.URL), ":")
	local := loopback(&url.URL{Scheme: "http", Host: host(s.URL)})
	return s.found(append(all,
		finding{strings.Contains(line, masked), problem.ServerSecret,
			"a text of the command line or the URL looks like a secret: " + quoted(line), inText},
		finding{pkg != "", problem.ServerUnpinned, s.Command + " runs a version of " + quoted(mask(pkg)) +
			" that can change", "name the exact version"},
		finding{(scheme == "http" || scheme == "ws") && !local, problem.ServerInsecure,
			"the URL has the scheme " + quoted(scheme) +
				", so others on the way can read and change the messages", "use https"}))
}

// Review returns what a person has to see before an approval.
func (s *Server) Review() []problem.Problem {
	line, program, local := quoted(s.Line()), program(s.Command), s.Transport == "stdio"
	shell := shells.MatchString(program)
	inline := shell && slices.ContainsFunc(s.Args, inlines.MatchString)
	names := s.variables(s.unnamed()...)
	loading := Names(s.Env)
	loading = slices.DeleteFunc(loading, func(name string) bool { return !loads.MatchString(name) })
	found := s.found([]finding{
		{!local, problem.URL, "the server is at " + line + " on the host " + quoted(host(s.URL)),
			"approve the server only if the model may send data to the host"},
		{inline, problem.RunsCommand, "the server is a command of a shell: " + line, read},
		{local && !inline, problem.RunsCommand, "the server is the program " + line, read},
		{shell || interpreters.MatchString(program), problem.UncoveredFiles,
			program + " loads further files, which the digest does not cover", several},
		{len(loading) > 0, problem.UncoveredFiles, "the values of " + quoteAll(loading) +
			" can load further files, which the digest does not cover", several},
		{s.EnvFile != "", problem.UncoveredFiles,
			"the digest does not cover the variables of " + quoted(mask(s.EnvFile)), alone},
		{len(names) > 0, problem.ServerVariable,
			"the command line, the directory or the URL has the variables " + quoteAll(names) +
				", which get their values after the approval",
			"approve the server only if you know who sets the variables"},
	})
	return slices.Concat(s.Problems, found, s.findings, s.Check())
}

// The names of programs without the ending, the argument of a shell before a command, and the
// variables with which a program loads further files.
var (
	shells       = regexp.MustCompile(`^(sh|bash|zsh|dash|ash|ksh|fish|cmd|powershell|pwsh)$`)
	interpreters = regexp.MustCompile(`^(python.*|node|nodejs|deno|bun|npx|bunx|npm|pnpm|yarn|tsx|` +
		`ts-node|uv|uvx|pipx|py|ruby|perl|php|lua|java|dotnet|go|cargo|rscript|julia|osascript|env|` +
		`docker|podman)$`)
	inlines = regexp.MustCompile(`(?i)^(/c|-command|-[^-]*c)$`)
	loads   = regexp.MustCompile(`(?i)^(PATH|ENV|BASH_ENV|(LD|DYLD|GIT|NPM_CONFIG|UV|PIP)_.*|` +
		`NODE_(OPTIONS|PATH)|PYTHON(PATH|HOME|STARTUP)|(PERL5|RUBY)(LIB|OPT)|` +
		`(_JAVA|JDK_JAVA|JAVA_TOOL)_OPTIONS)$`)
	endings = regexp.MustCompile(`\.(exe|cmd|bat)$`)
)

func program(command string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	return endings.ReplaceAllString(base, "")
}

// The package that a runner runs, in a command line whose words NUL separates; and a package with
// an exact version, or a path.
var (
	runner = regexp.MustCompile(strings.ReplaceAll(`(?i)^(?:cmd_/c_)?(?:npx|bunx|uvx|pnpm_dlx|`+
		`yarn_dlx|npm_exec|npm_x|bun_x|pipx_run|uv_tool_run)(?:\.(?:exe|cmd|bat))?(?:_(?:-[^_]*)?)*?`+
		`_(?:(?:-p|--package|--from)[=_])?([^-_][^_]*)`, "_", `\x00`))
	exact = regexp.MustCompile(`^[./]|(?:==\d+|.@\d+\.\d+)\.\d+(?:\.\d+)*` +
		`(?:[-+][0-9A-Za-z.+-]+|\.?(?:a|b|rc|post|dev)\d+)?$|.@[0-9a-f]{40}$`)
)

// unpinned returns the package that a package runner runs without an exact version, or "".
func (s *Server) unpinned() string {
	words := append([]string{program(s.Command)}, s.Args...)
	m := runner.FindStringSubmatch(strings.Join(words, "\x00"))
	if m == nil || exact.MatchString(m[1]) {
		return ""
	}
	return m[1]
}

// masked stands for a text that looks like a secret.
const masked = "***"

// literal returns the value that a text has without variables of the user, or "" for another text,
// and for an instruction to the reader, such as <your key>.
func (s *Server) literal(text string) string {
	var r filling
	value := s.fill(text, unset, &r)
	lower := strings.ToLower(value)
	if r.missing != nil || strings.ContainsAny(value, "<>${}") || strings.Contains(lower, "your") ||
		strings.Contains(lower, "xxx") {
		return ""
	}
	return value
}

// secretNames matches a part of the name of a secret.
const secretNames = `(?i)(?:token|secret|passw|api[-_]?key|access[-_]?key|private[-_]?key|` +
	`authorization|credential)`

// The texts that look like secrets: the user of a URL, the value of a name, a text after the name
// of a scheme, and a word.
var (
	users      = regexp.MustCompile(`://[^/?#]*@`)
	secretName = regexp.MustCompile(secretNames)
	values     = regexp.MustCompile(`(` + secretNames + `[\w-]*["']?[=:] ?["']?(?:bearer |basic )?)` +
		`([^\s/?&=;,${<"'][^/?&=;, ${<]*)`)
	schemes = regexp.MustCompile(`(?i)\b(bearer|basic) ([^\s${<][^ ,;${<]{7,})`)
	words   = regexp.MustCompile(`[\w.+-]{16,}`)
	keys    = regexp.MustCompile(`^(?:sk-|[sr]k_|pk_live|gh[pousr]_|github_pat_|glpat-|xox|AKIA|` +
		`AIza|eyJ|npm_|hf_|lin_api_|ntn_)`)
	digit = regexp.MustCompile(`\d`)
)

// mask replaces the parts of a text that look like secrets.
func mask(text string) string {
	text = users.ReplaceAllString(text, "://"+masked+"@")
	text = values.ReplaceAllStringFunc(text, func(pair string) string {
		m := values.FindStringSubmatch(pair)
		if strings.EqualFold(m[2], "bearer") || strings.EqualFold(m[2], "basic") {
			return pair
		}
		return m[1] + masked
	})
	text = schemes.ReplaceAllString(text, "${1} "+masked)
	return words.ReplaceAllStringFunc(text, func(word string) string {
		digits := len(digit.FindAllString(word, -1))
		if keys.MatchString(word) || len(word) >= 32 && digits >= 4 && digits < len(word) {
			return masked
		}
		return word
	})
}
