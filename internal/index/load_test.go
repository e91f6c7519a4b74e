package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// TestFilesThatCannotBeRead scans layers with a fault: a call of an operation
// with a base name that fails once the scan has listed the directories.
func TestFilesThatCannotBeRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		skill bool
		depth int
		fault string
		err   error
		tree  tree
		want  string
	}{
		{name: "a command", fault: "open a.md", err: fs.ErrPermission, tree: tree{"layer/a.md": "", "layer/b.md": ""},
			want: "b layer/b.md; FILE_READ_ERROR layer/a.md"},
		{name: "the metadata of a command", fault: "stat a.md", err: fs.ErrPermission, tree: tree{"layer/a.md": "", "layer/b.md": ""},
			want: "b layer/b.md; FILE_READ_ERROR layer/a.md"},
		{name: "a command that has vanished", fault: "open a.md", err: fs.ErrNotExist, tree: tree{"layer/a.md": "", "layer/b.md": ""},
			want: "b layer/b.md"},
		{name: "a subdirectory of commands", fault: "open sub", err: fs.ErrPermission, tree: tree{"layer/sub/a.md": "", "layer/b.md": ""},
			want: "b layer/b.md; FOLDER_UNREADABLE layer/sub"},
		{name: "a subdirectory of commands that has vanished", fault: "open sub", err: fs.ErrNotExist, tree: tree{"layer/sub/a.md": "", "layer/b.md": ""},
			want: "b layer/b.md"},
		{name: "a SKILL.md", skill: true, fault: "open SKILL.md", err: fs.ErrPermission, tree: tree{"layer/a/SKILL.md": ""},
			want: "a layer/a/SKILL.md broken; FILE_READ_ERROR layer/a/SKILL.md"},
		{name: "the directory of a skill", skill: true, depth: 3, fault: "open a", err: fs.ErrPermission, tree: tree{"layer/a/SKILL.md": "", "layer/b/SKILL.md": ""},
			want: "a layer/a/SKILL.md broken; b layer/b/SKILL.md; FILE_READ_ERROR layer/a/SKILL.md"},
		{name: "the directory of a skill that has vanished", skill: true, fault: "open a", err: fs.ErrNotExist, tree: tree{"layer/a/SKILL.md": "", "layer/b/SKILL.md": ""},
			want: "b layer/b/SKILL.md"},
		{name: "a directory of skills", skill: true, depth: 3, fault: "open sub", err: fs.ErrPermission, tree: tree{"layer/web/sub/a/SKILL.md": "", "layer/web/b/SKILL.md": ""},
			want: "b layer/web/b/SKILL.md; sub layer/web/sub/SKILL.md broken; FILE_READ_ERROR layer/web/sub/SKILL.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := client.Commands
			if tt.skill {
				x = client.Skills
			}
			fsys := confined(t)(confine.Over(faulty{tt.tree.inMemory(t), func(op, name string) error {
				if op+path.Base(name) == tt.fault {
					return tt.err
				}
				return nil
			}}, "/"))
			expect(t, open(t, x, Config{Nested: true, Valid: func(string) bool { return true }, Broken: tt.skill, Depth: tt.depth}, fsys, []string{"layer"}), tt.want)
		})
	}
}

// A directory can become unreadable between the look for its SKILL.md and the
// search below.
func TestADirectoryThatTheSearchCannotRead(t *testing.T) {
	opens := 0
	fsys := confined(t)(confine.Over(faulty{tree{"skills/a/x/SKILL.md": "", "skills/b/y/SKILL.md": ""}.inMemory(t), func(op, name string) error {
		if op == "open " && path.Base(name) == "a" {
			if opens++; opens > 1 {
				return fs.ErrPermission
			}
		}
		return nil
	}}, "/"))
	x := skillsOf(t, Config{Depth: 2}, fsys, "skills")
	want := "a skills/a/SKILL.md broken; y skills/b/y/SKILL.md; FOLDER_UNREADABLE skills/a; SKILL_FILE_MISSING skills/a/SKILL.md"
	must.Match(t, "snapshot", splitLines(want), lines(x, snapshotOf(t, x)))
}

// Named pipes, sockets and devices are reported and never opened.
func TestSpecialFiles(t *testing.T) {
	files := fstest.MapFS{
		"commands/pipe.md": {Mode: fs.ModeNamedPipe}, "commands/socket.md": {Mode: fs.ModeSocket}, "commands/a.md": {},
		"skills/a/SKILL.md": {Mode: fs.ModeDevice}, "skills/b/SKILL.md": {}, "skills/b/pipe": {Mode: fs.ModeNamedPipe}, "skills/pipe": {Mode: fs.ModeNamedPipe},
	}
	fsys := confined(t)(confine.Over(afero.FromIOFS{FS: files}, "."))
	expect(t, commandsOf(t, Config{}, fsys, "commands"), "a commands/a.md; FILE_READ_ERROR commands/pipe.md; FILE_READ_ERROR commands/socket.md")
	x := skillsOf(t, Config{}, fsys, "skills")
	expect(t, x, "a skills/a/SKILL.md broken; b skills/b/SKILL.md; FILE_READ_ERROR skills/a/SKILL.md")
	must.Match(t, "files", splitLines("SKILL.md own; NOT_A_FILE skills/b/pipe"), list(t, openSkill(t, x, "b")))
}

