// Package adk connects a catalog to the Agent Development Kit (ADK).
package adk

import (
	"context"

	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"
)

// Ask returns the answer of an agent with a model and tools. The instructions are the text of
// Catalog.SkillsPrompt.
func Ask(ctx context.Context, config llmagent.Config, instructions, question string) (string, error) {
	config.Name = "shelf"
	config.InstructionProvider = func(agent.ReadonlyContext) (string, error) { return instructions, nil } // Instruction would expand {…}
	shelf, err := llmagent.New(config)
	if err != nil {
		return "", err
	}
	return Run(ctx, shelf, question)
}

// Run returns the answer of an agent.
func Run(ctx context.Context, shelf agent.Agent, question string) (said string, err error) {
	r, err := runner.New(runner.Config{AppName: "shelf", Agent: shelf, SessionService: session.InMemoryService(), AutoCreateSession: true})
	if err != nil {
		return "", err
	}
	for event, err := range r.Run(ctx, "user", "session", genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			return "", err
		}
		if event.IsFinalResponse() && event.Content != nil {
			said = ""
			for _, part := range event.Content.Parts {
				if !part.Thought {
					said += part.Text
				}
			}
		}
	}
	return said, nil
}
