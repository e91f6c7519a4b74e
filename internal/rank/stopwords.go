package rank

import "strings"

// isStopWord reports whether a word is too common to select documents. A query
// ignores its stop words unless all of its words are stop words.
func isStopWord(folded string) bool { return stopWords[folded] }

var stopWords = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		a an the this that these those it its
		i me my mine we us our you your yours he him his she her they them their one someone somebody
		am is are was were be been being do does did done doing don doesn didn
		have has had having haven hasn
		can could will would shall should may might must cannot couldn won wouldn let lets
		and or but nor so if then than as because while though
		of in on at to from for by with without about into onto out up down over under
		between through during before after
		not no yes
		how what when where which who whom whose why
		there here some any all each every both few more most other such only own same too very just also
		get got give make want need please like
		s t d m ll re ve`) {
		set[word] = true
	}
	return set
}()
