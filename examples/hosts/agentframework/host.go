// Package agentframework has a source of skills for agent-framework-go. This file names the types
// that the source fills, as in agent/skills/skills.go of github.com/microsoft/agent-framework-go at
// commit 5b27c979abb4, of 24 July 2026.
package agentframework

import "context"

// Source is the interface of agent-framework-go.
type Source interface {
	Skills(context.Context) ([]*Skill, error)
}

// Frontmatter has the fields of the type in agent-framework-go.
type Frontmatter struct {
	Name, Description, License, Compatibility, AllowedTools string
	Metadata                                                map[string]any
}

// Skill has the fields of the type in agent-framework-go, except the scripts.
type Skill struct {
	Frontmatter          Frontmatter
	GetContent           func(context.Context) (string, error)
	Resources            []Resource
	AdditionalProperties map[string]any
}

// Resource has the fields of the type in agent-framework-go.
type Resource struct {
	Name, Description string
	Read              func(context.Context) (any, error)
}
