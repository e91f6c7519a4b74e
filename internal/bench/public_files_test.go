package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A HeaderClass is a kind of frontmatter with its share of the public files. In the
// header, NAME is the name of the command or skill, and TEXT, WORD and NUMBER are
// different in each file.
type HeaderClass struct {
	Name   string
	share  int    // in thousandths
	header string // up to the body; "" for a file without frontmatter
}

// PublicCommandHeaders mirrors 2,943 public command files. A header is plain if each
// of its values is unquoted ASCII text that begins with a letter and is neither a
// boolean nor null. A strict YAML parser rejects the broken headers.
var PublicCommandHeaders = []HeaderClass{
	{"plain", 524, "---\ndescription: TEXT\nallowed-tools: Read, Grep, Bash(git diff:*)\nargument-hint: <WORD>\n---\n"},
	{"none", 140, ""},
	{"quoted", 105, "---\ndescription: \"TEXT: the WORD's own \\\"WORD\\\"\"\nargument-hint: \"[file] [level]\"\nallowed-tools: Read, Grep\n---\n"},
	{"flow-list", 80, "---\ndescription: TEXT\nargument-hint: [WORD-id]\nallowed-tools: [Read, Grep, \"Bash(git log:*)\"]\n---\n"},
	{"broken-brackets", 54, "---\ndescription: TEXT\nargument-hint: [WORD-number] [priority]\nallowed-tools: Read, Grep\n---\n"},
	{"block-list", 25, "---\ndescription: TEXT\nallowed-tools:\n  - Read\n  - Grep\n  - Bash(make WORD:*)\n---\n"},
	{"non-ASCII", 20, "---\ndescription: TEXT — für WORD, 用於 WORD\nargument-hint: <WORD>\n---\n"},
	{"boolean-number", 15, "---\ndescription: TEXT number NUMBER and report\nis_dependency: false\nversion: 1.NUMBER\npriority: NUMBER\ncreated: 2025-11-20\n---\n"},
	{"broken-brackets-colon", 14, "---\ndescription: TEXT: WORD, with the WORD\nargument-hint: [WORD] [--force]\n---\n"},
	{"block-scalar", 8, "---\ndescription: >-\n  TEXT\n  and WORD the WORD.\nexample: |\n  /NAME WORD\n    --level NUMBER\n---\n"},
	{"comment", 5, "---\n# written for WORD\ndescription: TEXT # NUMBER\nmodel: sonnet\n---\n"},
	{"nested", 3, "---\ndescription: TEXT\nmetadata:\n  author: WORD\n  version: \"1.NUMBER\"\n---\n"},
	{"broken-colon", 3, "---\ndescription: TEXT: WORD the WORD\nallowed-tools: Read\n---\n"},
	{"broken-braces", 2, "---\ndescription: TEXT\nmodel: {{WORD}}\n---\n"},
	{"CRLF", 2, "---\r\ndescription: TEXT\r\nargument-hint: <WORD>\r\n---\r\n"},
}

// PublicSkillHeaders mirrors 23,586 public SKILL.md files.
var PublicSkillHeaders = []HeaderClass{
	{"quoted", 270, "---\nname: NAME\ndescription: \"TEXT. Use it when the user asks \\\"WORD the WORD\\\": TEXT, or TEXT.\"\n---\n"},
	{"plain", 205, "---\nname: NAME\ndescription: TEXT. Use this skill when the user asks to WORD, and for TEXT.\nlicense: MIT\n---\n"},
	{"metadata", 166, "---\nname: NAME\ndescription: TEXT. Use it for TEXT.\nlicense: Apache-2.0\nmetadata:\n  author: WORD\n  version: \"1.NUMBER\"\n  priority: NUMBER\n---\n"},
	{"block-scalar", 150, "---\nname: NAME\ndescription: |\n  TEXT.\n  Use it when TEXT, and\n\n  - WORD: TEXT\nversion: 1.NUMBER.0\n---\n"},
	{"non-ASCII", 65, "---\nname: NAME\ndescription: TEXT – 當使用者要求 WORD 時使用，für “WORD” und TEXT.\n---\n"},
	{"block-list", 40, "---\nname: NAME\ndescription: TEXT. Use it for TEXT.\nallowed-tools:\n  - Read\n  - Write\ntags:\n- WORD\n- WORD\n---\n"},
	{"flow-list", 30, "---\nname: NAME\ndescription: TEXT. Use it for TEXT.\ntags: [WORD, \"WORD WORD\", 'WORD']\n---\n"},
	{"none", 22, ""},
	{"number", 20, "---\nname: NAME\ndescription: TEXT. Use it for TEXT.\nversion: 1.NUMBER\nupdated: 2025-11-20\n---\n"},
	{"boolean", 15, "---\nname: NAME\ndescription: TEXT. Use it for TEXT.\ndisable-model-invocation: true\nuser-invocable: yes\n---\n"},
	{"comment", 9, "---\nname: NAME # of the directory\n# for WORD\ndescription: TEXT. Use it for TEXT.\n---\n"},
	{"broken-colon", 4, "---\nname: NAME\ndescription: TEXT. Use when: TEXT, WORD\n---\n"},
	{"CRLF", 2, "---\r\nname: NAME\r\ndescription: TEXT. Use it for TEXT.\r\n---\r\n"},
	{"unterminated", 2, "---\nname: NAME\ndescription: TEXT\n\n"},
}

