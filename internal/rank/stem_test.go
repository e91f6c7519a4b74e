package rank

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"
	"pgregory.net/rapid"
)

// Another implementation of Porter2 finds the same stem of every word.
func TestStemAgreesWithSnowball(t *testing.T) {
	checkStem := func(t interface{ Errorf(string, ...any) }, word string) {
		if got, want := string(stem([]byte(word))), english.Stem(word, true); got != want {
			t.Errorf("%s is %q, want %q", word, got, want)
		}
	}
	t.Run("endings", func(t *testing.T) {
		parts := strings.Fields("a e i o u y b d l r s t st pl gener commun arsen run hop y cr Y at bl iz ed ing ingly edly eed eedly s es ies ied us ss sses " +
			"tional enci anci izer ational ation ator alism aliti alli fulness ousli ousness iveness iviti biliti bli ogi logi fulli lessli li abli entli " +
			"alize icate iciti ical ful ness ative al ance ence er ic able ible ant ement ment ent ism ate iti ous ive ize ion sion tion e ll")
		rapid.Check(t, func(t *rapid.T) {
			checkStem(t, strings.ToLower(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 5).Draw(t, "parts"), "")))
		})
	})
	t.Run("corpus", func(t *testing.T) {
		dir := os.Getenv("TOOLSHELF_CORPUS")
		if dir == "" {
			t.Skip("TOOLSHELF_CORPUS is not set; set the variable to a directory of public command and skill files")
		}
		seen := map[string]bool{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
				return err
			}
			data, err := os.ReadFile(path)
			for _, w := range strings.FieldsFunc(strings.ToLower(string(data)), func(r rune) bool { return r < 'a' || r > 'z' }) {
				if !seen[w] {
					seen[w] = true
					checkStem(t, w)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d words", len(seen))
	})
}

// BenchmarkStem compares the time of a stem with the time of another implementation.
func BenchmarkStem(b *testing.B) {
	words := strings.Fields("analyze meetings logged generating queries architecture the documentation sensational review optimized happily deployments")
	b.Run("ours", func(b *testing.B) {
		var buf []byte
		for i := 0; b.Loop(); i++ {
			buf = stem(append(buf[:0], words[i%len(words)]...))
		}
	})
	b.Run("snowball", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			english.Stem(words[i%len(words)], true)
		}
	})
}
