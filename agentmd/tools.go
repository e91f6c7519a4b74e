package agentmd

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/lint"
)

// A ToolRule is an entry of allowed-tools, disallowed-tools or tools: a tool, or some calls of a
// tool. "Bash(git diff:*)" has the Tool "Bash" and the Specifier "git diff:*".
type ToolRule struct {
	Tool      string // as written, such as "Bash" or "mcp__github__get_*"
	Specifier string // the text in parentheses; "" without parentheses
}

// String returns the rule as written.
func (r ToolRule) String() string {
	if r.Specifier == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Specifier + ")"
}

// ParseToolRules reads rules with blanks or commas between them, as in "Bash(git:*), Read". Blanks
// and commas in parentheses belong to a rule. A text without rules has none.
//
// The error for a rule with unbalanced or empty parentheses, with a text before or after the
// parentheses that is no name, or with invalid UTF-8 names the rule and its first character. The
// time is linear in the length of the text.
func ParseToolRules(text string) ([]ToolRule, error) {
	var rules []ToolRule
	err := lint.ToolRules(text, func(tool, specifier string) {
		rules = append(rules, ToolRule{tool, specifier})
	})
	if err != nil {
		return nil, err
	}
	return rules, nil
}

// maxMatched is the length of the inputs and specifiers that Match compares with a pattern, in
// bytes. Claude Code asks for each command of more than 10,000 characters.
const maxMatched = 10_000

// Match reports whether the rule allows a call. The input is the command line of a shell, the path
// of a file tool relative to the working directory or absolute, the URL of WebFetch, or the text
// that the specifier of another tool limits, such as the name of a skill. Names of tools must be
// equal, in letter case too: "Edit" does not allow Write. A rule without specifier, or with "*",
// allows every call.
//
// Match follows the permission rules of Claude Code, and returns false in doubt: a pattern allows
// no command line with several commands, redirections, "$", backquotes or comments outside quotes,
// and no path with "..". The document docs/authors.md has the table of the rules. Match answers for
// rules that allow. A host must not read false as a permission of a rule that forbids: forbid the
// whole tool, or ask.
//
// The time is at most proportional to the product of the lengths, and a pattern allows no input of
// more than 10,000 bytes.
func (r ToolRule) Match(tool, input string) bool {
	if tool == "" || !r.names(tool) {
		return false
	}
	if r.Specifier == "" || r.Specifier == "*" {
		return true
	}
	if len(input) > maxMatched || len(r.Specifier) > maxMatched || strings.HasPrefix(tool, mcpPrefix) {
		return false
	}
	switch {
	case slices.Contains(shellTools, tool):
		return matchCommand(r.Specifier, input)
	case slices.Contains(fileTools, tool):
		return matchPath(r.Specifier, input)
	case tool == "WebFetch":
		return matchURL(r.Specifier, input)
	case tool == "Skill": // Skill(name *) also allows the arguments of the skill
		if name, ok := commandPrefix(r.Specifier); ok {
			return hasWords(input, name)
		}
	}
	return input == r.Specifier
}

// The tools with a kind of input, by their names in Claude Code, OpenCode ("bash") and GitHub
// Copilot CLI ("shell").
var (
	shellTools = []string{"Bash", "bash", "shell"}
	fileTools  = []string{"Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "NotebookRead",
		"Glob", "Grep", "LS"}
)

const mcpPrefix = "mcp__"

// names reports whether the rule is about a tool. The rule "mcp__server" is about all tools of an
// MCP server. A "*" counts only after the name of a server: "mcp__server__get_*", or "server/*" in
// VS Code. Claude Code ignores other patterns in rules that allow.
func (r ToolRule) names(tool string) bool {
	if !strings.Contains(r.Tool, "*") {
		server, isMCP := strings.CutPrefix(r.Tool, mcpPrefix)
		return tool == r.Tool ||
			isMCP && server != "" && !strings.Contains(server, "__") && strings.HasPrefix(tool, r.Tool+"__")
	}
	if server, ok := strings.CutSuffix(r.Tool, "/*"); ok && server != "" &&
		!strings.Contains(server, "*") {
		return strings.HasPrefix(tool, server+"/")
	}
	rest, ok := strings.CutPrefix(r.Tool, mcpPrefix)
	server, pattern, ok2 := strings.Cut(rest, "__")
	if !ok || !ok2 || server == "" || strings.Contains(server, "*") || len(tool) > maxMatched ||
		len(r.Tool) > maxMatched {
		return false
	}
	name, ok := strings.CutPrefix(tool, mcpPrefix+server+"__")
	return ok && matchStars(pattern, name)
}

