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
	inOpening // the first words of the body, with the headings and the code among them
	inBody
	fields
)

// counts holds the occurrences of a word in each field. The body has the lowest bits, so that the
// counts of most words fit in a byte. BM25 saturates long before the maximum of a field. The
// opening only has the presence of a word.
type counts uint32

const (
	bodyBits  = 5
	otherBits = 6 // of each field before the opening
)

func (f field) shift() int {
	switch f {
	case inBody:
		return 0
	case inOpening:
		return bodyBits
	}
	return bodyBits + 1 + otherBits*int(inHeadings-f)
}

func (f field) max() int {
	switch f {
	case inBody:
		return 1<<bodyBits - 1
	case inOpening:
		return 1
	}
	return 1<<otherBits - 1
}

// ones and fulls hold one occurrence in a field, and the most occurrences.
var ones, fulls = func() (ones, fulls [fields]counts) {
	for f := range fields {
		ones[f], fulls[f] = 1<<f.shift(), counts(f.max())<<f.shift()
	}
	return ones, fulls
}()

func (c counts) of(f field) int { return int(c) >> f.shift() & f.max() }

func (c counts) plusOne(f field) counts {
	if c&fulls[f] == fulls[f] {
		return c
	}
	return c + ones[f]
}

// A posting records the occurrences of a term in a document.
type posting struct {
	doc    uint32
	counts counts
}

// postings holds the postings of a term, sorted by document.
type postings []posting

// find returns the position of the posting of a document.
func (all postings) find(doc uint32) (at int, there bool) {
	if n := len(all); n == 0 || all[n-1].doc < doc {
		return n, false
	}
	return slices.BinarySearchFunc(all, doc, func(p posting, doc uint32) int {
		return cmp.Compare(p.doc, doc)
	})
}

// of returns the counts of a document, or 0 if the document has no posting.
func (all postings) of(doc uint32) counts {
	if at, there := all.find(doc); there {
		return all[at].counts
	}
	return 0
}

// put adds or replaces the posting of a document.
func (all *postings) put(one posting) {
	if at, there := all.find(one.doc); there {
		(*all)[at] = one
	} else {
		*all = slices.Insert(*all, at, one)
	}
}

// merge adds postings of other documents. merge sorts more.
func (all *postings) merge(more postings) {
	slices.SortFunc(more, func(a, b posting) int { return cmp.Compare(a.doc, b.doc) })
	i, j := len(*all)-1, len(more)-1
	*all = append(*all, more...)
	for at := len(*all) - 1; i >= 0 && j >= 0; at-- {
		if (*all)[i].doc > more[j].doc {
			(*all)[at] = (*all)[i]
			i--
		} else {
			(*all)[at] = more[j]
			j--
		}
	}
	copy(*all, more[:j+1])
}

// remove removes the posting of a document, if present.
func (all *postings) remove(doc uint32) {
	if at, there := all.find(doc); there {
		*all = slices.Delete(*all, at, at+1)
	}
}
