package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The escapes of workflow commands, as in the function issueCommand of actions/toolkit.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// writeGitHub writes workflow commands of GitHub Actions, which become annotations.
func writeGitHub(w io.Writer, diagnostics []toolshelf.Diagnostic) error {
	for _, d := range diagnostics {
		line, column := position(d)
		if _, err := fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", d.Severity, escapeProperty.Replace(escape.Decode(d.Path)),
			line, column, escapeProperty.Replace(string(d.Code)), escapeData.Replace(text(d))); err != nil {
			return err
		}
	}
	return nil
}
