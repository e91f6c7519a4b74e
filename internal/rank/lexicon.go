package rank

import (
	"hash/maphash"
	"math/rand/v2"
)

// A lexicon maps words as written to terms. An Analyzer splits, folds and stems each
// distinct word once: a text has few distinct words, and texts share most of them.
type lexicon struct {
	slots []lexeme // a hash table with linear probing; the length is a power of two
	len   int      // lexemes in slots
	long  []byte   // the words of more than shortWord bytes, one after the other
	terms []uint32 // the records of the words whose lexeme has no room for the terms

	stems  []string // by term
	byStem map[string]uint32
}

// A lexeme is a word as written. A short word with one term needs no memory beside the
// lexeme. The terms of any other word are a record in lexicon.terms. The record of a
// long word begins with the position of the word in lexicon.long.
type lexeme struct {
	key    uint64    // the bytes of a short word, or the hash of a long word
	term   [1]uint32 // the term of a short word with one term, or the position of the record
	length uint8     // 0 for an empty slot
	terms  uint8     // number of terms: one for the whole word and one for each part
}

// shortWord is the number of bytes of a word that a key holds. Most words are short.
const shortWord = 8

// maxLexemes bounds the memory of a lexicon to about 20 MB.
const maxLexemes = 1 << 18

// The hash depends on random numbers, so that no file can make the words collide.
var (
	wordSeed   = maphash.MakeSeed()
	wordFactor = rand.Uint64() | 1
)

// key returns the key of a word. The argument last holds the last bytes of the word.
func (l *lexicon) key(typed string, last uint64) uint64 {
	if len(typed) <= shortWord {
		return last
	}
	return maphash.String(wordSeed, typed)
}

// lastBytes returns the last bytes of a word as a number.
func lastBytes(typed string) (last uint64) {
	for i := range len(typed) {
		last = last<<8 | uint64(typed[i])
	}
	return last
}

// find returns the terms of a word, valid until the next call. The argument last is
// lastBytes(typed). The terms of a new word are those that split returns.
func (l *lexicon) find(typed string, last uint64, split func() []uint32) []uint32 {
	if 4*l.len >= 3*len(l.slots) {
		l.grow()
	}
	key := l.key(typed, last)
	w := l.slot(key, typed)
	if w.length == 0 {
		*w = l.lexeme(key, typed, split())
		l.len++
	}
	switch {
	case w.length > shortWord:
		return l.terms[w.term[0]+1:][:w.terms]
	case w.terms == 1:
		return w.term[:]
	default:
		return l.terms[w.term[0]:][:w.terms]
	}
}

// slot returns the slot of a word, or the empty slot for the word.
func (l *lexicon) slot(key uint64, typed string) *lexeme {
	mask := len(l.slots) - 1
	for i := int(key*wordFactor>>32) & mask; ; i = (i + 1) & mask {
		w := &l.slots[i]
		if w.length == 0 || w.key == key && int(w.length) == len(typed) && (len(typed) <= shortWord || l.longWord(w) == typed) {
			return w
		}
	}
}

func (l *lexicon) longWord(w *lexeme) string {
	return string(l.long[l.terms[w.term[0]]:][:w.length])
}

func (l *lexicon) lexeme(key uint64, typed string, terms []uint32) lexeme {
	w := lexeme{key: key, length: uint8(len(typed)), terms: uint8(len(terms))}
	switch {
	case len(typed) > shortWord:
		w.term[0] = uint32(len(l.terms))
		l.terms = append(append(l.terms, uint32(len(l.long))), terms...)
		l.long = append(l.long, typed...)
	case len(terms) == 1:
		w.term[0] = terms[0]
	default:
		w.term[0] = uint32(len(l.terms))
		l.terms = append(l.terms, terms...)
	}
	return w
}

func (l *lexicon) grow() {
	before := l.slots
	l.slots = make([]lexeme, max(256, 2*len(before)))
	mask := len(l.slots) - 1
	for _, w := range before {
		if w.length == 0 {
			continue
		}
		i := int(w.key*wordFactor>>32) & mask
		for l.slots[i].length != 0 {
			i = (i + 1) & mask
		}
		l.slots[i] = w
	}
}

// termOf returns the term of a stem.
func (l *lexicon) termOf(stem []byte) uint32 {
	if id, ok := l.byStem[string(stem)]; ok {
		return id
	}
	if l.byStem == nil {
		l.byStem = map[string]uint32{}
	}
	id := uint32(len(l.stems))
	l.stems = append(l.stems, string(stem))
	l.byStem[l.stems[id]] = id
	return id
}
