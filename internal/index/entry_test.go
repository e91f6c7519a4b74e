package index

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

func TestSetText(t *testing.T) {
	long := strings.Repeat("y", keptText+1)
	for _, want := range [][4]string{
		{"a", "commands/a.md", "Does a.", ""},
		{"a", "a.md", "", ""},
		{"a", "a.md", "", "<a>"},
		{"x:a", "commands/x/a.md", "Does a.", ""},
		{"x:a", "commands/x/a.md", "Does a.", "[a] [b]"},
		{"a", "commands/a.md", long, ""},
		{"a", "commands/a.md", "Does a.", long},
		{"x:a", "commands/x/a.md", long, "[a]"},
	} {
		var e Entry
		e.setText(want[0], want[1], want[2], want[3])
		must.Equal(t, "result", want, [4]string{e.Name, e.Path, e.Description(), e.Hint()})
	}
	var e Entry
	if e.setText("a", "a.md", "d", strings.Repeat("y", 1<<16)); e.Hint() != long[:keptText]+"…" || e.Description() != "d" {
		t.Errorf("a hint of 64 KiB: %d bytes, description %q", len(e.Hint()), e.Description())
	}
}

// Callers may keep a name, and a name keeps its whole allocation in memory.
func TestNamesDoNotKeepLongDescriptions(t *testing.T) {
	const n, length = 100, 60_000
	var names []string
	before := heap()
	for range n {
		var e Entry
		e.setText("a", "commands/a.md", strings.Repeat("y", length), "")
		names = append(names, e.Name)
	}
	if kept := heap() - before; kept > n*length/2 {
		t.Errorf("%d names keep %d bytes", len(names), kept)
	}
	runtime.KeepAlive(names)
}

// A catalog has an Entry for each file. 112 bytes are a size of the allocator; the
// next size is 128 bytes.
func TestEntryIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(Entry{}); size > 112 {
		t.Errorf("an Entry has %d bytes", size)
	}
}

// An entry describes only the bytes that the scan has parsed, also if the metadata is the same: a
// program can rewrite the file between the stat and the read.
func TestAnEntryDescribesTheBytesOfItsScan(t *testing.T) {
	text := "---\nname: a\ndescription: Does it.\n---\nBody.\n"
	broken := "---\nname: [\ndescription: Does it.\n---\nBody.\n"
	files := tree{"skills/a/SKILL.md": text, "skills/b/SKILL.md": broken, "skills/c/SKILL.md": "Text.\n"}
	onEveryFilesystem(t, files, nil, func(t *testing.T, fsys *confine.FS) {
		s := snapshotOf(t, skillsOf(t, Config{}, fsys, "skills"))
		info, err := fsys.Info("skills/a/SKILL.md")
		other, otherErr := fsys.Info("skills/b/SKILL.md")
		plain, plainErr := fsys.Info("skills/c/SKILL.md")
		if err != nil || otherErr != nil || plainErr != nil {
			t.Fatal(err, otherErr, plainErr)
		}
		larger := info
		larger.Size++
		a, b, c := s.Lookup("a"), s.Lookup("b"), s.Lookup("c")
		inHead := a.get().version.parsed >= strings.Index(text, "Body")
		for name, tt := range map[string]struct {
			e    *Entry
			raw  string
			info confine.Info
			want bool
		}{
			"the file":                {a, text, info, true},
			"another body":            {a, strings.Replace(text, "Body", "Text", 1), info, !inHead},
			"another description":     {a, strings.Replace(text, "Does", "Gets", 1), info, false},
			"fewer bytes":             {a, text[:10], info, false},
			"other metadata":          {a, text, larger, false},
			"an entry with a problem": {b, broken, other, false},
			"no frontmatter":          {c, "Text.\n", plain, false},
			"bytes that are no text":  {a, text + "\xff", info, false},
		} {
			if got := tt.e.Describes(tt.raw, tt.info); got != tt.want {
				t.Errorf("%s: Describes is %t", name, got)
			}
		}
	})
}

// A program can cut or rewrite a file between the stat and the read of the file.
func TestMetadataAloneDescribesNoBytes(t *testing.T) {
	info := confine.Info{Size: 46, Modified: written, Changed: written, Dev: 1, Ino: 2}
	e := &Entry{Stamp: stamp.Of(info), settled: true, details: &details{body: 30, header: matter.Frontmatter{Format: matter.YAML}}}
	if e.Describes("---\nname: a\n---\n", info) {
		t.Error("Describes is true without a comparison of the bytes")
	}
}

// The read of a half-written file can end in the line of the closing fence.
func TestAnEntryDescribesNoLongerFenceLine(t *testing.T) {
	half := "---\nname: a\n---"
	files := tree{"skills/a/SKILL.md": half}
	onEveryFilesystem(t, files, nil, func(t *testing.T, fsys *confine.FS) {
		a := snapshotOf(t, skillsOf(t, Config{}, fsys, "skills")).Lookup("a")
		info := must.Get(fsys.Info("skills/a/SKILL.md"))(t)
		for text, want := range map[string]bool{half: true, half + " b\n---\n": false} {
			if got := a.Describes(text, info); got != want {
				t.Errorf("%q: Describes is %t", text, got)
			}
		}
	})
}
