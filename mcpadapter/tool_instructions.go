package mcpadapter

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/promptblock"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/schema"
)

func (t toolset) getInstructions(ctx context.Context, args schema.Arguments) (Result, error) {
	all, err := t.Instructions(ctx, args.String("path"), toolshelf.Imports(0))
	if err != nil {
		return Result{}, err
	}
	prompt := newInstructionPrompt(all)
	for most, reserved := args.Integer("max_characters"), 0; ; {
		p, err := prompt.within(ctx, most-reserved, most)
		if err != nil {
			return Result{}, err
		}
		notes := utf8.RuneCountInString(p.notes)
		if notes <= reserved || utf8.RuneCountInString(p.Text)+notes <= most {
			return t.textResult(cmp.Or(p.Text, "No instructions apply to this path")+p.notes, p.result)
		}
		reserved = notes
	}
}

// An instructionPrompt has the instructions for a path.
type instructionPrompt struct {
	block         promptblock.Instructions
	shown, unread []toolshelf.Instruction // in the block, and files that cannot be read
}

func newInstructionPrompt(all []toolshelf.Instruction) *instructionPrompt {
	var p instructionPrompt
	for _, i := range all {
		switch {
		case p.block.Add(i.Path, i.Text, i.Description, i.Mode == toolshelf.OnRequest):
			p.shown = append(p.shown, i)
		case i.Text == "":
			p.unread = append(p.unread, i)
		}
	}
	return &p
}

// A shownPrompt is the text of get_instructions without the notes, the notes, and the structured
// content.
type shownPrompt struct {
	promptblock.Result
	notes  string
	result instructionResult
}

type instructionResult struct {
	Instructions []instructionRow `json:"instructions"`
	Omitted      int              `json:"omitted,omitempty"`
	Shortened    int              `json:"shortened,omitempty"`
	Warnings     []string         `json:"warnings,omitempty"`
}

// An instructionRow is an instruction without the members of any length, such as the globs of a
// rule.
type instructionRow struct {
	Path        string         `json:"path"`
	Scope       string         `json:"scope"`
	Mode        toolshelf.Mode `json:"mode"`
	Text        string         `json:"text,omitempty"`
	Description string         `json:"description,omitempty"`
	Digest      string         `json:"digest,omitempty"`
}

// missingText are the codes of warnings about a text that the result lacks. Other warnings, such as
// defects of a header, are for the author of the file.
var missingText = []toolshelf.DiagnosticCode{agentmd.DiagImportNotFollowed, agentmd.DiagImportCycle, agentmd.DiagInstructionCut}

// within returns the instructions in at most limit characters. The warnings have at most a quarter
// of the characters of the result.
func (i *instructionPrompt) within(ctx context.Context, limit, most int) (p shownPrompt, err error) {
	p.result.Instructions = []instructionRow{}
	var diagnostics []toolshelf.Diagnostic
	var cut string
	if p.Result, cut, err = i.block.Fit(ctx, budget.Budget{Limited: true, Max: limit}); err != nil {
		return p, err
	}
	for n, i := range slices.Concat(i.shown[len(p.Dropped):], i.unread) {
		for _, d := range i.Diagnostics {
			if d.Severity == toolshelf.SeverityError || slices.Contains(missingText, d.Code) {
				diagnostics = append(diagnostics, d)
			}
		}
		row := instructionRow{Path: i.Path, Scope: i.Scope, Mode: i.Mode, Digest: i.Digest}
		shown, text := &row.Text, i.Text
		if i.Mode == toolshelf.OnRequest {
			shown, text = &row.Description, i.Description
		}
		if *shown = text; n == 0 && cut != "" {
			*shown = cut
		}
		if i.Text != "" {
			p.result.Instructions = append(p.result.Instructions, row)
		}
	}
	if p.Text == "" && len(p.Dropped) > 0 {
		err = &toolshelf.Error{Code: toolshelf.CodeInvalidOption, Op: "get_instructions",
			Message: fmt.Sprintf("%s: %d characters cannot hold the nearest instruction; use a larger budget", maxCharacters, most)}
	}
	p.result.Omitted, p.result.Shortened = len(p.Dropped), len(p.Shortened)
	size := 0
	for n, d := range diagnostics {
		warning := d.Path + ": " + d.Message
		if size += utf8.RuneCountInString(warning) + len("\nWarning: "); size > most/4 {
			warning = fmt.Sprintf("%d more", len(diagnostics)-n)
		}
		if p.result.Warnings = append(p.result.Warnings, warning); size > most/4 {
			break
		}
	}
	if p.result.Omitted+p.result.Shortened > 0 {
		p.notes = "\n\nCut at " + maxCharacters + "; raise the limit to read the whole texts"
	}
	if p.result.Warnings != nil {
		p.notes += "\n\nWarning: " + strings.Join(p.result.Warnings, "\nWarning: ")
	}
	return p, err
}

// WithInstructionHints makes read_file name the instructions that apply to the file and not to the root: the files of
// the directories below the root, such as services/api/AGENTS.md, and the rules whose globs match the file. The names
// are a line of the text and the member instructions, at most 20. The line is absent without such instructions.
//
// An adapter remembers no calls, so read_file names an instruction in each call, and once in a call
// with several files. Use the option if the model has the instructions of the root, and reads
// further instructions on demand. Without the option, read_file does not look for instructions.
func WithInstructionHints() Option {
	return func(c *config) error { c.hints = true; return nil }
}

// maxHints is the maximum number of instructions that read_file names for a file.
const maxHints = 20

// instructionHints are the hints of a call of read_file.
type instructionHints struct {
	toolset
	begun bool
	shown []toolshelf.Instruction // of the root, and named in this call
}

// A hintedText is a FileText with the instructions for the file.
type hintedText struct {
	toolshelf.FileText
	Instructions []string `json:"instructions,omitempty"`
	More         int      `json:"more_instructions,omitempty"`
	tool         string   // that returns the texts; may be ""
}

// add returns a text with the instructions for the file. Instructions that cannot be found are no
// error of the read.
func (h *instructionHints) add(ctx context.Context, text toolshelf.FileText) (hinted hintedText, err error) {
	hinted = hintedText{FileText: text, tool: h.names["get_instructions"]}
	if !h.hints {
		return hinted, nil
	}
	if !h.begun {
		h.shown, err = h.Catalog.Instructions(ctx, ".")
		h.begun = true
	}
	var news []toolshelf.Instruction
	if err == nil {
		news, err = h.Catalog.Instructions(ctx, text.Path, toolshelf.Except(h.shown...))
	}
	if err != nil {
		return hinted, ctx.Err()
	}
	h.shown = append(h.shown, news...)
	for _, i := range news {
		switch {
		case i.Path == text.Path:
		case len(hinted.Instructions) == maxHints:
			hinted.More++
		default:
			hinted.Instructions = append(hinted.Instructions, i.Path)
		}
	}
	return hinted, nil
}

// String returns the text with a line for the instructions.
func (t hintedText) String() string {
	text := t.FileText.String()
	if t.Instructions == nil {
		return text
	}
	names := make([]string, len(t.Instructions))
	for i, path := range t.Instructions {
		names[i] = escape.Path(path)
	}
	text += "\n\nInstructions for this file: " + strings.Join(names, ", ")
	if t.More > 0 {
		text += fmt.Sprintf(" and %d more", t.More)
	}
	if t.tool != "" {
		text += "; call " + t.tool + " to read the texts"
	}
	return text
}
