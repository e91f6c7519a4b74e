package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// conversation runs the loop with a model and returns the lines that it prints.
func conversation(t *testing.T, ask model) ([]string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), &out, ask)
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

// scripted returns a model that replies with the given lines of JSON in order.
func scripted(lines []byte) model {
	decoder := json.NewDecoder(bytes.NewReader(lines))
	return func(context.Context, []any, []message) (next message, err error) { return next, decoder.Decode(&next) }
}

func TestEveryCallIsAnsweredInOrder(t *testing.T) {
	lines := must.Get(conversation(t, scripted(script)))(t)
	said := strings.Split(strings.TrimSuffix(string(script), "\n"), "\n")
	want := []string{
		`{"role":"system","content":"Before a task, load the skill for the task with get_skill.\n<available_skills>\n  <skill>\n    <name>accessibility-audit</name>…`,
		`{"role":"user","content":"Every payment fails since the release. How severe is this?"}`,
		said[0],
		`{"role":"tool","tool_call_id":"call_1","name":"get_skill","content":"Skill: incident-response\nPath: skills/incident-response/SKILL.md\n\n---\nname: incident-response\n…`,
		said[1],
		`{"role":"tool","tool_call_id":"call_2","name":"list_directory","content":"Directory: skills/incident-response/\nTotal: 1 file, 1 directory\n\n[DIR]  references/\n[FILE] SKILL.md  (0.7 KB)"}`,
		`{"role":"tool","tool_call_id":"call_3","name":"read_skill_file","content":"{\"error\":{\"code\":\"SKILL_NOT_FOUND\",…`,
		said[2],
		`{"role":"tool","tool_call_id":"call_4","name":"read_skill_file","content":"# Severity\n\n| Level |…`,
		`{"role":"tool","tool_call_id":"call_5","name":"send_mail","content":"Unknown tool: \"send_mail\"…`,
		said[3],
	}
	for i, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("line %d is not JSON: %s", i+1, line)
		}
		if i >= len(want) {
			break
		}
		if begin, cut := strings.CutSuffix(want[i], "…"); cut && strings.HasPrefix(line, begin) {
			lines[i] = want[i] // the tests of the tool check the rest
		}
	}
	must.Match(t, "messages", want, lines)
}

func TestModelReceivesTheToolsAndTheConversation(t *testing.T) {
	var turns []int
	ask := scripted(script)
	_, err := conversation(t, func(ctx context.Context, tools []any, said []message) (message, error) {
		turns = append(turns, len(said))
		raw := must.Get(json.Marshal(tools))(t)
		var shape []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        struct{ Type string }
			}
		}
		must.Do(t, json.Unmarshal(raw, &shape))
		if len(shape) == 0 {
			t.Error("there are no tools")
		}
		for _, s := range shape {
			if s.Type != "function" || s.Function.Name == "" || s.Function.Description == "" || s.Function.Parameters.Type != "object" {
				t.Errorf("got %+v", s)
			}
		}
		return ask(ctx, tools, said)
	})
	if err != nil {
		t.Fatal(err)
	}
	must.Match(t, "messages before each turn", []int{2, 4, 7, 10}, turns)
}

func TestInstructionsListTheSkills(t *testing.T) {
	_, err := conversation(t, func(_ context.Context, _ []any, said []message) (message, error) {
		if said[0].Role != "system" || !strings.Contains(said[0].Content, "<name>sql-style</name>") {
			t.Errorf("the instructions are %+v", said[0])
		}
		return message{Role: "assistant"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLoopLimitsTheTurns(t *testing.T) {
	call := message{Role: "assistant", ToolCalls: []toolCall{{ID: "again", Type: "function"}}}
	_, err := conversation(t, func(context.Context, []any, []message) (message, error) { return call, nil })
	if err == nil || !strings.Contains(err.Error(), "20 turns") {
		t.Errorf("got %v", err)
	}
}

func TestLoopReturnsTheModelsError(t *testing.T) {
	lines, err := conversation(t, scripted(nil))
	if !errors.Is(err, io.EOF) || lines[0] != "" {
		t.Errorf("got %q, %v", lines, err)
	}
}
