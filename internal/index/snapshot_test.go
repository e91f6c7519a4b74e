package index

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// overlapping is two layers with the commands a (in both), b, c and d.
func overlapping(t *testing.T) (*Index, *Snapshot) {
	tr := tree{"one/a.md": "First.", "two/a.md": "Second.", "one/b.md": "---\nis_dependency: true\n---\n", "two/c.md": "", "two/d.md": "12345678901"}
	x := commandsOf(t, Config{MaxFileSize: 40}, confined(t)(confine.Over(tr.inMemory(t), "/")), "one", "two")
	return x, snapshotOf(t, x)
}

func TestLookup(t *testing.T) {
	x, s := overlapping(t)
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"a"}, "one/a.md"},
		{[]string{"b"}, "one/b.md"},
		{[]string{"c"}, "two/c.md"},
		{[]string{"none", "c"}, "two/c.md"},
		{[]string{"c", "a"}, "two/c.md"},
		{[]string{"none"}, ""},
		{nil, ""},
	} {
		got := ""
		if e := s.Lookup(tt.names...); e != nil {
			got = x.Place(e)
		}
		must.Equal(t, tt.names, tt.want, got)
	}
}

func TestWhere(t *testing.T) {
	_, s := overlapping(t)
	shown := s.Where(func(e *Entry) bool { return e.Name != "c" && e.Name != "b" })
	must.Match(t, "entries", []string{"a", "d"}, entryNames(shown.Entries))
	if shown.Lookup("c") != nil || shown.Lookup("b") != nil || shown.Lookup("a") != s.Lookup("a") {
		t.Error("Lookup finds a rejected entry, or not an accepted entry")
	}
	if shown.Generation != s.Generation || len(shown.Problems()) != 1 || len(shown.Shadows(s.Lookup("a"))) != 1 || !shown.HasFile(File{Layer: 1, Path: "two/c.md"}) {
		t.Error("the copy lacks the generation, problems, shadowed entries or files of the snapshot")
	}
	must.Match(t, "entries of the snapshot after Where", []string{"a", "c", "d"}, entryNames(s.Entries))
}

func TestFilesRangesOverEveryEntry(t *testing.T) {
	_, s := overlapping(t)
	must.Match(t, "files", []string{"a", "b", "a", "c", "d"}, entryNames(slices.Collect(s.Files())))
	for e := range s.Files() {
		if e.Name == "c" {
			break
		}
	}
}

func TestShadowsAndHas(t *testing.T) {
	x, s := overlapping(t)
	shadowed := s.Shadows(s.Lookup("a"))
	if len(shadowed) != 1 || x.Place(shadowed[0]) != "two/a.md" || s.Shadows(shadowed[0]) != nil || s.Shadows(s.Lookup("c")) != nil {
		t.Errorf("a shadows %q", entryNames(shadowed))
	}
	if !s.HasFile(File{Layer: 0, Path: "one/b.md"}) || !s.HasFile(File{Layer: 1, Path: "two/a.md"}) || s.HasFile(File{Layer: 0, Path: "two/a.md"}) || s.HasFile(File{Layer: 1, Path: "two/none.md"}) {
		t.Error("Has does not report the files of each layer")
	}
}

func TestHasSkill(t *testing.T) {
	tr := tree{"skills/a/SKILL.md": "", "skills/b/skill.md": "", "skills/c/notes.txt": "", "skills/web/deep/SKILL.md": ""}
	x := skillsOf(t, Config{Depth: 2}, confined(t)(confine.Over(tr.inMemory(t), "/")), "skills")
	s := snapshotOf(t, x)
	for dirPath, want := range map[string]bool{"skills/a": true, "skills/b": true, "skills/c": false, "skills/none": false, "skills/web": false, "skills/web/deep": true, "skills": false, ".": false} {
		must.Equal(t, dirPath, want, s.HasSkill(0, dirPath))
	}
}

