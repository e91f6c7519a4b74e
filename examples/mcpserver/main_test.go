package main

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestServerOffersTheSampleProject(t *testing.T) {
	here, there := mcp.NewInMemoryTransports()
	ended := make(chan error, 1)
	go func() { ended <- run(t.Context(), "../sample/project", here) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "commit-message"})
	if err != nil || len(prompt.Messages) != 1 {
		t.Errorf("prompt: got %+v, %v", prompt, err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 13 {
		t.Errorf("tools: got %+v, %v", tools, err)
	}
	session.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
