package rank

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// fieldWeights and lengthShares are w and b of BM25F: the weight of a match in each field, and the
// penalty for fields that are longer than average. Names and descriptions outweigh chance matches
// in the body. The queries of internal/dev/needs measure the weights. Those queries avoid the words
// of names, so they say nothing about the weight of the name.
var (
	fieldWeights = [fields]float64{inName: 6, inDescription: 8, inTags: 5, inHeadings: 1.2,
		inOpening: 0.2, inBody: 0.4}
	lengthShares = [fields]float64{inName: 0.75, inDescription: 0.75, inTags: 0.5,
		inHeadings: 0.75, inBody: 1} // the opening has one length
)

// saturation is k1 of BM25F. Smaller values make repeated occurrences count
// less.
const saturation = 1.5

// The scores of a tier range from its floor to the floor of the tier above.
const (
	namedFloor   = 0.7
	matchedFloor = 0.3
)

// Search returns at most limit hits. If keep is not nil, only documents whose key satisfies
// keep are hits; word rarity still depends on all documents. If ctx ends, Search returns the
// error of ctx.
//
// If near is not nil, near is the meaning of the text. A document that is nearer than most of the
// documents that satisfy keep gains a higher place within tier 2, and without a matching word a
// document that is much nearer is a hit. If the meaning of such a document is unknown, or differs
// in its dimensions, Semantic is false and only words count.
func (x *Corpus) Search(
	ctx context.Context, text string, limit int, keep func(key string) bool, near *vector.Point,
) (Result, error) {
	q := parse(text)
	kept := func(d *document) bool { return keep == nil || keep(d.key) }
	documents, err := x.documents.match(ctx, q, kept)
	if err != nil {
		return Result{}, err
	}
	defer documents.release()
	reports, err := x.reports.match(ctx, q, func(d *document) bool {
		return keep == nil || keep(d.name)
	})
	if err != nil {
		return Result{}, err
	}
	defer reports.release()
	semantic := near != nil && x.documents.near(near, kept, documents.zs)
	if !semantic {
		clear(documents.zs)
	}

	x.documents.addTitles(q, documents)
	hits := func(number int) bool {
		return documents.matches(number) && kept(&x.documents.docs[number])
	}
	highest := 1.0 // sum of a hit
	for number := range documents.shares {
		if sum := documents.sum(number); sum > highest && hits(number) {
			highest = sum
		}
	}
	best := top{limit: limit}
	for number := range documents.shares {
		if hits(number) {
			best.add(x.documents.judge(q, uint32(number), documents, highest))
		}
	}
	for _, c := range x.reported(documents, reports) {
		if kept(&x.documents.docs[c.number]) {
			best.add(c)
		}
	}
	r := Result{Semantic: semantic, Total: best.total}
	for _, c := range best.sorted() {
		doc := &x.documents.docs[c.number]
		hit := Hit{Key: doc.key, Name: doc.name, Description: doc.description, Tier: c.tier}
		hit.Score = max(Round(c.score), 0.001) // never 0
		switch {
		case c.tier == Reported:
			hit.Reason = x.reports.reason(reports.clauses, c.report, reportSubjects)
		case documents.shares[c.number] == 0:
			hit.Reason = meaningReason
		default:
			hit.Reason = x.documents.reason(documents.clauses, c.number, subjects)
		}
		r.Hits = append(r.Hits, hit)
	}
	r.Terms = documents.terms + reports.terms
	first := r.Hits[:min(len(r.Hits), weakHits)]
	if r.Weak = x.documents.weak(documents.clauses, documents.weights, first); r.Weak {
		words, compared := x.documents.offer(q, first, kept)
		r.Words, r.Terms = words, r.Terms+compared
	}
	return r, nil
}

// A candidate is a hit before the best hits are selected.
type candidate struct {
	number uint32
	report uint32 // number of the best report, in tier 3
	tier   Tier
	score  float64
	name   string
}

// newCandidate rounds the score to six digits, because processors differ in the last digits.
func newCandidate(number uint32, name string, tier Tier, score float64) candidate {
	return candidate{number: number, name: name, tier: tier, score: math.Round(score*1e6) / 1e6}
}

// Round rounds a score to three digits, because a model pays for each digit. The order of hits
// depends on more digits.
func Round(score float64) float64 { return math.Round(score*1e3) / 1e3 }

