package rank

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/words"
)

// A nameTable lists the distinct words of the names of all documents.
type nameTable struct {
	words    []nameWord // sorted
	frequent []nameWord // the words that a weak result offers, the word of the most documents first
}

// A nameWord is a folded word of names, with the numbers of the documents.
type nameWord struct {
	word string
	docs []uint32
}

// nameTable returns the table of all names. A change of a name drops the table, and the
// next search that needs the table makes a new one.
func (c *corpus) nameTable() *nameTable {
	if t := c.names.Load(); t != nil {
		return t
	}
	docs := map[string][]uint32{}
	for number := range c.docs {
		for _, w := range c.docs[number].nameWords {
			docs[w] = append(docs[w], uint32(number))
		}
	}
	t := new(nameTable)
	for _, w := range slices.Sorted(maps.Keys(docs)) {
		t.words = append(t.words, nameWord{w, docs[w]})
	}
	for _, n := range t.words {
		if offered(n.word) {
			t.frequent = append(t.frequent, n)
		}
	}
	slices.SortStableFunc(t.frequent, func(a, b nameWord) int {
		return cmp.Compare(len(b.docs), len(a.docs))
	})
	c.names.Store(t)
	return t
}

// beginning returns the words that begin with a prefix.
func (t *nameTable) beginning(prefix string) []nameWord {
	i, _ := slices.BinarySearchFunc(t.words, prefix, func(n nameWord, prefix string) int {
		return strings.Compare(n.word, prefix)
	})
	all := t.words[i:]
	n := 0
	for n < len(all) && strings.HasPrefix(all[n].word, prefix) {
		n++
	}
	return all[:n]
}

// A result is weak if none of the first hits has weakShare of the words of the query, weighted by
// their rarity.
const (
	weakShare  = 1.0 / 3
	weakHits   = 10 // the first hits, which decide
	weakWords  = 8  // words that a weak result offers
	commonPart = 4  // first letters of a word of the query that is like a word of a name
)

// weak reports whether the hits of a search, the best first, hardly answer the query.
func (c *corpus) weak(clauses []clause, sum float64, hits []Hit) bool {
	if len(hits) > 0 && hits[0].Score >= matchedFloor+(namedFloor-matchedFloor)*weakShare {
		return false // the share is not above the weight of the words
	}
	for _, h := range hits {
		if h.Tier == Reported || h.Reason == meaningReason {
			return false // another search than by the words of the document
		}
		covered := 0.0
		for _, clause := range clauses {
			if slices.ContainsFunc(clause.terms, func(id uint32) bool {
				return c.terms[id].postings.of(c.byKey[h.Key]) > 0
			}) {
				covered += clause.weight
			}
		}
		if covered >= weakShare*sum {
			return false
		}
	}
	return true
}

// offer returns words of the names of kept documents for another query than a weak one: first words
// that begin like a word of the query, then words of the first hits, then frequent words. compared
// is the number of words that offer compares.
func (c *corpus) offer(
	q query, hits []Hit, kept func(*document) bool,
) (words []string, compared int) {
	type offer struct {
		word              string
		like, hit, having int
	}
	t := c.nameTable()
	hit := map[string]int{}
	for i, h := range hits {
		for _, w := range c.docs[c.byKey[h.Key]].nameWords {
			hit[w] = max(hit[w], len(hits)-i)
		}
	}
	all := map[string]offer{}
	add := func(n nameWord, like int) (having int) {
		compared++
		if before, ok := all[n.word]; ok {
			return before.having
		}
		for _, number := range n.docs {
			if kept(&c.docs[number]) {
				having++
			}
		}
		if having > 0 && offered(n.word) {
			all[n.word] = offer{n.word, like, hit[n.word], having}
		}
		return having
	}
	for _, w := range q.words {
		if begin := first(w.whole, commonPart); begin != "" {
			for _, n := range t.beginning(begin) {
				add(n, 1)
			}
		}
	}
	for w := range hit {
		add(t.beginning(w)[0], 0)
	}
	var most []int // the numbers of kept documents of the best words so far, descending
	for _, n := range t.frequent {
		if len(most) == weakWords && most[weakWords-1] >= len(n.docs) {
			break
		}
		most = append(most, add(n, 0))
		slices.SortFunc(most, func(a, b int) int { return cmp.Compare(b, a) })
		most = most[:min(len(most), weakWords)]
	}
	best := slices.SortedFunc(maps.Values(all), func(a, b offer) int {
		return cmp.Or(
			cmp.Compare(b.like, a.like), cmp.Compare(b.hit, a.hit),
			cmp.Compare(b.having, a.having), strings.Compare(a.word, b.word))
	})
	for _, o := range best[:min(len(best), weakWords)] {
		words = append(words, o.word)
	}
	return words, compared
}

// offered reports whether a weak result can offer a word.
func offered(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return len(word) >= minPrefix && !words.IsStop(word) && !unicode.IsDigit(r)
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