// TestDescriptions loads files with a long header, a long first paragraph, or
// both, from a filesystem that reports the size of the files correctly, or any
// other size, as if the files grew or shrank while they are read.
func TestDescriptions(t *testing.T) {
	comment := "# " + strings.Repeat("c", 4000) + "\n"
	for name, tt := range map[string]struct{ text, want string }{
		"short header":           {"---\ndescription: d\n---\nBody.\n", "d"},
		"paragraph":              {"# Title\n\nFirst\nparagraph.\n\nSecond.\n", "First paragraph."},
		"header of 4 KB":         {"---\n# " + strings.Repeat("c", 4096-29) + "\ndescription: d\n---\n", "d"},
		"header of 5 KB":         {"---\n" + comment + comment[:1000] + "\ndescription: d\n---\nBody.\n", "d"},
		"header of 20 KB":        {"---\n" + strings.Repeat(comment, 5) + "description: d\n---\nBody.\n", "d"},
		"paragraph after 5 KB":   {"---\n" + comment + comment[:1000] + "\nx: y\n---\n\nFirst.\n", "First."},
		"description of 10 KB":   {"---\ndescription: " + strings.Repeat("y", 10_000) + "\n---\n", strings.Repeat("y", 10_000)},
		"no header, empty":       {"", ""},
		"description and header": {"---\ndescription: ' '\n---\nFirst.\n", "First."},
	} {
		for _, more := range []int{-1 << 20, -4096, -10, 0, 10, 4096, 1 << 20} {
			size := max(int64(len(tt.text)+more), 0)
			files := tree{"commands/a.md": tt.text}.inMemory(t)
			fsys := confined(t)(confine.Over(misstating{files, func(int64) int64 { return size }}, "/"))
			x := commandsOf(t, Config{MaxFileSize: 1 << 30}, fsys, "commands")
			for range 2 {
				e := snapshotOf(t, x).Lookup("a")
				if e.Description() != tt.want || len(e.Problems()) > 0 || e.Stamp.Size != size {
					t.Errorf("%s, reported with %d bytes instead of %d: the description is %.20q of %d bytes with the problems %v",
						name, size, len(tt.text), e.Description(), len(e.Description()), e.Problems())
				}
			}
		}
	}
}

// A misstating filesystem reports another size of files.
type misstating struct {
	afero.Fs
	size func(int64) int64
}

func (m misstating) Open(name string) (afero.File, error) {
	f, err := m.Fs.Open(name)
	return misstatedFile{f, m}, err
}

func (m misstating) Stat(name string) (fs.FileInfo, error) {
	fi, err := m.Fs.Stat(name)
	return misstatedInfo{fi, m}, err
}

type misstatedFile struct {
	afero.File
	fs misstating
}

func (f misstatedFile) Stat() (fs.FileInfo, error) {
	fi, err := f.File.Stat()
	return misstatedInfo{fi, f.fs}, err
}

type misstatedInfo struct {
	fs.FileInfo
	fs misstating
}

func (i misstatedInfo) Size() int64 { return i.fs.size(i.FileInfo.Size()) }

func TestTheEntryOfACommand(t *testing.T) {
	text := "---\ndescription: Does it.\ndisable-model-invocation: true\nname: other\n---\nBody.\n"
	root := tree{"commands/a.md": text, "commands/link.md": "-> a.md"}.onDisk(t)
	x := commandsOf(t, Config{}, confined(t)(confine.New(root)), "commands")
	s := snapshotOf(t, x)
	fi := must.Get(os.Stat(filepath.Join(root, "commands", "a.md")))(t)
	for _, name := range []string{"a", "link"} {
		e := s.Lookup(name)
		if e.Description() != "Does it." || !e.UserOnly || e.Dependency || e.Linked != (name == "link") || e.Stamp.Size != int64(len(text)) || !e.Stamp.Modified().Equal(fi.ModTime()) || !e.Whole() {
			t.Errorf("%s: %+v", name, e)
		}
		if e.Header().Fields != nil {
			t.Errorf("%s: the header is kept", name)
		}
	}
}

