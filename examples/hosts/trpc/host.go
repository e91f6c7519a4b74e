// Package trpc has a repository of skills for trpc-agent-go. This file names the types that the
// repository fills, as in skill/repository.go of trpc.group/trpc-go/trpc-agent-go v1.11.2. A test
// of examples/agents/loaders compares the types.
package trpc

// Summary has the fields of the type in trpc-agent-go.
type Summary struct{ Name, Description string }

// Doc has the fields of the type in trpc-agent-go.
type Doc struct{ Path, Content string }

// Skill has the fields of the type in trpc-agent-go.
type Skill struct {
	Summary Summary
	Body    string
	Docs    []Doc
}

// Repository is the interface of trpc-agent-go.
type Repository interface {
	Summaries() []Summary
	Get(name string) (*Skill, error)
	Path(name string) (string, error)
}
