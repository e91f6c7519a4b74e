// Package bench compares the library with the necessary system calls ("floor") and with the usual
// way of programs ("naive"), over files like the public ones. Each benchmark runs the ways in turn,
// so the ratios stay valid if the speed of the machine drifts.
package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// BenchmarkObserver runs each method without an observer and with an observer that does nothing.
// Compare the two with benchstat -col /observer.
func BenchmarkObserver(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		for name, text := range map[string]string{
			"commands/c%d.md":         "---\ndescription: Deploys.\n---\nDeploy $1. ",
			"skills/s%d/SKILL.md":     "---\nname: s\ndescription: Deploys.\n---\nDeploy. ",
			"skills/s%d/reference.md": "Deploy. ",
		} {
			name = filepath.Join(dir, fmt.Sprintf(name, i))
			must.Do(b, os.MkdirAll(filepath.Dir(name), 0o755))
			must.Do(b, os.WriteFile(name, []byte(text+strings.Repeat("Deploy to staging. ", 100)), 0o644))
		}
	}
	ctx := context.Background()
	open := func(opts ...toolshelf.Option) *toolshelf.Catalog {
		c := must.Get(toolshelf.New(append(opts, toolshelf.WithRoot(dir))...))(b)
		b.Cleanup(func() { c.Close() })
		return c
	}
	observers := []struct {
		name string
		c    *toolshelf.Catalog
	}{{"none", open()}, {"nothing", open(toolshelf.WithObserver(func(context.Context, toolshelf.Event) {}))}}
	for _, method := range []struct {
		name string
		call func(c *toolshelf.Catalog) error
	}{
		{"List", func(c *toolshelf.Catalog) error { _, err := c.List(ctx, toolshelf.Page{}); return err }},
		{"ListSkills", func(c *toolshelf.Catalog) error { _, err := c.ListSkills(ctx); return err }},
		{"Get", func(c *toolshelf.Catalog) error { _, err := c.Get(ctx, "c7"); return err }},
		{"GetSkill", func(c *toolshelf.Catalog) error { _, err := c.GetSkill(ctx, "s7"); return err }},
		{"ReadSkillFile", func(c *toolshelf.Catalog) error { _, err := c.ReadSkillFile(ctx, "s7", "reference.md"); return err }},
		{"Expand", func(c *toolshelf.Catalog) error { _, err := c.Expand(ctx, "/c7 staging"); return err }},
		{"Search", func(c *toolshelf.Catalog) error { _, err := c.Search(ctx, "staging", 0); return err }},
		{"Skills", func(c *toolshelf.Catalog) error {
			for _, err := range c.Skills(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		for _, o := range observers {
			b.Run(method.name+"/observer="+o.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					must.Do(b, method.call(o.c))
				}
			})
		}
	}
}