// Sizes of files in bytes. Sizes have a log-normal distribution.
type Sizes struct{ median, p95, most float64 }

var (
	PublicCommandSizes = Sizes{4.5e3, 28e3, 121e3}
	PublicSkillSizes   = Sizes{5.9e3, 18.6e3, 121e3}
)

func (s Sizes) Draw(random *rand.Rand) int {
	deviation := math.Log(s.p95/s.median) / 1.645
	return int(min(s.median*math.Exp(deviation*random.NormFloat64()), s.most))
}

// A PublicWriter invents files like the public ones. The words are as frequent as in
// a natural text (Zipf's law), and a text repeats its own words: public files have 830
// words, of which 300 are distinct. The same seed gives the same files.
type PublicWriter struct {
	random *rand.Rand
	zipf   *rand.Zipf
	words  []string
	recent []string // words of the current text
	buf    strings.Builder
}

// NewPublicWriter returns a writer of the files of a seed.
func NewPublicWriter(seed uint64) *PublicWriter {
	random := rand.New(rand.NewPCG(seed, 2))
	w := &PublicWriter{random: random}
	for range 30_000 {
		word := make([]byte, 2+random.IntN(5)+random.IntN(6))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgkjqxz"[min(random.IntN(26), random.IntN(26))]
		}
		w.words = append(w.words, string(word))
	}
	w.zipf = rand.NewZipf(random, 1.2, 8, uint64(len(w.words)-1))
	return w
}

// Word returns a word of a text.
func (w *PublicWriter) Word() string {
	if n := len(w.recent); n > 20 && w.random.IntN(2) == 0 {
		return w.recent[w.random.IntN(n)]
	}
	w.recent = append(w.recent, w.words[w.zipf.Uint64()])
	return w.recent[len(w.recent)-1]
}

// prose adds n words of a sentence. Some words are capitalized, and some are code.
func (w *PublicWriter) prose(n int) {
	for i := range n {
		if i > 0 {
			w.buf.WriteByte(' ')
		}
		word := w.Word()
		switch r := w.random.IntN(100); {
		case i == 0 || r < 12:
			first, size := utf8.DecodeRuneInString(word)
			w.buf.WriteRune(unicode.ToUpper(first))
			w.buf.WriteString(word[size:])
		case r < 15:
			fmt.Fprintf(&w.buf, "`%s.%s`", word, w.Word())
		case r < 17:
			fmt.Fprintf(&w.buf, "**%s**", word)
		case r < 19:
			w.buf.WriteString(word + "Name")
		case r < 24:
			w.buf.WriteString(word + ",")
		default:
			w.buf.WriteString(word)
		}
	}
}

var placeholders = regexp.MustCompile("NAME|TEXT|WORD|NUMBER")

// header fills in a header.
func (w *PublicWriter) header(header, name string) {
	w.buf.WriteString(placeholders.ReplaceAllStringFunc(header, func(field string) string {
		switch field {
		case "NAME":
			return name
		case "WORD":
			return w.Word()
		case "NUMBER":
			return strconv.Itoa(w.random.IntN(100))
		}
		text := "Analyze"
		for range 5 + w.random.IntN(6) {
			text += " " + w.Word()
		}
		return text
	}))
}

