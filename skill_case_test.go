package toolshelf_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// A foldingFs finds files whatever the letter case of the path, as the usual
// filesystems of macOS and Windows do.
type foldingFs struct{ afero.Fs }

// spelled returns the path as the directories spell the path's elements.
func (f foldingFs) spelled(name string) string {
	name = path.Clean(filepath.ToSlash(name))
	dir, base := path.Split(name)
	if name == "." || base == "" {
		return name
	}
	dir = f.spelled(path.Clean(dir))
	entries, _ := afero.ReadDir(f.Fs, dir)
	for _, entry := range entries {
		if entry.Name() == base {
			return path.Join(dir, base)
		}
	}
	for _, entry := range entries {
		if strings.EqualFold(entry.Name(), base) {
			return path.Join(dir, entry.Name())
		}
	}
	return path.Join(dir, base)
}

func (f foldingFs) Open(name string) (afero.File, error)  { return f.Fs.Open(f.spelled(name)) }
func (f foldingFs) Stat(name string) (fs.FileInfo, error) { return f.Fs.Stat(f.spelled(name)) }
func (f foldingFs) ReadlinkIfPossible(n string) (string, error) {
	return f.Fs.(afero.LinkReader).ReadlinkIfPossible(f.spelled(n))
}
func (f foldingFs) LstatIfPossible(n string) (fs.FileInfo, bool, error) {
	if l, ok := f.Fs.(afero.Lstater); ok {
		return l.LstatIfPossible(f.spelled(n))
	}
	info, err := f.Stat(n)
	return info, false, err
}

func TestSkillFileOnAFilesystemThatIgnoresLetterCase(t *testing.T) {
	const text = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n"
	digest := sha256.Sum256([]byte(text))
	for _, name := range []string{"SKILL.md", "skill.md", "Skill.md"} {
		for _, place := range []string{"memory", "disk", "link"} {
			t.Run(place+"/"+name, func(t *testing.T) {
				files := map[string]string{"skills/pdf/" + name: text, "skills/pdf/z.txt": "a"}
				var options []toolshelf.Option
				switch place {
				case "memory":
					options = append(options, toolshelf.WithFs(foldingFs{memoryOf(t, files)}))
				case "link":
					if runtime.GOOS == "windows" {
						t.Skip("a link needs a privilege on Windows")
					}
					delete(files, "skills/pdf/"+name)
					files["shared/pdf.md"] = text
					fallthrough
				default:
					root := diskOf(t, files)
					if place == "link" {
						if err := os.Symlink("../../shared/pdf.md", filepath.Join(root, "skills", "pdf", name)); err != nil {
							t.Fatal(err)
						}
					}
					options = append(options, toolshelf.WithFs(foldingFs{afero.NewOsFs()}), toolshelf.WithRoot(root))
				}
				c := catalog(t, options...)
				for _, o := range [][]toolshelf.SkillOption{nil, {toolshelf.Digests()}, nil} {
					skill, err := c.GetSkill(t.Context(), "pdf", o...)
					if err != nil {
						t.Fatal(err)
					}
					own := toolshelf.SkillFile{Path: name, Size: int64(len(text))}
					other := toolshelf.SkillFile{Path: "z.txt", Size: 1}
					if o != nil {
						sum := sha256.Sum256([]byte("a"))
						own.SHA256, other.SHA256 = hex.EncodeToString(digest[:]), hex.EncodeToString(sum[:])
					}
					want := []toolshelf.SkillFile{own, other}
					if diff := cmp.Diff(want, skill.Files); diff != "" {
						t.Errorf("files (-want +got):\n%s", diff)
					}
					if skill.Content != "Read.\n" || filepath.Base(skill.Path) != name || len(skill.Diagnostics) > 0 {
						t.Errorf("content %q, path %q, diagnostics %v", skill.Content, skill.Path, skill.Diagnostics)
					}
					if prompt := skill.Prompt(); strings.Contains(prompt, "<file>"+name) || !strings.Contains(prompt, "<file>z.txt") {
						t.Errorf("the prompt lists SKILL.md itself, or not the other file:\n%s", prompt)
					}
				}
				for _, spelling := range []string{name, "SKILL.md", "skill.md"} {
					if got, err := c.ReadSkillFile(t.Context(), "pdf", spelling); string(got) != text {
						t.Errorf("ReadSkillFile(%s) = %q, %v", spelling, got, err)
					}
				}
				skills, err := c.ListSkills(t.Context())
				if err != nil || len(skills) != 1 || skills[0].Description != "Reads PDF files." || filepath.Base(skills[0].Path) != name {
					t.Errorf("ListSkills = %+v, %v", skills, err)
				}
				if skills := collected(t, c.Skills(t.Context())); len(skills) != 1 || filepath.Base(skills[0].Path) != name || skills[0].Content != "Read.\n" {
					t.Errorf("Skills = %+v", skills)
				}
				prompt, err := c.SkillsPrompt(t.Context(), toolshelf.PromptLocations())
				if err != nil || !strings.Contains(prompt.Text, "/"+name+"</location>") {
					t.Errorf("SkillsPrompt = %+v, %v", prompt, err)
				}
			})
		}
	}
}
