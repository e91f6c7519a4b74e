package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolshelf-go/toolshelf"
)

// A format writes diagnostics.
type format func(io.Writer, []toolshelf.Diagnostic) error

var formats = map[string]format{"text": writeText, "json": writeJSON, "sarif": writeSARIF, "github": writeGitHub}

func writeText(w io.Writer, diagnostics []toolshelf.Diagnostic) error {
	for _, d := range diagnostics {
		d.Line, d.Column = position(d)
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, diagnostics []toolshelf.Diagnostic) error { return encode(w, diagnostics) }

func encode(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// position returns the line and the column of a diagnostic. A diagnostic of a whole file
// gets 1:1, because some readers require a position.
func position(d toolshelf.Diagnostic) (line, column int) { return max(d.Line, 1), max(d.Column, 1) }

// text returns the message with the suggestion.
func text(d toolshelf.Diagnostic) string {
	if d.Suggestion == "" {
		return d.Message
	}
	return d.Message + "; " + d.Suggestion
}