func TestPlaceAndBelow(t *testing.T) {
	fsys := confined(t)(confine.Over(tree{"a.md": "", "x/y/b.md": "", "z/c d\n.md": ""}.inMemory(t), "/"))
	x := commandsOf(t, Config{Valid: func(string) bool { return true }, Layers: []Layer{
		{Name: "top", FS: fsys, Dir: "."}, {Name: "deep", FS: fsys, Dir: "x/y"}, {Name: "~/z", FS: fsys, Dir: "z"},
	}}, nil)
	s := snapshotOf(t, x)
	for name, want := range map[string][2]string{"a": {"top/a.md", "a.md"}, "b": {"deep/b.md", "b.md"}, "c d\n": {`~/z/c d\n.md`, "c d\n.md"}} {
		e := s.Lookup(name)
		must.Equal(t, name, want, [2]string{x.Place(e), x.Below(e)})
	}
	must.Equal(t, "layers", "deep", x.Layer(1).Name)
	must.Len(t, "layers", 3, x.Layers())
}

func TestSetText(t *testing.T) {
	long := strings.Repeat("y", keptText+1)
	for _, want := range [][2]string{
		{"", ""}, {"Does a.", ""}, {"", "<a>"}, {"Does a.", "[a] [b]"}, {long, ""}, {"Does a.", long},
	} {
		buffer := []byte(want[0])
		var e Entry
		e.setText(unsafe.String(unsafe.SliceData(buffer), len(buffer)), want[1])
		clear(buffer)
		must.Equal(t, "result", want, [2]string{e.Description(), e.Hint()})
	}
	var e Entry
	if e.setText("d", strings.Repeat("y", 1<<16)); e.Hint() != long[:keptText]+"…" || e.Description() != "d" {
		t.Errorf("a hint of 64 KiB: %d bytes, description %q", len(e.Hint()), e.Description())
	}
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
			must.Equal(t, name, tt.want, tt.e.Describes(tt.raw, tt.info))
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
			must.Equal(t, text, want, a.Describes(text, info))
		}
	})
}

func TestFindAgreesWithAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]*Entry{}
		var entries []*Entry
		for i := range rapid.IntRange(0, 200).Draw(t, "n") {
			e := &Entry{Path: "commands/" + strconv.Itoa(i)}
			entries, want[e.Path] = append(entries, e), e
		}
		f := newLayerFiles(entries, nil)
		for i := range 2*len(entries) + 1 {
			path := "commands/" + strconv.Itoa(i)
			if f.find(path, nil) != want[path] {
				t.Fatalf("find(%q) of %d entries is %v", path, len(entries), f.find(path, nil))
			}
		}
	})
	if e := new(layerFiles).find("a", nil); e != nil {
		t.Errorf("a layer before the first scan has %v", e)
	}
}

// The time to find an entry does not depend on the number of plugins that share the file.
func TestFilesOfManyPartsAreFarApart(t *testing.T) {
	var entries []*Entry
	for i := range 2000 {
		entries = append(entries, &Entry{Path: "commands/go.md", details: &details{part: newPart(Layer{}, partKey{plugin: strconv.Itoa(i)})}})
	}
	f := newLayerFiles(entries, nil)
	longest, run := 0, 0
	for _, slot := range f.slots {
		if run++; slot == 0 {
			run = 0
		}
		longest = max(longest, run)
	}
	if longest > 200 {
		t.Errorf("a find can look at %d entries", longest)
	}
	for _, e := range entries {
		if f.find(e.Path, e.Part()) != e {
			t.Fatalf("the entry of plugin %q is not found", e.Plugin())
		}
	}
}

func TestShortenEndsWithAWholeCharacter(t *testing.T) {
	y := strings.Repeat("y", keptText-1)
	for in, want := range map[string]string{"": "", "y": "y", y + "y": y + "y", y + "é": y + "…", y + "yé": y + "y…"} {
		must.Equal(t, "shorten", want, shorten(in))
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
