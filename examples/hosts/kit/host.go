// Package kit has the loader of kit with a catalog. This file names the type of kit that the loader
// fills, as in internal/skills/skills.go of github.com/mark3labs/kit v0.96.1.
package kit

// Skill has the fields of the type in kit.
type Skill struct {
	Name, Description, Content, Path     string
	License, Compatibility, AllowedTools string
	Metadata                             map[string]string
	DisableModelInvocation               bool
	Tags                                 []string
	When                                 string
}
