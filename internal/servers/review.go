package servers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
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
	words := []string{v.Command}
	for i, a := range v.Args {
		if i > 0 && strings.HasPrefix(v.Args[i-1], "-") && named(v.Args[i-1]) && !strings.ContainsAny(a[:min(1, len(a))], "-$") {
			a = masked
		}
		words = append(words, mask(a))
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
	for _, of := range []struct {
		noun  string
		names []string
	}{{"env", Names(v.Env)}, {"headers", Names(v.Headers)}} {
		if len(of.names) > 0 {
			line += "; " + of.noun + " " + strings.Join(of.names, ", ")
		}
	}
	return escape.Line(line)
}

// JSON returns an object with texts about a server: the name, the layer, the plugin, the path, the
// client and the transport.
func JSON(texts []string, disabled bool, v Values) ([]byte, error) {
	return json.Marshal(struct {
		Name      string   `json:"name"`
		Layer     string   `json:"layer"`
		Plugin    string   `json:"plugin,omitempty"`
		Path      string   `json:"path"`
		Client    string   `json:"client"`
		Transport string   `json:"transport"`
		Line      string   `json:"line"` // the command line or the URL
		Env       []string `json:"env,omitempty"`
		Headers   []string `json:"headers,omitempty"`
		Disabled  bool     `json:"disabled,omitempty"`
	}{texts[0], texts[1], texts[2], texts[3], texts[4], texts[5], v.Line(), Names(v.Env), Names(v.Headers), disabled})
}

// Names returns the sorted names of variables or headers.
func Names(values map[string]string) []string { return slices.Sorted(maps.Keys(values)) }

// Text describes a server without the values of variables and headers.
func (s *Server) Text() string {
	var b strings.Builder
	row := func(name string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, escape.Line(text))
		}
	}
	row("transport", s.Transport)
	if s.Transport == "stdio" {
		row("command", s.Line())
	} else {
		row("url", s.Line())
		row("host", host(s.URL))
	}
	row("directory", s.Dir)
	row("environment", Names(s.Env)...)
	row("environment file", s.EnvFile)
	row("headers", Names(s.Headers)...)
	texts := append([]string{s.Command, s.Dir, s.URL, s.EnvFile}, s.Args...)
	for _, values := range []map[string]string{s.Env, s.Headers} {
		texts = slices.AppendSeq(texts, maps.Values(values))
	}
	row("variables", s.variables(texts...)...)
	row("allowed tools", s.Allowed...)
	row("denied tools", s.Denied...)
	return b.String()
}

