package toolshelf

import "github.com/toolshelf-go/toolshelf/internal/template"

// Args are the arguments of a command or a skill. A program that has no line, for example a server of
// the Model Context Protocol, sets List or Named.
type Args struct {
	Line  string            // the text of $ARGUMENTS; without Line, List joined by blanks
	List  []string          // by position
	Named map[string]string // by name
}

// ParseArgs splits the arguments that a user typed, the text after the name of a command. Line is
// the line, unchanged. Named is nil: a client that reads KEY=value finds the word in List.
//
// List has the words of the line, as a POSIX shell splits the line: at spaces, tabs and line breaks
// outside quotes. Between single quotes, each character stays. Between double quotes, a backslash
// escapes $, `, ", \ and a line break; elsewhere, any character. A quote without a closing quote is a
// letter, as in don't, and so is a backslash at the end. The words after such a quote are split by the
// same rules.
//
// ParseArgs expands nothing: variables, globs, operators and comments of a shell are text. The time
// is linear in the length of the line.
func ParseArgs(line string) Args {
	return Args{Line: line, List: template.Words(line)}
}
