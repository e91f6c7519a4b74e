package rank

// stem removes the English endings of plurals and verbs from a folded word, in
// place. The stem keeps at least three letters and a vowel. stem also removes a
// final e, so that cache, caches, cached and caching have the same stem.
func stem(word []byte) []byte {
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return word
		}
	}
	word = singular(word)
	if w, ok := cut(word, "ing"); ok {
		word = single(w)
	} else if w, ok := cut(word, "ied"); ok {
		word = append(w, 'y')
	} else if w, ok := cut(word, "ed"); ok && w[len(w)-1] != 'e' { // not exceed
		word = single(w)
	}
	if w, ok := cut(word, "e"); ok {
		word = w
	}
	return word
}

// singular is the S-stemmer (Harman: How Effective Is Suffixing?, 1991), extended
// by plurals in -es after a sibilant.
func singular(word []byte) []byte {
	n := len(word)
	if n < 4 || word[n-1] != 's' {
		return word
	}
	switch word[n-2] {
	case 's', 'u', 'i': // class, status, analysis
		return word
	case 'e':
		if n > 4 && word[n-3] == 'i' {
			word[n-3] = 'y' // queries
			return word[:n-2]
		}
		if w := word[:n-2]; n > 5 && (hasSuffix(w, "ss") || hasSuffix(w, "sh") || hasSuffix(w, "ch") || hasSuffix(w, "x") || hasSuffix(w, "zz")) {
			return w // classes, crashes, branches, indexes
		}
	}
	return word[:n-1]
}

// cut removes an ending if the rest can be a word.
func cut(word []byte, ending string) ([]byte, bool) {
	w := word[:max(0, len(word)-len(ending))]
	if len(w) < 3 || !hasSuffix(word, ending) {
		return word, false
	}
	for _, c := range w {
		switch c {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			return w, true
		}
	}
	return word, false
}

// single undoes the doubling of a consonant before an ending: planned.
func single(w []byte) []byte {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] {
		switch w[n-1] {
		case 'a', 'e', 'i', 'o', 'u', 'l', 's', 'z': // calling, passing
		default:
			return w[:n-1]
		}
	}
	return w
}

func hasSuffix(word []byte, s string) bool {
	return len(word) >= len(s) && string(word[len(word)-len(s):]) == s
}
