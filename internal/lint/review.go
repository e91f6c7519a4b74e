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
	"github.com/toolshelf-go/toolshelf/internal/markdown"
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
		if all := first(maxReviewed, shellDirectives(f.Raw, new(markdown.Meter))); all != nil {
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

// first returns at most n of the spans that next finds: next returns the first span from an index
// on.
func first(n int, next func(from int) (span, bool)) (all []span) {
	for from := 0; len(all) < n; from = all[len(all)-1].end {
		found, ok := next(from)
		if !ok {
			break
		}
		all = append(all, found)
	}
	return all
}

// shellDirectives finds !`command`, the beginning of !{command}, and the first line of a block of
// code that a client runs.
func shellDirectives(text []byte, meter *markdown.Meter) func(from int) (span, bool) {
	return func(from int) (span, bool) {
		for {
			n := bytes.IndexByte(text[from:], '!')
			if meter.Add(max(n, 0) + 1); n < 0 {
				return span{}, false
			}
			at := from + n
			from = at + 1
			rest := text[from:]
			start, ok := fenceBefore(text[:at])
			if meter.Add(at - start); ok {
				return span{start, from + lineEnd(rest)}, true
			}
			if len(rest) == 0 || rest[0] != '`' && rest[0] != '{' {
				continue
			}
			stops := "`\n"
			if rest[0] == '{' {
				stops = "}\n"
			}
			inner := bytes.IndexAny(rest[1:], stops)
			meter.Add(max(inner, 0))
			switch {
			case rest[0] == '{' && inner != 0 && len(rest) > 1:
				if inner < 0 {
					inner = len(rest) - 1
				}
				return span{at, from + 1 + inner}, true
			case rest[0] == '`' && inner > 0 && rest[1+inner] == '`':
				return span{at, from + 2 + inner}, true
			}
		}
	}
}

// fenceBefore reports whether a text ends with a fence that begins its line, and returns the start
// of the line.
func fenceBefore(text []byte) (start int, ok bool) {
	line, ok := bytes.CutSuffix(text, []byte("```"))
	line = bytes.TrimRight(line, " \t")
	return len(line), ok && (len(line) == 0 || line[len(line)-1] == '\n')
}

// lineEnd returns the length of the first line of a text, without the line break.
func lineEnd(text []byte) int {
	if n := bytes.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// schemes begin the URLs of findURLs, in any letter case.
var schemes = []string{"http", "https", "ws", "wss", "ftp", "ftps", "ssh", "git", "file"}

// findURLs finds URLs, and the beginnings of URLs.
func findURLs(text []byte, meter *markdown.Meter) func(from int) (span, bool) {
	return func(from int) (span, bool) {
		for done := from; ; {
			n := bytes.Index(text[from:], []byte("://"))
			if meter.Add(max(n, 0) + 1); n < 0 {
				return span{}, false
			}
			colon := from + n
			from = colon + len("://")
			start := colon
			for start > done && isWord(text[start-1]) && colon-start <= len("https") {
				start--
			}
			if !slices.ContainsFunc(schemes, func(s string) bool { return strings.EqualFold(s, string(text[start:colon])) }) {
				continue
			}
			end := from
			for end < len(text) && !endsURL[text[end]] {
				end++
			}
			if meter.Add(end - start); end > from {
				return span{start, end}, true
			}
		}
	}
}

func isWord(c byte) bool {
	return '0' <= c && c <= '9' || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// endsURL has the characters that end a URL in a text.
var endsURL = func() (ends [256]bool) {
	for _, c := range []byte(" \t\n\f\r\"'<>`()[]{}|\\^") {
		ends[c] = true
	}
	return ends
}()

// urls reports the URLs of a text, with the hosts.
func (f *File) urls() []problem.Problem {
	all := first(maxReviewed, findURLs(f.Raw, new(markdown.Meter)))
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
