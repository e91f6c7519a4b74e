package rank

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// What a word counts in each field, and how much less it counts in a field
// that is longer than that of other documents (w and b of BM25F). What an
// author says in a name or a sentence outweighs a text that has a word by
// chance; the weights are those with which TestCorpusRecall finds most.
var (
	fieldWeights = [fields]float64{inName: 6, inDescription: 5, inTags: 3, inHeadings: 2, inBody: 0.3}
	lengthShares = [fields]float64{inName: 0.75, inDescription: 0.5, inTags: 0.5, inHeadings: 0.75, inBody: 0.75}
)

// saturation is k1 of BM25F: the less, the sooner it does not matter any more
// how often a word is there.
const saturation = 0.9

// The scores of a tier are from its floor up to that of the tier above.
const (
	namedFloor   = 0.7
	matchedFloor = 0.3
)

// Search returns the best hits, at most limit, by score and then by name, byte
// by byte, and how many there are in all. Of the documents, those count whose
// key keep, if it is not nil, is true of, though how rare a word is depends on
// all. If ctx ends, the error is its error.
func (x *Index) Search(ctx context.Context, text string, limit int, keep func(key string) bool) (hits []Hit, total int, err error) {
	q := parse(text)
	documents, err := x.documents.match(ctx, q, func(d *document) bool { return keep == nil || keep(d.key) })
	if err != nil {
		return nil, 0, err
	}
	defer documents.release()
	reports, err := x.reports.match(ctx, q, func(d *document) bool { return keep == nil || keep(d.name) })
	if err != nil {
		return nil, 0, err
	}
	defer reports.release()

	best := top{limit: limit}
	for number, share := range documents.shares {
		if share > 0 && (keep == nil || keep(x.documents.docs[number].key)) {
			best.add(x.documents.judge(q, uint32(number), share))
		}
	}
	for _, c := range x.evidence(documents, reports) {
		if keep == nil || keep(x.documents.docs[c.number].key) {
			best.add(c)
		}
	}
	for _, c := range best.sorted() {
		doc := &x.documents.docs[c.number]
		hit := Hit{Key: doc.key, Name: doc.name, Description: doc.description, Tier: c.tier, Score: c.score}
		if c.tier == Reported {
			hit.Reason = x.reports.reason(reports.clauses, c.report, reportSubjects)
		} else {
			hit.Reason = x.documents.reason(documents.clauses, c.number, subjects)
		}
		hits = append(hits, hit)
	}
	return hits, best.total, nil
}

// A candidate is a document that is a hit.
type candidate struct {
	number uint32
	report uint32 // the number of the best report, in tier 3
	tier   Tier
	score  float64
	name   string
}

func newCandidate(number uint32, name string, tier Tier, score float64) candidate {
	// Rounded, since processors differ in the last digits, but not to nothing.
	return candidate{number: number, name: name, tier: tier, score: max(1, math.Round(score*1e6)) / 1e6}
}

// judge says in which tier a document is that has this share of what a query
// looks for, and scores it.
func (c *corpus) judge(q query, number uint32, share float64) candidate {
	doc := &c.docs[number]
	if covered, ok := q.cover(doc.nameWords); ok {
		if covered < 1 && q.is(doc.name) {
			covered = 1
		}
		return newCandidate(number, doc.name, Named, namedFloor+(1-namedFloor)*(covered+(1-covered)*share/2))
	}
	return newCandidate(number, doc.name, Matched, matchedFloor+(namedFloor-matchedFloor)*share)
}

// evidence returns the documents that only reports speak for, each with its
// best report.
func (x *Index) evidence(documents, reports *matches) map[uint32]candidate {
	best := map[uint32]candidate{}
	for report, share := range reports.shares {
		if share == 0 {
			continue
		}
		number, ok := x.documents.byKey[x.reports.docs[report].name]
		if !ok || documents.shares[number] > 0 {
			continue
		}
		c := newCandidate(number, x.documents.docs[number].name, Reported, matchedFloor*share)
		c.report = uint32(report)
		if before, ok := best[number]; !ok || c.score > before.score ||
			c.score == before.score && x.reports.docs[report].key < x.reports.docs[before.report].key {
			best[number] = c
		}
	}
	return best
}

// A top keeps the best candidates.
type top struct {
	limit int
	total int
	kept  []candidate
	least float64 // what is below is not among the best
}

