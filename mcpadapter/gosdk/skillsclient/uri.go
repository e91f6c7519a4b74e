package skillsclient

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	skillFile = "SKILL.md"
	maxURI    = 4096 // bytes
	maxDir    = 255  // bytes
)

var schemeForm = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9+.-]*$`)

// parseSkillURI returns the name of a skill, the last segment before SKILL.md, and the
// directory of the skill in a layer. The directory is unique for the label and the
// decoded URI.
func parseSkillURI(label, uri string) (name, dir string, err *Error) {
	if len(uri) > maxURI {
		return "", "", failf(ErrInvalidEntry, "the URI is longer than %d bytes; use a shorter path", maxURI)
	}
	scheme, rest, _ := strings.Cut(uri, "://")
	if !schemeForm.MatchString(scheme) {
		return "", "", failf(ErrInvalidEntry, "the URI has no scheme; use skill://<path>/SKILL.md")
	}
	path, ok := strings.CutSuffix(rest, "/"+skillFile)
	if !ok {
		return "", "", failf(ErrInvalidEntry, "the URI does not end with /SKILL.md; use the URI of the skill's SKILL.md")
	}
	segments, err := splitPath(path)
	if err != nil {
		return "", "", err
	}
	parts := []string{label}
	for _, segment := range segments {
		parts = append(parts, dirPart(segment))
	}
	if scheme != "skill" {
		parts[1] = dirPart(scheme) + "+" + parts[1]
	}
	if dir = strings.Join(parts, "."); len(dir) > maxDir {
		return "", "", failf(ErrInvalidEntry, "the path of the skill is longer than %d bytes; use a shorter path", maxDir)
	}
	return segments[len(segments)-1], dir, nil
}

// parseFileURI returns the path of a file relative to the directory of a skill.
func parseFileURI(skill, uri string) (string, *Error) {
	if len(uri) > maxURI {
		return "", failf(ErrInvalidEntry, "the URI of a file is longer than %d bytes", maxURI)
	}
	below, ok := strings.CutPrefix(uri, strings.TrimSuffix(skill, skillFile))
	if !ok {
		return "", failf(ErrInvalidEntry, "the file %s is not below the directory of the skill", quote(uri))
	}
	segments, err := splitPath(below)
	if err != nil {
		return "", err
	}
	return strings.Join(segments, "/"), nil
}

// splitPath splits a path at its slashes and decodes each segment once. Every segment is
// a safe name of a file.
func splitPath(path string) ([]string, *Error) {
	if strings.ContainsAny(path, "?#") {
		return nil, failf(ErrInvalidEntry, "the URI %s has a query or a fragment; encode ? as %%3F and # as %%23", quote(path))
	}
	segments := strings.Split(path, "/")
	for i, encoded := range segments {
		segment, err := url.PathUnescape(encoded)
		if err != nil || !safeSegment(segment) {
			return nil, failf(ErrInvalidEntry, "the path %s has the unsafe segment %s", quote(path), quote(encoded))
		}
		segments[i] = segment
	}
	return segments, nil
}

// safeSegment reports whether a decoded segment names a file on every system.
func safeSegment(segment string) bool {
	return segment != "" && segment != "." && segment != ".." && utf8.ValidString(segment) &&
		!strings.ContainsAny(segment, `/\`) && !strings.ContainsFunc(segment, unicode.IsControl)
}

// dirPart encodes a segment for the name of a directory: letters, digits, "-" and "_"
// stay, and every other byte becomes "%" and two hexadecimal digits. The result contains
// neither "." nor "+", so the parts of the name cannot be confused.
func dirPart(segment string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for _, r := range segment {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' {
			b.WriteRune(r)
			continue
		}
		for _, c := range []byte(string(r)) {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
