// Package unittest is a small agent and its test, as a user of the library
// would write them: the agent reads its commands and skills from whatever
// catalog it is given, and the test gives it one in memory.
package unittest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf"
)

// An Agent turns what a user types into what a model is sent.
type Agent struct {
	Catalog *toolshelf.Catalog
}

// SystemPrompt tells the model which skills there are.
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

// Prompt returns the message for a line of input. A line such as
// "/review 42" sends the command's text, with 42 for its $ARGUMENTS; every
// other line is sent as it is. A command that does not exist is no error but
// an answer, so that the model can help with it.
func (a Agent) Prompt(ctx context.Context, line string) (string, error) {
	typed, isCommand := strings.CutPrefix(line, "/")
	if !isCommand {
		return line, nil
	}
	name, arguments, _ := strings.Cut(typed, " ")
	command, err := a.Catalog.Get(ctx, name)
	if errors.Is(err, toolshelf.ErrCommandNotFound) || errors.Is(err, toolshelf.ErrInvalidCommandName) {
		return fmt.Sprintf("The user typed %q. There is no such command; suggest another one.", line), nil
	}
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(command.Content, "$ARGUMENTS", arguments), nil
}
