// Package eino has a backend of skills for Eino. This file names the types that the backend fills,
// as in adk/middlewares/skill/skill.go of github.com/cloudwego/eino v0.7.36. A test of
// examples/agents/loaders compares the types.
package eino

import "context"

// FrontMatter has the fields of the type in Eino.
type FrontMatter struct{ Name, Description string }

// Skill has the fields of the type in Eino.
type Skill struct {
	FrontMatter
	Content, BaseDirectory string
}

// Backend is the interface of Eino.
type Backend interface {
	List(ctx context.Context) ([]FrontMatter, error)
	Get(ctx context.Context, name string) (Skill, error)
}
