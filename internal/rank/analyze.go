package rank

import (
	"slices"
	"unicode/utf8"
)

// An Analyzer splits documents into words for [Index.PutAnalyzed]. Several Analyzers
// can work at the same time, one for each goroutine. An Analyzer remembers the words of
// all its documents, so it should not outlive a series of documents. The zero Analyzer
// is ready to use.
type Analyzer struct {
	splitter splitter
	lexicon  lexicon
	stem     []byte
	split    []uint32 // terms of the word being added to lexicon

	doc     document // the last document, without key and terms
	lengths lengths
	found   []uint32 // terms of the last document, in the order of their first occurrences
	counts  []counts // by term of lexicon; 0 for the terms that are not in found
	ids     []uint32 // by term of lexicon: the term of the corpus that had the last document
}

// Analyze splits a document into words. The Analyzer keeps the words until the next
// call of Analyze, and keeps neither Tags nor Body.
func (a *Analyzer) Analyze(d Document) {
	if a.lexicon.len > maxLexemes {
		*a = Analyzer{}
	}
	for _, t := range a.found {
		a.counts[t] = 0
	}
	a.found, a.lengths = a.found[:0], lengths{}
	a.doc = document{name: d.Name, description: d.Description, nameWords: nameWords(&a.splitter, d.Name)}

	a.splitter.any = true
	a.splitter.split(bounded(d.Name), a.visitor(inName))
	a.splitter.any = false
	a.text(inDescription, bounded(d.Description))
	a.text(inTags, bounded(d.Tags))
	sections(bounded(d.Body), func(text string, heading bool) {
		if heading {
			a.text(inHeadings, text)
		} else {
			a.text(inBody, text)
		}
	})
}

// bounded returns the part of a text that is indexed.
func bounded(text string) string { return text[:min(len(text), MaxText)] }

// text counts the words of a text. The result is the same as for splitter.split with
// a.visitor, but text looks up each word as written in the lexicon.
func (a *Analyzer) text(f field, text string) {
	for i := 0; i < len(text); {
		begin, last := i, uint64(0)
		for i < len(text) && isASCIIWord[text[i]] {
			last = last<<8 | uint64(text[i])
			i++
		}
		if i < len(text) && text[i] >= utf8.RuneSelf {
			w := nextWord(text, begin)
			if i = w.end; w.dense {
				a.splitter.visit(text[begin:i], w, a.visitor(f))
				continue
			}
			last = lastBytes(text[begin:i])
		}
		switch {
		case i == begin:
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
		case i-begin <= maxWord:
			terms := a.lexicon.find(text[begin:i], last, func() []uint32 { return a.splitWord(text[begin:i]) })
			if len(terms) > 0 {
				a.lengths[f]++
			}
			for _, t := range terms {
				a.count(f, t)
			}
		}
	}
}

// splitWord returns the terms of a word and of its parts, valid until the next call.
func (a *Analyzer) splitWord(typed string) []uint32 {
	a.split = a.split[:0]
	a.splitter.split(typed, func(_ string, folded []byte, _ bool) { a.split = append(a.split, a.term(folded)) })
	return a.split
}

// visitor counts words that the lexicon does not keep.
func (a *Analyzer) visitor(f field) visitFunc {
	return func(_ string, folded []byte, part bool) {
		if !part {
			a.lengths[f]++
		}
		a.count(f, a.term(folded))
	}
}

// term returns the term of a folded word.
func (a *Analyzer) term(folded []byte) uint32 {
	a.stem = stem(append(a.stem[:0], folded...))
	return a.lexicon.termOf(a.stem)
}

// count records one occurrence of a term.
func (a *Analyzer) count(f field, t uint32) {
	if int(t) >= len(a.counts) {
		n := len(a.lexicon.stems)
		a.counts = append(a.counts, make([]counts, n-len(a.counts))...)
		a.ids = append(a.ids, make([]uint32, n-len(a.ids))...)
	}
	if a.counts[t] == 0 {
		if len(a.found) == maxTerms {
			return
		}
		a.found = append(a.found, t)
	}
	a.counts[t] = a.counts[t].plusOne(f)
}

// nameWords returns the distinct words and word parts of a name.
func nameWords(s *splitter, name string) []string {
	var words []string
	s.any = true
	defer func() { s.any = false }()
	s.split(name, func(_ string, folded []byte, _ bool) {
		if !slices.Contains(words, string(folded)) {
			words = append(words, string(folded))
		}
	})
	return words
}
