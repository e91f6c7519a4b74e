package rank

import (
	"math"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// MaxDimensions is the maximum number of dimensions of a [Point].
const MaxDimensions = 1 << 14

// A Point is the direction of the meaning of a text: the numbers of an embedding model,
// rounded to 8 bits. The cosine of two points compares the meanings.
type Point struct {
	values []int8
	scale  float64 // 1 divided by the length of values
}

// NewPoint rounds an embedding. An embedding without a direction, with a number that is
// not finite, or with more than [MaxDimensions] numbers is not ok.
func NewPoint(embedding []float32) (p Point, ok bool) {
	most := 0.0
	for _, v := range embedding {
		most = max(most, math.Abs(float64(v))) // NaN if v is NaN
	}
	if !(most > 0 && most <= math.MaxFloat32) || len(embedding) > MaxDimensions {
		return Point{}, false
	}
	values := make([]int8, len(embedding))
	for i, v := range embedding {
		values[i] = int8(math.RoundToEven(float64(v) / most * math.MaxInt8))
	}
	return PointOf(values)
}

// PointOf returns the point with the numbers of [Point.Values]. PointOf keeps the slice.
func PointOf(values []int8) (p Point, ok bool) {
	sum := int64(0)
	for _, v := range values {
		sum += int64(v) * int64(v)
	}
	return Point{values, 1 / math.Sqrt(float64(sum))}, sum > 0 && len(values) <= MaxDimensions
}

// Values returns the rounded numbers.
func (p Point) Values() []int8 { return p.values }

// A Vector is the meaning of a document. The meaning is unknown until Set or Reject.
// Concurrent calls are safe.
type Vector struct {
	state atomic.Uint32
	point Point // set once, before state
}

// The states of a Vector.
const (
	unknown uint32 = iota
	rejected
	known
)

// Set sets the meaning. Only the first call of Set or Reject counts, and calls do not overlap.
func (v *Vector) Set(p Point) {
	if !v.Known() {
		v.point = p
		v.state.Store(known)
	}
}

// Reject records that the document has no meaning, so that only its words count.
func (v *Vector) Reject() {
	if !v.Known() {
		v.state.Store(rejected)
	}
}

// Known reports whether Set or Reject was called.
func (v *Vector) Known() bool { return v.state.Load() != unknown }

// Point returns the point of Set.
func (v *Vector) Point() (p Point, ok bool) {
	if v.state.Load() != known {
		return Point{}, false
	}
	return v.point, true
}

// A meaning is the meaning of a query, prepared for many comparisons.
type meaning struct {
	values []int32
	scale  float64
}

func meaningOf(p *Point) *meaning {
	m := &meaning{make([]int32, len(p.values)), p.scale}
	for i, v := range p.values {
		m.values[i] = int32(v)
	}
	return m
}

// cosine returns the cosine of the meanings, which have the same number of dimensions.
func (m *meaning) cosine(p Point) float64 {
	a, b := p.values, m.values[:len(p.values)]
	var s0, s1, s2, s3 int32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += int32(a[0])*b[0] + int32(a[4])*b[4]
		s1 += int32(a[1])*b[1] + int32(a[5])*b[5]
		s2 += int32(a[2])*b[2] + int32(a[6])*b[6]
		s3 += int32(a[3])*b[3] + int32(a[7])*b[7]
		a, b = a[8:], b[8:]
	}
	for i, v := range a {
		s0 += int32(v) * b[i]
	}
	return float64(s0+s1+s2+s3) * p.scale * m.scale
}

// The weight of the meaning beside the words. measured is the number of documents from
// which on the cosines are standardized.
const (
	meaningWeight = 0.35 / 6
	meaningAlone  = 2.0 // z of a hit that has no word of the query
	measured      = 30
)

// fixed is the unit of the cosines that are summed. The sums are integers, so that the
// order of the documents does not matter.
const fixed = 1 << 20

// near stores z of each document that keep accepts in zs: by how many standard deviations the
// cosine with a query is above the mean of these documents. For fewer than measured documents, z is
// the cosine. z of a document that keep does not accept, and of a rejected document, is 0. If the
// meaning of an accepted document is unknown, or no accepted document has a meaning, near returns
// false.
func (c *corpus) near(p *Point, keep func(*document) bool, zs []float64) bool {
	m := meaningOf(p)
	var n, sum, squares int64
	for number, v := range c.vectors {
		zs[number] = math.NaN()
		if d := &c.docs[number]; !keep(d) || v == nil && d.key == "" {
			continue
		}
		if v == nil {
			return false
		}
		switch state := v.state.Load(); {
		case state == rejected:
			continue
		case state == unknown || len(v.point.values) != len(m.values):
			return false
		}
		cosine := int64(math.Round(m.cosine(v.point) * fixed))
		zs[number] = float64(cosine)
		n, sum, squares = n+1, sum+cosine, squares+cosine*cosine
	}
	mean, deviation := 0.0, float64(fixed)
	if n >= measured {
		mean = float64(sum) / float64(n)
		deviation = math.Sqrt(max(0, float64(squares)/float64(n)-mean*mean))
	}
	for number, cosine := range zs {
		if z := (cosine - mean) / deviation; z > 0 && z <= math.MaxFloat64 {
			zs[number] = z
		} else {
			zs[number] = 0
		}
	}
	return n > 0
}

// Understood reports whether the meaning of each document is known whose key satisfies keep,
// and at least one of these documents has a meaning. A nil keep is satisfied by each key.
func (x *Corpus) Understood(keep func(key string) bool) bool {
	some := false
	for i, v := range x.documents.vectors {
		d := &x.documents.docs[i]
		if v != nil && v.Known() {
			some = some || v.state.Load() == known && (keep == nil || keep(d.key))
		} else if d.key != "" && (keep == nil || keep(d.key)) {
			return false
		}
	}
	return some
}

// The limits of the text that an embedding model reads.
const (
	maxMeaningWords = 80
	maxMeaningBytes = 2000
)

// MeaningText returns the text of a document for an embedding model: the words of the name,
// and the first words of the description. Without a description, the body is in its place.
func MeaningText(d Document) string {
	var words []string
	s := splitter{any: true}
	name := bounded(d.Name)
	for i := 0; i < len(name); {
		w := nextWord(name, i)
		if w.end == i {
			_, size := utf8.DecodeRuneInString(name[i:])
			i += size
			continue
		}
		typed := name[i:w.end]
		s.cuts = append(s.cuts[:0], len(typed))
		if !w.dense {
			s.cuts = cuts(s.cuts[:0], typed)
		}
		begin := 0
		for _, cut := range s.cuts {
			if begin < cut {
				words = append(words, typed[begin:cut])
			}
			begin = cut
		}
		i = w.end
	}
	text := d.Description
	if strings.TrimSpace(text) == "" {
		text = d.Body
	}
	n := 0
	for word := range strings.FieldsFuncSeq(bounded(text), unicode.IsSpace) {
		if n++; n > maxMeaningWords {
			break
		}
		words = append(words, word)
	}
	joined := strings.ToValidUTF8(strings.Join(words, " "), "")
	for len(joined) > maxMeaningBytes {
		end := maxMeaningBytes
		for !utf8.RuneStart(joined[end]) {
			end--
		}
		joined = joined[:end]
	}
	return joined
}
