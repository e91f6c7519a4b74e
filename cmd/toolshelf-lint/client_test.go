package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAuthorsDocumentListsTheDirectoriesOfClients compares the table of clients in
// docs/authors.md with the clients.
func TestAuthorsDocumentListsTheDirectoriesOfClients(t *testing.T) {
	text, err := os.ReadFile("../../docs/authors.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	row := regexp.MustCompile("(?m)^\\| [^|]+ \\| `(\\w+)` \\| ([^|]+) \\| ([^|]+) \\|\r?$")
	names := func(cell string) (all string) {
		for _, match := range code.FindAllStringSubmatch(cell, -1) {
			all += match[1] + " "
		}
		return all
	}
	documented := map[string]string{}
	for _, cells := range row.FindAllStringSubmatch(string(text), -1) {
		documented[cells[1]] = names(cells[2]) + "and " + names(cells[3])
	}
	want := map[string]string{}
	for name, c := range clients {
		want[name] = strings.Join(slices.Concat(c.commands, []string{"and"}, c.skills, []string{""}), " ")
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("directories, -clients +docs/authors.md:\n%s", diff)
	}
}
