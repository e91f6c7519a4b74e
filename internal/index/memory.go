package index

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// The bounds of the memory for headers. An entry is always whole if its
// description, header and problems need at most entryMemory bytes. The larger
// entries of an index share sharedMemory bytes. After these bytes are used, a
// larger entry keeps only keptFields, each cut to keptText bytes. Public headers need 3 KB at most.
const (
	entryMemory  = 4 << 10
	sharedMemory = 32 << 20
	keptText     = 1 << 10
)

// keptFields are the fields that lists and prompt blocks depend on. Without the field tools, an
// agent would have all tools.
var keptFields = [...]string{"name", "description", "disable-model-invocation", "user-invocable", "argument-hint", "tools", "model"}

// limitMemory cuts an entry if the index has no room for the whole entry.
func (s *scan) limitMemory(e *Entry) {
	size := e.memory()
	if size <= entryMemory {
		return
	}
	if s.index.free.Add(-size) >= 0 {
		e.set().shared = size
		return
	}
	s.index.free.Add(size)
	d := e.set()
	d.missing = size
	e.Name = strings.Clone(e.Name) // the name can be a part of the header
	e.setText(shorten(e.Description()), shorten(e.Hint()))
	header := matter.Frontmatter{Format: d.header.Format}
	for _, key := range keptFields {
		if v, ok := d.header.Get(key); ok {
			v = matter.Value{Kind: matter.String, Text: shorten(v.String())}
			header.Fields = append(header.Fields, matter.Field{Key: key, Value: v})
		}
	}
	d.header = header
	d.problems = []problem.Problem{{
		Code: problem.FrontmatterNotKept, Severity: problem.Warning, Path: s.place(e.Path),
		Message: fmt.Sprintf("lists contain the first %d bytes of the description and few other fields, "+
			"because the large frontmatters of the catalog exceed %d MB", keptText, sharedMemory>>20),
		Suggestion: fmt.Sprintf("shorten the frontmatter to less than %d KB", entryMemory>>10)}}
}

// canRestore reports whether the index now has room for the whole of an entry
// that limitMemory has cut.
func (s *scan) canRestore(e *Entry) bool { return !e.Whole() && e.get().missing <= s.index.free.Load() }

// shorten cuts a text to keptText bytes. The result shares no memory with text.
func shorten(text string) string { return strings.Clone(escape.Cut(text, keptText)) }

// Whole reports whether the entry has the whole header of its file.
func (e *Entry) Whole() bool { return e.get().missing == 0 }

// memory estimates the bytes that an entry keeps of its file.
func (e *Entry) memory() int64 {
	size := len(e.text) + e.get().header.Memory()
	for _, p := range e.Problems() {
		size += int(unsafe.Sizeof(p)) + len(p.Key) + len(p.Message) + len(p.Suggestion)
	}
	return int64(size)
}
