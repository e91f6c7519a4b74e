package rank

import (
	"math"
	"slices"
	"unicode/utf8"
)

// A query is what somebody looks for.
type query struct {
	words  []queryWord // to look for
	others []string    // stop words, folded
	whole  []string    // all of them, folded, in their order
}

// A queryWord is a word of a query, folded.
type queryWord struct {
	typed string
	whole string
	parts []string
	dense bool // of a script without blanks: two characters that were typed together
}

func parse(text string) query {
	var (
		s   = splitter{any: true}
		all []queryWord
	)
	s.split(text, func(typed string, folded []byte, part bool) {
		if part {
			if last := &all[len(all)-1]; !slices.Contains(last.parts, string(folded)) {
				last.parts = append(last.parts, string(folded))
			}
			return
		}
		first, _ := utf8.DecodeRune(folded)
		all = append(all, queryWord{typed: typed, whole: string(folded), dense: isDense(first)})
	})
	q := query{whole: wholeWords(text)}
	known := map[string]bool{}
	for _, w := range all {
		switch {
		case known[w.whole]:
		case isStopWord(w.whole):
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

// is reports whether the query is a whole name: its words in their order,
// whatever parts they have.
func (q *query) is(name string) bool { return slices.Equal(q.whole, wholeWords(name)) }

func wholeWords(text string) []string {
	s := splitter{any: true}
	var words []string
	s.split(text, func(_ string, folded []byte, part bool) {
		if !part {
			words = append(words, string(folded))
		}
	})
	return words
}

// cover returns how much of a name the query is, 0 to 1, and whether each
// word that it looks for is one of the name's.
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
	// Words that are parts of several words of the query were counted twice.
	return float64(min(hits, len(nameWords))) / float64(len(nameWords)+extra), true
}

// A clause is a word of a query with the terms that stand for it.
type clause struct {
	word   queryWord
	terms  []uint32
	near   bool    // the terms are one typing error away
	weight float64 // what a document gets that has it often and in all fields
}

const (
	nearWeight = 0.6  // of a word that is one typing error away
	partWeight = 0.25 // of a part of a word that is there whole too
)

// clauses looks up the words of a query in the documents that keep is true of,
// and returns what the weights of all add up to, those of words that no
// document has included.
func (c *corpus) clauses(q query, keep func(*document) bool) (found []clause, sum float64) {
	lookup := func(folded []byte) (id uint32, ok bool) {
		id, ok = c.byStem[string(stem(folded))]
		return id, ok && slices.ContainsFunc(c.terms[id].postings, func(p posting) bool { return keep(&c.docs[p.doc]) })
	}
	add := func(w queryWord, factor float64, near bool, ids ...uint32) {
		having := 0
		for _, id := range ids {
			having += len(c.terms[id].postings)
		}
		weight := factor * idf(c.len(), min(having, c.len()))
		found = append(found, clause{word: w, terms: ids, near: near, weight: weight})
		sum += weight
	}
	for _, w := range q.words {
		id, whole := lookup([]byte(w.whole))
		factor := 1.0
		if whole {
			add(w, 1, false, id)
			factor = partWeight
		}
		var parts []uint32
		for _, part := range w.parts {
			if id, ok := lookup([]byte(part)); ok {
				parts = append(parts, id)
			}
		}
		var near []uint32
		if !whole && (len(parts) == 0 || len(parts) < len(w.parts)) {
			typos(w.whole, func(word []byte) {
				if id, ok := lookup(word); ok && !slices.Contains(near, id) {
					near = append(near, id)
				}
			})
		}
		switch {
		case len(near) > 0: // rev1ew is review, rather than anything that has a 1
			add(w, nearWeight, true, near...)
		case !whole && len(parts) == 0:
			sum += idf(c.len(), 0)
		default:
			for _, id := range parts {
				add(w, factor, false, id)
			}
		}
	}
	return found, sum
}

// idf is what a word tells that so many of n documents have.
func idf(n, having int) float64 {
	return math.Log(1 + (float64(n-having)+0.5)/(float64(having)+0.5))
}
