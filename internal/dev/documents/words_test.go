package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// The ceilings of the words of README.md and docs. A change may only lower a ceiling. The total has
// 45,000 words, and room for two capabilities with at most 1,000 words each: when a capability is
// in the documents, lower the total to the count.
const (
	maxWords       = 47_000
	maxWordsOfPage = 5_000
	maxReadmeLines = 120
)

func TestDocumentsAreShort(t *testing.T) {
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	total := 0
	for _, page := range append(pages, "README.md") {
		text := must.Get(os.ReadFile(page))(t)
		n := len(strings.Fields(string(text)))
		if total += n; n > maxWordsOfPage {
			t.Errorf("%s has %d words, the ceiling is %d: name a doc comment or a test in place of details", page, n, maxWordsOfPage)
		}
		if lines := strings.Count(string(text), "\n"); page == "README.md" && lines > maxReadmeLines {
			t.Errorf("%s has %d lines, the ceiling is %d", page, lines, maxReadmeLines)
		}
	}
	if total > maxWords {
		t.Errorf("README.md and docs have %d words, the ceiling is %d", total, maxWords)
	}
	t.Logf("README.md and docs have %d words", total)
}

// Each page of docs except the index begins with what the reader can do after the page.
func TestPagesBeginWithTheirUse(t *testing.T) {
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	use := regexp.MustCompile(`^# [^\n]+\n\n(?:With|After) this page (?:you|an operator) `)
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		if filepath.Base(page) != "README.md" && !use.MatchString(strings.ReplaceAll(string(text), "\r\n", "\n")) {
			t.Errorf("%s does not begin with what a reader can do with the page", page)
		}
	}
}

func TestImagesOfDocumentsHaveText(t *testing.T) {
	alt := regexp.MustCompile(`\balt="[^"]+"`)
	for _, d := range documents(t) {
		for _, image := range regexp.MustCompile(`<img[^>]*>|!\[\]\(`).FindAllString(string(d.source), -1) {
			if !alt.MatchString(image) {
				t.Errorf("%s: the image %s has no text", d.file, image)
			}
		}
	}
}
