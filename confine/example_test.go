package confine_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
)

// project creates a directory with a file, and a secret beside the directory. project
// returns the path of the directory.
func project() string {
	home, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	dir := filepath.Join(home, "project")
	for name, text := range map[string]string{"project/docs/a.md": "# A\n", "project/docs/b.md": "# B\n", "secret.txt": "secret"} {
		full := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	return dir
}

// An FS rejects every name that leads outside. The error does not depend on the existence
// of the file.
func ExampleNew() {
	dir := project()
	defer os.RemoveAll(filepath.Dir(dir))

	fsys, err := confine.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"docs/a.md", "../secret.txt", "../missing.txt"} {
		f, err := fsys.OpenRegular(name)
		if err != nil {
			fmt.Println(err, errors.Is(err, confine.ErrEscape))
			continue
		}
		text, err := io.ReadAll(f)
		f.Close()
		fmt.Printf("%q %v\n", text, err)
	}
	// Output:
	// "# A\n" <nil>
	// open ../secret.txt: path leads outside the root true
	// open ../missing.txt: path leads outside the root true
}

// Any filesystem of afero can be confined to one of its directories.
func ExampleOver() {
	memory := afero.NewMemMapFs()
	for name, text := range map[string]string{"/srv/app/config.yaml": "port: 80\n", "/srv/keys/private": "key"} {
		if err := afero.WriteFile(memory, name, []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	fsys, err := confine.Over(memory, "/srv/app")
	if err != nil {
		log.Fatal(err)
	}
	text, err := afero.ReadFile(fsys, "config.yaml")
	fmt.Printf("%q %v\n", text, err)
	_, err = afero.ReadFile(fsys, "../keys/private")
	fmt.Println(err)
	err = afero.WriteFile(fsys, "config.yaml", nil, 0o644)
	fmt.Println(err)
	// Output:
	// "port: 80\n" <nil>
	// open ../keys/private: path leads outside the root
	// open config.yaml: read-only filesystem: permission denied
}

// An fs.FS works with the functions of the standard library.
func ExampleFS_IOFS() {
	dir := project()
	defer os.RemoveAll(filepath.Dir(dir))

	fsys, err := confine.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	matches, err := fs.Glob(fsys.IOFS(), "*/*.md")
	fmt.Println(matches, err)
	// Output:
	// [docs/a.md docs/b.md] <nil>
}

// A Dir lists a directory without memory for each entry.
func ExampleDir_Each() {
	dir := project()
	defer os.RemoveAll(filepath.Dir(dir))

	fsys, err := confine.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := fsys.OpenDir("docs")
	if err != nil {
		log.Fatal(err)
	}
	defer docs.Close()
	var bytes int64
	err = docs.Each(context.Background(), func(name string, _ fs.FileMode) error {
		info, err := docs.Lstat(name)
		bytes += info.Size
		return err
	})
	fmt.Println(bytes, "bytes", err)
	// Output:
	// 8 bytes <nil>
}

// WriteNew never replaces a file.
func ExampleDir_WriteNew() {
	dir := project()
	defer os.RemoveAll(filepath.Dir(dir))

	fsys, err := confine.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	reports, err := fsys.MakeDir("reports")
	if err != nil {
		log.Fatal(err)
	}
	defer reports.Close()
	for range 2 {
		err := reports.WriteNew(context.Background(), "today.md", "all is well\n")
		fmt.Println(err, errors.Is(err, fs.ErrExist))
	}
	// Output:
	// <nil> false
	// write reports/today.md: file already exists true
}
