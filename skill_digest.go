package toolshelf

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// A SkillOption is an option of one GetSkill call.
type SkillOption func(*skillOptions)

type skillOptions struct {
	digests bool
}

// Digests makes GetSkill compute the SHA-256 of every file of the skill. A digest
// is cached as long as the change time of the file proves the file unchanged (see
// [WithFs]). If the skills have more than 200,000 files, some files have no cached digest,
// and their next use reads the file. A file larger than the limit of [WithMaxFileSize]
// gets a diagnostic instead of a digest.
func Digests() SkillOption {
	return func(o *skillOptions) { o.digests = true }
}

// digest adds the missing digests to files, which are the listed files, and returns
// diagnostics of the files without a digest. digest returns errChanging if a file
// changes during the call.
func (o *openSkill) digest(ctx context.Context, listed index.SkillFiles, files []SkillFile) (problems []Diagnostic, err error) {
	e := o.entry
	place := path.Dir(o.skills.Place(e))
	for i, f := range listed.Files {
		report := func(code DiagnosticCode, message, suggestion string) {
			problems = append(problems, Diagnostic{Code: code, Severity: SeverityWarning,
				Path: path.Join(place, escape.Path(f.Name)), Message: "no digest: " + message, Suggestion: suggestion})
		}
		if files[i].SHA256 != "" {
			continue
		}
		if f.Info.Size > o.config.maxFileSize {
			report(DiagFileTooLarge, "the file is larger than allowed", "shorten the file, or let the program raise the limit")
			continue
		}
		if kept, ok := o.caches.digests.get(o.file(f), f.Info); ok {
			files[i].SHA256 = kept.String()
			continue
		}
		now := time.Now()
		sum, err := digestOf(ctx, o.dir, f)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, errChanging), errors.Is(err, fs.ErrNotExist), errors.Is(err, confine.ErrNotRegular), errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
			return nil, errChanging // the file has changed since the listing
		default:
			report(DiagFileRead, escape.Reason(err), "check the permissions of the file")
			continue
		}
		files[i].SHA256 = sum.String()
		o.keepDigest(f, sum, now)
	}
	again, err := o.dir.Files(ctx)
	if err != nil {
		return nil, err
	}
	same := slices.EqualFunc(listed.Files, again.Files, func(a, b index.SkillFile) bool {
		return a.Name == b.Name && index.SameFile(a.Info, b.Info)
	})
	if !same {
		return nil, errChanging
	}
	return problems, nil
}

// file identifies a listed file of the skill.
func (o *openSkill) file(f index.SkillFile) index.File {
	return index.File{Layer: o.entry.Layer(), Path: path.Join(path.Dir(o.entry.Path), f.Name)}
}

// skillDir returns the directory of a skill.
func skillDir(e *index.Entry) index.File { return index.File{Layer: e.Layer(), Path: path.Dir(e.Path)} }

// keepDigest adds the digest of a listed file, which was read no earlier than now, to the
// cache.
func (o *openSkill) keepDigest(f index.SkillFile, d fileDigest, now time.Time) {
	if o.skills.Settled(o.entry.Layer(), f.Info, now) {
		o.caches.digests.put(skillDir(o.entry), o.file(f), f.Info, d)
	}
}

// digestOf returns the digest of a listed file, or errChanging if the file has
// changed since the listing.
func digestOf(ctx context.Context, dir *index.SkillDir, listed index.SkillFile) (d fileDigest, err error) {
	f, err := dir.Open(listed.Name)
	if err != nil {
		return d, err
	}
	defer f.Close()
	if !index.SameFile(f.Info(), listed.Info) {
		return d, errChanging
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(untilEnded{ctx, f}, listed.Info.Size+1)); err != nil {
		return d, err
	}
	hash.Sum(d.sum[:0])
	return d, nil
}

// untilEnded is a reader that stops at the end of a context.
type untilEnded struct {
	ctx context.Context
	r   io.Reader
}

func (u untilEnded) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
