package template

import "strings"

// Words splits a line at blanks and quotes, as a POSIX shell does (section 2.2 of the Shell Command
// Language), and expands nothing. Blanks are spaces, tabs and line breaks. A quote without a
// closing quote is a letter, and so is a backslash at the end. Each operator of a shell, such as
// "|" or "#", is a letter.
//
// The time is linear, because at most one search for each kind of closing quote fails: closingQuote
// and Words pair backslashes alike, so each later double quote is escaped.
func Words(line string) []string {
	var words []string
	var word []byte // of a word with quotes or backslashes
	for i := 0; i < len(line); {
		if n := blank(line[i:]); n > 0 {
			i += n
			continue
		}
		begin, n := i, strings.IndexAny(line[i:], " \t\r\n'\"\\")
		if i += n; n < 0 {
			i = len(line)
		}
		if n < 0 || blank(line[i:]) > 0 {
			words = append(words, line[begin:i])
			continue
		}
		word = append(word[:0], line[begin:i]...)
		isWord := i > begin // also an empty word, as in ""
		for i < len(line) && blank(line[i:]) == 0 {
			n, joins := 0, strings.HasPrefix(line[i:], "\\\n")
			word, n = appendPart(word, line[i:])
			i += n
			isWord = isWord || !joins
		}
		if isWord {
			words = append(words, string(word))
		}
	}
	return words
}

// appendPart appends the text of the character, the escape or the quotes at the beginning of s, and
// returns the length in s.
func appendPart(word []byte, s string) ([]byte, int) {
	rest := s[1:]
	switch {
	case s[0] == '\'':
		if end := strings.IndexByte(rest, '\''); end >= 0 {
			return append(word, rest[:end]...), end + 2
		}
	case s[0] == '"':
		if end := closingQuote(rest); end >= 0 {
			return appendUnescaped(word, rest[:end]), end + 2
		}
	case s[0] != '\\' || rest == "":
	case rest[0] == '\n': // joins two lines
		return word, 2
	default:
		return append(word, rest[0]), 2
	}
	return append(word, s[0]), 1
}

// blank returns the length of the blank at the beginning of s, or 0. A carriage return is a blank
// only in a line break of Windows.
func blank(s string) int {
	switch {
	case s[0] == ' ', s[0] == '\t', s[0] == '\n':
		return 1
	case strings.HasPrefix(s, "\r\n"):
		return 2
	}
	return 0
}

// closingQuote returns the index of the first double quote without a backslash, or -1.
func closingQuote(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// appendUnescaped appends the text between double quotes, where a backslash escapes only the
// characters that mean something to a shell.
func appendUnescaped(word []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			if i++; s[i] == '\n' { // joins two lines
				continue
			}
		}
		word = append(word, s[i])
	}
	return word
}
