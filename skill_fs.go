package toolshelf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A SkillSource is the catalog that returned a [Skill]. The zero SkillSource is no
// catalog.
type SkillSource struct {
	catalog *Catalog
	inFS    bool // the layer of the skill is an fs.FS
}

func (c *Catalog) skillSource(e *index.Entry) SkillSource {
	return SkillSource{c, c.skills.Layer(e.Layer()).Store != nil}
}

// Equal returns true, because the source is not part of the content of a skill. The
// package github.com/google/go-cmp uses Equal to compare skills. reflect.DeepEqual and
// == compare the catalogs, so skills of two catalogs differ; use go-cmp, or compare the
// fields.
func (SkillSource) Equal(SkillSource) bool { return true }

// Dir returns the directory of the skill: the directory of s.Path, as a full path on
// the filesystem of the skill. Dir returns "" if s.Path is empty or has no directory.
// For a skill of [WithSkillsFS], the path has no meaning outside the FS; use
// [Skill.FS].
func (s Skill) Dir() string {
	dir, _ := splitPath(s.Path)
	return dir
}

// FS returns the files of the skill. Each call of a method of the result looks up
// s.Name in the catalog that returned s. The result is also an fs.ReadDirFS,
// fs.ReadFileFS and fs.StatFS, is safe for concurrent use, and costs nothing until a
// call. Each call sees the current files.
//
// The files are those that [Catalog.ReadSkillFile] reads, with the same rules for links
// and the same limits: Open and ReadFile read the whole file, up to the limit of
// [WithMaxFileSize], and a name never leads out of the directory. A list of a directory
// contains its regular files and its subdirectories without .git and node_modules. A
// link to a file that is followed appears as a regular file. fs.WalkDir therefore finds
// the files of s.Files, and also the files beyond the limits of s.Files.
//
// An error is an *fs.PathError with the name in the skill. Its cause is the error of
// ReadSkillFile, and matches [ErrOutsideRoot] for a link, [ErrFileRead],
// [ErrFileTooLarge] or [ErrNotFound]. If the skill no longer exists or a filter hides
// the skill, the cause is [ErrSkillNotFound]. ErrNotFound and ErrSkillNotFound also
// match fs.ErrNotExist. After Close, the cause matches [ErrClosed] and fs.ErrClosed;
// files that are already open remain readable. A name that fs.ValidPath rejects, such as
// a name with "..", is fs.ErrInvalid without a Code. Names may contain invalid UTF-8, as
// file names do.
//
// If GetSkill did not return s, as after decoding JSON, each call fails with
// fs.ErrInvalid.
func (s Skill) FS() fs.FS { return skillFS{s.Source.catalog, s.Name} }

// A skillFS is the result of Skill.FS.
type skillFS struct {
	catalog *Catalog
	skill   string
}

var (
	_ fs.ReadDirFS  = skillFS{}
	_ fs.ReadFileFS = skillFS{}
	_ fs.StatFS     = skillFS{}
)

// Open returns a file with its content, or a directory with its entries.
func (v skillFS) Open(name string) (fs.File, error) {
	return inSkill(v, "open", name, func(ctx context.Context, o *openSkill) (fs.File, error) {
		info, err := o.stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			entries, err := o.entries(ctx, name)
			return &skillDirectory{info, entries}, err
		}
		f, err := o.dir.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		raw, err := o.readOpen(f)
		return skillContent{bytes.NewReader(raw), skillFileInfo{path.Base(name), f.Info()}}, err
	})
}

func (v skillFS) Stat(name string) (fs.FileInfo, error) {
	return inSkill(v, "stat", name, func(_ context.Context, o *openSkill) (fs.FileInfo, error) { return o.stat(name) })
}

func (v skillFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return inSkill(v, "readdir", name, func(ctx context.Context, o *openSkill) ([]fs.DirEntry, error) { return o.entries(ctx, name) })
}

