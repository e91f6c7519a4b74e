package plugins

import (
	_ "embed"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing/fstest"
)

//go:embed testdata/marketplace.txtar
var archive string

//go:embed testdata/entries.txt
var entries string

// Want returns the lines of testdata/entries.txt, which a person maintains: kind, name and path.
func Want() []string { return strings.Split(strings.TrimSuffix(entries, "\n"), "\n") }

// Line returns the line of an entry in the form of [Want].
func (e Entry) Line() string { return e.Kind + "\t" + e.Name + "\t" + e.Path }

// Files returns the files of the marketplace in testdata/marketplace.txtar, without the links. The
// name of a link is "name -> target".
func Files() fstest.MapFS {
	files, name := fstest.MapFS{}, ""
	for line := range strings.Lines(strings.ReplaceAll(archive, "\r\n", "\n")) {
		if n, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(n, " --\n") {
			name = strings.TrimSuffix(n, " --\n")
			files[name] = &fstest.MapFile{Mode: 0o644}
		} else if name != "" {
			files[name].Data = append(files[name].Data, line...)
		}
	}
	return files
}

// Memory returns the marketplace without the links.
func Memory() fs.FS {
	files := Files()
	for name := range files {
		if strings.Contains(name, " -> ") {
			delete(files, name)
		}
	}
	return files
}

// Write writes the marketplace below an empty directory, and returns the directory of the
// marketplace. The links that leave the marketplace lead to a directory beside the marketplace.
func Write(dir string) (string, error) {
	files := Files()
	for _, name := range []string{"../secret/skill/SKILL.md", "../secret/skills/x/SKILL.md", "../secret/command.md", "../secret/commands/x.md"} {
		files[name] = &fstest.MapFile{Data: []byte("---\nname: secret\ndescription: Secret.\n---\nSecret.\n")}
	}
	market := filepath.Join(dir, "marketplace")
	for name, f := range files {
		name, target, link := strings.Cut(name, " -> ")
		file := filepath.Join(market, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		write := func() error { return os.WriteFile(file, f.Data, 0o644) }
		if link {
			write = func() error { return os.Symlink(filepath.FromSlash(path.Clean(target)), file) }
		}
		if err := write(); err != nil {
			return "", err
		}
	}
	return market, nil
}