// A linked command changes with the target, and if the link leads to another
// file.
func TestALinkedCommandChanges(t *testing.T) {
	root := tree{"commands/a.md": "-> ../one.txt", "one.txt": "One.", "two.txt": "Two."}.onDisk(t)
	x := commandsOf(t, Config{}, confined(t)(confine.New(root)), "commands")
	link := filepath.Join(root, "commands", "a.md")
	for _, step := range []struct {
		want   string
		change func() error
	}{
		{"One.", func() error { return nil }},
		{"New.", func() error { return os.WriteFile(filepath.Join(root, "one.txt"), []byte("New."), 0o644) }},
		{"Two.", func() error { return errors.Join(os.Remove(link), os.Symlink(filepath.FromSlash("../two.txt"), link)) }},
		{"Own.", func() error { return errors.Join(os.Remove(link), os.WriteFile(link, []byte("Own."), 0o644)) }},
	} {
		must.Do(t, step.change())
		must.Equal(t, "the description", step.want, snapshotOf(t, x).Lookup("a").Description())
	}
}

// TestRetryPartial reads a file that was good before. Each read returns the next
// of reads, and then the last again.
func TestRetryPartial(t *testing.T) {
	broken := []problem.Problem{{}}
	good := &Entry{Stamp: stamp.Of(confine.Info{Size: 10, Ino: 1})}
	replaced := &Entry{Stamp: stamp.Of(confine.Info{Size: 12, Ino: 2}), details: &details{version: version{recent: true}}}
	empty := &Entry{Stamp: stamp.Of(confine.Info{Ino: 3}), details: &details{version: version{recent: true}}}
	emptyLater := &Entry{Stamp: stamp.Of(confine.Info{Ino: 3, Modified: written}), details: &details{version: version{recent: true}}}
	emptyLast := &Entry{Stamp: stamp.Of(confine.Info{Ino: 3, Changed: written}), details: &details{version: version{recent: true}}}
	old := &Entry{Stamp: stamp.Of(confine.Info{Ino: 4})}
	short := &Entry{Stamp: stamp.Of(confine.Info{Size: 20, Ino: 5}), details: &details{version: version{recent: true, short: true}}}
	faulty := &Entry{Stamp: stamp.Of(confine.Info{Size: 11, Ino: 6}), details: &details{problems: broken, version: version{recent: true}}}
	for _, tt := range []struct {
		name  string
		known *Entry
		reads []*Entry // nil is an error
		want  *Entry
		n     int // number of reads
	}{
		{"unchanged", good, []*Entry{good}, good, 1},
		{"replaced by a good file", good, []*Entry{replaced}, replaced, 1},
		{"empty for a moment", good, []*Entry{empty, replaced}, replaced, 2},
		{"shorter than its size for a moment", good, []*Entry{short, replaced}, replaced, 2},
		{"with a problem for a moment", good, []*Entry{faulty, faulty, replaced}, replaced, 3},
		{"empty and left so", good, []*Entry{empty}, empty, 1 + rereads},
		{"empty since long ago", good, []*Entry{old}, old, 1},
		{"with a problem and left so", good, []*Entry{faulty}, faulty, 1 + rereads},
		{"changing all the time", good, []*Entry{empty, emptyLater, empty, emptyLast}, good, 1 + rereads},
		{"gone", good, []*Entry{nil}, nil, 1},
		{"empty, then gone", good, []*Entry{empty, nil}, nil, 2},
		{"new", nil, []*Entry{empty}, empty, 1},
		{"broken before", &Entry{details: &details{broken: fs.ErrPermission}}, []*Entry{empty}, empty, 1},
		{"with a problem before", &Entry{details: &details{problems: broken}}, []*Entry{faulty}, faulty, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			begin := time.Now()
			got, err := (&scan{Source: access.Source{Context: t.Context()}}).retryPartial(tt.known, func() (*Entry, error) {
				e := tt.reads[min(n, len(tt.reads)-1)]
				if n++; e == nil {
					return nil, fs.ErrNotExist
				}
				return e, nil
			})
			if got != tt.want || n != tt.n || (err != nil) != (tt.want == nil) {
				t.Errorf("%s: %+v after %d reads, %v; want %+v after %d", tt.name, got, n, err, tt.want, tt.n)
			}
			must.Equal(t, tt.name, time.Duration(n-1)*rereadAfter, time.Since(begin))
		})
	}
}

func TestRetryPartialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	known := &Entry{Stamp: stamp.Of(confine.Info{Size: 10})}
	n := 0
	got, err := (&scan{Source: access.Source{Context: ctx}}).retryPartial(known, func() (*Entry, error) {
		n++
		cancel()
		return &Entry{details: &details{version: version{recent: true}}}, nil
	})
	if got != known || err != nil || n > 1 {
		t.Errorf("%+v, %v after %d reads", got, err, n)
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		t.Error(ctx.Err())
	}
}
