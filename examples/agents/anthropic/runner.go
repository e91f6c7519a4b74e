package anthropic

import (
	"context"
	"encoding/json"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/toolrunner"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

func runnerTools(adapter *mcpadapter.Adapter) (all []anthropic.BetaTool, err error) {
	for _, t := range adapter.Tools() {
		tool, err := toolrunner.NewBetaToolFromBytes(t.Name, t.Description, t.InputSchema,
			func(ctx context.Context, input json.RawMessage) (content anthropic.BetaToolResultBlockParamContentUnion, err error) {
				text, err := adapter.AnswerErr(ctx, t.Name, input)
				return anthropic.BetaToolResultBlockParamContentUnion{OfText: &anthropic.BetaTextBlockParam{Text: text}}, err
			})
		if err != nil {
			return nil, err
		}
		all = append(all, tool)
	}
	return all, nil
}

// AskRunner is Ask with the tool runner, which calls the tools itself.
func AskRunner(ctx context.Context, client anthropic.Client, adapter *mcpadapter.Adapter, instructions, question string) (string, error) {
	tools, err := runnerTools(adapter)
	if err != nil {
		return "", err
	}
	runner := client.Beta.Messages.NewToolRunner(tools, anthropic.BetaToolRunnerParams{BetaMessageNewParams: anthropic.BetaMessageNewParams{
		Model: anthropic.ModelClaudeSonnet5, MaxTokens: 8192,
		System:   []anthropic.BetaTextBlockParam{{Text: instructions}},
		Messages: []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(question))},
	}, MaxIterations: 20})
	m, err := runner.RunToCompletion(ctx)
	if err != nil {
		return "", err
	}
	said := ""
	for _, block := range m.Content {
		said += block.Text
	}
	return said, nil
}
