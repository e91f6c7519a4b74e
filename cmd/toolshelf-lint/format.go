package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
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

//go:embed rules.txt
var ruleLines string

// A rule is a diagnostic code with the comment of its constant: the severity and the defect.
type rule struct{ code, text string }

var rules = func() (all []rule) {
	for line := range strings.Lines(ruleLines) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		all = append(all, rule{code, text})
	}
	return all
}()

// An object has the properties of SARIF 2.1.0 that code scanning of GitHub requires.
type object = map[string]any

const homepage = "https://pkg.go.dev/github.com/toolshelf-go/toolshelf"

// writeSARIF writes one run with all rules. The level of a severity has the same name.
func writeSARIF(w io.Writer, diagnostics []toolshelf.Diagnostic) error {
	var described []object
	for _, r := range rules {
		severity, description, _ := strings.Cut(r.text, ": ")
		level, _, bySkill := strings.Cut(severity, " ")
		if bySkill { // "warning (error)"
			severity = "warning for a command, error for a SKILL.md"
		}
		short, _, _ := strings.Cut(description, "; ")
		help := severity + ": " + description + ". The message of each result suggests a correction."
		described = append(described, object{
			"id":                   r.code,
			"shortDescription":     object{"text": short},
			"fullDescription":      object{"text": description},
			"help":                 object{"text": help},
			"helpUri":              homepage + "#DiagnosticCode",
			"defaultConfiguration": object{"level": level},
		})
	}
	results := []object{} // an empty list is not null
	for _, d := range diagnostics {
		index := slices.IndexFunc(rules, func(r rule) bool { return r.code == string(d.Code) })
		results = append(results, object{
			"ruleId": d.Code, "ruleIndex": index, "level": d.Severity,
			"message":   object{"text": text(d)},
			"locations": []object{{"physicalLocation": sarifLocation(d)}},
		})
	}
	driver := object{
		"name": "toolshelf-lint", "version": version(), "informationUri": homepage, "rules": described,
	}
	return encode(w, object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"version": "2.1.0",
		"runs": []object{{
			"tool": object{"driver": driver}, "columnKind": "unicodeCodePoints", "results": results,
		}},
	})
}

// sarifLocation returns the location of a diagnostic. The region is one character, because GitHub
// requires an end.
func sarifLocation(d toolshelf.Diagnostic) object {
	line, column := position(d)
	file := escape.Decode(d.Path)
	artifact := object{"uri": (&url.URL{Path: file}).String()}
	switch {
	case path.IsAbs(file) || filepath.IsAbs(filepath.FromSlash(file)):
		// A Windows drive follows "/".
		artifact["uri"] = (&url.URL{Scheme: "file", Path: path.Join("/", file)}).String()
	case filepath.IsLocal(filepath.FromSlash(file)):
		artifact["uriBaseId"] = "%SRCROOT%" // the name that GitHub knows for the root of the repository
	}
	return object{
		"artifactLocation": artifact,
		"region": object{
			"startLine": line, "startColumn": column, "endLine": line, "endColumn": column + 1,
		},
	}
}