// body adds a heading, a paragraph and sections until the text has a size. Headings,
// lists, code and blank lines have their shares of the public lines.
func (w *PublicWriter) body(size int) {
	w.buf.WriteString("# ")
	w.prose(3)
	w.buf.WriteString("\n\n")
	w.prose(12)
	w.buf.WriteString(".\n")
	for w.buf.Len() < size {
		w.buf.WriteString("\n## ")
		w.prose(2 + w.random.IntN(3))
		w.buf.WriteString("\n\n")
		for range 2 {
			w.prose(10 + w.random.IntN(10))
			w.buf.WriteString(".\n")
		}
		w.buf.WriteString("\n")
		for i := range 3 {
			fmt.Fprintf(&w.buf, "%d. ", i+1)
			w.prose(5 + w.random.IntN(6))
			w.buf.WriteString("\n")
		}
		if w.random.IntN(3) == 0 {
			w.buf.WriteString("\n```bash\n")
			for range 4 {
				fmt.Fprintf(&w.buf, "%s --%s=%s %s/%s_%d\n", w.Word(), w.Word(), w.Word(), w.Word(), w.Word(), w.random.IntN(100))
			}
			w.buf.WriteString("```\n")
		}
	}
}

// File returns the text of a file with a header and a body that fills up to size bytes.
func (w *PublicWriter) File(class HeaderClass, name string, size int) string {
	w.buf.Reset()
	w.recent = w.recent[:0]
	w.header(class.header, name)
	w.body(size)
	return w.buf.String()
}

// A PublicDir is a directory of generated commands or skills.
type PublicDir struct {
	Root    string
	Names   []string
	Files   []string // paths, by name
	classes []HeaderClass
}

// PublicCommands writes n commands below commands/.
func PublicCommands(b *testing.B, n int, classes []HeaderClass, s Sizes) *PublicDir {
	return newPublicDir(b, n, classes, s, "analyze", func(root, name string) string { return filepath.Join(root, "commands", name+".md") })
}

// PublicSkills writes n skills below skills/.
func PublicSkills(b *testing.B, n int, classes []HeaderClass, s Sizes) *PublicDir {
	return newPublicDir(b, n, classes, s, "skill", func(root, name string) string { return filepath.Join(root, "skills", name, "SKILL.md") })
}

func newPublicDir(b *testing.B, n int, classes []HeaderClass, s Sizes, prefix string, file func(root, name string) string) *PublicDir {
	b.Helper()
	d := &PublicDir{Root: b.TempDir(), classes: classes}
	writer := NewPublicWriter(1)
	random := rand.New(rand.NewPCG(5, 6))
	old := time.Now().Add(-time.Minute) // see stamp.Settled
	of := ClassSequence(classes, n, random)
	for i := range n {
		name := fmt.Sprintf("%s-%s-%05d", prefix, writer.Word(), i)
		path, text := file(d.Root, name), writer.File(of[i], name, s.Draw(random))
		catalogtest.Write(b, text, path)
		must.Do(b, os.Chtimes(path, old, old))
		d.Names, d.Files = append(d.Names, name), append(d.Files, path)
	}
	return d
}

// ClassSequence returns the classes of n files in random order. Each class has its
// share of the files.
func ClassSequence(classes []HeaderClass, n int, random *rand.Rand) []HeaderClass {
	of := make([]HeaderClass, 0, n)
	share := 0
	for _, class := range classes {
		share += class.share
		for len(of) < n*share/1000 {
			of = append(of, class)
		}
	}
	random.Shuffle(n, func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of
}

// ReportShares reports the share of each class in percent.
func (d *PublicDir) ReportShares(b *testing.B) {
	for _, class := range d.classes {
		b.ReportMetric(float64(class.share)/10, "%-"+class.Name)
	}
}

// A HeaderMix is a table of headers for a benchmark.
type HeaderMix struct {
	Name    string
	Classes []HeaderClass
}

// HeaderMixes returns the two tables that each cold benchmark runs on: all classes with their
// shares, and the plain class for all files.
func HeaderMixes(classes []HeaderClass) []HeaderMix {
	plain := classes[slices.IndexFunc(classes, func(c HeaderClass) bool { return c.Name == "plain" })]
	plain.share = 1000
	return []HeaderMix{{"public", classes}, {"plain", []HeaderClass{plain}}}
}

// The shares of a table must be complete.
func TestHeaderSharesAreComplete(t *testing.T) {
	for name, classes := range map[string][]HeaderClass{"commands": PublicCommandHeaders, "skills": PublicSkillHeaders} {
		sum := 0
		for _, class := range classes {
			sum += class.share
		}
		if sum != 1000 {
			t.Errorf("%s: the shares are %d thousandths", name, sum)
		}
	}
}
