// Package release knows the releases of Go whose os.Root lets a name escape.
package release

import (
	"go/version"
	"log/slog"
	"strings"
)

// patched has, for each minor version of Go, the first release without the two known defects of
// os.Root on Unix: CVE-2026-39822, go.dev/issue/79005, and CVE-2026-27139. On 2026-11-23, a name
// that ends with a slash led out of an os.Root of go1.25.11 and go1.26.4, and not of go1.25.12,
// go1.26.5 and go1.27.0.
var patched = map[string]string{"go1.25": "go1.25.12", "go1.26": "go1.26.5"}

// Patched returns the release to build with instead of a release whose os.Root has a known
// defect, for a system as in runtime.GOOS and a release as in runtime.Version. Patched returns ""
// if the release has no known defect, if package confine does not use os.Root on the system, and
// for a development version of Go.
func Patched(system, release string) string {
	switch system {
	case "linux", "android": // confine uses openat
		return ""
	case "windows", "plan9", "js": // the defects concern Unix
		return ""
	}
	release, _, _ = strings.Cut(release, " ") // without the experiments, as in "go1.26.4 X:jsonv2"
	first := patched[version.Lang(release)]
	if first == "" || version.Compare(release, first) >= 0 {
		return ""
	}
	return first
}

// Warn logs the advice of Patched, if any.
func Warn(l *slog.Logger, system, release string) {
	if first := Patched(system, release); first != "" {
		l.Warn("names can lead out of the root because of a defect of os.Root; build the program with a patched release of Go", "release", release, "patched", first)
	}
}