func host(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// Check returns the problems of the entry that the author can correct.
func (s *Server) Check() (found []problem.Problem) {
	add := func(code problem.Code, message, suggestion string) {
		found = append(found, s.problem(code, problem.Warning, message, suggestion))
	}
	for _, values := range []map[string]string{s.Env, s.Headers} {
		for _, name := range Names(values) {
			if v := values[name]; len(v) >= 8 && s.literal(v) && (named(name) || secret(v)) {
				add(problem.ServerSecret, "the value of "+quoted(name)+" is a literal that looks like a secret", "write a variable in place of the value")
			}
		}
	}
	if line := s.Line(); strings.Contains(line, masked) {
		add(problem.ServerSecret, "a text of the command line or the URL looks like a secret: "+quoted(line), "write a variable in place of the text")
	}
	if pkg := s.unpinned(); pkg != "" {
		add(problem.ServerUnpinned, s.Command+" runs a version of "+quoted(mask(pkg))+" that can change", "name the exact version")
	}
	if u, err := url.Parse(s.URL); err == nil && (u.Scheme == "http" || u.Scheme == "ws") && !loopback(&url.URL{Scheme: "http", Host: u.Host}) {
		add(problem.ServerInsecure, "the URL has the scheme "+quoted(u.Scheme)+", so others on the way can read and change the messages", "use https")
	}
	return found
}

// Review returns what a person has to see before an approval.
func (s *Server) Review() []problem.Problem {
	var found []problem.Problem
	add := func(code problem.Code, message, suggestion string) {
		found = append(found, s.problem(code, problem.Warning, message, suggestion))
	}
	program := program(s.Command)
	switch {
	case s.Transport != "stdio":
		add(problem.URL, "the server is at "+quoted(s.Line())+" on the host "+quoted(host(s.URL)), "approve the server only if the model may send data to the host")
	case slices.Contains(shells, program) && slices.ContainsFunc(s.Args, inline):
		add(problem.RunsCommand, "the server is a command of a shell: "+quoted(s.Line()), "read the command before you approve the server")
	default:
		add(problem.RunsCommand, "the server is the program "+quoted(s.Line()), "read the command before you approve the server")
	}
	if slices.Contains(shells, program) || slices.Contains(interpreters, program) || strings.HasPrefix(program, "python") {
		add(problem.UncoveredFiles, program+" loads further files, which the digest does not cover", "approve the server only if nobody else writes the files")
	}
	if names := s.variables(append([]string{s.Command, s.Dir, s.URL, s.EnvFile}, s.Args...)...); len(names) > 0 {
		add(problem.ServerVariable, "the command line, the directory or the URL has the variables "+strings.Join(quoteAll(names), ", ")+", which get their values after the approval", "approve the server only if you know who sets the variables")
	}
	return slices.Concat(s.Problems, found, s.findings, s.Check())
}

// The names of programs, without the ending.
var (
	shells       = []string{"sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "cmd", "powershell", "pwsh"}
	interpreters = []string{"node", "nodejs", "deno", "bun", "npx", "bunx", "npm", "pnpm", "yarn", "tsx", "ts-node", "uv", "uvx", "pipx", "py",
		"ruby", "perl", "php", "lua", "java", "dotnet", "go", "cargo", "rscript", "julia", "osascript", "env", "docker", "podman"}
)

func program(command string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		base = strings.TrimSuffix(base, ending)
	}
	return base
}

// inline reports whether an argument of a shell precedes a command.
func inline(arg string) bool {
	lower := strings.ToLower(arg)
	return lower == "/c" || lower == "-command" || len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.HasSuffix(lower, "c")
}

// runners run a package, after the words of a further command.
var runners = []string{"npx", "bunx", "uvx", "pnpm dlx", "yarn dlx", "npm exec", "npm x", "bun x", "pipx run", "uv tool run"}

// unpinned returns the package that a package runner runs without an exact version, or "".
func (s *Server) unpinned() string {
	words := append([]string{program(s.Command)}, s.Args...)
	if len(words) > 2 && words[0] == "cmd" && inline(words[1]) {
		words = append([]string{program(words[2])}, words[3:]...)
	}
	i := slices.IndexFunc(runners, func(r string) bool { return strings.HasPrefix(strings.Join(words, " ")+" ", r+" ") })
	if i < 0 {
		return ""
	}
	for words = words[len(strings.Fields(runners[i])):]; len(words) > 0; words = words[1:] {
		w := words[0]
		if _, value, ok := strings.Cut(w, "="); ok && (strings.HasPrefix(w, "--package=") || strings.HasPrefix(w, "--from=")) {
			w = value
		} else if (w == "-p" || w == "--package" || w == "--from") && len(words) > 1 {
			w = words[1]
		} else if w == "" || w[0] == '-' {
			continue
		}
		if pinned(w) {
			return ""
		}
		return w
	}
	return ""
}

// pinned reports whether a package has an exact version, or is a path.
func pinned(pkg string) bool {
	if strings.HasPrefix(pkg, ".") || strings.HasPrefix(pkg, "/") {
		return true
	}
	_, version, ok := strings.Cut(pkg, "==")
	if i := strings.LastIndexByte(pkg, '@'); !ok && i > 0 {
		version = pkg[i+1:]
	}
	return version != "" && version[0] >= '0' && version[0] <= '9' && !strings.ContainsAny(version, "*xX<>|^~ ") && strings.Count(version, ".") >= 1 ||
		len(version) == 40 && strings.Trim(version, "0123456789abcdef") == ""
}

// masked stands for a text that looks like a secret.
const masked = "***"

// named reports whether a name is the name of a secret.
func named(name string) bool {
	name = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name))
	return slices.ContainsFunc([]string{"token", "secret", "passw", "apikey", "accesskey", "privatekey", "authorization", "credential"},
		func(part string) bool { return strings.Contains(name, part) })
}

// literal reports whether a value has no variable and is no instruction to the reader, such as
// <your key>.
func (s *Server) literal(value string) bool {
	lower := strings.ToLower(value)
	return len(s.variables(value)) == 0 && !strings.ContainsAny(value, "<>${}") && !strings.Contains(lower, "your") && !strings.Contains(lower, "xxx")
}

// secret reports whether a text looks like a secret.
func secret(text string) bool {
	for _, scheme := range []string{"Bearer ", "Basic ", "bearer ", "basic "} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			return len(rest) >= 8 && !strings.ContainsAny(rest, "${<")
		}
	}
	for _, prefix := range []string{"sk-", "sk_", "rk_", "pk_live", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xox", "AKIA", "AIza", "eyJ", "npm_", "hf_", "lin_api_", "ntn_"} {
		if strings.HasPrefix(text, prefix) && len(text) >= 16 && random(text[len(prefix):]) {
			return true
		}
	}
	digits := len(text) - len(strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text))
	return len(text) >= 32 && random(text) && digits >= 4 && digits < len(text)
}

// random reports whether a text has the characters of keys only.
func random(text string) bool {
	return strings.Trim(text, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-+=.") == ""
}

// mask replaces the parts of a text that look like secrets.
func mask(text string) string {
	if before, rest, ok := strings.Cut(text, "://"); ok { // a user before the host
		if at := strings.IndexByte(rest, '@'); at >= 0 && !strings.ContainsAny(rest[:at], "/?#") {
			text = before + "://" + masked + rest[at:]
		}
	}
	if secret(text) {
		return masked
	}
	var b strings.Builder
	for name := ""; len(text) > 0; {
		word, end := text, ""
		if n := strings.IndexAny(text, "/?&=;, "); n >= 0 {
			word, end = text[:n], text[n:n+1]
		}
		if text = text[len(word)+len(end):]; secret(word) || named(name) && word != "" && !strings.ContainsAny(word, "${<") {
			word = masked
		}
		if end == "=" || strings.HasSuffix(word, ":") {
			name = word
		} else if name = ""; strings.EqualFold(word, "bearer") {
			name = "token"
		}
		b.WriteString(word + end)
	}
	return b.String()
}
