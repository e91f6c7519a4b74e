package lint

import (
	"bytes"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Review returns the parts of a command, a SKILL.md, an agent or a rule that a person has to see
// before an approval: shell commands, allowed tools and URLs. Review reports the notations of all
// clients, also in code.
func Review(kind client.Files, f File) (found []problem.Problem) {
	for _, field := range f.Doc.Fields {
		switch {
		case slices.Contains(runningKeys, field.Key):
			found = append(found, f.at(field, problem.Warning, problem.RunsCommand, "the field "+field.Key+" can start programs", "read the field before you approve the file"))
		case slices.Contains(toolKeys, field.Key) && !blank(field):
			tools := quoted(strings.Join(toolsOf(field.Value), ", "))
			found = append(found, f.at(field, problem.Warning, problem.AllowsTools,
				"the field "+field.Key+" grants "+tools,
				"approve the file only if the model may use the tools"))
		}
	}
	if kind == client.Commands || kind == client.Skills {
		if all := shellDirectives(f.Raw); all != nil {
			found = append(found, f.at(placeAfter(f.Raw[:all[0].start]), problem.Warning, problem.RunsCommand,
				"some clients run "+counted(len(all), "shell command")+" of the text, the first is "+quoted(string(f.Raw[all[0].start:all[0].end])), "read the commands before you approve the file"))
		}
	}
	return append(found, f.urls()...)
}

// ReviewBeside is Review for another file of a skill, and for a file that an instruction imports.
// ReviewBeside also reports scripts and invisible characters.
func ReviewBeside(file string, raw []byte) (found []problem.Problem) {
	f := File{Path: file, Raw: raw}
	if isScript(file, raw) {
		found = append(found, f.at(matter.Field{}, problem.Warning, problem.Script, "the file is a program", "read the program before you approve the file"))
	}
	if !utf8.Valid(raw) {
		return found
	}
	return slices.Concat(found, f.urls(), f.invisible())
}

// maxReviewed is the number of matches that a problem counts.
const maxReviewed = 1000

// The fields that start programs, and the fields that grant tools.
var (
	runningKeys = []string{"hooks", "mcpServers", "mcp-servers", "mcp_servers"}
	toolKeys    = []string{"allowed-tools", "allowed_tools", "allowedTools", "tools", "permissionMode"}
)

// A span is a part of a text.
type span struct{ start, end int }

// shellDirectives returns the first !`commands`, beginnings of !{command}, and first lines of blocks
// of code that a client runs.
func shellDirectives(text []byte) (all []span) {
	for at := 0; len(all) < maxReviewed; {
		n := bytes.IndexByte(text[at:], '!')
		if n < 0 {
			break
		}
		at += n
		found := span{at, directiveEnd(text, at)}
		// A fence begins its line.
		if line, ok := bytes.CutSuffix(text[:at], []byte("```")); ok {
			line = bytes.TrimRight(line, " \t")
			if len(line) == 0 || line[len(line)-1] == '\n' {
				found = span{len(line), at + indexAny(text[at:], "\n")}
			}
		}
		if found.end > at {
			all = append(all, found)
		}
		at = max(at+1, found.end)
	}
	return all
}

// directiveEnd returns the end of the !`command` or of the beginning of the !{command} at an index,
// or 0.
func directiveEnd(text []byte, at int) int {
	from := at + len("!`")
	switch {
	case from >= len(text):
	case text[at+1] == '`':
		end := from + indexAny(text[from:], "`\n")
		if end > from && end < len(text) && text[end] == '`' {
			return end + 1
		}
	case text[at+1] == '{':
		if end := from + indexAny(text[from:], "}\n"); end > from {
			return end
		}
	}
	return 0
}

// indexAny returns the index of the first of some characters, or the length of the text.
func indexAny(text []byte, chars string) int {
	if n := bytes.IndexAny(text, chars); n >= 0 {
		return n
	}
	return len(text)
}

// schemes begin the URLs of findURLs, in any letter case.
var schemes = []string{"http", "https", "ws", "wss", "ftp", "ftps", "ssh", "git", "file"}

// findURLs returns the first URLs, and beginnings of URLs.
func findURLs(text []byte) (all []span) {
	for at := 0; len(all) < maxReviewed; {
		n := bytes.Index(text[at:], []byte("://"))
		if n < 0 {
			break
		}
		start, colon := at+n, at+n
		for start > at && isWord(text[start-1]) && colon-start <= len("https") {
			start--
		}
		word := string(text[start:colon])
		at = colon + len("://")
		if !slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, word) }) {
			continue
		}
		if n := indexAny(text[at:], endsURL); n > 0 {
			at += n
			all = append(all, span{start, at})
		}
	}
	return all
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// endsURL are the characters that end a URL in a text.
const endsURL = " \t\n\f\r\"'<>`()[]{}|\\^"

