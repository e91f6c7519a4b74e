package rank

import (
	"cmp"
	"encoding/binary"
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

// counts holds the occurrences of a word in each field, six bits per field. The body
// has the lowest bits, so that the counts of most words fit in a byte. BM25 saturates
// long before 63.
type counts uint32

const (
	countBits = 6
	maxCount  = 1<<countBits - 1
)

func (f field) shift() int { return countBits * int(inBody-f) }

func (c counts) of(f field) int { return int(c >> f.shift() & maxCount) }

func (c counts) plusOne(f field) counts {
	if c.of(f) == maxCount {
		return c
	}
	return c + 1<<f.shift()
}

// A posting records the occurrences of a term in a document.
type posting struct {
	doc    uint32
	counts counts
}

// postings holds the postings of a term, sorted by document, in blocks. A change of a
// posting encodes one block again.
type postings struct {
	len    uint32
	blocks []block
}

// A block encodes consecutive postings: the counts of the document first, and then for
// each further document the difference to the previous document and the counts. All
// numbers are varints. A block is not empty.
type block struct {
	first, last uint32 // documents
	data        []byte
}

// A new posting at the end begins a new block after fullBlock bytes. An insertion
// divides a block of more than 2*fullBlock bytes.
const fullBlock = 256

// all ranges over the postings.
func (p *postings) all(yield func(posting) bool) {
	for i := range p.blocks {
		for one := range p.blocks[i].all {
			if !yield(one) {
				return
			}
		}
	}
}

func (b *block) all(yield func(posting) bool) {
	doc := b.first
	for data := b.data; ; {
		c, n := uvarint(data)
		if !yield(posting{doc, counts(c)}) {
			return
		}
		if data = data[n:]; len(data) == 0 {
			return
		}
		next, n := uvarint(data)
		doc, data = doc+next, data[n:]
	}
}

// uvarint is binary.Uvarint for a number that is present. One byte is the usual length.
func uvarint(data []byte) (uint32, int) {
	if x := data[0]; x < 0x80 {
		return uint32(x), 1
	}
	x, n := binary.Uvarint(data)
	return uint32(x), n
}

// put adds or replaces the posting of a document.
func (p *postings) put(one posting) {
	n := len(p.blocks)
	if n > 0 && p.blocks[n-1].last >= one.doc {
		p.change(one.doc, func(all []posting, i int, there bool) []posting {
			if there {
				all[i] = one
				return all
			}
			return slices.Insert(all, i, one)
		})
		return
	}
	p.len++
	if n > 0 && len(p.blocks[n-1].data) < fullBlock {
		p.blocks[n-1].append(one)
		return
	}
	if n > 0 {
		p.blocks[n-1].data = slices.Clone(p.blocks[n-1].data) // without spare capacity
	}
	p.blocks = append(p.blocks, newBlock(one))
}

// newBlock returns the block of some postings.
func newBlock(all ...posting) block {
	b := block{first: all[0].doc, last: all[0].doc}
	b.data = binary.AppendUvarint(nil, uint64(all[0].counts))
	for _, one := range all[1:] {
		b.append(one)
	}
	return b
}

func (b *block) append(one posting) {
	b.data = binary.AppendUvarint(b.data, uint64(one.doc-b.last))
	b.data = binary.AppendUvarint(b.data, uint64(one.counts))
	b.last = one.doc
}

// remove removes the posting of a document.
func (p *postings) remove(doc uint32) {
	p.change(doc, func(all []posting, i int, there bool) []posting {
		if there {
			return slices.Delete(all, i, i+1)
		}
		return all
	})
}

// change replaces the postings of the block of a document. The function edit receives
// the postings and the position of the document.
func (p *postings) change(doc uint32, edit func(all []posting, i int, there bool) []posting) {
	at := p.block(doc)
	var before []posting
	for one := range p.blocks[at].all {
		before = append(before, one)
	}
	i, there := slices.BinarySearchFunc(before, doc, func(one posting, doc uint32) int { return cmp.Compare(one.doc, doc) })
	n := len(before)
	after := edit(before, i, there)
	p.len += uint32(len(after) - n)
	if len(after) == 0 {
		p.blocks = slices.Delete(p.blocks, at, at+1)
		return
	}
	p.blocks[at] = newBlock(after...)
	if half := len(after) / 2; len(p.blocks[at].data) > 2*fullBlock {
		p.blocks[at] = newBlock(after[:half]...)
		p.blocks = slices.Insert(p.blocks, at+1, newBlock(after[half:]...))
	}
}

// block returns the position of the block that a document belongs to.
func (p *postings) block(doc uint32) int {
	i, there := slices.BinarySearchFunc(p.blocks, doc, func(b block, doc uint32) int { return cmp.Compare(b.first, doc) })
	if there {
		return i
	}
	return max(0, i-1)
}

// of returns the counts of a document, or 0 if the document has no posting.
func (p *postings) of(doc uint32) counts {
	if len(p.blocks) == 0 {
		return 0
	}
	for one := range p.blocks[p.block(doc)].all {
		if one.doc == doc {
			return one.counts
		}
	}
	return 0
}