// matchCommand compares a command line, as code.claude.com/docs/en/permissions (2026-08) and Claude
// Code 2.1.330 do: "git:*" and "git *" are the command git with any arguments, "*" is any text, and
// any other specifier is the whole line. A "*" after a backslash matches nothing.
func matchCommand(specifier, line string) bool {
	line = strings.Trim(line, " \t\n")
	if !strings.Contains(specifier, "*") {
		return line == strings.Trim(specifier, " \t\n")
	}
	words, globs, ok := oneCommand(line)
	if !ok || runsOther(words, globs) {
		return false
	}
	if prefix, ok := commandPrefix(specifier); ok {
		return hasWords(line, prefix)
	}
	literal, _, _ := strings.Cut(specifier, "*")
	// "ls=1 rm x" is no command of "ls*".
	assigns := strings.Contains(words[0], "=") && !strings.Contains(literal, "=")
	return !assigns && !strings.Contains(specifier, `\`) && matchStars(specifier, line)
}

// commandPrefix returns the words before ":*", or before " *" if the specifier has no other "*".
func commandPrefix(specifier string) (prefix string, ok bool) {
	if prefix, ok = strings.CutSuffix(specifier, ":*"); !ok {
		if prefix, ok = strings.CutSuffix(specifier, " *"); strings.Contains(prefix, "*") {
			return "", false
		}
	}
	prefix = strings.Trim(prefix, " \t")
	return prefix, ok && prefix != ""
}

// hasWords reports whether a line begins with words, and a blank or the end of the line follows.
func hasWords(line, words string) bool {
	rest, ok := strings.CutPrefix(line, words)
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// matchStars reports whether a text matches a pattern in which "*" is any text.
func matchStars(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok || last == 0 {
		return ok && rest == ""
	}
	if rest, ok = strings.CutSuffix(rest, parts[last]); !ok {
		return false
	}
	for _, part := range parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok {
			return false
		}
	}
	return true
}

// oneCommand returns the words of a line that a shell runs as one command with literal arguments:
// without operators, redirections, comments, line breaks and control characters outside quotes,
// without "$" and backquotes outside single quotes, and with an end of each quote. globs reports a
// character outside quotes that a shell expands to other words.
func oneCommand(line string) (words []string, globs, ok bool) {
	var word []byte
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case extends(line, i, quote):
			return nil, false, false
		case quote != 0 && c == quote:
			quote = 0
		case quote != '\'' && c == '\\':
			i++
			switch {
			case i < len(line) && line[i] == '\n' && quote == '"': // a shell removes the line break
			case i == len(line) || isControl(line[i]):
				return nil, false, false
			default:
				word = append(word, line[i])
			}
		case quote != 0:
			word = append(word, c)
		case c == '\'' || c == '"':
			quote = c
		case isBlank(c):
			words, word = append(words, string(word)), nil
		default:
			globs = globs || strings.IndexByte("*?[{", c) >= 0
			word = append(word, c)
		}
	}
	return append(words, string(word)), globs, quote == 0
}

// extends reports whether the character at i of a line makes a shell do more than run one command
// with literal arguments. The quote is open before the character, or 0.
func extends(line string, i int, quote byte) bool {
	switch c := line[i]; {
	case isControl(c) && c != '\t' && c != '\n':
		return true
	case quote == '\'':
		return false
	case c == '$' || c == '`':
		return true
	case quote != 0:
		return false
	case c == '#':
		return i == 0 || isBlank(line[i-1])
	default:
		return strings.IndexByte(";&|<>()\n", c) >= 0
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isControl(c byte) bool { return c < ' ' || c == 0x7f }

// runsOther reports a command that runs its arguments as a command, or find with an action. Claude
// Code allows these lines only by a rule with the whole line.
func runsOther(words []string, globs bool) bool {
	switch path.Base(words[0]) {
	case "watch", "setsid", "ionice", "flock":
		return true
	case "find":
		return globs || slices.ContainsFunc(words, func(word string) bool {
			return slices.ContainsFunc(findActions, func(action string) bool {
				return strings.HasPrefix(word, action)
			})
		})
	}
	return false
}

var findActions = []string{"-exec", "-ok", "-delete", "-fprint", "-fls"}

// matchPath compares a path with a pattern of .gitignore, by the rules of Claude Code for rules
// that allow: a pattern without "/" is the last element of a path in any directory, "//" begins an
// absolute path, and other patterns begin in the working directory, also after a single "/".
// Patterns with classes in brackets, backslashes or "!" match nothing.
func matchPath(pattern, file string) bool {
	home := strings.HasPrefix(file, "~") && !strings.HasPrefix(pattern, "~/")
	drive := len(file) > 1 && file[1] == ':' // an absolute path of Windows
	if strings.ContainsAny(pattern, `[]\!`) || strings.ContainsAny(file, "\\\x00") || !clean(file) ||
		home || drive {
		return false
	}
	if bare := !strings.Contains(pattern, "/"); bare && pattern != "**" {
		return !strings.HasPrefix(file, "/") && matchElement(pattern, path.Base(file))
	}
	if absolute := strings.HasPrefix(pattern, "//"); absolute != strings.HasPrefix(file, "/") {
		return false
	}
	pattern = strings.TrimLeft(strings.TrimPrefix(pattern, "./"), "/")
	file = strings.TrimLeft(strings.TrimPrefix(file, "./"), "/")
	return clean(pattern) && matchElements(strings.Split(pattern, "/"), strings.Split(file, "/"))
}

// clean reports whether a path has only elements that name a file or a directory.
func clean(file string) bool {
	file = strings.TrimPrefix(strings.TrimPrefix(file, "./"), "/")
	for element := range strings.SplitSeq(file, "/") {
		if element == "" || element == "." || element == ".." {
			return false
		}
	}
	return true
}

// matchElements compares the elements of a path. The element "**" is any number of elements, and
// at least one at the end. In an element, "*" is any text, and "?" one character. After a failure,
// only the last "**" takes one more element: an earlier one with more elements leaves less of the
// path to the later elements.
func matchElements(pattern, elements []string) bool {
	if pattern[len(pattern)-1] == "**" {
		pattern = append(pattern, "*")
	}
	last, taken, p, i := -1, 0, 0, 0
	for i < len(elements) || p < len(pattern) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			last, taken = p, i
			p++
		case p < len(pattern) && i < len(elements) && matchElement(pattern[p], elements[i]):
			p, i = p+1, i+1
		case last < 0 || taken == len(elements):
			return false
		default:
			taken++
			p, i = last+1, taken
		}
	}
	return true
}

