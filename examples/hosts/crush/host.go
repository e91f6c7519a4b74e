// Package crush has the loader of crush with a catalog. This file names the types of crush that the
// loader fills, as in internal/skills/skills.go of github.com/charmbracelet/crush v0.90.0.
package crush

import "errors"

// Skill has the fields of the type in crush.
type Skill struct {
	Name, Description, License, Compatibility, Instructions string
	Path, SkillFilePath                                     string
	UserInvocable, DisableModelInvocation, Builtin          bool
	Metadata                                                map[string]string
}

// Validate stands for the rules of crush.
func (s *Skill) Validate() error {
	if s.Description == "" {
		return errors.New("description is required")
	}
	return nil
}

// DiscoveryState has the values of the type in crush.
type DiscoveryState int

// The states of crush.
const (
	StateNormal DiscoveryState = iota
	StateError
)

// SkillState has the fields of the type in crush.
type SkillState struct {
	Name, Path string
	State      DiscoveryState
	Err        error
}
