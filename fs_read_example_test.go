package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

func ExampleCatalog_ReadFile() {
	c := source()
	defer c.Close()
	text, err := c.ReadFile(context.Background(), "src/tools/fmt.go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	fmt.Printf("%q\n", text.Text)
	fmt.Println(text.Total, text.LineEnding, text.Encoding)

	_, err = c.ReadFile(context.Background(), "src")
	fmt.Println(errors.Is(err, toolshelf.ErrFileRead), err)
	// Output:
	// 1	package tools
	// 2
	// 3	// Format does what its name says.
	// 4	func Format() {}
	// "package tools\n\n// Format does what its name says.\nfunc Format() {}\n"
	// 4 lf utf-8
	// true toolshelf: ReadFile: 'src/' is a directory, not a file; list the directory and choose a file (FILE_READ_ERROR)
}

func ExampleLines() {
	c := source()
	defer c.Close()
	for _, lines := range []toolshelf.ReadOption{toolshelf.Lines(1, 2), toolshelf.Lines(-1, 0)} {
		text, err := c.ReadFile(context.Background(), "src/tools/fmt.go", lines)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text)
	}
	// Output:
	// 1	package tools
	// 2
	// … and 2 more lines; continue with line 3
	// 4	func Format() {}
}

// The pages of a file, joined, are the file.
func ExampleMaxBytes() {
	c := source()
	defer c.Close()
	var whole strings.Builder
	for line := 1; line != 0; {
		page, err := c.ReadFile(context.Background(), "src/tools/fmt.go", toolshelf.MaxBytes(40), toolshelf.Lines(line, 0))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("lines %d to %d, %d bytes\n", page.First, page.Last, len(page.Text))
		whole.WriteString(page.Text)
		line = page.NextLine
	}
	fmt.Println(whole.Len(), "bytes")
	// Output:
	// lines 1 to 2, 15 bytes
	// lines 3 to 3, 35 bytes
	// lines 4 to 4, 17 bytes
	// 67 bytes
}

// A line that is longer than a page continues at a column.
func ExampleColumn() {
	c := open(toolshelf.WithFs(project(map[string]string{"data.json": `{"id":1,"name":"Ada"}` + "\n"})))
	defer c.Close()
	line, column := 1, int64(0)
	for line != 0 {
		page, err := c.ReadFile(context.Background(), "data.json", toolshelf.MaxBytes(10), toolshelf.Lines(line, 0), toolshelf.Column(column))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q\n", page.Text)
		line, column = page.NextLine, page.NextColumn
	}
	// Output:
	// "{\"id\":1,\"n"
	// "ame\":\"Ada\""
	// "}\n"
}
