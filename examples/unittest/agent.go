// Package unittest shows how to test a program that uses toolshelf. A small agent
// reads its commands and skills from a catalog. Its test uses a catalog over a
// filesystem in memory.
package unittest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// An Agent converts the input of a user to messages for a model.
type Agent struct {
	Catalog *toolshelf.Catalog
}

// SystemPrompt returns a list of the skills for the model.
func (a Agent) SystemPrompt(ctx context.Context) (string, error) {
	skills, err := a.Catalog.ListSkills(ctx)
	if errors.Is(err, toolshelf.ErrDirectoryNotFound) {
		return "You have no skills.", nil
	}
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("Your skills:\n")
	for _, skill := range skills {
		fmt.Fprintf(&b, "- %s: %s\n", skill.Name, skill.Description)
	}
	return b.String(), nil
}

// Prompt returns the message for a line of input. For a line such as "/review 42",
// the message is the text of the command review with the argument 42. Every other line is
// unchanged. For an unknown command, the message asks the model to suggest another
// command.
func (a Agent) Prompt(ctx context.Context, line string) (string, error) {
	if !strings.HasPrefix(line, "/") {
		return line, nil
	}
	expanded, err := a.Catalog.Expand(ctx, line, toolshelf.KindCommand)
	if errors.Is(err, toolshelf.ErrCommandNotFound) {
		return fmt.Sprintf("The user typed %q. No command has this name; suggest another command.", line), nil
	}
	return expanded.Text, err
}
