package rank

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/words"
)

// A query is a parsed search text.
type query struct {
	words  []queryWord // words to search for
	others []string    // stop words, folded
	whole  []string    // all words, folded, in order
}

// A queryWord is a folded word of a query.
type queryWord struct {
	typed string
	whole string
	parts []string
	dense bool // two adjacent characters in a script without spaces
}

func parse(text string) query {
	var (
		s   = words.Splitter{Any: true}
		all []queryWord
	)
	s.Split(text, func(typed string, folded []byte, part bool) {
		if part {
			if last := &all[len(all)-1]; !slices.Contains(last.parts, string(folded)) {
				last.parts = append(last.parts, string(folded))
			}
			return
		}
		first, _ := utf8.DecodeRune(folded)
		all = append(all, queryWord{typed: typed, whole: string(folded), dense: words.IsDense(first)})
	})
	q := query{whole: wholeWords(text)}
	known := map[string]bool{}
	for _, w := range all {
		switch {
		case known[w.whole]:
		case words.IsStop(w.whole):
			q.others = append(q.others, w.whole)
		default:
			q.words = append(q.words, w)
		}
		known[w.whole] = true
	}
	if len(q.words) == 0 {
		for _, w := range q.others {
			q.words = append(q.words, queryWord{typed: w, whole: w})
		}
		q.others = nil
	}
	return q
}

// is reports whether the query has the same words as a name, in the same order. is does not
// compare word parts.
func (q *query) is(name string) bool { return slices.Equal(q.whole, wholeWords(name)) }

func wholeWords(text string) []string {
	s := words.Splitter{Any: true}
	var words []string
	s.Split(text, func(_ string, folded []byte, part bool) {
		if !part {
			words = append(words, string(folded))
		}
	})
	return words
}

// cover returns the share of a name that the query covers, from 0 to 1, and whether the
// name contains every word of the query.
func (q *query) cover(nameWords []string) (share float64, named bool) {
	if len(nameWords) == 0 {
		return 0, false
	}
	hits, extra := 0, 0
	for _, w := range q.words {
		in := 0
		for _, part := range w.parts {
			if slices.Contains(nameWords, part) {
				in++
			}
		}
		hits += in
		if slices.Contains(nameWords, w.whole) {
			hits++
		} else if w.dense || in == 0 || in < len(w.parts) {
			return 0, false
		}
	}
	for _, w := range q.others {
		if slices.Contains(nameWords, w) {
			hits++
		} else {
			extra++
		}
	}
	// A part shared by several words of the query was counted more than once.
	return float64(min(hits, len(nameWords))) / float64(len(nameWords)+extra), true
}

// A clause is a word of a query with its matching terms.
type clause struct {
	word   queryWord
	at     int  // the position of the word in query.words
	part   bool // the term is a part of a word that also matches as a whole
	terms  []uint32
	near   bool    // the terms are at a distance of one typing error, or begin with the word
	weight float64 // score of a document with many occurrences in all fields
}

const (
	nearWeight = 0.6  // for a word with one typing error, or the beginning of a word of a name
	partWeight = 0.25 // for a part of a word that also matches as a whole
)

// A user who types a beginning types one or two words; in a longer query, only a
// word that no document has is a beginning.
const (
	maxPrefixes   = 2 // words of a query that may be beginnings though a text has the word
	minPrefix     = 3
	maxBeginnings = 100
)

// A lookup finds the terms of the documents that keep accepts.
type lookup struct {
	*corpus
	keep  func(*document) bool
	terms int // terms found and words of names compared
}

func (l *lookup) kept(number uint32) bool { return l.keep(&l.docs[number]) }

// term returns the term of a folded word, if a kept document has the term.
func (l *lookup) term(folded []byte) (id uint32, ok bool) {
	if id, ok = l.byStem[string(words.Stem(folded))]; ok {
		l.terms++
		for _, p := range l.corpus.terms[id].postings {
			if l.kept(p.doc) {
				return id, true
			}
		}
	}
	return 0, false
}

