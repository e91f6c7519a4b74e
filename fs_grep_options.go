package toolshelf

import (
	"fmt"

	"github.com/toolshelf-go/toolshelf/internal/grep"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// A GrepOption is an option for one call of Grep. Some options are also options of ListDir,
// Tree and FindFiles, so a GrepOption is a DirOption.
type GrepOption = DirOption

// grepOptions are the options that only Grep accepts.
type grepOptions struct {
	option  string // name of the first option, for the error of another method
	pattern grep.Options
	files   []listing.Glob
	context int
	perFile int
}

// setGrep returns an option that only Grep accepts.
func setGrep(name string, set func(o *dirOptions)) GrepOption {
	return func(o *dirOptions) {
		if o.grep.option == "" {
			o.grep.option = name
		}
		set(o)
	}
}

// Literal searches for the text of the pattern: no character has a special meaning. Accepted by
// Grep.
func Literal() GrepOption {
	return setGrep("Literal", func(o *dirOptions) { o.grep.pattern.Literal = true })
}

// IgnoreCase ignores the letter case of the pattern (Unicode simple folding). Accepted by Grep.
func IgnoreCase() GrepOption {
	return setGrep("IgnoreCase", func(o *dirOptions) { o.grep.pattern.IgnoreCase = true })
}

// WholeWords requires that the characters before and after a match are not part of a word: not
// a letter, a mark or a digit of any script, and not "_". The beginning and the end of a line
// meet the requirement. Accepted by Grep.
func WholeWords() GrepOption {
	return setGrep("WholeWords", func(o *dirOptions) { o.grep.pattern.WholeWords = true })
}

// Files searches only files that match at least one of the globs. A glob without a slash matches
// names at any depth. A glob with a slash matches paths relative to the directory of the call.
// Syntax and errors are the syntax and the errors of Exclude. No glob means all files. Accepted by
// Grep.
func Files(globs ...string) GrepOption {
	return setGrep("Files", func(o *dirOptions) {
		for _, text := range globs {
			if o.err != nil {
				return
			}
			o.grep.files = append(o.grep.files, o.glob(text))
		}
	})
}

// maxContext limits Context, because a result has up to 2n+1 lines for each matching line.
const maxContext = 100

// Context returns up to n lines before and up to n lines after each matching line, n from 0 to
// 100. The default is 0. Another n is [ErrInvalidOption]. Accepted by Grep.
func Context(n int) GrepOption {
	return setGrep("Context", func(o *dirOptions) {
		if n < 0 || n > maxContext {
			o.fail(invalidOption(fmt.Sprintf("Context: %d lines; use 0 to %d", n, maxContext)))
		}
		o.grep.context = n
	})
}

// LimitPerFile sets the maximum number of matching lines that Grep returns for one file: the
// first lines of the file. Totals are not limited. The default, 0, means no limit. A negative n
// is [ErrInvalidOption]. Accepted by Grep.
func LimitPerFile(n int) GrepOption {
	return setGrep("LimitPerFile", func(o *dirOptions) {
		if n < 0 {
			o.fail(invalidOption(fmt.Sprintf("LimitPerFile: %d lines; use 1 or more, or 0 for no limit", n)))
		}
		o.grep.perFile = n
	})
}
