package main

import (
	"regexp"
	"strings"
)

const breakingHeading = "### Breaking"

var (
	code       = regexp.MustCompile("`[^`]*`")
	identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*(?:\.[\pL_][\pL\pN_]*)*`)
)

// breaking returns the identifiers in code spans of the sections Breaking. An identifier without a
// package is in the package toolshelf, or is a tool.
func breaking(changelog string) map[string]bool {
	named := map[string]bool{}
	section := ""
	for line := range strings.Lines(changelog) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ") {
			section = line
		} else if section == breakingHeading {
			for _, span := range code.FindAllString(line, -1) {
				for _, name := range identifier.FindAllString(span, -1) {
					named[name] = true
					named["toolshelf."+name] = true
					named["tool."+name] = true
				}
			}
		}
	}
	return named
}