// clauses returns the words of a query with their terms. The sum of the weights includes the words
// without a document.
func (l *lookup) clauses(q query) (found []clause, sum float64) {
	at := 0
	add := func(w queryWord, factor float64, near bool, ids ...uint32) {
		having := 0
		for _, id := range ids {
			having += len(l.corpus.terms[id].postings)
		}
		weight := factor * rarity(l.len(), min(having, l.len()))
		part := factor == partWeight
		found = append(found, clause{word: w, at: at, part: part, terms: ids, near: near, weight: weight})
		sum += weight
	}
	for i, w := range q.words {
		at = i
		id, whole := l.term([]byte(w.whole))
		factor := 1.0
		if whole {
			add(w, 1, false, id)
			factor = partWeight
		}
		parts := l.parts(w)
		var near []uint32
		if !whole && len(parts) == 0 || len(q.words) <= maxPrefixes && !(whole && l.inName(id)) {
			near = l.beginning(w)
		}
		partly := len(parts) < len(w.parts)
		if len(near) == 0 && !whole && (len(parts) == 0 || partly) {
			near = l.similar(w)
		}
		switch {
		case len(near) > 0:
			add(w, nearWeight, true, near...)
		case !whole && len(parts) == 0:
			sum += rarity(l.len(), 0)
		}
		if len(near) > 0 && partly { // rev1ew means review, not any word with a 1
			continue
		}
		for _, id := range parts {
			add(w, factor, false, id)
		}
	}
	return found, sum
}

// parts returns the terms of the parts of a word.
func (l *lookup) parts(w queryWord) (all []uint32) {
	for _, part := range w.parts {
		if id, ok := l.term([]byte(part)); ok {
			all = append(all, id)
		}
	}
	return all
}

// similar returns the terms that a typing error turns into a word.
func (l *lookup) similar(w queryWord) (near []uint32) {
	words.Typos(w.whole, func(word []byte) {
		if id, ok := l.term(word); ok && !slices.Contains(near, id) {
			near = append(near, id)
		}
	})
	return near
}

// inName reports whether the name of a kept document has a term.
func (l *lookup) inName(id uint32) bool {
	for _, p := range l.corpus.terms[id].postings {
		if p.counts.of(inName) > 0 && l.kept(p.doc) {
			return true
		}
	}
	return false
}

// beginning returns the terms of the words of names of kept documents that begin with a word of at
// least minPrefix letters, or nil for more than maxBeginnings terms. The word can be longer than
// the stem.
func (l *lookup) beginning(w queryWord) (all []uint32) {
	if w.dense || utf8.RuneCountInString(w.whole) < minPrefix {
		return nil
	}
	names := l.nameTable().beginning(w.whole)
	for _, n := range names {
		l.terms++
		stemmed := string(words.Stem([]byte(n.word)))
		id, ok := l.byStem[stemmed]
		if !ok || !strings.HasPrefix(stemmed, w.whole) || slices.Contains(all, id) ||
			!slices.ContainsFunc(n.docs, l.kept) {
			continue
		}
		if all = append(all, id); len(all) > maxBeginnings {
			return nil
		}
	}
	for end := minPrefix; end < len(w.whole) && len(names) > 0; end++ {
		id, ok := l.byStem[w.whole[:end]]
		if !ok {
			continue
		}
		named := func(doc uint32) bool {
			return l.corpus.terms[id].postings.of(doc).of(inName) > 0 && l.kept(doc)
		}
		if slices.ContainsFunc(names, func(n nameWord) bool {
			return slices.ContainsFunc(n.docs, named)
		}) {
			all = append(all, id)
		}
	}
	return all
}

// rarity returns a power of the inverse document frequency of a word. n is the number of documents,
// and having is the number of documents with the word. A description of a need has words that are
// rare by chance, the more the larger the catalog is. The power lets a document with more of the
// other words win.
func rarity(n, having int) float64 {
	power := 1 - 0.4*min(1, float64(n)/200)
	return math.Pow(math.Log(1+(float64(n-having)+0.5)/(float64(having)+0.5)), power)
}
