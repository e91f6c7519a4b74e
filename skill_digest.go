package toolshelf

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
// [WithFs]). A file larger than the limit of [WithMaxFileSize] gets a diagnostic
// instead of a digest.
func Digests() SkillOption {
	return func(o *skillOptions) { o.digests = true }
}

// digest adds the digests of the listed files to skill. digest returns errChanging
// if a file changes during the call.
func (o *openSkill) digest(ctx context.Context, listed index.SkillFiles, skill *Skill) error {
	e := o.entry
	place := path.Dir(o.skills.Place(e))
	for i, f := range listed.Files {
		report := func(code DiagnosticCode, message, suggestion string) {
			skill.Diagnostics = append(skill.Diagnostics, Diagnostic{Code: code, Severity: SeverityWarning,
				Path: path.Join(place, escape.Path(f.Name)), Message: "no digest: " + message, Suggestion: suggestion})
		}
		if f.Info.Size > o.config.maxFileSize {
			report(DiagFileTooLarge, "the file is larger than allowed", "shorten the file, or raise the limit with WithMaxFileSize")
			continue
		}
		key := index.File{Layer: e.Layer(), Path: path.Join(path.Dir(e.Path), f.Name)}
		if kept := o.caches.digests.Get(key); kept != nil && index.SameFile(kept.Info, f.Info) {
			skill.Files[i].SHA256 = kept.Value
			continue
		}
		now := time.Now()
		sum, err := digestOf(ctx, o.dir, f)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errChanging), errors.Is(err, fs.ErrNotExist), errors.Is(err, confine.ErrNotRegular), errors.Is(err, confine.ErrEscape), errors.Is(err, confine.ErrSymlink):
			return errChanging // the file has changed since the listing
		default:
			report(DiagFileRead, escape.Reason(err), "check the permissions of the file")
			continue
		}
		skill.Files[i].SHA256 = sum
		if o.skills.Settled(e.Layer(), f.Info, now) {
			o.caches.digests.Put(&index.Cached[string]{File: key, Info: f.Info, Value: sum, Size: int64(len(sum))})
		}
	}
	again, err := o.dir.Files(ctx)
	if err != nil {
		return err
	}
	same := slices.EqualFunc(listed.Files, again.Files, func(a, b index.SkillFile) bool {
		return a.Name == b.Name && index.SameFile(a.Info, b.Info)
	})
	if !same {
		return errChanging
	}
	return nil
}

// digestOf returns the SHA-256 of a listed file, or errChanging if the file has
// changed since the listing.
func digestOf(ctx context.Context, dir *index.SkillDir, listed index.SkillFile) (string, error) {
	f, err := dir.Open(listed.Name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if !index.SameFile(f.Info(), listed.Info) {
		return "", errChanging
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(untilEnded{ctx, f}, listed.Info.Size+1)); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
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
