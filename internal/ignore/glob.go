package ignore

import (
	"math/bits"
	"strings"
)

// A token matches a single byte, or any number of bytes, of a path.
type token struct {
	kind kind
	char byte     // of literal
	set  *byteSet // of class
}

type kind uint8

const (
	literal kind = iota // the byte char
	class               // a byte in set
	star                // any number of bytes except "/"
	deep                // any number of bytes
	shallow             // matches nothing; the deep and the "/" after shallow are optional
)

// compile reads a pattern with the rules of git's function wildmatch. If the
// pattern matches nothing, compile returns false.
func compile(pattern string) (tokens []token, ok bool) {
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '\\':
			if i++; i == len(pattern) {
				return nil, false
			}
			tokens = append(tokens, token{kind: literal, char: pattern[i]})
			i++
		case '?':
			tokens = append(tokens, token{kind: class, set: &notSlash})
			i++
		case '[':
			set, length := parseClass(pattern[i:])
			if length == 0 {
				return nil, false
			}
			tokens = append(tokens, token{kind: class, set: set})
			i += length
		case '*':
			begin := i
			for i < len(pattern) && pattern[i] == '*' {
				i++
			}
			rest := pattern[i:]
			slash := strings.HasPrefix(rest, "/")
			deepAlone := i-begin >= 2 && (begin == 0 || pattern[begin-1] == '/') && (rest == "" || slash || strings.HasPrefix(rest, `\/`))
			if n := len(tokens) - 3; deepAlone && n >= 0 && tokens[n].kind == shallow {
				tokens = tokens[:n] // "**/**" means "**"
			}
			switch {
			case !deepAlone:
				tokens = append(tokens, token{kind: star})
			case slash:
				tokens = append(tokens, token{kind: shallow}, token{kind: deep})
			default:
				tokens = append(tokens, token{kind: deep})
			}
		default:
			tokens = append(tokens, token{kind: literal, char: c})
			i++
		}
	}
	return tokens, true
}

// measure returns the smallest number of bytes that tokens match, and the largest number of
// tokens that matchTokens compares with a byte.
func measure(tokens []token) (least, width int) {
	width = 1
	for i := 0; i < len(tokens); i++ {
		switch tokens[i].kind {
		case literal, class:
			least++
		case shallow:
			width = len(tokens)
			i += 2 // the "/" is optional
		default:
			width = len(tokens)
		}
	}
	return least, width
}

// matchTokens reports whether tokens match the whole text. The time is in
// proportion to the product of both lengths: matchTokens moves the set of all
// tokens that can be next over the text, byte by byte.
func matchTokens(tokens []token, text string) bool {
	words := len(tokens)/64 + 1
	var array [4]uint64
	buf := array[:]
	if 2*words > len(buf) {
		buf = make([]uint64, 2*words)
	}
	now, next := buf[:words], buf[words:2*words]
	enter(tokens, now, 0)
	for i := range len(text) {
		c := text[i]
		clear(next)
		alive := false
		for w, word := range now {
			for ; word != 0; word &= word - 1 {
				at := 64*w + bits.TrailingZeros64(word)
				if at == len(tokens) {
					continue
				}
				switch t := &tokens[at]; t.kind {
				case literal:
					if t.char != c {
						continue
					}
					at++
				case class:
					if !t.set.has(c) {
						continue
					}
					at++
				case star:
					if c == '/' {
						continue
					}
				case deep:
				case shallow:
					continue
				}
				enter(tokens, next, at)
				alive = true
			}
		}
		if !alive {
			return false
		}
		now, next = next, now
	}
	return now[len(tokens)/64]&(1<<(len(tokens)%64)) != 0
}

// enter adds a token to a set. If the token can match nothing, enter also adds
// the tokens that can follow.
func enter(tokens []token, set []uint64, at int) {
	for set[at/64]&(1<<(at%64)) == 0 {
		set[at/64] |= 1 << (at % 64)
		if at == len(tokens) {
			return
		}
		switch tokens[at].kind {
		case literal, class:
			return
		case shallow:
			enter(tokens, set, at+3)
		}
		at++
	}
}

// A byteSet is a set of bytes.
type byteSet [4]uint64

func (s *byteSet) has(c byte) bool { return s[c/64]&(1<<(c%64)) != 0 }
func (s *byteSet) add(c byte)      { s[c/64] |= 1 << (c % 64) }

// addRange adds the bytes from low to high. If low is greater than high,
// addRange adds nothing.
func (s *byteSet) addRange(low, high byte) {
	for c := int(low); c <= int(high); c++ {
		s.add(byte(c))
	}
}

// complement replaces the set by all other bytes, except the slash.
func (s *byteSet) complement() {
	for i := range s {
		s[i] = ^s[i]
	}
	s.removeSlash()
}

func (s *byteSet) removeSlash() { s['/'/64] &^= 1 << ('/' % 64) }

var notSlash = func() (s byteSet) { s.complement(); return s }()

// parseClass reads the bracket expression at the beginning of a pattern. The
// length is 0 if the expression is malformed.
func parseClass(pattern string) (set *byteSet, length int) {
	set = new(byteSet)
	r := classReader{pattern, 1}
	negated := r.peek(0) == '!' || r.peek(0) == '^'
	if negated {
		r.at++
	}
	var previous byte // the byte that can begin a range; 0 for none
	for first := true; first || r.peek(0) != ']'; first = false {
		switch {
		case r.peek(0) == '-' && previous != 0 && r.peek(1) != 0 && r.peek(1) != ']':
			r.at++
			last := r.read()
			if last == 0 {
				return nil, 0
			}
			set.addRange(previous, last)
			previous = 0
		case strings.HasPrefix(pattern[r.at:], "[:"):
			name, _, closed := strings.Cut(pattern[r.at+len("[:"):], "]")
			named, ok := strings.CutSuffix(name, ":")
			switch {
			case !closed || ok && !set.addNamed(named):
				return nil, 0
			case ok:
				r.at += len("[:") + len(name) + len("]")
				previous = 0
			default: // "[:" without ":]" is two characters
				previous = r.read()
				set.add(previous)
			}
		default:
			if previous = r.read(); previous == 0 {
				return nil, 0
			}
			set.add(previous)
		}
	}
	if negated {
		set.complement()
	}
	set.removeSlash()
	return set, r.at + 1
}

// A classReader reads a bracket expression.
type classReader struct {
	pattern string
	at      int
}

// peek returns the byte n bytes ahead, or 0 at the end of the pattern.
func (r *classReader) peek(n int) byte {
	if r.at+n < len(r.pattern) {
		return r.pattern[r.at+n]
	}
	return 0
}

// read reads a byte, or a backslash with the next byte, and returns the byte. At the end of the
// pattern, read returns 0.
func (r *classReader) read() byte {
	c := r.peek(0)
	r.at++
	if c == '\\' {
		c = r.peek(0)
		r.at++
	}
	return c
}

// classes are the named POSIX classes, in ASCII: pairs of the first and the last byte of a range. The
// white space is that of git.
var classes = map[string]string{
	"alnum":  "azAZ09",
	"alpha":  "azAZ",
	"blank":  "  \t\t",
	"cntrl":  "\x00\x1f\x7f\x7f",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "  \t\n\r\r",
	"upper":  "AZ",
	"xdigit": "09afAF",
}

// addNamed adds a named class, and reports whether the name is known.
func (s *byteSet) addNamed(name string) bool {
	ranges, ok := classes[name]
	for i := 0; i < len(ranges); i += 2 {
		s.addRange(ranges[i], ranges[i+1])
	}
	return ok
}
