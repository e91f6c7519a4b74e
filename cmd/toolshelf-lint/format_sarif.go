package main

import (
	"io"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// The types contain the properties of SARIF 2.1.0 that code scanning of GitHub requires.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID                   string       `json:"id"`
		ShortDescription     sarifText    `json:"shortDescription"`
		FullDescription      sarifText    `json:"fullDescription"`
		Help                 sarifText    `json:"help"`
		HelpURI              string       `json:"helpUri"`
		DefaultConfiguration sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifLocation struct {
		PhysicalLocation struct {
			ArtifactLocation sarifArtifact `json:"artifactLocation"`
			Region           sarifRegion   `json:"region"`
		} `json:"physicalLocation"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
)

const homepage = "https://pkg.go.dev/github.com/toolshelf-go/toolshelf"

// writeSARIF writes one run with all rules. The level of a severity has the same name.
func writeSARIF(w io.Writer, diagnostics []toolshelf.Diagnostic) error {
	driver := sarifDriver{Name: "toolshelf-lint", Version: version(), InformationURI: homepage}
	for _, r := range rules {
		severity, description, _ := strings.Cut(r.text, ": ")
		level, _, bySkill := strings.Cut(severity, " ")
		if bySkill { // "warning (error)"
			severity = "warning for a command, error for a SKILL.md"
		}
		short, _, _ := strings.Cut(description, "; ")
		driver.Rules = append(driver.Rules, sarifRule{
			ID:                   string(r.code),
			ShortDescription:     sarifText{short},
			FullDescription:      sarifText{description},
			Help:                 sarifText{severity + ": " + description + ". The message of each result suggests a correction."},
			HelpURI:              homepage + "#DiagnosticCode",
			DefaultConfiguration: sarifDefault{level},
		})
	}
	results := make([]sarifResult, len(diagnostics)) // an empty list is not null
	for i, d := range diagnostics {
		index := slices.IndexFunc(rules, func(r rule) bool { return r.code == d.Code })
		results[i] = sarifResult{string(d.Code), index, string(d.Severity), sarifText{text(d)}, []sarifLocation{sarifLocationOf(d)}}
	}
	return encode(w, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{{sarifTool{driver}, "unicodeCodePoints", results}},
	})
}

// sarifLocationOf returns the location of a diagnostic. The region is one character,
// because GitHub requires an end.
func sarifLocationOf(d toolshelf.Diagnostic) (location sarifLocation) {
	line, column := position(d)
	location.PhysicalLocation.Region = sarifRegion{line, column, line, column + 1}
	artifact, file := &location.PhysicalLocation.ArtifactLocation, escape.Decode(d.Path)
	switch {
	case path.IsAbs(file) || filepath.IsAbs(filepath.FromSlash(file)):
		artifact.URI = (&url.URL{Scheme: "file", Path: path.Join("/", file)}).String() // "/" before a Windows drive
	case filepath.IsLocal(filepath.FromSlash(file)):
		artifact.URIBaseID = "%SRCROOT%" // the name that GitHub knows for the root of the repository
		fallthrough
	default:
		artifact.URI = (&url.URL{Path: file}).String()
	}
	return location
}
