package publish

import (
	"net/url"
	"strings"
)

// scheme begins the URI of each file and directory of a skill.
const scheme = "skill://"

// escaped corrects the results of url.QueryEscape, which escapes a slash, and writes "+" for a space
// only.
var escaped = strings.NewReplacer("+", "%20", "%2F", "/")

// URI returns the URI of a path of one or more elements. Each byte except the
// letters, digits and marks that RFC 3986 calls unreserved is percent-encoded, so the URI
// is valid for every path, and each path has exactly one URI.
func URI(path string) string { return scheme + escaped.Replace(url.QueryEscape(path)) }

// ParseURI returns the path of a URI. ParseURI accepts only the results of
// URI: no other spelling of a URI, no empty element, no "." and no "..". An accepted
// path is therefore safe to compare with the paths of files, byte by byte.
func ParseURI(uri string) (path string, ok bool) {
	encoded, _ := strings.CutPrefix(uri, scheme)
	path, err := url.PathUnescape(encoded)
	if err != nil || URI(path) != uri || strings.Contains(path, "\x00") {
		return "", false
	}
	for element := range strings.SplitSeq(path, "/") {
		if element == "" || element == "." || element == ".." {
			return "", false
		}
	}
	return path, true
}
