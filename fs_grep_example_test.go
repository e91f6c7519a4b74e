package toolshelf_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolshelf-go/toolshelf"
)

func ExampleCatalog_Grep() {
	c := source()
	defer c.Close()
	found, err := c.Grep(context.Background(), ".", `^func \w+`, toolshelf.Files("*.go"), toolshelf.Context(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	match := found.Matches[0]
	fmt.Println(match.Path, match.Line, match.Column)

	_, err = c.Grep(context.Background(), ".", "Format(")
	fmt.Println(errors.Is(err, toolshelf.ErrInvalidPattern), err)
	// Output:
	// Found 1 line in 1 file matching '^func \w+':
	//
	//   src/tools/fmt.go-3- // Format does what its name says.
	//   src/tools/fmt.go:4: func Format() {}
	// src/tools/fmt.go 4 0
	// true toolshelf: Grep: invalid pattern 'Format(': missing closing ): Format(; to search for the text itself, use the literal option (INVALID_PATTERN)
}

func ExampleTextMatches_String() {
	c := source()
	defer c.Close()
	found, err := c.Grep(context.Background(), "src", "PACKAGE", toolshelf.Literal(), toolshelf.IgnoreCase(), toolshelf.Limit(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(found)
	fmt.Println(len(found.Matches), "of", found.Total)
	// Output:
	// Found 2 lines in 2 files matching 'PACKAGE':
	//
	//   src/tools/fmt.go:1: package tools
	//   … and 1 more line and 1 more file beyond 1 line; raise this limit, or narrow path, files or pattern
	// 1 of 2
}
