package rank

import (
	"math"

	"github.com/toolshelf-go/toolshelf/internal/vector"
)

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
func (c *corpus) near(p *vector.Point, keep func(*document) bool, zs []float64) bool {
	q := vector.NewQuery(p)
	var n, sum, squares int64
	for number, v := range c.vectors {
		zs[number] = math.NaN()
		if d := &c.docs[number]; !keep(d) || v == nil && d.key == "" {
			continue
		}
		if v == nil || !v.Known() {
			return false
		}
		p := v.Point()
		if p == nil {
			continue
		}
		if len(p.Values()) != q.Dimensions() {
			return false
		}
		cosine := int64(math.Round(q.Cosine(p) * fixed))
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
			some = some || v.Point() != nil && (keep == nil || keep(d.key))
		} else if d.key != "" && (keep == nil || keep(d.key)) {
			return false
		}
	}
	return some
}