func (v skillFS) ReadFile(name string) ([]byte, error) {
	return inSkill(v, "read", name, func(_ context.Context, o *openSkill) ([]byte, error) { return o.readPath(name) })
}

// inSkill calls read with the open directory of the skill.
func inSkill[T any](v skillFS, op, name string, read func(context.Context, *openSkill) (T, error)) (T, error) {
	var zero T
	fail := func(err error) (T, error) { return zero, &fs.PathError{Op: op, Path: name, Err: err} }
	if v.catalog == nil || !fs.ValidPath(strings.ToValidUTF8(name, string(utf8.RuneError))) {
		return fail(fs.ErrInvalid)
	}
	const method = "Skill.FS"
	ctx, c := context.Background(), v.catalog
	if err := c.begin(ctx, method); err != nil {
		return fail(asIOError(err))
	}
	value, err := skillLookup(c, method, v.skill, func(ctx context.Context, open *openSkill) (T, error) {
		return readWithin(open, method, name, func() (T, error) { return read(ctx, open) })
	}).resolve(ctx)
	if err != nil {
		return fail(asIOError(err))
	}
	return value, nil
}

// asIOError adds the error of package io/fs that programs expect.
func asIOError(err error) error {
	causes := map[Code]error{CodeClosed: fs.ErrClosed, CodeSkillNotFound: fs.ErrNotExist}
	var ours *Error
	if !errors.As(err, &ours) || ours.Err != nil || causes[ours.Code] == nil {
		return err
	}
	shown := *ours
	shown.Err = causes[ours.Code]
	return &shown
}

// stat returns the metadata of a file or directory of the skill.
func (o *openSkill) stat(name string) (fs.FileInfo, error) {
	f, err := o.dir.Open(name)
	if err == nil {
		defer f.Close()
		return skillFileInfo{path.Base(name), f.Info()}, nil
	}
	if !errors.Is(err, confine.ErrNotRegular) {
		return nil, err
	}
	dir, err := o.dir.OpenDir(name)
	if errors.Is(err, confine.ErrNotDir) {
		err = confine.ErrNotRegular // a pipe or another special file
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	info, err := dir.Info()
	return skillFileInfo{path.Base(name), info}, err
}

// entries lists a directory of the skill.
func (o *openSkill) entries(ctx context.Context, name string) ([]fs.DirEntry, error) {
	files, err := o.dir.List(ctx, name)
	if err != nil {
		return nil, err
	}
	entries := make([]fs.DirEntry, len(files))
	for i, f := range files {
		entries[i] = fs.FileInfoToDirEntry(skillFileInfo{f.Name, f.Info})
	}
	return entries, nil
}

// A skillFileInfo is the metadata of a file or directory.
type skillFileInfo struct {
	name string
	info confine.Info
}

func (i skillFileInfo) Name() string       { return i.name }
func (i skillFileInfo) Size() int64        { return i.info.Size }
func (i skillFileInfo) Mode() fs.FileMode  { return i.info.Mode }
func (i skillFileInfo) ModTime() time.Time { return i.info.Modified }
func (i skillFileInfo) IsDir() bool        { return i.info.Mode.IsDir() }
func (i skillFileInfo) Sys() any           { return nil }

// A skillContent is an open file.
type skillContent struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f skillContent) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f skillContent) Close() error               { return nil }

// A skillDirectory is an open directory.
type skillDirectory struct {
	info fs.FileInfo
	rest []fs.DirEntry
}

func (d *skillDirectory) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *skillDirectory) Close() error               { return nil }

func (d *skillDirectory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.Name(), Err: errors.New("is a directory")}
}

func (d *skillDirectory) ReadDir(n int) ([]fs.DirEntry, error) {
	switch {
	case n <= 0:
		n = len(d.rest)
	case len(d.rest) == 0:
		return nil, io.EOF
	}
	entries := d.rest[:min(n, len(d.rest))]
	d.rest = d.rest[len(entries):]
	return entries, nil
}
