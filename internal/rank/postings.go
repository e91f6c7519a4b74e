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
	inOpening // the first words of the body, with the headings and the code among them
	inBody
	fields
)

// counts holds the occurrences of a word in each field. The body has the lowest bits, so that the counts of most words
// fit in a byte. BM25 saturates long before the maximum of a field. The opening only has the presence of a word.
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

func (c counts) of(f field) int { return int(c) >> f.shift() & f.max() }

func (c counts) plusOne(f field) counts {
	if c.of(f) == f.max() {
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
	var room [fullBlock]posting
	for i := range p.blocks {
		for _, one := range p.blocks[i].decode(room[:0]) {
			if !yield(one) {
				return
			}
		}
	}
}

// decode appends the postings of a block to all.
func (b *block) decode(all []posting) []posting {
	doc := b.first
	for data := b.data; ; {
		c := uint32(data[0]) // most counts and differences have one byte
		if data = data[1:]; c >= 0x80 {
			c, data = longUvarint(c, data)
		}
		all = append(all, posting{doc, counts(c)})
		if len(data) == 0 {
			return all
		}
		next := uint32(data[0])
		if data = data[1:]; next >= 0x80 {
			next, data = longUvarint(next, data)
		}
		doc += next
	}
}

// longUvarint returns the varint with the given first byte, and the data after the
// varint.
func longUvarint(first uint32, data []byte) (uint32, []byte) {
	rest, n := binary.Uvarint(data)
	return first&0x7F | uint32(rest)<<7, data[n:]
}

// put adds or replaces the posting of a document.
func (p *postings) put(one posting) {
	n := len(p.blocks)
	switch {
	case n > 0 && one.doc <= p.blocks[n-1].last:
		p.change(one)
		return
	case n > 0 && len(p.blocks[n-1].data) < fullBlock:
		p.blocks[n-1].append(one)
	default:
		if n > 0 {
			p.blocks[n-1].data = slices.Clone(p.blocks[n-1].data) // without spare capacity
		}
		p.blocks = append(p.blocks, newBlock(nil, one))
	}
	p.len++
}

// remove removes the posting of a document, if present.
func (p *postings) remove(doc uint32) { p.change(posting{doc: doc}) }

// change adds, replaces or, without counts, removes the posting of a document before the
// last document.
func (p *postings) change(one posting) {
	at := p.block(one.doc)
	var room [fullBlock]posting // a posting has at least two bytes
	all := p.blocks[at].decode(room[:0])
	i, there := slices.BinarySearchFunc(all, one.doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
	switch {
	case there && one.counts == 0:
		all = slices.Delete(all, i, i+1)
		p.len--
	case there:
		all[i] = one
	case one.counts == 0:
		return
	default:
		all = slices.Insert(all, i, one)
		p.len++
	}
	if len(all) == 0 {
		p.blocks = slices.Delete(p.blocks, at, at+1)
		return
	}
	size := len(p.blocks[at].data) + 2*binary.MaxVarintLen32
	p.blocks[at] = newBlock(make([]byte, 0, size), all...)
	if half := len(all) / 2; len(p.blocks[at].data) > 2*fullBlock {
		p.blocks[at] = newBlock(nil, all[:half]...)
		p.blocks = slices.Insert(p.blocks, at+1, newBlock(nil, all[half:]...))
	}
}

// newBlock returns the block of some postings. The block is appended to data.
func newBlock(data []byte, all ...posting) block {
	b := block{first: all[0].doc, last: all[0].doc}
	b.data = binary.AppendUvarint(data, uint64(all[0].counts))
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
	var room [fullBlock]posting
	for _, one := range p.blocks[p.block(doc)].decode(room[:0]) {
		if one.doc == doc {
			return one.counts
		}
	}
	return 0
}