// judge returns the tier and score of a document that matches a query. The meaning counts only
// in tier 2. The highest sum of share and meaning keeps the scores of tier 2 below tier 1.
func (c *corpus) judge(q query, number uint32, m *matches, highest float64) candidate {
	doc, share := &c.docs[number], m.shares[number]
	if int(m.places[number].name) >= min(len(q.words), math.MaxUint8) {
		if covered, ok := q.cover(doc.nameWords); ok {
			if covered < 1 && q.is(doc.name) {
				covered = 1
			}
			score := namedFloor + (1-namedFloor)*(covered+(1-covered)*share/2)
			return newCandidate(number, doc.name, Named, score)
		}
	}
	score := matchedFloor + (namedFloor-matchedFloor)*m.sum(int(number))/highest
	return newCandidate(number, doc.name, Matched, score)
}

// reported returns the documents that match only through reports, each with the
// best report.
func (x *Corpus) reported(documents, reports *matches) map[uint32]candidate {
	best := map[uint32]candidate{}
	for report, share := range reports.shares {
		if share == 0 {
			continue
		}
		number, ok := x.documents.byKey[x.reports.docs[report].name]
		if !ok || documents.matches(int(number)) {
			continue
		}
		c := newCandidate(number, x.documents.docs[number].name, Reported, matchedFloor*share)
		c.report = uint32(report)
		key := func(c candidate) string { return x.reports.docs[c.report].key }
		if before, ok := best[number]; !ok || c.score > before.score ||
			c.score == before.score && key(c) < key(before) {
			best[number] = c
		}
	}
	return best
}

