package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
	"golang.org/x/mod/zip"
)

const repository = "github.com/toolshelf-go/toolshelf"

// A stage is a copy of the repository in which the modules have the version of the release.
type stage struct {
	version string
	temp    string // has tree and proxy
	tree    string
	proxy   string
	written map[string][]byte // the changed files, by path relative to the tree
	modules []*stagedModule   // each after the modules that it requires
	env     []string
}

// A stagedModule is a directory with a go.mod file.
type stagedModule struct {
	dir      string // relative to the tree
	file     *modfile.File
	released bool // programs can require the module: nothing in go.mod is replaced
}

// ours reports whether the repository has the module or the package.
func ours(path string) bool { return path == repository || strings.HasPrefix(path, repository+"/") }

// required returns the modules of the repository that the module requires.
func (m *stagedModule) required() (paths []string) {
	for _, r := range m.file.Require {
		if ours(r.Mod.Path) {
			paths = append(paths, r.Mod.Path)
		}
	}
	return paths
}

// copyTree copies the files that git tracks or would add.
func (s *stage) copyTree() error {
	files, err := output("", nil, "git", "ls-files", "-z", "--cached", "--others",
		"--exclude-standard")
	if err != nil {
		return err
	}
	for file := range strings.SplitSeq(strings.TrimSuffix(string(files), "\x00"), "\x00") {
		if err := copyFile(filepath.Join(s.tree, file), file); err != nil {
			return err
		}
	}
	return nil
}

