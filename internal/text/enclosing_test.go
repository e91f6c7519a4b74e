package text

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestEnclosingBlockOfALine(t *testing.T) {
	read := func(file string) string { return string(must.Get(os.ReadFile("testdata/" + file))(t)) }
	goFile, python := read("server.go.txt"), read("shelf.py.txt")
	c, ruby := read("add.c.txt"), read("shelf.rb.txt")
	for _, tt := range []struct{ name, text, line, first, last string }{
		{"the line of a struct", goFile, "type Server struct {", "type Server struct {", "}"},
		{"a field of a struct", goFile, "	Addr string", "type Server struct {", "}"},
		{"the empty line in a struct", goFile, "", "package p", ""},
		{"a comment above a block", goFile, "// A Server serves.", "// A Server serves.", "}"},
		{"the first line of a function", goFile, "func (s *Server) Serve(", "func (s *Server) Serve(", "}"},
		{"a parameter", goFile, "	l net.Listener,", "func (s *Server) Serve(", "}"},
		{"a case", goFile, "	case l == nil:", "func (s *Server) Serve(", "}"},
		{"a line in nested statements", goFile, "			s.log()", "func (s *Server) Serve(", "}"},
		{"an else", goFile, "		} else {", "func (s *Server) Serve(", "}"},
		{"a line outside all blocks", goFile, "var done = 1", "var done = 1", "var done = 1"},
		{"a statement of Python", python, "                print(page)", "    def add(self, book):", "        ]"},
		{"a method of Python", python, "    def drop(self):", "    def drop(self):", "        pass"},
		{"a class of Python", python, "class Shelf:", "class Shelf:", "        pass"},
		{"the body below parameters of Python", python, "        keep(self)", "    def lend(", "        keep(self)"},
		{"the end of parameters of Python", python, "    ) -> None:", "    def lend(", "        keep(self)"},
		{"the end of the parameters", goFile, ") error {", "func (s *Server) Serve(", "}"},
		{"a bracket on its own line", c, "{", "add(int a, int b)", "}"},
		{"a function with a bracket on its own line", c, "	return a + b;", "add(int a, int b)", "}"},
		{"the line above the bracket", c, "add(int a, int b)", "add(int a, int b)", "}"},
		{"a line of Ruby", ruby, "    book.each do |page|", "    book.each do |page|", "    end"},
		{"a method of Ruby", ruby, "  def add(book)", "  def add(book)", "  end"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := strings.Split(tt.text, "\n")
			at := -1
			for i, line := range lines {
				if line == tt.line && (at < 0 || tt.line == "") {
					at = i
					if tt.line == "" {
						break
					}
				}
			}
			if at < 0 {
				t.Fatal("no such line")
			}
			first, last := Enclosing(lines, at)
			if tt.line == "" {
				if first > at || last < at {
					t.Errorf("%d to %d lack the line %d", first, last, at)
				}
				return
			}
			if lines[first] != tt.first || lines[last] != tt.last || first > at || last < at {
				t.Errorf("%d %q to %d %q, want %q to %q", first, lines[first], last, lines[last], tt.first, tt.last)
			}
		})
	}
}

// Reading the long lines of these texts once for each visit exceeds every timeout.
func TestEnclosingReadsEachLineOnce(t *testing.T) {
	for _, tt := range []struct {
		name        string
		lines       []string
		first, last int
	}{
		{"a line of escaped quotation marks", []string{"func f() {", ` "` + strings.Repeat("\\\"", 2<<20), "}"}, 0, 2},
		{"a line of escaped quotation marks of two kinds", []string{"func f() {", " " + strings.Repeat("\\\"\\`", 1<<20), "}"}, 0, 2},
		{"many lines that open a block", slices.Repeat([]string{"f" + strings.Repeat(" ", 20_000) + "{"}, 4000), 0, 3999},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if first, last := Enclosing(tt.lines, len(tt.lines)-1); first != tt.first || last != tt.last {
				t.Errorf("the block is %d to %d, want %d to %d", first, last, tt.first, tt.last)
			}
		})
	}
}

// FuzzEnclosing checks that each block contains its line.
func FuzzEnclosing(f *testing.F) {
	f.Add("a {\n\tb\n}\n", 1)
	f.Add("}\n{\n  (\n", 2)
	f.Fuzz(func(t *testing.T, text string, at int) {
		lines := strings.Split(text, "\n")
		if at < 0 || at >= len(lines) || len(lines) > 200 {
			t.Skip("the fuzz target omits this input")
		}
		if first, last := Enclosing(lines, at); first < 0 || first > at || last < at || last >= len(lines) {
			t.Errorf("lines %d to %d of %d around %d", first, last, len(lines), at)
		}
	})
}