func (t *top) add(c candidate) {
	t.total++
	if c.score < t.least {
		return
	}
	if t.kept = append(t.kept, c); len(t.kept) >= 2*t.limit+64 {
		t.least = t.sorted()[t.limit-1].score
	}
}

func (t *top) sorted() []candidate {
	slices.SortFunc(t.kept, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.name, b.name))
	})
	t.kept = t.kept[:min(len(t.kept), t.limit)]
	return t.kept
}

// matches is how well the documents of a corpus match a query.
type matches struct {
	clauses []clause
	shares  []float64 // by document: the share, 0 to 1, that it has of all that the query looks for
	part    []float64 // by document: of the clause at hand; zero in between
}

var pooled = sync.Pool{New: func() any { return new(matches) }}

func (m *matches) release() { pooled.Put(m) }

func (c *corpus) match(ctx context.Context, q query, keep func(*document) bool) (*matches, error) {
	m := pooled.Get().(*matches)
	m.reset(len(c.docs))
	found, sum := c.clauses(q, keep)
	m.clauses = found
	var averages [fields]float64
	for f, n := range c.lengths {
		averages[f] = max(1, float64(n)/float64(max(1, c.len())))
	}
	for _, clause := range found {
		if err := ctx.Err(); err != nil {
			m.release()
			return nil, err
		}
		for _, id := range clause.terms {
			for _, p := range c.terms[id].postings {
				// Of several terms that stand for one word, the best one counts.
				share := clause.weight / sum * frequency(p.counts, &c.docs[p.doc].lengths, &averages)
				if share > m.part[p.doc] {
					m.shares[p.doc] += share - m.part[p.doc]
					m.part[p.doc] = share
				}
			}
		}
		for _, id := range clause.terms {
			for _, p := range c.terms[id].postings {
				m.part[p.doc] = 0
			}
		}
	}
	return m, nil
}

func (m *matches) reset(n int) {
	if cap(m.shares) < n {
		m.shares, m.part = make([]float64, n, n+n/4), make([]float64, n, n+n/4)
		return
	}
	m.shares, m.part = m.shares[:n], m.part[:n]
	clear(m.shares)
	clear(m.part)
}

// frequency is how much of a word a document has, 0 to 1 exclusive.
func frequency(c counts, lengths *[fields]uint32, averages *[fields]float64) float64 {
	sum := 0.0
	for f := range fields {
		if n := c.of(f); n > 0 {
			b := lengthShares[f]
			sum += fieldWeights[f] * float64(n) / (1 - b + b*float64(lengths[f])/averages[f])
		}
	}
	return sum / (saturation + sum)
}

// maxReason is how many words a reason quotes.
const maxReason = 8

// What a reason says of a word that is in a field.
var (
	subjects       = [fields]string{"name matches", "description matches", "tags match", "headings match", "body matches"}
	reportSubjects = [fields]string{"report matches", "report matches", "report matches", "report matches", "report matches"}
)

// reason says for each word of a query that a document has which is the first
// field that has it: name matches "slow"; body matches "meetnig" nearly.
func (c *corpus) reason(clauses []clause, number uint32, subjects [fields]string) string {
	type statement struct {
		subject string
		near    bool
	}
	var (
		order  []statement
		words  = map[statement][]string{}
		quoted int
	)
	for f := range fields {
		for _, near := range []bool{false, true} {
			if s := (statement{subjects[f], near}); !slices.Contains(order, s) {
				order = append(order, s)
			}
		}
	}
	for _, clause := range clauses {
		var all counts
		for _, id := range clause.terms {
			if i, ok := c.terms[id].find(number); ok {
				all |= c.terms[id].postings[i].counts
			}
		}
		if all == 0 {
			continue
		}
		f := inName
		for all.of(f) == 0 {
			f++
		}
		s := statement{subjects[f], clause.near}
		if !slices.Contains(words[s], clause.word.typed) && quoted < maxReason {
			words[s] = append(words[s], clause.word.typed)
			quoted++
		}
	}
	var reasons []string
	for _, s := range order {
		if len(words[s]) == 0 {
			continue
		}
		reason := s.subject + " " + strconv.Quote(strings.Join(words[s], " "))
		if s.near {
			reason += " nearly"
		}
		reasons = append(reasons, reason)
	}
	return strings.Join(reasons, "; ")
}