// setVersions sets the version of the modules of the repository in each go.mod file and in the
// replacements of each go.work file, and finds the order of the modules.
func (s *stage) setVersions() error {
	s.written = map[string][]byte{}
	byPath := map[string]*stagedModule{}
	err := filepath.WalkDir(s.tree, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.Name() != "go.mod" && entry.Name() != "go.work" {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.tree, file)
		if err != nil {
			return err
		}
		if entry.Name() == "go.work" {
			return s.setWorkspace(name, data)
		}
		m, err := s.setModule(name, data)
		if err == nil {
			byPath[m.file.Module.Mod.Path] = m
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.order(byPath)
}

// setWorkspace sets the version in the replacements of a go.work file.
func (s *stage) setWorkspace(name string, data []byte) error {
	work, err := modfile.ParseWork(name, data, nil)
	if err != nil {
		return err
	}
	for _, r := range work.Replace {
		if i := slices.Index(r.Syntax.Token, r.Old.Version); i >= 0 {
			r.Syntax.Token[i] = s.version
		}
	}
	return s.write(name, modfile.Format(work.Syntax), data)
}

// setModule sets the version of the modules of the repository in a go.mod file.
func (s *stage) setModule(name string, data []byte) (*stagedModule, error) {
	parsed, err := modfile.Parse(name, data, nil)
	if err != nil {
		return nil, err
	}
	m := &stagedModule{dir: filepath.ToSlash(filepath.Dir(name)), file: parsed}
	if want := path.Join(repository, m.dir); parsed.Module.Mod.Path != want {
		return nil, fmt.Errorf("%s: the module is %s, want %s", name, parsed.Module.Mod.Path, want)
	}
	for _, other := range m.required() {
		if err := parsed.AddRequire(other, s.version); err != nil {
			return nil, err
		}
	}
	return m, s.write(name, modfile.Format(parsed.Syntax), data)
}

// order finds the order of the modules: each after the modules that the module requires.
func (s *stage) order(byPath map[string]*stagedModule) error {
	var add func(path string, from []string) error
	add = func(path string, from []string) error {
		m := byPath[path]
		if m == nil || slices.Contains(from, path) {
			return fmt.Errorf("%s requires %s: no such module, or a cycle",
				strings.Join(from, " requires "), path)
		}
		if slices.Contains(s.modules, m) {
			return nil
		}
		for _, required := range m.required() {
			if err := add(required, append(from, path)); err != nil {
				return err
			}
		}
		s.modules = append(s.modules, m)
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		if err := add(path, nil); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the tree, and remembers a file whose content changes.
func (s *stage) write(name string, data, before []byte) error {
	if bytes.Equal(data, before) {
		return nil
	}
	s.written[name] = data
	return os.WriteFile(filepath.Join(s.tree, name), data, 0o644)
}

// publish makes the zip file of each released module, and writes the checksums of the module into
// the go.sum files of the modules that require the module.
func (s *stage) publish() error {
	license, err := os.ReadFile(filepath.Join(s.tree, "LICENSE"))
	if err != nil {
		return err
	}
	sums := map[string][]string{} // the lines of go.sum, by module path
	for _, m := range s.modules {
		if m.released = released(m.dir); !m.released {
			continue
		}
		if len(m.file.Replace) > 0 {
			return fmt.Errorf("%s/go.mod replaces %s; the go command ignores the line in programs that "+
				"require the module", m.dir, m.file.Replace[0].Old.Path)
		}
		dir := filepath.Join(s.tree, m.dir)
		if err := s.sum(m, sums); err != nil {
			return err
		}
		// The go command adds the license of the repository to the zip file of a module without a
		// license.
		if _, err := os.Stat(filepath.Join(dir, "LICENSE")); err != nil {
			if err := os.WriteFile(filepath.Join(dir, "LICENSE"), license, 0o644); err != nil {
				return err
			}
		}
		v := module.Version{Path: m.file.Module.Mod.Path, Version: s.version}
		lines, err := s.serve(v, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", v, err)
		}
		sums[v.Path] = lines
	}
	return nil
}

// released reports whether programs can require the module of a directory. The other modules are
// examples, tests and tools of the repository.
func released(dir string) bool {
	top, _, _ := strings.Cut(dir, "/")
	return top != "examples" && top != "internal" && path.Base(dir) != "servertest"
}

// sum writes the checksums of the modules of the repository into the go.sum file of a module.
func (s *stage) sum(m *stagedModule, sums map[string][]string) error {
	name := path.Join(m.dir, "go.sum")
	before, err := os.ReadFile(filepath.Join(s.tree, name))
	if err != nil {
		return err
	}
	var lines []string
	for line := range strings.Lines(string(before)) {
		if path, _, _ := strings.Cut(line, " "); !ours(path) {
			lines = append(lines, line)
		}
	}
	for _, path := range m.required() {
		lines = append(lines, sums[path]...)
	}
	slices.SortFunc(lines, func(a, b string) int { // the order of the go command
		x, y := strings.Fields(a), strings.Fields(b)
		versionX, fileX, _ := strings.Cut(x[1], "/")
		versionY, fileY, _ := strings.Cut(y[1], "/")
		if c := strings.Compare(x[0], y[0]); c != 0 {
			return c
		} else if c := semver.Compare(versionX, versionY); c != 0 {
			return c
		}
		return strings.Compare(fileX, fileY)
	})
	return s.write(name, []byte(strings.Join(lines, "")), before)
}

// serve writes the files of the proxy for a version of a module, and returns the lines of go.sum.
func (s *stage) serve(v module.Version, dir string) ([]string, error) {
	at := filepath.Join(s.proxy, v.Path, "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return nil, err
	}
	goMod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{
		"list":              []byte(v.Version + "\n"),
		v.Version + ".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, v.Version),
		v.Version + ".mod":  goMod,
	} {
		if err := os.WriteFile(filepath.Join(at, name), content, 0o644); err != nil {
			return nil, err
		}
	}
	file, err := os.Create(filepath.Join(at, v.Version+".zip"))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := zip.CreateFromDir(file, v, dir); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	zipSum, err := dirhash.HashZip(file.Name(), dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	modSum, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(goMod)), nil
	})
	return []string{
		v.Path + " " + v.Version + " " + zipSum + "\n",
		v.Path + " " + v.Version + "/go.mod " + modSum + "\n",
	}, err
}
