package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

const text = "---\nname: a\n---\nBody.\n"

// open opens the skill "a" with these files, and returns the filesystem and a Dir of the config.
func open(t *testing.T, files map[string]string, config index.Config) (afero.Fs, *Dir) {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, text := range files {
		write(t, fsys, name, text)
	}
	root := must.Get(confine.Over(fsys, "/"))(t)
	config.Layers, config.MaxFileSize = []index.Layer{{Name: "skills", FS: root, Dir: "skills"}}, 100
	x := must.Get(index.New(client.Skills, config))(t)
	s := must.Get(x.Snapshot(t.Context()))(t)
	opened := must.Get(x.OpenSkill(t.Context(), s.Lookup("a")))(t)
	d := (&Reader{MaxFileSize: config.MaxFileSize}).Of(opened)
	t.Cleanup(func() { d.Close(); x.Close(); root.Close() })
	return fsys, &d
}

func write(t *testing.T, fsys afero.Fs, name, text string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, "skills/a/"+name, []byte(text), 0o644))
}

func TestWholeHasTheTextTheFilesAndTheWantedDigests(t *testing.T) {
	files := map[string]string{"SKILL.md": text, "large": string(make([]byte, 101)), "x/one": "one"}
	sums := func(names ...string) (all []string) {
		for _, name := range names {
			sum := sha256.Sum256([]byte(files[name]))
			all = append(all, hex.EncodeToString(sum[:]))
		}
		return all
	}
	for _, tt := range []struct {
		name   string
		wanted Wanted
		sums   []string
		lost   int
	}{
		{"no digests", Wanted{}, nil, 0},
		{"digests, and a problem of the file that is too large", Wanted{Digests: true}, []string{sums("SKILL.md")[0], "", sums("x/one")[0]}, 1},
		{"digests within the limits", Wanted{Digests: true, Listed: true, MaxFiles: 3, MaxBytes: 1000}, []string{sums("SKILL.md")[0], "", sums("x/one")[0]}, 1},
		{"no digests beyond the number of files", Wanted{Digests: true, Listed: true, MaxFiles: 2, MaxBytes: 1000}, nil, 0},
		{"no digests beyond the number of bytes", Wanted{Digests: true, Listed: true, MaxFiles: 3, MaxBytes: 100}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, d := open(t, files, index.Config{})
			seen := 0
			d.Seen = func(text Text) { seen++ }
			w := must.Get(d.Whole(t.Context(), tt.wanted))(t)
			if diff := cmp.Diff(tt.sums, w.Sums); diff != "" || len(w.Lost) != tt.lost {
				t.Errorf("digests, %d problems (-want +got):\n%s", len(w.Lost), diff)
			}
			if len(w.Files) != 3 || w.Size != int64(len(text)+101+len("one")) || w.Content() != "Body.\n" || string(w.Bytes()) != text || seen != 1 {
				t.Errorf("got %d files, %d bytes, the text %q, and %d states", len(w.Files), w.Size, w.Bytes(), seen)
			}
		})
	}
}

func TestTextIsTheReasonOfAClientThatRejectsTheFile(t *testing.T) {
	reject := false
	fsys, d := open(t, map[string]string{"SKILL.md": text}, index.Config{Judge: func(index.Layer, string, string, []byte, matter.Document) []problem.Problem {
		if !reject {
			return nil
		}
		return []problem.Problem{{Message: "no"}}
	}})
	reject = true
	write(t, fsys, "SKILL.md", "---\nname: b\n---\nOther.\n")
	_, err := d.Text()
	_, wholeErr := d.Whole(t.Context(), Wanted{})
	for _, err := range []error{err, wholeErr} {
		if rejection := (*index.Rejection)(nil); !errors.As(err, &rejection) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestPathsOfFilesStayInTheSkill(t *testing.T) {
	_, d := open(t, map[string]string{"SKILL.md": text, "x/one": "one"}, index.Config{})
	for path, want := range map[string]error{
		"x/one": nil, "./x/../x/one": nil, "SKILL.md": nil,
		"../b/SKILL.md": confine.ErrEscape, "x/../../b": confine.ErrEscape, "/etc/passwd": confine.ErrEscape,
		"x": confine.ErrNotRegular, "x/one/": confine.ErrNotRegular, ".": confine.ErrNotRegular,
	} {
		raw, err := d.ReadFile(t.Context(), path)
		if !errors.Is(err, want) || want == nil && len(raw) == 0 {
			t.Errorf("%s: got %q, %v; want the error %v", path, raw, err, want)
		}
	}
}

func TestOpenFileReturnsFilesAndDirectories(t *testing.T) {
	_, d := open(t, map[string]string{"SKILL.md": text, "x/one": "one"}, index.Config{})
	file := must.Get(d.OpenFile(t.Context(), "x/one"))(t)
	if raw, err := io.ReadAll(file); err != nil || string(raw) != "one" {
		t.Errorf("the file has %q, %v", raw, err)
	}
	dir := must.Get(d.OpenFile(t.Context(), "x"))(t)
	if info, err := dir.Stat(); err != nil || !info.IsDir() || info.Name() != "x" {
		t.Errorf("the directory is %v, %v", info, err)
	}
	entries, err := d.ReadDir(t.Context(), ".")
	if err != nil || len(entries) != 2 || entries[0].Name() != "SKILL.md" || entries[1].Name() != "x" {
		t.Errorf("the entries are %v, %v", entries, err)
	}
}
