// Package rank searches texts. An in-memory inverted index is updated document
// by document, and hits are ranked in three tiers.
//
// Tier 1 holds documents whose name contains all words of the query. Tier 2
// ranks by BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework,
// 2009, section 3.5) over name, description, tags, headings, the first words of the
// body, and the body. A name or heading that is nearly the query adds to the rank.
// Tier 3 holds documents whose only match is in a report.
//
// Words are folded (case, accents, compatibility characters) and stemmed
// (Porter2). A query word without an exact match also matches words at a distance
// of one typing error. Text in scripts without spaces is indexed by single
// characters and by pairs of characters.
//
// Hits, order and scores depend only on the documents and the query.
package rank

import "github.com/toolshelf-go/toolshelf/internal/vector"

// The indexed part of a document is bounded, so that a hostile document uses at
// most about 0.5 MB.
const (
	MaxText  = 256 << 10 // bytes indexed of each text of a document, from the start
	maxTerms = 4096      // distinct words of a document; ordinary documents have a few hundred
)

// A Document is a searchable text.
type Document struct {
	Name        string
	Description string
	Tags        string
	Body        string       // Markdown
	Vector      *vector.Cell // the meaning, or nil; not of a report

	// Report marks a report. A report is never a hit. A match in a report counts for
	// the document whose key is the Name of the report.
	Report bool
}

// A Tier is the kind of match behind a hit.
type Tier int

const (
	Named    Tier = 1 // the name contains the words of the query
	Matched  Tier = 2 // the text contains words of the query
	Reported Tier = 3 // a report contains words of the query
)

// A Hit is a document that matches a query.
type Hit struct {
	Key         string
	Name        string
	Description string
	Tier        Tier
	Score       float64 // 0 to 1; each hit of a tier scores above all hits of the next tier
	Reason      string  // the matching words of the query, by field
}

// A Result holds the best hits of a search.
type Result struct {
	Hits     []Hit // by descending score, then by the bytes of the name
	Total    int   // number of hits before the limit
	Semantic bool  // the meaning counts beside the words

	Weak  bool     // the hits hardly answer the query
	Words []string // for another query than a weak one: words of the names of kept documents
	Terms int      // the work of the search: terms found, and words of names compared
}

// A Corpus holds documents by key. The zero Corpus is empty and ready to use.
// Concurrent searches are safe. A method that changes the Corpus must not run at the
// same time as any other call.
type Corpus struct {
	documents corpus // results
	reports   corpus // matches count for the documents that the reports name
}

// Put adds a document or replaces the document with the same key. Reports have
// a separate key space.
func (x *Corpus) Put(key string, d Document) {
	var a Analyzer
	a.Analyze(d)
	into := &x.documents
	if d.Report {
		into = &x.reports
	}
	into.put(key, &a)
	into.flush()
}

// PutAnalyzed is Put for the last document of an Analyzer. The document is not a report. After the
// last of many documents, the caller calls Flush.
func (x *Corpus) PutAnalyzed(key string, a *Analyzer) { x.documents.put(key, a) }

// Flush lets searches find the documents of PutAnalyzed.
func (x *Corpus) Flush() { x.documents.flush() }

// Remove removes the document with this key, if present.
func (x *Corpus) Remove(key string) { x.documents.remove(key) }

// RemoveReport removes the report with this key, if present.
func (x *Corpus) RemoveReport(key string) { x.reports.remove(key) }
