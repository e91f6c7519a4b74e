package rank

import (
	"math/bits"
	"math/rand/v2"
	"strings"
)

// A lexicon maps words as written to terms. An Analyzer splits, folds and stems each
// distinct word once: a text has few distinct words, and texts share most of them.
type lexicon struct {
	slots []lexeme            // short words, a hash table with linear probing; a power of two
	len   int                 // lexemes in slots
	long  map[string]termList // all other words
	lists []uint32            // the terms of the words that do not have exactly one term

	stems  []string // by term
	byStem map[string]uint32
}

// A lexeme is a short word with its terms.
type lexeme struct {
	shortWord // the zero shortWord for an empty slot
	terms     termList
}

// A shortWord holds the bytes of an ASCII word of at most maxShort bytes, followed by
// zeros. Most words are short.
type shortWord struct{ low, high uint64 }

const maxShort = 16

// A termList locates the terms of a word in a lexicon: one term for the whole word, and
// one term for each part. A list of one term holds the term itself.
type termList struct {
	first uint32 // the only term, or the position in lexicon.lists
	len   uint8
	stop  bool // the word is a stop word; other words can have its stem
}

// maxLexemes bounds the memory of a lexicon to about 30 MB.
const maxLexemes = 1 << 18

// The hash depends on random numbers, so that no file can make the words collide.
var wordSeed = shortWord{rand.Uint64(), rand.Uint64()}

func (w shortWord) hash() int {
	high, low := bits.Mul64(w.low^wordSeed.low, w.high^wordSeed.high)
	return int(high ^ low)
}

// slot returns the slot of a word, or the empty slot for the word.
func (l *lexicon) slot(w shortWord) *lexeme {
	mask := len(l.slots) - 1
	for i := w.hash() & mask; ; i = (i + 1) & mask {
		if s := &l.slots[i]; s.shortWord == w || s.shortWord == (shortWord{}) {
			return s
		}
	}
}

// add adds a short word. Pointers to slots become invalid.
func (l *lexicon) add(w shortWord, terms []uint32, stop bool) termList {
	if 4*l.len >= 3*len(l.slots) {
		l.grow()
	}
	l.len++
	s := l.slot(w)
	*s = lexeme{w, l.list(terms, stop)}
	return s.terms
}

func (l *lexicon) addLong(typed string, terms []uint32, stop bool) termList {
	if l.long == nil {
		l.long = map[string]termList{}
	}
	list := l.list(terms, stop)
	l.long[strings.Clone(typed)] = list
	return list
}

func (l *lexicon) list(terms []uint32, stop bool) termList {
	list := termList{uint32(len(l.lists)), uint8(len(terms)), stop}
	if len(terms) == 1 {
		list.first = terms[0]
	} else {
		l.lists = append(l.lists, terms...)
	}
	return list
}

func (l *lexicon) grow() {
	before := l.slots
	l.slots = make([]lexeme, max(256, 2*len(before)))
	for _, s := range before {
		if s.shortWord != (shortWord{}) {
			*l.slot(s.shortWord) = s
		}
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
