package toolshelf

import (
	"context"
	"iter"
	"path"
	"time"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/digest"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A skillManifest is a manifest with the types of this package.
type skillManifest = bridge.Manifest[SkillInfo, SkillFile]

// SkillManifests is documented at bridge.Catalog.
func (c bridged) SkillManifests(ctx context.Context, choose func(skills []SkillInfo) (names []string)) iter.Seq2[skillManifest, error] {
	return func(yield func(skillManifest, error) bool) {
		const op = "SkillManifests"
		if err := c.begin(ctx, op); err != nil {
			yield(skillManifest{}, err)
			return
		}
		all, err := c.skills.Snapshot(ctx)
		if err != nil {
			yield(skillManifest{}, c.skills.layerError(op, err))
			return
		}
		shown := c.skills.filter.apply(ctx, all)
		for _, name := range c.chosenSkills(all, shown, choose) {
			var m skillManifest
			err := c.skills.checkName(op, name)
			if err == nil {
				m, err = skillLookup(c.Catalog, op, name, func(ctx context.Context, open *openSkill) (skillManifest, error) {
					return attempt(ctx, open, func() (skillManifest, error) { return open.manifest(ctx) })
				}).in(ctx, all, shown)
			}
			switch {
			case err != nil && (ctx.Err() != nil || c.isClosed()):
				yield(skillManifest{}, c.methodError(op, err))
				return
			case err != nil:
				m = skillManifest{Skill: SkillInfo{Name: name}}
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
func (o *openSkill) manifest(ctx context.Context) (skillManifest, error) {
	listed, err := o.dir.Files(ctx)
	if err != nil {
		return skillManifest{}, err
	}
	if listed.Own < 0 {
		return skillManifest{}, digest.ErrChanging
	}
	own := listed.Files[listed.Own]
	m := skillManifest{Files: make([]SkillFile, len(listed.Files)), Dirs: listed.Dirs, Truncated: listed.Truncated}
	for i, f := range listed.Files {
		m.Files[i] = SkillFile{Path: f.Name, Size: f.Info.Size}
		m.Bytes += f.Info.Size
	}
	if m.Skill, m.Files[listed.Own].SHA256, err = o.head(own); err != nil {
		return skillManifest{}, err
	}
	m.Skill.Path = o.skills.LayerOf(o.entry).FS.Path(path.Join(path.Dir(o.entry.Path), own.Name))
	for _, p := range listed.Problems {
		m.Skill.Diagnostics = append(m.Skill.Diagnostics, agentmd.NewDiagnostic(p))
	}
	if seal := o.entry.Seal(); seal != nil && seal.Digest == "" {
		return skillManifest{}, digest.ErrChanging
	}
	if m.Oversized() {
		m.Files[listed.Own].SHA256 = ""
		return m, nil
	}
	problems, err := o.digest(ctx, listed, m.Files)
	if err != nil {
		return skillManifest{}, err
	}
	m.Skill.Diagnostics = append(m.Skill.Diagnostics, problems...)
	return m, nil
}

// head returns the SkillInfo and the digest of the listed SKILL.md. Both describe the
// same bytes: the cached digest has the hash of the frontmatter, which the entry of the
// index must have too. Otherwise head reads the file.
func (o *openSkill) head(own index.SkillFile) (SkillInfo, string, error) {
	if kept, ok := o.caches.digests.Kept(o.dir, own); ok && o.entry.Whole() {
		if listed := agentmd.NewFrontmatter(o.entry.Header()); kept.HasHead(listed.Format, listed.Raw) {
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
