// Package needs makes queries with known answers from a directory of public commands and skills, to measure
// search. No query is written for a ranker. The queries of an entry follow these rules.
//
//   - The entries are the files *.md of commands and SKILL.md of skills, in the order of their paths, without
//     README.md. Of several entries with the same name or the same description, only the first is an entry.
//   - The need of an entry is the first sentence of its body that has 6 to 25 words, is no heading, no code and
//     no row of a table, is not in the description and in no body of another entry, and has no word of the name. Two
//     words are equal if they agree in their first four letters. The body that a ranker sees lacks the sentence.
//   - The request of an entry is a need in the words of a user, in testdata, for the 75 entries with the smallest hashes. Each
//     request was written from the description alone, before a search ran, without words of the name.
//   - The words of an entry are three words of its description, of four letters or more, in their order.
//   - The mistyped words are these three words, and the longest has two neighbors swapped.
//   - The heading of an entry is a heading of 2 to 10 words that no other entry has.
//
// A hash of the path chooses among words and among headings, and divides the queries into two halves.
package needs

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/rank"
)

// An Entry is a command or a skill, as a ranker may see it.
type Entry struct {
	Name, Description, Tags, Body string

	path, whole string // whole is the body with the need
}

// A Query is a search text whose answer is known.
type Query struct {
	Kind   Kind
	Text   string
	Answer string // the name of an Entry
	Half   int    // 0 or 1
}

// A Kind is a rule that makes queries.
type Kind string

const (
	Need     Kind = "need"
	Request  Kind = "request"
	Words    Kind = "words"
	Mistyped Kind = "mistyped"
	Heading  Kind = "heading"
)

// Read returns the entries and the queries of a part of the corpus, "commands" or "skills".
func Read(t testing.TB, part string) (entries []Entry, queries []Query) {
	names, descriptions := map[string]bool{}, map[string]bool{}
	top := filepath.Join(catalogtest.Corpus(t), part)
	must.Do(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		if base := filepath.Base(path); (part == "skills") != (base == "SKILL.md") || strings.EqualFold(base, "README.md") {
			return nil
		}
		e := read(t, top, path, part)
		if names[e.Name] || e.Description != "" && descriptions[e.Description] {
			return nil
		}
		names[e.Name], descriptions[e.Description] = true, true
		entries = append(entries, e)
		return nil
	}))
	requests := readRequests(t, part)
	for i := range entries {
		e := &entries[i]
		add := func(kind Kind, text string) {
			if text != "" {
				queries = append(queries, Query{kind, text, e.Name, int(e.hash("half") % 2)})
			}
		}
		add(Need, e.need(entries))
		add(Request, requests[e.Name])
		words := e.words()
		add(Words, strings.Join(words, " "))
		add(Mistyped, e.mistyped(words))
		add(Heading, e.heading(entries))
	}
	return entries, queries
}

// readRequests returns the requests of a part by the names of their entries.
func readRequests(t testing.TB, part string) map[string]string {
	data := must.Get(os.ReadFile("testdata/" + part + ".txt"))(t)
	requests := map[string]string{}
	for line := range strings.Lines(string(data)) {
		if name, text, ok := strings.Cut(strings.TrimSpace(line), " | "); ok && !strings.HasPrefix(line, "#") {
			requests[name] = text
		}
	}
	return requests
}

func read(t testing.TB, top, path, part string) Entry {
	data := must.Get(os.ReadFile(path))(t)
	below := must.Get(filepath.Rel(top, path))(t)
	file := agentmd.ParseCommand(filepath.Base(path), data)
	if part == "skills" {
		file.Name = filepath.Base(filepath.Dir(path))
	}
	return Entry{
		Name: file.Name, Description: file.Description, Tags: strings.Join(file.Frontmatter.List("tags"), ", "), Body: string(file.Body),
		path: filepath.ToSlash(below), whole: string(file.Body),
	}
}

// hash returns a number that depends on the path and the purpose.
func (e *Entry) hash(purpose string) uint64 {
	sum := sha256.Sum256([]byte(purpose + "\x00" + e.path))
	return binary.BigEndian.Uint64(sum[:])
}

// sentence is a sequence of words on one line that ends with a mark or with the line.
var sentence = regexp.MustCompile(`[^.!?\n]+[.!?]?`)

