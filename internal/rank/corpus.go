package rank

import (
	"slices"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// A term is a stem with the documents that contain the stem.
type term struct {
	stem     string
	postings postings
}

// A document is the indexed form of a Document.
type document struct {
	key         string // "" for an unused number
	name        string
	description string
	nameWords   []string // distinct words and word parts of the name, folded
	titles      []uint32 // 1 + each term of the name and the headings without stop words, 0 after each
	terms       []uint32 // lets remove and put touch only the postings of this document
	flushes     uint32   // corpus.flushes at the time of the put
}

// lengths holds the length of each field of a document in words. A search reads the
// lengths of all documents with a word, and no more of most of them.
type lengths [fields]uint32

// A corpus is an inverted index. It reuses the numbers of removed documents and
// terms.
type corpus struct {
	docs      []document
	docSizes  []lengths      // by document
	vectors   []*vector.Cell // by document: the meaning, or nil
	byKey     map[string]uint32
	freeDocs  []uint32
	terms     []term
	byStem    map[string]uint32
	freeTerms []uint32
	spare     postings      // memory for the first postings of new terms
	removed   uint64        // number of removals of a term
	total     [fields]int64 // lengths of all documents
	found     []uint32      // the terms of the document being added
	had       []bool        // by term: the replaced document has the term; all false between puts

	pending []pendingPosting // new postings, not yet in terms; see flush
	flushes uint32           // number of flushes

	names atomic.Pointer[nameTable] // nil after a change of a name
}

// A pendingPosting is a posting with its term.
type pendingPosting struct {
	term uint32
	posting
}

// maxPending bounds the pending postings to 3 MB. A put flushes more of them.
const maxPending = 1 << 18

func (c *corpus) len() int { return len(c.byKey) }

// put adds the last document of an Analyzer, or replaces the document with the same key. A
// replacement touches only the postings that differ. New postings are pending until the next flush.
func (c *corpus) put(key string, a *Analyzer) {
	if c.byKey == nil {
		c.byKey, c.byStem = map[string]uint32{}, map[string]uint32{}
	}
	number, changed := c.byKey[key]
	switch n := len(c.freeDocs); {
	case changed:
		if c.docs[number].flushes == c.flushes {
			c.flush()
		}
		c.addLengths(number, -1)
	case n > 0:
		number, c.freeDocs = c.freeDocs[n-1], c.freeDocs[:n-1]
	default:
		number = uint32(len(c.docs))
		c.docs, c.vectors = append(c.docs, document{}), append(c.vectors, nil)
		c.docSizes = append(c.docSizes, lengths{})
	}
	if a.idsOf != c || a.idsAt != c.removed {
		clear(a.ids)
		a.idsOf, a.idsAt = c, c.removed
	}
	before, doc := &c.docs[number], a.doc
	for _, id := range before.terms {
		c.had[id] = true
	}
	c.found = c.found[:0]
	for _, t := range a.found {
		id := c.term(a, t)
		if one := (posting{number, a.counts[t]}); c.had[id] {
			c.terms[id].postings.put(one)
			c.had[id] = false
		} else {
			c.pending = append(c.pending, pendingPosting{id, one})
		}
		c.found = append(c.found, id)
	}
	for _, id := range before.terms {
		if c.had[id] {
			c.removePosting(id, number)
			c.had[id] = false
		}
	}
	terms := len(c.found)
	for rest := a.titles; len(rest) > 0; {
		end := slices.Index(rest, 0)
		title := rest[:end]
		if slices.ContainsFunc(title, func(t uint32) bool { return t != title[0] }) {
			for _, t := range title {
				c.found = append(c.found, 1+c.term(a, t-1))
			}
			c.found = append(c.found, 0)
		}
		rest = rest[end+1:]
	}
	numbers := slices.Clone(c.found)
	doc.flushes = c.flushes
	doc.key, doc.terms, doc.titles = key, numbers[:terms:terms], numbers[terms:]
	if !slices.Equal(doc.nameWords, before.nameWords) {
		c.names.Store(nil)
	}
	c.docs[number], c.docSizes[number], c.vectors[number] = doc, a.lengths, a.vector
	c.byKey[key] = number
	c.addLengths(number, 1)
	if len(c.pending) > maxPending {
		c.flush()
	}
}

// flush adds the pending postings to their terms. Many postings are first sorted by term, because
// the postings of a term are in one place of the memory.
func (c *corpus) flush() {
	c.flushes++
	if len(c.pending) < len(c.terms) {
		for _, p := range c.pending {
			c.terms[p.term].postings.put(p.posting)
		}
		c.pending = c.pending[:0]
		return
	}
	ends := make([]uint32, len(c.terms)+1) // by term; the end of the previous term at first
	for _, p := range c.pending {
		ends[p.term+1]++
	}
	for i := range c.terms {
		ends[i+1] += ends[i]
	}
	sorted := make(postings, len(c.pending))
	for _, p := range c.pending {
		sorted[ends[p.term]] = p.posting
		ends[p.term]++
	}
	begin := uint32(0)
	for i := range c.terms {
		c.terms[i].postings.merge(sorted[begin:ends[i]])
		begin = ends[i]
	}
	c.pending = c.pending[:0]
}

// term returns the number of an Analyzer's term.
func (c *corpus) term(a *Analyzer, t uint32) uint32 {
	if known := a.ids[t]; known > 0 {
		return known - 1
	}
	stem := a.lexicon.stems[t]
	id, known := c.byStem[stem]
	if !known {
		id = c.newTerm(stem)
	}
	a.ids[t] = id + 1
	return id
}

func (c *corpus) newTerm(stem string) uint32 {
	id := uint32(len(c.terms))
	if n := len(c.freeTerms); n > 0 {
		id, c.freeTerms = c.freeTerms[n-1], c.freeTerms[:n-1]
		c.terms[id].stem = stem
	} else {
		c.terms, c.had = append(c.terms, term{stem: stem}), append(c.had, false)
	}
	if len(c.spare) == 0 {
		c.spare = make(postings, 1<<10)
	}
	c.terms[id].postings, c.spare = c.spare[:0:2], c.spare[2:]
	c.byStem[stem] = id
	return id
}

func (c *corpus) remove(key string) {
	number, ok := c.byKey[key]
	if !ok {
		return
	}
	c.flush()
	for _, id := range c.docs[number].terms {
		c.removePosting(id, number)
	}
	c.addLengths(number, -1)
	c.docs[number], c.vectors[number] = document{}, nil
	c.names.Store(nil)
	c.freeDocs = append(c.freeDocs, number)
	delete(c.byKey, key)
}

// removePosting also removes the term if no document contains the term any more.
func (c *corpus) removePosting(id, doc uint32) {
	t := &c.terms[id]
	if t.postings.remove(doc); len(t.postings) == 0 && len(c.pending) > 0 {
		c.flush() // another document can have the term
	}
	if len(t.postings) == 0 {
		delete(c.byStem, t.stem)
		*t = term{}
		c.freeTerms = append(c.freeTerms, id)
		c.removed++
	}
}

func (c *corpus) addLengths(doc uint32, sign int64) {
	for f, n := range c.docSizes[doc] {
		c.total[f] += sign * int64(n)
	}
}
