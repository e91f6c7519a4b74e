package rank

import (
	"cmp"
	"slices"
)

// A field is a part of a document with its own weight.
type field int

const (
	inName field = iota
	inDescription
	inTags
	inHeadings
	inBody
	fields
)

// counts holds the occurrences of a word in each field, six bits per field.
// BM25 saturates long before 63.
type counts uint32

const (
	countBits = 6
	maxCount  = 1<<countBits - 1
)

func (c counts) of(f field) int { return int(c >> (countBits * f) & maxCount) }

func (c counts) plusOne(f field) counts {
	if c.of(f) == maxCount {
		return c
	}
	return c + 1<<(countBits*f)
}

// A posting records the occurrences of a term in a document.
type posting struct {
	doc    uint32
	counts counts
}

// A term is a stem with the documents that contain the stem, sorted by number.
type term struct {
	stem     string
	postings []posting
}

// A document is the indexed form of a Document.
type document struct {
	key         string // "" for an unused number
	name        string
	description string
	nameWords   []string       // distinct words of the name, folded
	terms       []occurrence   // lets remove and put touch only the postings of this document
	lengths     [fields]uint32 // in words
}

// An occurrence is the document's side of a posting.
type occurrence struct {
	term   uint32
	counts counts
}

// A corpus is an inverted index. It reuses the numbers of removed documents and
// terms.
type corpus struct {
	docs      []document
	byKey     map[string]uint32
	freeDocs  []uint32
	terms     []term
	byStem    map[string]uint32
	freeTerms []uint32
	lengths   [fields]int64 // totals over all documents

	splitter splitter
	found    map[uint32]counts // terms of the document being added
	stem     []byte
}

func (c *corpus) len() int { return len(c.byKey) }

// put adds a document or replaces the document with the same key. A replacement
// touches only the postings that differ.
func (c *corpus) put(key string, d Document) {
	if c.byKey == nil {
		c.byKey, c.byStem, c.found = map[string]uint32{}, map[string]uint32{}, map[uint32]counts{}
	}
	doc := c.analyze(d)
	doc.key = key
	doc.terms = make([]occurrence, 0, len(c.found))
	number, changed := c.byKey[key]
	switch n := len(c.freeDocs); {
	case changed:
		for _, before := range c.docs[number].terms {
			switch now, still := c.found[before.term]; {
			case !still:
				c.removePosting(before.term, number)
			case now == before.counts:
				doc.terms = append(doc.terms, before)
				delete(c.found, before.term)
			}
		}
		c.addLengths(number, -1)
	case n > 0:
		number, c.freeDocs = c.freeDocs[n-1], c.freeDocs[:n-1]
	default:
		number = uint32(len(c.docs))
		c.docs = append(c.docs, document{})
	}
	for id, counts := range c.found {
		doc.terms = append(doc.terms, occurrence{id, counts})
		c.terms[id].put(posting{number, counts})
	}
	c.docs[number] = doc
	c.byKey[key] = number
	c.addLengths(number, 1)
}

// analyze collects the words of a document in c.found.
func (c *corpus) analyze(d Document) document {
	doc := document{name: d.Name, description: d.Description, nameWords: nameWords(&c.splitter, d.Name)}
	clear(c.found)
	add := func(f field, text string) {
		c.splitter.split(text, func(_ string, folded []byte, part bool) {
			if !part {
				doc.lengths[f]++
			}
			c.count(f, folded)
		})
	}
	c.splitter.any = true
	add(inName, bounded(d.Name))
	c.splitter.any = false
	add(inDescription, bounded(d.Description))
	add(inTags, bounded(d.Tags))
	sections(bounded(d.Body), func(line string, heading bool) {
		if heading {
			add(inHeadings, line)
		} else {
			add(inBody, line)
		}
	})
	return doc
}

// bounded returns the part of a text that is indexed.
func bounded(text string) string { return text[:min(len(text), MaxText)] }

// count records one occurrence of a word in the document being added.
func (c *corpus) count(f field, folded []byte) {
	c.stem = stem(append(c.stem[:0], folded...))
	id, known := c.byStem[string(c.stem)]
	if counts, ok := c.found[id]; known && ok {
		c.found[id] = counts.plusOne(f)
		return
	}
	if len(c.found) == maxTerms {
		return
	}
	if !known {
		id = c.newTerm(string(c.stem))
	}
	c.found[id] = counts(0).plusOne(f)
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
	for _, o := range c.docs[number].terms {
		c.removePosting(o.term, number)
	}
	c.addLengths(number, -1)
	c.docs[number] = document{}
	c.freeDocs = append(c.freeDocs, number)
	delete(c.byKey, key)
}

// removePosting also removes the term if no document contains the term any more.
func (c *corpus) removePosting(id, doc uint32) {
	t := &c.terms[id]
	i, _ := t.find(doc)
	if t.postings = slices.Delete(t.postings, i, i+1); len(t.postings) == 0 {
		delete(c.byStem, t.stem)
		*t = term{}
		c.freeTerms = append(c.freeTerms, id)
	}
}

func (c *corpus) addLengths(doc uint32, sign int64) {
	for f, n := range c.docs[doc].lengths {
		c.lengths[f] += sign * int64(n)
	}
}

// put adds or replaces the posting of a document.
func (t *term) put(p posting) {
	n := len(t.postings)
	if n == 0 || t.postings[n-1].doc < p.doc {
		t.postings = append(t.postings, p)
		return
	}
	i, there := t.find(p.doc)
	if there {
		t.postings[i] = p
	} else {
		t.postings = slices.Insert(t.postings, i, p)
	}
}

// find returns the position of a document's posting, or its insertion point.
func (t *term) find(doc uint32) (i int, there bool) {
	return slices.BinarySearchFunc(t.postings, doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
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
