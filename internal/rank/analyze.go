package rank

import (
	"slices"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/vector"
	"github.com/toolshelf-go/toolshelf/internal/words"
)

// An Analyzer splits documents into words for [Corpus.PutAnalyzed]. Several Analyzers
// can work at the same time, one for each goroutine. An Analyzer remembers the words of
// all its documents, so it should not outlive a series of documents. The zero Analyzer
// is ready to use.
type Analyzer struct {
	splitter words.Splitter
	lexicon  lexicon
	typed    string // the text being analyzed
	text     []byte // typed, followed by blockSize zeros
	stem     []byte
	split    []uint32 // terms of the word being added to lexicon

	doc     document // the last document, without key and terms
	lengths lengths
	vector  *vector.Cell // of the last document, or nil
	found   []uint32     // terms of the last document, in the order of their first occurrences
	counts  []counts     // by term of lexicon; 0 for the terms that are not in found
	titles  []uint32     // 1 + each term of the titles without stop words, and 0 after each title
	ids     []uint32     // by term of lexicon: 1 + the term of idsOf, or 0 if unknown
	idsOf   *corpus      // the corpus that had the last document
	idsAt   uint64       // idsOf.removed at that time; a later removal makes ids invalid
}

// Analyze splits a document into words. The Analyzer keeps the words until the next
// call of Analyze, and keeps neither Tags nor Body.
func (a *Analyzer) Analyze(d Document) {
	if a.lexicon.len+len(a.lexicon.long) > maxLexemes {
		*a = Analyzer{}
	}
	if a.lexicon.slots == nil {
		a.lexicon.grow()
	}
	for _, t := range a.found {
		a.counts[t] = 0
	}
	a.found, a.titles, a.lengths = a.found[:0], a.titles[:0], lengths{}
	a.doc = document{name: d.Name, description: d.Description}
	a.vector = d.Vector

	a.splitter.Any = true
	visit := a.visitor(inName)
	a.splitter.Split(bounded(d.Name), func(typed string, folded []byte, part bool) {
		visit(typed, folded, part)
		if !slices.Contains(a.doc.nameWords, string(folded)) {
			a.doc.nameWords = append(a.doc.nameWords, string(folded))
		}
	})
	a.titles = append(a.titles, 0)
	a.splitter.Any = false
	a.read(d.Description)
	a.count(inDescription, 0, len(a.typed))
	a.read(d.Tags)
	a.count(inTags, 0, len(a.typed))
	a.read(d.Body)
	a.count(inOpening, 0, len(a.typed))
	sections(a.typed, func(begin, end int, heading bool) {
		if heading {
			a.count(inHeadings, begin, end)
			a.titles = append(a.titles, 0)
		} else {
			a.count(inBody, begin, end)
		}
	})
	a.typed = ""
}

// openingWords is the number of words of the opening. An author says what a command is for in the
// first paragraph.
const openingWords = 60

// bounded returns the part of a text that is indexed.
func bounded(text string) string { return text[:min(len(text), MaxText)] }

// read sets the text for count.
func (a *Analyzer) read(text string) {
	a.typed = bounded(text)
	a.text = append(append(a.text[:0], a.typed...), make([]byte, blockSize)...)
}

// count counts the words of a part of the text. The result is the same as for
// splitter.split with a.visitor, but count looks up each word as written in the lexicon.
func (a *Analyzer) count(f field, begin, end int) {
	chunks := chunksOf(a.text, begin, end)
	words := uint32(0)
	for {
		begin := chunks.next()
		if begin == end || f == inOpening && a.lengths[f]+words >= openingWords {
			break
		}
		n := chunks.next() - begin
		if n > maxShort {
			a.countChunk(f, a.typed[begin:begin+n])
			continue
		}
		w, ok := short((*[maxShort]byte)(a.text[begin:]), n)
		if !ok {
			a.countChunk(f, a.typed[begin:begin+n])
			continue
		}
		var terms termList
		if s := a.lexicon.slot(w); s.shortWord == w {
			terms = s.terms
		} else {
			split, stop := a.splitWord(a.typed[begin : begin+n])
			terms = a.lexicon.add(w, split, stop)
		}
		if terms.len == 1 {
			words++
			a.occurrence(f, terms.first, terms.stop)
		} else {
			a.occurrences(f, terms)
		}
	}
	a.lengths[f] += words
}

// countChunk counts the words of a chunk that is not a short word.
func (a *Analyzer) countChunk(f field, text string) {
	for i := 0; i < len(text); {
		w := words.Next(text, i)
		typed := text[i:w.End]
		switch {
		case w.End == i:
			_, size := utf8.DecodeRuneInString(text[i:])
			w.End += size
		case w.Dense:
			a.splitter.Visit(typed, w, a.visitor(f))
		case len(typed) <= words.Max:
			terms, ok := a.lexicon.long[typed]
			if !ok {
				split, stop := a.splitWord(typed)
				terms = a.lexicon.addLong(typed, split, stop)
			}
			a.occurrences(f, terms)
		}
		i = w.End
	}
}

// splitWord returns the terms of a word and of its parts, valid until the next call, and whether
// the word is a stop word.
func (a *Analyzer) splitWord(typed string) (terms []uint32, stop bool) {
	a.split = a.split[:0]
	a.splitter.Split(typed, func(_ string, folded []byte, part bool) {
		a.split = append(a.split, a.term(folded))
		stop = !part && words.IsStop(string(folded))
	})
	return a.split, stop
}

// visitor counts words that the lexicon does not keep.
func (a *Analyzer) visitor(f field) words.VisitFunc {
	return func(_ string, folded []byte, part bool) {
		if !part {
			a.lengths[f]++
		}
		a.occurrence(f, a.term(folded), false)
	}
}

// term returns the term of a folded word.
func (a *Analyzer) term(folded []byte) uint32 {
	a.stem = words.Stem(append(a.stem[:0], folded...))
	t := a.lexicon.termOf(a.stem)
	if int(t) == len(a.counts) {
		a.counts, a.ids = append(a.counts, 0), append(a.ids, 0)
	}
	return t
}

// occurrences records one occurrence of a word.
func (a *Analyzer) occurrences(f field, terms termList) {
	if terms.len == 0 {
		return
	}
	a.lengths[f]++
	if terms.len == 1 {
		a.occurrence(f, terms.first, terms.stop)
		return
	}
	for _, t := range a.lexicon.lists[terms.first:][:terms.len] {
		a.occurrence(f, t, false)
	}
}

// occurrence records one occurrence of a term. A title is without stop words.
func (a *Analyzer) occurrence(f field, t uint32, stop bool) {
	if a.counts[t] == 0 {
		if len(a.found) == maxTerms {
			return
		}
		a.found = append(a.found, t)
	}
	a.counts[t] = a.counts[t].plusOne(f)
	if (f == inHeadings || f == inName) && !stop {
		a.titles = append(a.titles, 1+t)
	}
}