// A top selects the best candidates.
type top struct {
	limit int
	total int
	kept  []candidate
	least float64 // candidates with a lower score are not among the best
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

// matches records how well each document of a corpus matches a query.
type matches struct {
	clauses []clause
	weights float64   // of all words of the query
	terms   int       // terms found and words of names compared
	shares  []float64 // by document: the matched share of the query, 0 to 1
	part    []float64 // by document: the share from the current clause; all zero between clauses
	zs      []float64 // by document: z of the meaning, or 0; see corpus.near
	places  []places  // by document
	words   []uint8   // by term: 1 + the position of the word in the query; all zero between searches
}

var pooled = sync.Pool{New: func() any { return new(matches) }}

func (m *matches) release() { pooled.Put(m) }

func (c *corpus) match(ctx context.Context, q query, keep func(*document) bool) (*matches, error) {
	m := pooled.Get().(*matches)
	m.reset(len(c.docs))
	m.clauses, m.weights, m.terms = nil, 0, 0
	if c.len() == 0 {
		return m, nil
	}
	l := lookup{corpus: c, keep: keep}
	m.clauses, m.weights = l.clauses(q)
	m.terms = l.terms
	var scales [fields]float64 // the penalty of each word of a field
	for f, n := range c.total {
		scales[f] = lengthShares[f] / max(1, float64(n)/float64(max(1, c.len())))
	}
	for _, clause := range m.clauses {
		if err := ctx.Err(); err != nil {
			m.release()
			return nil, err
		}
		weight := clause.weight / m.weights
		if len(clause.terms) == 1 {
			for _, p := range c.terms[clause.terms[0]].postings {
				m.shares[p.doc] += weight * frequency(p.counts, &c.docSizes[p.doc], &scales)
				m.places[p.doc].add(p.counts)
			}
			continue
		}
		for _, id := range clause.terms {
			for _, p := range c.terms[id].postings {
				// If several terms stand for one word, the best term counts.
				share := weight * frequency(p.counts, &c.docSizes[p.doc], &scales)
				if share > m.part[p.doc] {
					m.shares[p.doc] += share - m.part[p.doc]
					m.part[p.doc] = share
				}
				m.places[p.doc].add(p.counts)
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
	for _, numbers := range []*[]float64{&m.shares, &m.part, &m.zs} {
		*numbers = slices.Grow((*numbers)[:0], n)[:n]
		clear(*numbers)
	}
	m.places = slices.Grow(m.places[:0], n)[:n]
	clear(m.places)
}

// places counts the clauses of a query that match in the name and in the headings of a document, at
// most 255 each. Without enough clauses, no search reads the words of the name or the headings.
type places struct{ name, headings uint8 }

func (p *places) add(c counts) {
	if c < 1<<(bodyBits+1) {
		return
	}
	if c.of(inName) > 0 && p.name < math.MaxUint8 {
		p.name++
	}
	if c.of(inHeadings) > 0 && p.headings < math.MaxUint8 {
		p.headings++
	}
}

// A query that is a title of a document, or nearly so, means this document. A title with at least
// two words and titleShare of the words of the query adds up to titleBonus to the share of the
// document. A name in which each word of the query matches exactly needs no bonus; the bonus finds
// names despite typing errors.
const (
	titleShare = 0.6
	titleBonus = 0.3
	maxTitle   = 64 // words of a query that is a title
)

// addTitles adds the bonus of titles to the shares.
func (c *corpus) addTitles(q query, m *matches) {
	n := len(q.words)
	least := max(2, int(math.Ceil(titleShare*float64(n))))
	if n < 2 || n > maxTitle {
		return
	}
	m.words = slices.Grow(m.words[:0], len(c.terms))[:len(c.terms)]
	for _, clause := range m.clauses {
		for _, id := range clause.terms {
			if !clause.part {
				m.words[id] = 1 + uint8(clause.at)
			}
		}
	}
	for number, in := range m.places {
		if int(max(in.headings, in.name)) < least {
			continue
		}
		best := 0.0
		var held uint64 // the words of a title, by position
		length := 0
		for rest := c.docs[number].titles; len(rest) > 0; {
			term := rest[0]
			if rest = rest[1:]; term == 0 {
				if words := bits.OnesCount64(held); words >= least {
					// The share of the query times the share of the title.
					best = max(best, float64(words*words)/float64(n*length))
				}
				held, length = 0, 0
				continue
			}
			length++
			if at := m.words[term-1]; at > 0 {
				held |= 1 << (at - 1)
			}
		}
		// A title with many other words is no answer.
		m.shares[number] += titleBonus * best * best * best
	}
	for _, clause := range m.clauses {
		for _, id := range clause.terms {
			m.words[id] = 0
		}
	}
}

// matches reports whether a document is a hit by its words or by its meaning.
func (m *matches) matches(number int) bool {
	return m.shares[number] > 0 || m.zs[number] >= meaningAlone
}

// sum returns the share of the words and the meaning together.
func (m *matches) sum(number int) float64 { return m.shares[number] + meaningWeight*m.zs[number] }

// frequency is the saturated, length-normalized frequency of a word in a document, in the open
// interval from 0 to 1. scales holds the penalty of each word of a field. Most words are only in
// the body.
func frequency(c counts, lengths *lengths, scales *[fields]float64) float64 {
	part := func(f field, n counts) float64 {
		return fieldWeights[f] * float64(n) / (1 - lengthShares[f] + scales[f]*float64(lengths[f]))
	}
	sum := fieldWeights[inOpening] * float64(c>>bodyBits&1)
	if n := c & (1<<bodyBits - 1); n != 0 {
		sum += part(inBody, n)
	}
	f := inHeadings
	for c >>= bodyBits + 1; c != 0; c >>= otherBits {
		if n := c & (1<<otherBits - 1); n != 0 {
			sum += part(f, n)
		}
		f--
	}
	return sum / (saturation + sum)
}

// meaningReason is the reason of a hit without a common word.
const meaningReason = "meaning"

// maxReason bounds the number of words that a reason quotes.
const maxReason = 8

// subjects and reportSubjects hold the wording of a reason by field.
var (
	subjects = [fields]string{"name matches", "description matches", "tags match",
		"headings match", "body matches", "body matches"}
	reportSubjects = [fields]string{"report matches", "report matches", "report matches",
		"report matches", "report matches", "report matches"}
)

// reason lists the matching words of a query under the first field that contains
// each word, as in: name matches "slow"; body matches "meetnig" nearly.
func (c *corpus) reason(clauses []clause, number uint32, subjects [fields]string) string {
	var words [fields][2][]string // by the first field of a subject; of exact and of near matches
	quoted := 0
	for _, clause := range clauses {
		var all counts
		for _, id := range clause.terms {
			all |= c.terms[id].postings.of(number)
		}
		if all == 0 {
			continue
		}
		f := inName
		for all.of(f) == 0 {
			f++
		}
		of := &words[slices.Index(subjects[:], subjects[f])]
		list := &of[0]
		if clause.near {
			list = &of[1]
		}
		if !slices.Contains(*list, clause.word.typed) && quoted < maxReason {
			*list = append(*list, clause.word.typed)
			quoted++
		}
	}
	var reasons []string
	for f, of := range words {
		for near, list := range of {
			if len(list) > 0 {
				reasons = append(reasons, subjects[f]+" "+
					strconv.Quote(strings.Join(list, " "))+[]string{"", " nearly"}[near])
			}
		}
	}
	return strings.Join(reasons, "; ")
}
