package toolshelf

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/changes"
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
	return optionFunc(func(c *config) {
		c.require(f != nil, "WithExposure: the function is nil; omit the option, or pass a function")
		c.exposure = f
	})
}

// forModel returns a view with the skills that a model may see.
func (c *Catalog) forModel() *Catalog {
	view := c.skills.view(c.skills.filter.Keeps)
	view.forModel, view.filter.Only = true, func(e *index.Entry) bool { return c.exposure(e).toModel() }
	models := *c
	models.view, models.skills = true, view
	return &models
}

// ForPath shows the skills of [Catalog.ListSkillsFor]. In [Catalog.GetSkill], the name can be a
// name of this list. ForPath has no effect on commands.
func ForPath(path string) PathOption { return pathOption(path) }

// A PathOption is a [PromptOption], a [SearchOption] and a [SkillOption].
type PathOption interface {
	PromptOption
	SearchOption
	SkillOption
}

type pathOption string

func (pathOption) applyPrompt(*promptOptions)   {}
func (pathOption) applySearch(*searchOptions)   {}
func (p pathOption) applySkill(o *skillOptions) { o.path = &p }

// pathOf returns the last ForPath of the options, or nil.
func pathOf[Option any](opts []Option) (last *pathOption) {
	for _, opt := range opts {
		if p, ok := any(opt).(pathOption); ok {
			last = &p
		}
	}
	return last
}

// ListSkillsFor returns the skills for a file or a directory of the project, which may be missing:
// the skills of [Catalog.ListSkills] without those whose field paths has globs that do not match,
// then the skills of each directory on the way from the root to the path, if a client of
// [WithClient] looks there (client.Place.Below), as in packages/web/.claude/skills. Such a skill
// has the name of its directory or, if another skill has the name, the name "packages/web:deploy",
// with which GetSkill and ReadSkillFile always find the skill. Filters, gates and events see this
// name.
//
// ListSkillsFor returns [ErrOutsideRoot] for a path out of the root, and the errors of
// SkillsPrompt.
func (c *Catalog) ListSkillsFor(ctx context.Context, path string) ([]SkillInfo, error) {
	near, err := c.near(ctx, "ListSkillsFor", pathOf([]PathOption{ForPath(path)}))
	if err != nil {
		return nil, err
	}
	return near.listSkills(ctx, "ListSkillsFor")
}

// near returns the catalog for one call with the skills for a path, or c without a path.
func (c *Catalog) near(ctx context.Context, op string, at *pathOption) (near *Catalog, err error) {
	if at == nil {
		return c, nil
	} else if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	call, o := fileCall{catalog: c, op: op, path: string(*at), dir: true}, c.observer.Begin(ctx)
	var all *index.Snapshot
	if err = call.resolve(); err == nil {
		all, err = c.skills.optionalSnapshot(ctx, op)
	}
	if err == nil {
		near, err = c.along(ctx, &call, all)
	}
	if err != nil {
		err = c.methodError(op, err)
		o.Send(Event{Action: EventListed, Kind: KindSkill, Path: call.path}, err)
	}
	return near, err
}

// A besideFunc is a lookup.beside.
type besideFunc func(context.Context) (*collection, *Catalog, string, error)

// beside returns the lookup.beside of a name, or nil if no directory below the root can have the
// skill.
func (c *Catalog) beside(op, name string, at *pathOption) besideFunc {
	if len(c.below.Layers) == 0 || at == nil && !strings.Contains(name, ":") {
		return nil
	}
	return func(ctx context.Context) (_ *collection, _ *Catalog, _ string, err error) {
		full, near, listed := name, c, at != nil && !exposure.Qualified(name)
		if listed {
			if near, err = c.near(ctx, op, at); err == nil {
				full, listed = near.skills.way.Find(name)
			}
		}
		if !listed && c.skills.refresh != nil {
			err = c.skills.refresh(ctx)
		}
		if !listed && err == nil {
			near, err = c.along(ctx, &fileCall{catalog: c, op: op, path: name, dir: true, name: name}, nil)
		}
		if err != nil {
			return nil, nil, "", err
		}
		return near.skills, near, full, nil
	}
}

// along returns the catalog for one call with the skills for the path of the call and of a
// snapshot, or without a snapshot with those of the directory of a name.
func (c *Catalog) along(ctx context.Context, f *fileCall, all *index.Snapshot) (*Catalog, error) {
	way, err := await(ctx, c, func(ctx context.Context) (*exposure.Way, error) {
		way, err := c.below.To(ctx, all, f.name)
		return way, f.failure(ctx, err)
	})
	if err != nil {
		return nil, err
	}
	return c.withSkills(way), nil
}

// skillsBelow returns the changes.List.More of a subscription, or nil without a watch.
func (c *Catalog) skillsBelow() func(*changes.Names) {
	return c.below.Follow(func(dir string) (*exposure.Way, error) {
		near, err := c.near(c.lifetime, "OnChange", pathOf([]PathOption{ForPath(dir)}))
		if err != nil {
			return nil, err
		}
		return near.skills.way, nil
	}, func(w *exposure.Way) *index.Snapshot { return c.withSkills(w).skills.shown(w.All) })
}

// withSkills returns the catalog for one call with the skills of a Way.
func (c *Catalog) withSkills(way *exposure.Way) *Catalog {
	skills, near := *c.skills, *c
	near.skills, near.whole = &skills, cmp.Or(c.whole, c)
	skills.Index, skills.way, skills.exposure = way.Index, way, near.exposure
	skills.layers = slices.Clip(skills.layers)
	for _, l := range way.Index.Layers()[len(skills.layers):] {
		skills.layers = append(skills.layers, layer{Name: l.Name})
	}
	skills.filter = c.skills.filter.In(way.Index, keepsEntries(c.keep.skills, near.listedSkill), func(e *index.Entry) bool {
		return way.Applies(e) && (!skills.forModel || near.exposure(e).toModel())
	})
	return &near
}

// openSettings returns the settings of the clients, or nil.
func (c *Catalog) openSettings(user userDirs) *exposure.Reader {
	fresh := func(read time.Time) bool { return c.config.ttl > 0 && c.config.now().Sub(read) < c.config.ttl }
	return exposure.New(c.config.placed, fresh, c.files.Of(user))
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
		return c.listedSkill(nil, e).Exposure
	}
	return exposures[c.settings.Last().Of(c.skills.LayerOf(e), e, agentmd.NewFrontmatter(e.Header()).Text("name"), e.UserOnly)]
}