// urls reports the URLs of a text, with the hosts.
func (f *File) urls() []problem.Problem {
	all := findURLs(f.Raw)
	if all == nil {
		return nil
	}
	var hosts []string
	known := map[string]bool{"": true}
	for _, at := range all {
		u, err := url.Parse(strings.TrimRight(string(f.Raw[at.start:at.end]), ".,;:!?*_"))
		if err == nil && !known[u.Host] {
			hosts, known[u.Host] = append(hosts, u.Host), true
		}
	}
	message := "the text has " + counted(len(all), "URL")
	for i, host := range hosts[:min(len(hosts), maxHosts)] {
		message += [2]string{" of ", ", "}[min(i, 1)] + quoted(host)
	}
	if more := len(hosts) - maxHosts; more > 0 {
		message += fmt.Sprintf(" and %d more", more)
	}
	return []problem.Problem{f.at(placeAfter(f.Raw[:all[0].start]), problem.Warning, problem.URL, message, "approve the file only if the model may read the addresses or send data to the addresses")}
}

// maxHosts is the number of hosts in a message.
const maxHosts = 5

// counted returns a number with a noun.
func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case n == maxReviewed:
		return fmt.Sprintf("at least %d %ss", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func quoted(text string) string { return `"` + escape.Name(shorten(strings.TrimSpace(text))) + `"` }

// toolsOf returns the tools of a list, a text or a mapping.
func toolsOf(v matter.Value) []string {
	texts := v.Strings()
	for _, entry := range v.Fields() {
		texts = append(texts, entry.Key)
	}
	return texts
}

// programs are the endings of the names of programs.
var programs = []string{".sh", ".bash", ".zsh", ".fish", ".ps1", ".psm1", ".bat", ".cmd", ".py", ".pyw", ".rb", ".pl", ".pm", ".php", ".lua", ".tcl", ".r", ".jl", ".js", ".mjs", ".cjs", ".jsx",
	".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".c", ".cc", ".cpp", ".java", ".jar", ".class", ".swift", ".kt", ".kts", ".scala", ".cs", ".vbs", ".wsf", ".scpt", ".applescript",
	".exe", ".dll", ".so", ".dylib", ".bin", ".com", ".msi", ".app", ".wasm", ".pyc", ".ipynb", ".sql", ".awk", ".sed", ".mk", ".nix", ".elf", ".node", ".desktop"}

// beginnings are the first bytes of programs.
var beginnings = []string{"#!", "\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\x00asm"}

// isScript reports whether a file is a program, by its name or its first bytes.
func isScript(file string, raw []byte) bool {
	base := strings.ToLower(path.Base(file))
	return slices.Contains(programs, path.Ext(base)) || slices.Contains([]string{"makefile", "dockerfile", "justfile", "rakefile", "gemfile"}, base) ||
		slices.ContainsFunc(beginnings, func(b string) bool { return bytes.HasPrefix(bytes.TrimPrefix(raw, byteOrderMark), []byte(b)) })
}
