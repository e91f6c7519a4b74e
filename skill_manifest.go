package toolshelf

import (
	"context"
	"iter"

	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/skill"
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
					whole, err := open.dir.Whole(ctx, skill.Wanted{Digests: true, Listed: true, MaxFiles: bridge.MaxManifestFiles, MaxBytes: bridge.MaxManifestBytes})
					if err != nil {
						return skillManifest{}, err
					}
					info, files := open.whole(&whole)
					return skillManifest{Skill: info, Files: files, Dirs: whole.Dirs, Truncated: whole.Truncated, Bytes: whole.Size}, nil
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
