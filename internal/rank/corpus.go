package rank

import (
	"encoding/binary"
	"slices"
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
	nameWords   []string    // distinct words of the name, folded
	titles      titles      // of the name and the headings, without stop words
	terms       occurrences // lets remove and put touch only the postings of this document
}

// lengths holds the length of each field of a document in words. A search reads the
// lengths of all documents with a word, and no more of most of them.
type lengths [fields]uint32

// occurrences holds the document's side of its postings: the number of the term and the
// counts of each posting, as varints.
type occurrences []byte

func (o occurrences) with(term uint32, c counts) occurrences {
	o = binary.AppendUvarint(o, uint64(term))
	return binary.AppendUvarint(o, uint64(c))
}

func (o occurrences) all(yield func(term uint32, c counts) bool) {
	for len(o) > 0 {
		term, n := binary.Uvarint(o)
		c, m := binary.Uvarint(o[n:])
		if o = o[n+m:]; !yield(uint32(term), counts(c)) {
			return
		}
	}
}

// A title is the name or a heading of a document. titles holds the titles of at least two different words: 1 + each term, and 0
// after each title, as varints.
type titles []byte

// with adds a title. Each term has a number in the corpus.
func (all titles) with(terms []uint32, number func(term uint32) uint32) titles {
	if !slices.ContainsFunc(terms, func(t uint32) bool { return t != terms[0] }) {
		return all
	}
	for _, t := range terms {
		all = binary.AppendUvarint(all, 1+uint64(number(t)))
	}
	return append(all, 0)
}

// A corpus is an inverted index. It reuses the numbers of removed documents and
// terms.
type corpus struct {
	docs      []document
	docSizes  []lengths // by document
	vectors   []*Vector // by document: the meaning, or nil
	byKey     map[string]uint32
	freeDocs  []uint32
	terms     []term
	byStem    map[string]uint32
	freeTerms []uint32
	removed   uint64        // number of removals of a term
	total     [fields]int64 // lengths of all documents

	encoded occurrences      // the terms of the document being added
	pending []pendingPosting // of new documents, not yet in terms; see flush
}

// A pendingPosting is a posting with its term.
type pendingPosting struct {
	term    uint32
	posting posting
}

// maxPending bounds the pending postings to 3 MB. A full corpus.pending is flushed.
const maxPending = 1 << 18

func (c *corpus) len() int { return len(c.byKey) }

// put adds the last document of an Analyzer, or replaces the document with the same
// key. The postings of a new document are pending until the next flush. A replacement
// touches only the postings that differ.
func (c *corpus) put(key string, a *Analyzer) {
	if c.byKey == nil {
		c.byKey, c.byStem = map[string]uint32{}, map[string]uint32{}
	}
	var before map[uint32]counts // of the replaced document
	number, changed := c.byKey[key]
	switch n := len(c.freeDocs); {
	case changed:
		c.flush()
		before = map[uint32]counts{}
		for id, counts := range c.docs[number].terms.all {
			before[id] = counts
		}
		c.addLengths(number, -1)
	case n > 0:
		number, c.freeDocs = c.freeDocs[n-1], c.freeDocs[:n-1]
	default:
		number = uint32(len(c.docs))
		c.docs, c.docSizes, c.vectors = append(c.docs, document{}), append(c.docSizes, lengths{}), append(c.vectors, nil)
	}
	if a.idsOf != c || a.idsAt != c.removed {
		clear(a.ids)
		a.idsOf, a.idsAt = c, c.removed
	}
	c.encoded = c.encoded[:0]
	for _, t := range a.found {
		id, now := c.term(a, t), a.counts[t]
		c.encoded = c.encoded.with(id, now)
		if !changed {
			c.pending = append(c.pending, pendingPosting{id, posting{number, now}})
			continue
		}
		if was, again := before[id]; !again || was != now {
			c.terms[id].postings.put(posting{number, now})
		}
		delete(before, id)
	}
	for id := range before {
		c.removePosting(id, number)
	}
	terms := len(c.encoded)
	for rest := a.titles; len(rest) > 0; {
		end := slices.Index(rest, 0)
		c.encoded = occurrences(titles(c.encoded).with(rest[:end], func(t uint32) uint32 { return c.term(a, t-1) }))
		rest = rest[end+1:]
	}
	encoded := slices.Clone(c.encoded)
	doc := a.doc
	doc.key, doc.terms, doc.titles = key, encoded[:terms:terms], titles(encoded[terms:])
	c.docs[number], c.docSizes[number], c.vectors[number] = doc, a.lengths, a.vector
	c.byKey[key] = number
	c.addLengths(number, 1)
	if len(c.pending) > maxPending {
		c.flush()
	}
}

// flush adds the pending postings to their terms. Many postings are first sorted by
// term: the postings of one term change the same memory.
func (c *corpus) flush() {
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
	sorted := make([]posting, len(c.pending))
	for _, p := range c.pending {
		sorted[ends[p.term]] = p.posting
		ends[p.term]++
	}
	begin := uint32(0)
	for i := range c.terms {
		for _, p := range sorted[begin:ends[i]] {
			c.terms[i].postings.put(p)
		}
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
		c.terms = append(c.terms, term{stem: stem})
	}
	c.byStem[stem] = id
	return id
}

func (c *corpus) remove(key string) {
	number, ok := c.byKey[key]
	if !ok {
		return
	}
	c.flush()
	for id := range c.docs[number].terms.all {
		c.removePosting(id, number)
	}
	c.addLengths(number, -1)
	c.docs[number], c.vectors[number] = document{}, nil
	c.freeDocs = append(c.freeDocs, number)
	delete(c.byKey, key)
}

// removePosting also removes the term if no document contains the term any more.
func (c *corpus) removePosting(id, doc uint32) {
	t := &c.terms[id]
	if t.postings.remove(doc); t.postings.len == 0 {
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
