package toolshelf

import (
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/exposure"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// An Exposure states what a model and a user see of a skill: the field disable-model-invocation is
// [ExposeUser], the settings of a client of [WithClient] can show less ([client.Switch]), and
// [WithExposure] has the last word. ListSkills, GetSkill, Skills and SearchSkills return each
// skill. The surfaces of a model are SkillsPrompt, and the tools and the skills over MCP of
// mcpadapter; those of a user are CompleteName, Expand and the prompts of MCP. docs/methods.md has
// the table.
type Exposure string

const (
	ExposeFull Exposure = ""     // the zero value: everything
	ExposeName Exposure = "name" // a model sees the name alone, and may load the skill
	ExposeUser Exposure = "user" // only a user may choose the skill
	ExposeOff  Exposure = "off"  // nobody may choose the skill, which keeps its place in the precedence
)

// exposures are the exposures by the levels of package exposure.
var exposures = [...]Exposure{exposure.Full: ExposeFull, exposure.Name: ExposeName, exposure.User: ExposeUser, exposure.Off: ExposeOff}

// toModel reports whether a model may see and load the skill.
func (e Exposure) toModel() bool { return e == ExposeFull || e == ExposeName }

// WithExposure decides about the exposure of each skill. The Exposure of the argument is the
// exposure by the header and the settings. An unknown value is ExposeOff, and a nil f
// [ErrInvalidOption]. Each call calls f for its skills, also on several goroutines: f must be a
// fast, pure function, and must not call the catalog.
func WithExposure(f func(SkillInfo) Exposure) Option {
	return optionFunc(func(c *config) error {
		if f == nil {
			return invalidOption("WithExposure: the function is nil; omit the option, or pass a function")
		}
		c.exposure = f
		return nil
	})
}

// forModel returns a view with the skills that a model may see.
func (c *Catalog) forModel() *Catalog {
	view := c.skills.view(c.skills.filter.keep)
	view.forModel, view.filter.only = true, func(e *index.Entry) bool { return c.exposure(e).toModel() }
	models := *c
	models.view, models.skills = true, view
	return &models
}

// openSettings returns the settings of the clients, or nil.
func (c *Catalog) openSettings(user userDirs) *exposure.Reader {
	fresh := func(read time.Time) bool { return c.config.ttl > 0 && c.config.now().Sub(read) < c.config.ttl }
	return exposure.New(c.config.placed, fresh, func(s client.Switch) (fsys *confine.FS, file string) {
		switch {
		case s.Base == client.Project:
			return c.root, s.File
		case user[s.Base] == "":
			return nil, ""
		}
		fsys, file = c.locate(filepath.Join(user[s.Base], path.Dir(s.File)))
		return fsys, path.Join(file, path.Base(s.File))
	})
}

// exposureOf returns the exposure of a skill with the given SkillInfo.
func (c *Catalog) exposureOf(e *index.Entry, s SkillInfo) Exposure {
	s.Exposure = exposures[c.settings.Last().Of(c.skills.LayerOf(e), e, s.DeclaredName, s.DisableModelInvocation)]
	if c.config.exposure != nil {
		s.Exposure = c.config.exposure(s)
	}
	if slices.Contains(exposures[:], s.Exposure) {
		return s.Exposure
	}
	return ExposeOff
}

// exposure returns the exposure of a listed skill.
func (c *Catalog) exposure(e *index.Entry) Exposure {
	if c.config.exposure != nil {
		return c.skillInfo(e).Exposure
	}
	return exposures[c.settings.Last().Of(c.skills.LayerOf(e), e, agentmd.NewFrontmatter(e.Header()).Text("name"), e.UserOnly)]
}