// need returns the need of an entry, and removes the need from its body.
func (e *Entry) need(entries []Entry) string {
	texts, _ := lines(e.Body)
	for _, line := range texts {
		for _, text := range sentence.FindAllString(line, -1) {
			text = strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			words := wordsOf(text)
			if len(words) < 6 || len(words) > 25 || strings.Contains(e.Description, text) || strings.ContainsAny(text, "`$<>{}|/\\") ||
				slices.ContainsFunc(wordsOf(e.Name), func(n string) bool {
					return slices.ContainsFunc(words, func(w string) bool { return start(w) == start(n) })
				}) ||
				slices.ContainsFunc(entries, func(o Entry) bool { return o.path != e.path && strings.Contains(o.whole, text) }) {
				continue
			}
			e.Body = strings.ReplaceAll(e.Body, text, "")
			return text
		}
	}
	return ""
}

func (e *Entry) words() []string {
	var all []string
	for _, w := range wordsOf(e.Description) {
		if len([]rune(w)) >= 4 && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	if len(all) < 3 {
		return nil
	}
	hash := func(w string) uint64 { return e.hash("word " + w) }
	third := slices.SortedFunc(slices.Values(all), func(a, b string) int { return cmp.Compare(hash(a), hash(b)) })[2]
	return slices.DeleteFunc(all, func(w string) bool { return hash(w) > hash(third) })
}

func (e *Entry) mistyped(words []string) string {
	if len(words) == 0 {
		return ""
	}
	words = slices.Clone(words)
	longest := slices.MaxFunc(words, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	letters := []rune(longest)
	at := 1 + int(e.hash("typo")%uint64(len(letters)-2))
	letters[at], letters[at+1] = letters[at+1], letters[at]
	words[slices.Index(words, longest)] = string(letters)
	return strings.Join(words, " ")
}

func (e *Entry) heading(entries []Entry) string {
	var all []string
	_, headings := lines(e.whole)
	for _, h := range headings {
		n := len(wordsOf(h))
		if n >= 2 && n <= 10 && !slices.ContainsFunc(entries, func(o Entry) bool { return o.path != e.path && strings.Contains(o.whole, h) }) {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[e.hash("heading")%uint64(len(all))]
}

// lines returns the lines of a Markdown text outside code, without the rows of tables, and the
// headings.
func lines(text string) (texts, headings []string) {
	markdown.Blocks(text, new(markdown.Meter), func(start, end int, kind markdown.Kind) {
		if kind != markdown.Text {
			return
		}
		for line := range strings.Lines(text[start:end]) {
			line = strings.TrimSpace(line)
			if markdown.IsHeading(line) {
				headings = append(headings, strings.TrimSpace(strings.Trim(line, "#")))
			} else if !strings.HasPrefix(line, "|") {
				texts = append(texts, line)
			}
		}
	})
	return texts, headings
}

// wordsOf returns the words of a text in lower case.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

func start(word string) string { r := []rune(word); return string(r[:min(4, len(r))]) }

// Document returns the entry as the built-in search indexes it.
func (e *Entry) Document() rank.Document {
	return rank.Document{Name: e.Name, Description: e.Description, Tags: e.Tags, Body: e.Body}
}

// Ranker returns the built-in search over entries, for Measure.
func Ranker(t testing.TB, entries []Entry) func(text string) []string {
	x := new(rank.Corpus)
	for _, e := range entries {
		x.Put(e.Name, e.Document())
	}
	return func(text string) (names []string) {
		for _, h := range must.Get(x.Search(t.Context(), text, 10, nil, nil))(t).Hits {
			names = append(names, h.Name)
		}
		return names
	}
}

// A Score describes the ranks of the answers to some queries.
type Score struct {
	Queries             int
	NDCG, AtOne, AtFive float64 // nDCG@10; the shares of the answers at rank 1 and at ranks 1 to 5
}

// Measure scores a ranker by the queries of a kind, one score for each half. search returns names, the best first.
func Measure(queries []Query, kind Kind, search func(text string) []string) (halves [2]Score) {
	for _, q := range queries {
		if q.Kind != kind {
			continue
		}
		found := search(q.Text)
		s := &halves[q.Half]
		s.Queries++
		switch rank := 1 + slices.Index(found[:min(10, len(found))], q.Answer); {
		case rank == 0:
			continue
		case rank == 1:
			s.AtOne++
			fallthrough
		case rank <= 5:
			s.AtFive++
			fallthrough
		default:
			s.NDCG += 1 / math.Log2(float64(1+rank))
		}
	}
	for i := range halves {
		n := float64(max(1, halves[i].Queries))
		halves[i].NDCG, halves[i].AtOne, halves[i].AtFive = halves[i].NDCG/n, halves[i].AtOne/n, halves[i].AtFive/n
	}
	return halves
}
