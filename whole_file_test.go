package toolshelf_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// A misstatingFs reports a wrong size of a file.
type misstatingFs struct {
	afero.Fs
	size int64
}

type misstatedFile struct {
	afero.File
	size int64
}

type misstatedInfo struct {
	fs.FileInfo
	size int64
}

func (i misstatedInfo) Size() int64 { return i.size }

func (f misstatedFile) Stat() (fs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil || info.IsDir() {
		return info, err
	}
	return misstatedInfo{info, f.size}, nil
}

func (f misstatingFs) Open(name string) (afero.File, error) {
	file, err := f.Fs.Open(name)
	return misstatedFile{file, f.size}, err
}

func (f misstatingFs) Stat(name string) (fs.FileInfo, error) {
	info, err := f.Fs.Stat(name)
	if err != nil || info.IsDir() {
		return info, err
	}
	return misstatedInfo{info, f.size}, nil
}

// TestAnySizeThatAFilesystemReports reads files with a reported size that exceeds the
// memory or the int of a 32-bit platform, but not the limit of the catalog.
func TestAnySizeThatAFilesystemReports(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
	for _, size := range []int64{math.MinInt64, -1, 0, math.MaxInt32, 3 << 30, 1 << 62, math.MaxInt64 - 1, math.MaxInt64} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			files := memoryOf(t, map[string]string{
				"commands/review.md": text, "skills/pdf/SKILL.md": text, "skills/pdf/.gitignore": strings.Repeat("#\n", 4096)})
			c := catalog(t, toolshelf.WithFs(misstatingFs{files, size}), toolshelf.WithMaxFileSize(math.MaxInt64))
			command, err := c.Get(t.Context(), "review")
			skill, skillErr := c.GetSkill(t.Context(), "pdf", toolshelf.Digests())
			raw, rawErr := c.ReadSkillFile(t.Context(), "pdf", "SKILL.md")
			if size >= math.MaxInt { // a slice of size+1 bytes is impossible
				for _, err := range []error{err, skillErr, rawErr} {
					if !errors.Is(err, toolshelf.ErrFileTooLarge) {
						t.Errorf("got %v, want FILE_TOO_LARGE", err)
					}
				}
			} else {
				if err := errors.Join(err, skillErr, rawErr); err != nil {
					t.Fatal(err)
				}
				if command.Content != "Read.\n" || skill.Content != "Read.\n" || string(raw) != text {
					t.Errorf("got %q, %q and %q", command.Content, skill.Content, raw)
				}
			}
			if _, err := c.Search(t.Context(), "pdf", 0); err != nil {
				t.Error(err)
			}
			if _, err := c.Lint(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := c.Tree(t.Context(), ".", toolshelf.Gitignore()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFileOfThreeGiB reads a file on the disk whose size exceeds the int of a 32-bit
// platform.
func TestFileOfThreeGiB(t *testing.T) {
	root := diskOf(t, map[string]string{"commands/small.md": "Small.", "commands/large.md": "Large."})
	if err := os.Truncate(filepath.Join(root, "commands", "large.md"), 3<<30); err != nil {
		t.Skip("no sparse file: ", err)
	}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithMaxFileSize(3<<30-1))
	list, err := c.List(t.Context(), toolshelf.Page{})
	if err != nil || len(list.Commands) != 1 {
		t.Errorf("got %v, %v; want the small file", list.Commands, err)
	}
	if _, err := c.Get(t.Context(), "large"); !errors.Is(err, toolshelf.ErrFileTooLarge) {
		t.Errorf("got %v, want FILE_TOO_LARGE", err)
	}
	info, err := c.Stat(t.Context(), "commands/large.md")
	if err != nil || info.Size != 3<<30 {
		t.Errorf("size %d, %v", info.Size, err)
	}
}

// TestAFileThatGrowsWhileItIsRead reads a command, a SKILL.md and a file of a
// skill that become longer than their reported size. The whole content is
// returned, up to WithMaxFileSize.
func TestAFileThatGrowsWhileItIsRead(t *testing.T) {
	const header, limit = "---\nname: a\ndescription: d\n---\n", 50_000
	for _, length := range []int{100, 5_000, limit, limit + 1, 2 * limit} {
		text := header + strings.Repeat("x", length-len(header))
		files := memoryOf(t, map[string]string{"commands/a.md": text, "skills/a/SKILL.md": text, "skills/a/x.txt": text})
		c := catalog(t, toolshelf.WithFs(misstatingFs{files, int64(len(header))}), toolshelf.WithMaxFileSize(limit))
		command, err := c.Get(t.Context(), "a")
		skill, skillErr := c.GetSkill(t.Context(), "a")
		raw, rawErr := c.ReadSkillFile(t.Context(), "a", "x.txt")
		if length > limit {
			for _, err := range []error{err, skillErr, rawErr} {
				if !errors.Is(err, toolshelf.ErrFileTooLarge) {
					t.Errorf("%d bytes: got %v, want FILE_TOO_LARGE", length, err)
				}
			}
			continue
		}
		if err := errors.Join(err, skillErr, rawErr); err != nil {
			t.Fatal(err)
		}
		if want := text[len(header):]; command.Content != want || skill.Content != want || string(raw) != text {
			t.Errorf("%d bytes: got %d, %d and %d bytes", length, len(command.Content), len(skill.Content), len(raw))
		}
	}
}

// TestAHeaderThatGrowsIsListedWhole lists a command and a skill whose header is
// longer than the reported size and than the first read.
func TestAHeaderThatGrowsIsListedWhole(t *testing.T) {
	text := "---\nname: a\nother: " + strings.Repeat("x", 10_000) + "\ndescription: d\n---\n"
	files := memoryOf(t, map[string]string{"commands/a.md": text, "skills/a/SKILL.md": text})
	c := catalog(t, toolshelf.WithFs(misstatingFs{files, 100}))
	if got := descriptions(t, c); !slices.Equal(got, []string{"d"}) {
		t.Errorf("commands with the descriptions %.40q", got)
	}
	skills, err := c.ListSkills(t.Context())
	if err != nil || len(skills) != 1 || skills[0].Description != "d" || skills[0].Diagnostics != nil {
		t.Errorf("skills: %+v, %v", skills, err)
	}
}

func descriptions(t *testing.T, c *toolshelf.Catalog) (all []string) {
	t.Helper()
	for info, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Description)
	}
	return all
}

func TestMaxFileSizeIsInclusive(t *testing.T) {
	for size, want := range map[int]error{9: nil, 10: nil, 11: toolshelf.ErrFileTooLarge} {
		c := catalog(t, toolshelf.WithMaxFileSize(10), toolshelf.WithFs(memoryOf(t, map[string]string{"commands/a.md": strings.Repeat("x", size)})))
		if _, err := c.Get(t.Context(), "a"); !errors.Is(err, want) {
			t.Errorf("%d bytes where 10 are allowed: %v, want %v", size, err, want)
		}
		if listed := len(names(t, c)) == 1; listed != (want == nil) {
			t.Errorf("%d bytes where 10 are allowed: listed is %v", size, listed)
		}
	}
}