// anyText matches a "*" with the "*" and "?" around.
var anyText = regexp.MustCompile(`[*?]*\*[*?]*`)

// matchElement compares an element of a path with a pattern without brackets and backslashes. In
// package path, "*" can end within a character, so each "?" precedes the "*".
func matchElement(pattern, element string) bool {
	if strings.Contains(pattern, "?") {
		pattern = anyText.ReplaceAllStringFunc(pattern, func(part string) string {
			return strings.ReplaceAll(part, "*", "") + "*"
		})
	}
	ok, _ := path.Match(pattern, element) // no pattern is malformed
	return ok
}

// matchURL compares the host of a URL with "domain:HOST". In HOST, a leading "*." is any number of
// labels, a whole "*" is every host, and any other "*" is text without a dot.
func matchURL(specifier, address string) bool {
	domain, ok := strings.CutPrefix(specifier, "domain:")
	unsafe := func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }
	if !ok || strings.ContainsFunc(address, unsafe) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.User != nil {
		return false
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	domain = strings.TrimSuffix(strings.ToLower(domain), ".")
	if host == "" || domain == "" {
		return false
	}
	if domain == "*" || domain == host {
		return true
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return false // a client can read another letter as a dot or a slash
	}
	labels, of := strings.Split(domain, "."), strings.Split(host, ".")
	if labels[0] == "*" {
		labels, of = labels[1:], of[max(len(of)-len(labels)+1, 1):]
	}
	return slices.EqualFunc(labels, of, matchStars)
}
