package toolshelf

import (
	"context"
	"iter"
	"path"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/digest"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// The limits of the digests in a [SkillManifest]. The specification of skills over the
// Model Context Protocol (SEP-2640) has the same limits.
const (
	MaxManifestFiles = 512      // files of a skill
	MaxManifestBytes = 16 << 20 // sum of the sizes of the files, in bytes
)

// A SkillManifest lists the files of a skill, with their digests and the frontmatter of
// SKILL.md. All parts describe one state of the skill's directory, as far as the
// filesystem reports changes.
type SkillManifest struct {
	SkillInfo
	Files     []SkillFile // the files of Skill.Files; if the skill is within the limits, with their digests
	Dirs      []string    // the subdirectories that contain Files and the empty subdirectories, relative to the skill's directory, with slashes and sorted
	Truncated bool        // Files is incomplete; see Skill.FilesTruncated
	Bytes     int64       // sum of the sizes of Files
}

// Oversized reports whether the skill exceeds MaxManifestFiles or MaxManifestBytes, or
// whether Files is incomplete. The files of an oversized skill have no digests.
func (m SkillManifest) Oversized() bool {
	return m.Truncated || len(m.Files) > MaxManifestFiles || m.Bytes > MaxManifestBytes
}

// SkillManifests ranges over the manifests of skills. SkillManifests lists the skills, as
// ListSkills does, and calls choose with the list. choose returns the names of the skills
// whose manifests follow, in this order. A nil choose chooses all skills that can be loaded.
//
// Each manifest is computed when the range reaches the manifest. A file without a digest,
// for example because the file is larger than [WithMaxFileSize] allows, has a diagnostic.
// [Catalog.GetSkill] describes the files.
//
// If a skill cannot be read, SkillManifests yields the error of GetSkill with a manifest
// that contains only the name, and continues with the next name. If the skills cannot be
// listed, or when ctx ends, SkillManifests yields the error once with a zero manifest,
// and ends the range.
//
// A range costs as much as one call of ListSkills. Each manifest also costs two reads of
// each directory of the skill and two stats of each file. SkillManifests reads a file only
// if the cache has no digest of the file (see [Digests]), and SKILL.md also if the list of
// skills does not contain its current frontmatter.
func (c *Catalog) SkillManifests(ctx context.Context, choose func(skills []SkillInfo) (names []string)) iter.Seq2[SkillManifest, error] {
	return func(yield func(SkillManifest, error) bool) {
		const op = "SkillManifests"
		if err := c.begin(ctx, op); err != nil {
			yield(SkillManifest{}, err)
			return
		}
		all, err := c.skills.Snapshot(ctx)
		if err != nil {
			yield(SkillManifest{}, c.skills.layerError(op, err))
			return
		}
		shown := c.skills.filter.apply(all)
		for _, name := range c.chosenSkills(all, shown, choose) {
			var m SkillManifest
			err := c.checkSkillName(op, name)
			if err == nil {
				m, err = skillLookup(c, op, name, func(ctx context.Context, open *openSkill) (SkillManifest, error) {
					return attempt(ctx, open, func() (SkillManifest, error) { return open.manifest(ctx) })
				}).in(ctx, all, shown)
			}
			switch {
			case err != nil && (ctx.Err() != nil || c.isClosed()):
				yield(SkillManifest{}, c.methodError(op, err))
				return
			case err != nil:
				m = SkillManifest{SkillInfo: SkillInfo{Name: name}}
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// chosenSkills returns the names that choose returns for the shown skills.
func (c *Catalog) chosenSkills(all, shown *index.Snapshot, choose func([]SkillInfo) []string) (names []string) {
	if choose == nil {
		for _, e := range shown.Loadable {
			names = append(names, e.Name)
		}
		return names
	}
	list := make([]SkillInfo, len(shown.Entries))
	for i, e := range shown.Entries {
		list[i] = c.listedSkill(all, e)
	}
	return choose(list)
}

// manifest returns digest.ErrChanging if the skill changes during the call.
func (o *openSkill) manifest(ctx context.Context) (SkillManifest, error) {
	listed, err := o.dir.Files(ctx)
	if err != nil {
		return SkillManifest{}, err
	}
	if listed.Own < 0 {
		return SkillManifest{}, digest.ErrChanging
	}
	own := listed.Files[listed.Own]
	m := SkillManifest{Files: make([]SkillFile, len(listed.Files)), Dirs: listed.Dirs, Truncated: listed.Truncated}
	for i, f := range listed.Files {
		m.Files[i] = SkillFile{Path: f.Name, Size: f.Info.Size}
		m.Bytes += f.Info.Size
	}
	if m.SkillInfo, m.Files[listed.Own].SHA256, err = o.head(own); err != nil {
		return SkillManifest{}, err
	}
	m.Path = o.skills.Layer(o.entry.Layer()).FS.Path(path.Join(path.Dir(o.entry.Path), own.Name))
	for _, p := range listed.Problems {
		m.Diagnostics = append(m.Diagnostics, newDiagnostic(p))
	}
	if m.Oversized() {
		m.Files[listed.Own].SHA256 = ""
		return m, nil
	}
	problems, err := o.digest(ctx, listed, m.Files)
	if err != nil {
		return SkillManifest{}, err
	}
	m.Diagnostics = append(m.Diagnostics, problems...)
	return m, nil
}

// head returns the SkillInfo and the digest of the listed SKILL.md. Both describe the
// same bytes: the cached digest has the hash of the frontmatter, which the entry of the
// index must have too. Otherwise head reads the file.
func (o *openSkill) head(own index.SkillFile) (SkillInfo, string, error) {
	if kept, ok := o.caches.digests.Kept(o.dir, own); ok && o.entry.Whole() {
		if listed := newFrontmatter(o.entry.Header()); kept.HasHead(listed.Format, listed.Raw) {
			return o.listedSkill(o.snapshot, o.entry), kept.String(), nil
		}
	}
	now := time.Now()
	text, info, err := o.text(own.Info)
	if err != nil {
		return SkillInfo{}, "", err
	}
	if !stamp.SameFile(own.Info, info) {
		return SkillInfo{}, "", digest.ErrChanging
	}
	skill := o.info(text)
	o.record(func() SkillInfo { return skill })
	sum := digest.OfSkillFile(text.bytes(), text.header.Format, text.header.Raw)
	o.caches.digests.Keep(o.dir, own, sum, now)
	return skill, sum.String(), nil
}
