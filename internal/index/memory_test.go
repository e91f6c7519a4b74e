package index

import (
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

func TestShortenEndsWithAWholeCharacter(t *testing.T) {
	y := strings.Repeat("y", keptText-1)
	for in, want := range map[string]string{"": "", "y": "y", y + "y": y + "y", y + "é": y + "…", y + "yé": y + "y…"} {
		if got := shorten(in); got != want {
			t.Errorf("%d bytes become %d, want %d", len(in), len(got), len(want))
		}
	}
}

func TestTheTextsOfProblemsTakeMemory(t *testing.T) {
	without := &Entry{details: &details{}}
	for name, p := range map[string]problem.Problem{
		"key": {Key: strings.Repeat("x", entryMemory)}, "message": {Message: strings.Repeat("x", entryMemory)}, "suggestion": {Suggestion: strings.Repeat("x", entryMemory)},
	} {
		with := &Entry{details: &details{problems: []problem.Problem{p}}}
		if got := with.memory() - without.memory(); got < entryMemory || got > entryMemory+1<<10 {
			t.Errorf("a problem with a long %s takes %d bytes", name, got)
		}
	}
}

// An entry that needs more than entryMemory takes bytes from the shared memory.
// Without enough shared memory, the entry is cut, until memory is free.
func TestLimitMemory(t *testing.T) {
	long := strings.Repeat("y", 2*entryMemory)
	text := "---\nname: n\ndescription: " + long + "\nuser-invocable: false\nother: x\nname: again\n---\n"
	newEntry := func() *Entry {
		doc, _ := matter.Parse([]byte(text), true)
		return &Entry{Name: "a", Path: "skills/a/SKILL.md", text: long, details: &details{header: doc.Frontmatter, problems: doc.Problems}}
	}
	size := newEntry().memory()
	s := &scan{config: &Config{Layers: []Layer{{Name: "skills", Dir: "skills"}}}, index: new(Index)}
	s.index.free.Store(size + 1)

	small := &Entry{text: "d"}
	s.limitMemory(small)
	if !small.Whole() || small.get().shared != 0 || s.index.free.Load() != size+1 {
		t.Errorf("a small entry takes %d shared bytes", small.get().shared)
	}
	whole := newEntry()
	s.limitMemory(whole)
	if !whole.Whole() || whole.get().shared != size || s.index.free.Load() != 1 || whole.Description() != long {
		t.Errorf("an entry of %d bytes takes %d, and leaves %d", size, whole.get().shared, s.index.free.Load())
	}
	cut := newEntry()
	s.limitMemory(cut)
	if cut.Whole() || cut.get().shared != 0 || s.index.free.Load() != 1 || s.canRestore(cut) {
		t.Errorf("an entry without memory takes %d, and leaves %d", cut.get().shared, s.index.free.Load())
	}
	var fields []string
	for _, f := range cut.Header().Fields {
		fields = append(fields, f.Key+" "+f.Value.String())
	}
	want := []string{"name again", "description " + long[:keptText] + "…", "user-invocable false"}
	must.Match(t, "kept fields", want, fields)
	if len(cut.Problems()) != 1 || cut.Problems()[0].Code != problem.FrontmatterNotKept || cut.Problems()[0].Path != "skills/a/SKILL.md" || cut.Description() != long[:keptText]+"…" {
		t.Errorf("description of %d bytes, problems %v", len(cut.Description()), cut.Problems())
	}
	if cut.memory() > entryMemory {
		t.Errorf("a cut entry keeps %d bytes", cut.memory())
	}
	s.index.free.Add(size - 1)
	if !s.canRestore(cut) || s.canRestore(whole) {
		t.Error("only a cut entry can be restored")
	}
}
