package rank

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A result is weak if none of the first hits has weakShare of the words of the query, weighted by their rarity.
const (
	weakShare  = 1.0 / 3
	weakHits   = 10 // the first hits, which Weak reads
	weakWords  = 8  // words that Weak offers
	commonPart = 4  // first letters of a word of the query that is like a word of a name
)

// Weak reports whether the hits of Search, the best first, hardly answer a text. If so, words are words of the names of
// documents that satisfy keep, for another query: first words that begin like a word of the text, then words of the first hits, then frequent
// words.
func (x *Corpus) Weak(text string, hits []Hit, keep func(key string) bool) (words []string, weak bool) {
	if len(hits) > 0 && hits[0].Score >= matchedFloor+(namedFloor-matchedFloor)*weakShare {
		return nil, false // the share is not above the weight of the words
	}
	hits = hits[:min(len(hits), weakHits)]
	c, q := &x.documents, parse(text)
	kept := func(d *document) bool { return d.key != "" && (keep == nil || keep(d.key)) }
	clauses, sum := c.clauses(q, kept)
	for _, h := range hits {
		if h.Tier == Reported || h.Reason == meaningReason {
			return nil, false // another search than by the words of the document
		}
		covered := 0.0
		for _, clause := range clauses {
			if slices.ContainsFunc(clause.terms, func(id uint32) bool { return c.terms[id].postings.of(c.byKey[h.Key]) > 0 }) {
				covered += clause.weight
			}
		}
		if covered >= weakShare*sum {
			return nil, false
		}
	}
	return c.offer(q, hits, kept), true
}

// offer returns the words of the names of kept documents that Weak offers.
func (c *corpus) offer(q query, hits []Hit, kept func(*document) bool) []string {
	type rank struct{ like, hit, having int }
	ranks := map[string]rank{}
	for i := range c.docs {
		d := &c.docs[i]
		if !kept(d) {
			continue
		}
		hit := slices.IndexFunc(hits, func(h Hit) bool { return h.Key == d.key })
		for _, w := range d.nameWords {
			if r, _ := utf8.DecodeRuneInString(w); len(w) < minPrefix || isStopWord(w) || unicode.IsDigit(r) {
				continue
			}
			r := ranks[w]
			if r.having++; hit >= 0 {
				r.hit = max(r.hit, len(hits)-hit)
			}
			if begin := first(w, commonPart); begin != "" && slices.ContainsFunc(q.words, func(word queryWord) bool { return begin == first(word.whole, commonPart) }) {
				r.like = 1
			}
			ranks[w] = r
		}
	}
	var all []string
	for w := range ranks {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b string) int {
		x, y := ranks[a], ranks[b]
		return cmp.Or(cmp.Compare(y.like, x.like), cmp.Compare(y.hit, x.hit), cmp.Compare(y.having, x.having), strings.Compare(a, b))
	})
	return all[:min(len(all), weakWords)]
}

// first returns the first n letters of a word, or "" for a shorter word.
func first(word string, n int) string {
	for i := range word {
		if n == 0 {
			return word[:i]
		}
		n--
	}
	if n > 0 {
		return ""
	}
	return word
}
