// Command agentloop is an agent without MCP. The instructions of the model list the skills. The
// loop gives the model the tools, runs the tools that the model calls and returns the results,
// until the model calls no more tools. The loop prints each message as JSON. A script with fixed
// messages replaces the model.
//
//	go run ./examples/agentloop    # reads an embedded sample project
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/spf13/afero"
	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/examples/sample"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

//go:embed script.jsonl
var script []byte

type message struct {
	Role       string     `json:"role"` // system, user, assistant or tool
	ToolCallID string     `json:"tool_call_id,omitempty"`
	Name       string     `json:"name,omitempty"` // of the tool
	Content    string     `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"` // JSON, as the model wrote it
	} `json:"function"`
}

// A model returns the next message of a conversation.
type model func(ctx context.Context, tools []any, conversation []message) (message, error)

func main() {
	lines := json.NewDecoder(bytes.NewReader(script))
	scripted := func(context.Context, []any, []message) (next message, err error) { return next, lines.Decode(&next) }
	if err := run(context.Background(), os.Stdout, scripted); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, ask model) error {
	catalog, err := toolshelf.New(toolshelf.WithFs(afero.FromIOFS{FS: sample.FS()}))
	if err != nil {
		return err
	}
	defer catalog.Close()
	adapter, err := mcpadapter.New(catalog)
	if err != nil {
		return err
	}
	var tools []any
	for _, t := range adapter.Tools() {
		function := map[string]any{"name": t.Name, "description": t.Description, "parameters": t.InputSchema}
		tools = append(tools, map[string]any{"type": "function", "function": function})
	}
	skills, err := catalog.SkillsPrompt(ctx) // with toolshelf.Budget, at most a number of characters
	if err != nil {
		return err
	}
	instructions := message{Role: "system", Content: "Before a task, load the skill for the task with get_skill.\n" + skills.Text}
	conversation := []message{instructions, {Role: "user", Content: "Every payment fails since the release. How severe is this?"}}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for printed, turns := 0, 20; turns > 0; turns-- {
		reply, err := ask(ctx, tools, conversation)
		if err != nil {
			return err
		}
		conversation = append(conversation, reply)
		for _, call := range reply.ToolCalls {
			text, _ := adapter.Answer(ctx, call.Function.Name, json.RawMessage(call.Function.Arguments))
			conversation = append(conversation, message{Role: "tool", ToolCallID: call.ID, Name: call.Function.Name, Content: text})
		}
		for ; printed < len(conversation); printed++ {
			if err := out.Encode(conversation[printed]); err != nil {
				return err
			}
		}
		if len(reply.ToolCalls) == 0 {
			return nil
		}
	}
	return errors.New("the model called tools in 20 turns and did not finish")
}
