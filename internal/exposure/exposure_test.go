package exposure

import (
	_ "embed"
	"io/fs"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// readerOf returns a Reader of the settings of Claude Code and of Codex, whose home is /home.
func readerOf(t *testing.T, fsys afero.Fs) *Reader {
	t.Helper()
	return New([]client.Client{client.Claude(), client.Codex()}, func(time.Time) bool { return false }, func(s client.Switch) (*confine.FS, string) {
		dir := "/project"
		if s.Base == client.Home {
			dir = "/home"
		}
		confined := must.Get(confine.Over(fsys, dir))(t)
		return confined, s.File
	})
}

func refresh(t *testing.T, r *Reader) *Rules {
	t.Helper()
	rules, err := r.Refresh(t.Context())
	if err != nil || rules != r.Last() {
		t.Fatal(err)
	}
	return rules
}

// A skill is the skill x of a layer of /project, which declares the name "declared".
type skill struct{ layer, prefix string }

func (s skill) in(t *testing.T, r *Rules) Level {
	t.Helper()
	fsys := must.Get(confine.Over(afero.NewMemMapFs(), "/project"))(t)
	l := &index.Layer{Name: s.layer, FS: fsys, Dir: s.layer, Prefix: s.prefix}
	return r.Of(l, &index.Entry{Name: s.prefix + "x", Path: s.layer + "/x/SKILL.md"}, "declared", false)
}

const (
	local   = "/project/.claude/settings.local.json"
	project = "/project/.claude/settings.json"
	user    = "/home/.claude/settings.json"
	codex   = "/home/.codex/config.toml"
)

var (
	claudeSkill = skill{layer: ".claude/skills"}
	nestedSkill = skill{layer: "apps/site/.claude/skills", prefix: "apps/site:"}
	codexSkill  = skill{layer: ".agents/skills"}
)

//go:embed testdata/settings.txt
var settings string

func TestSettings(t *testing.T) {
	names := map[string]string{"local": local, "project": project, "user": user, "codex": codex}
	skills := map[string]skill{"claude": claudeSkill, "nested": nestedSkill, "codex": codexSkill}
	fsys := afero.NewMemMapFs()
	must.Answer(t, settings, map[string]func(t *testing.T, a ...string) string{
		"file": func(t *testing.T, a ...string) string {
			must.Do(t, afero.WriteFile(fsys, names[a[0]], []byte(a[1]), 0o644))
			return ""
		},
		"skill": func(t *testing.T, a ...string) string {
			level := skills[a[0]].in(t, refresh(t, readerOf(t, fsys)))
			fsys = afero.NewMemMapFs()
			return map[Level]string{Full: "full", Name: "name", Off: "off"}[level]
		},
	})
}

func TestRefreshKeepsTheRulesWhileNothingChanges(t *testing.T) {
	fsys := afero.NewMemMapFs()
	r := readerOf(t, fsys)
	first := refresh(t, r)
	write := func(text string) *Rules {
		must.Do(t, afero.WriteFile(fsys, user, []byte(text), 0o644))
		return refresh(t, r)
	}
	must.Equal(t, "refresh(t, r)", first, refresh(t, r))
	second := write(`{"skillOverrides":{"x":"off"}}`)
	if second == first || claudeSkill.in(t, second) != Off || claudeSkill.in(t, first) != Full {
		t.Errorf("level %d after the change, %d before", claudeSkill.in(t, second), claudeSkill.in(t, first))
	}
	if write(`{"model":"x","skillOverrides":{"x":"off"}}`) != second {
		t.Error("other rules after a change of another key")
	}
	must.Do(t, fsys.Remove(user))
	must.Equal(t, "claudeSkill.in(t, refresh(t, r))", Full, claudeSkill.in(t, refresh(t, r)))
}

// The race detector finds a Refresh that changes what Rules read.
func TestRulesAreReadDuringARefresh(t *testing.T) {
	fsys := afero.NewMemMapFs()
	must.Do(t, afero.WriteFile(fsys, user, []byte(`{"skillOverrides":{"x":"off"}}`), 0o644))
	r := readerOf(t, fsys)
	rules := refresh(t, r)
	var refreshes sync.WaitGroup
	refreshes.Go(func() {
		for range 100 {
			_, _ = r.Refresh(t.Context())
		}
	})
	for range 100 {
		must.Equal(t, "level", Off, claudeSkill.in(t, rules))
	}
	refreshes.Wait()
}

// A failingFs is a filesystem whose files cannot be opened.
type failingFs struct {
	afero.Fs
	fails bool
}

func (f *failingFs) Open(name string) (afero.File, error) {
	if f.fails {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
	}
	return f.Fs.Open(name)
}

func TestAfterAFaultTheLastSettingsCount(t *testing.T) {
	fsys := &failingFs{Fs: afero.NewMemMapFs()}
	must.Do(t, afero.WriteFile(fsys, user, []byte(`{"skillOverrides":{"x":"off"}}`), 0o644))
	r := readerOf(t, fsys)
	before := refresh(t, r)
	fsys.fails = true
	if got := claudeSkill.in(t, refresh(t, r)); got != Off || claudeSkill.in(t, before) != Off {
		t.Errorf("level %d after the fault", got)
	}
	fsys.fails = false
	must.Do(t, afero.WriteFile(fsys, user, []byte(`{}`), 0o644))
	must.Equal(t, "level", Full, claudeSkill.in(t, refresh(t, r)))
}
