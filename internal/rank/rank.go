// Package rank finds texts by a query: an inverted index in memory that is
// brought up to date document by document, and a ranking in three tiers.
//
// Tier 1 is for documents whose name has the words of the query. Tier 2 is
// BM25F (Robertson, Zaragoza: The Probabilistic Relevance Framework, 2009,
// section 3.5) over name, description, headings, tags and body. Tier 3 is for
// documents that only a report on them speaks for.
//
// Words are folded (case, accents, compatibility characters) and stemmed
// lightly; a word that no document has may be one typing error away from one
// that is there. Text in scripts without blanks is indexed by one and two characters.
//
// What is found, in which order and with which score depends on the documents
// and the query alone, not on the order in which documents came and went.
package rank

// What is indexed of one document is bounded, so that hostile ones cannot take
// more memory than their share: some 0.5 MB at the very most.
const (
	MaxText  = 256 << 10 // bytes of each of its texts, from the beginning
	maxTerms = 4096      // different words; ordinary documents have some hundred
	maxWord  = 64        // bytes of a word; longer ones are encoded data and not indexed
)

// A Document is a text that can be found.
type Document struct {
	Name        string
	Description string
	Tags        string
	Body        string // Markdown

	// Report says that the document is no result itself: it is evidence for
	// the document that has this name as its key.
	Report bool
}

// A Tier says what kind of evidence a hit rests on.
type Tier int

const (
	Named    Tier = 1 // the words of the query are words of the name
	Matched  Tier = 2 // words of the query are in the text
	Reported Tier = 3 // words of the query are in a report
)

// A Hit is a document that was found.
type Hit struct {
	Key         string
	Name        string
	Description string
	Tier        Tier
	Score       float64 // 0 to 1; every hit of a tier is above all of the next
	Reason      string  // which field matched which words of the query
}

// An Index holds documents by key. The zero Index is empty. Searches may run
// at the same time as each other, not as Put and Remove.
type Index struct {
	documents corpus // results
	reports   corpus // evidence only
}

// Put adds a document, or replaces the one that has the key. Reports have keys
// of their own.
func (x *Index) Put(key string, d Document) {
	if d.Report {
		x.reports.put(key, d)
	} else {
		x.documents.put(key, d)
	}
}

// Remove removes the document of this key, if there is one.
func (x *Index) Remove(key string) { x.documents.remove(key) }

// RemoveReport removes the report of this key, if there is one.
func (x *Index) RemoveReport(key string) { x.reports.remove(key) }
