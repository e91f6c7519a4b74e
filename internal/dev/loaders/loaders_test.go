package loaders

import (
	"net/url"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestCasesHaveASourceAndAReason checks the form of the cases, which other loaders' authors may
// read without the code.
func TestCasesHaveASourceAndAReason(t *testing.T) {
	all := Cases(t)
	if len(all) < 300 {
		t.Errorf("%d cases, want 300", len(all))
	}
	seen := map[string]bool{}
	for _, c := range all {
		name := c.Group + ": " + c.Name
		if seen[name] {
			t.Errorf("%s: the name occurs twice", name)
		}
		seen[name] = true
		must.Equal(t, name, "https", must.Get(url.Parse(c.Source))(t).Scheme)
		if !strings.HasSuffix(c.Reason, ".") || strings.Count(c.Reason, " ") < 3 {
			t.Errorf("%s: reason %q is no sentence", name, c.Reason)
		}
		if len(c.files) == 0 {
			t.Errorf("%s: no files", name)
		}
	}
}

// different has the cases in which the library differs from the case, with the reason.
var different = map[string]string{
	"encodings: only CR as line break": "the body is a part of the bytes of the file, and no public file has such line breaks",
}

func TestToolshelfIsRightInEachCase(t *testing.T) {
	for _, c := range Cases(t) {
		t.Run(c.Group+"/"+c.Name, func(t *testing.T) {
			dir := t.TempDir()
			if err := c.Write(dir); err != nil {
				if strings.Contains(err.Error(), "symlink") {
					t.Skip("the system has no symbolic links: ", err)
				}
				t.Fatal(err)
			}
			verdict, text := c.Judge(Toolshelf(), dir)
			if _, differs := different[c.Group+": "+c.Name]; (verdict == Right) == differs {
				t.Errorf("%s: %s", verdict, text)
			}
		})
	}
}
