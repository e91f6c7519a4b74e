package toolshelf

import (
	"context"
	"errors"
	"path"

	"github.com/toolshelf-go/toolshelf/internal/digest"
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
// diagnostics of the files without a digest. digest returns digest.ErrChanging if a file
// changes during the call.
func (o *openSkill) digest(ctx context.Context, listed index.SkillFiles, files []SkillFile) (problems []Diagnostic, err error) {
	place := path.Dir(o.skills.Place(o.entry))
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
		sum, err := o.caches.digests.Of(ctx, o.dir, f)
		switch {
		case err == nil:
			files[i].SHA256 = sum.String()
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, digest.ErrChanging):
			return nil, err
		default:
			report(DiagFileRead, escape.Reason(err), "check the permissions of the file")
		}
	}
	return problems, digest.Unchanged(ctx, o.dir, listed)
}
