// Package vector has the points of texts, which an embedding model computes, and compares them.
package vector

import (
	"math"
	"sync/atomic"
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
func (p *Point) Values() []int8 { return p.values }

// A Cell has the point of a document. The point is unknown until Set or Reject.
// Concurrent calls are safe.
type Cell struct {
	state atomic.Uint32
	point Point // set once, before state
}

// The states of a Cell.
const (
	unknown uint32 = iota
	rejected
	known
)

// Set sets the point. Only the first call of Set or Reject counts, and calls do not overlap.
func (c *Cell) Set(p Point) {
	if !c.Known() {
		c.point = p
		c.state.Store(known)
	}
}

// Reject records that the document has no meaning, so that only its words count.
func (c *Cell) Reject() {
	if !c.Known() {
		c.state.Store(rejected)
	}
}

// Known reports whether Set or Reject was called.
func (c *Cell) Known() bool { return c.state.Load() != unknown }

// Point returns the point of Set, or nil.
func (c *Cell) Point() *Point {
	if c.state.Load() != known {
		return nil
	}
	return &c.point
}

// A Query is a point, prepared for many comparisons.
type Query struct {
	values []int32
	scale  float64
}

// NewQuery returns the query of a point.
func NewQuery(p *Point) *Query {
	q := &Query{make([]int32, len(p.values)), p.scale}
	for i, v := range p.values {
		q.values[i] = int32(v)
	}
	return q
}

// Cosine returns the cosine of the meanings, which have the same number of dimensions.
func (q *Query) Cosine(p *Point) float64 {
	a, b := p.values, q.values[:len(p.values)]
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
	return float64(s0+s1+s2+s3) * p.scale * q.scale
}

// Dimensions returns the number of dimensions of the point.
func (q *Query) Dimensions() int { return len(q.values) }
