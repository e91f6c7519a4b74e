// Package archive opens a zip, tar or tar.gz archive of any author as an fs.FS, for
// toolshelf.WithSkillsFS and toolshelf.WithPluginsFS. The package uses the standard library only,
// so a program may copy the file.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// MaxUnpacked is the usual limit of [Open], in bytes.
const MaxUnpacked = 64 << 20

var errTooLarge = errors.New("the archive is too large: unpack the archive, and pass the directory")

// Open returns the files of a zip, tar or tar.gz archive. The files of a zip archive stay packed
// until a read. A tar archive is in memory, and an error if its unpacked size exceeds the limit.
func Open(archive []byte, limit int64) (fs.FS, error) {
	if bytes.HasPrefix(archive, []byte("PK")) {
		return openZip(archive)
	}
	if unpacked, err := gzip.NewReader(bytes.NewReader(archive)); err == nil {
		return openTar(unpacked, limit)
	}
	return openTar(bytes.NewReader(archive), limit)
}

// openZip rejects names that a zip.Reader changes, such as "../a", and names with many directories,
// because a zip.Reader needs memory and time for each directory.
func openZip(archive []byte) (fs.FS, error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	for _, f := range files.File {
		name := strings.TrimSuffix(f.Name, "/")
		if !fs.ValidPath(name) || strings.Contains(name, `\`) || strings.Count(name, "/") > 32 {
			return nil, fmt.Errorf("unsafe name %.100q in the archive", f.Name)
		}
	}
	// A directory with two entries of the same name cannot be read.
	if err := fs.WalkDir(files, ".", func(_ string, _ fs.DirEntry, err error) error { return err }); err != nil {
		return nil, err
	}
	return files, nil
}

// openTar copies the regular files of the archive to a zip archive in memory, without links and
// devices.
func openTar(archive io.Reader, limit int64) (fs.FS, error) {
	limited := &io.LimitedReader{R: archive, N: limit}
	left := limited.N // a sparse file is larger than its part of the archive
	from := tar.NewReader(limited)
	var copied bytes.Buffer
	to, buf := zip.NewWriter(&copied), make([]byte, 32<<10)
	for {
		h, err := from.Next()
		switch {
		case limited.N == 0:
			return nil, errTooLarge
		case err == io.EOF:
			if err := to.Close(); err != nil {
				return nil, err
			}
			return openZip(copied.Bytes())
		case err != nil:
			return nil, err
		case h.Typeflag != tar.TypeReg:
			continue
		case h.Size > left:
			return nil, errTooLarge
		}
		left -= h.Size
		file, err := to.CreateHeader(&zip.FileHeader{Name: path.Clean(h.Name), Modified: h.ModTime})
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyBuffer(file, from, buf); err != nil && limited.N > 0 {
			return nil, err
		}
	}
}
