package release_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/release"
)

func TestPatchedReleases(t *testing.T) {
	for _, tt := range []struct{ rule, system, release, want string }{
		{"a release with the defects", "darwin", "go1.25.11", "go1.25.12"},
		{"the first release of a minor version", "freebsd", "go1.26.0", "go1.26.5"},
		{"a release candidate", "openbsd", "go1.26rc2", "go1.26.5"},
		{"a release with experiments", "darwin", "go1.26.4 X:jsonv2", "go1.26.5"},
		{"the patched release", "darwin", "go1.25.12", ""},
		{"a later release", "darwin", "go1.26.8", ""},
		{"a minor version without the defects", "darwin", "go1.27.0", ""},
		{"a development version", "darwin", "devel go1.28-0123456789", ""},
		{"a system with openat", "linux", "go1.25.0", ""},
		{"Android", "android", "go1.25.0", ""},
		{"a system without the defects", "windows", "go1.25.0", ""},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			if got := release.Patched(tt.system, tt.release); got != tt.want {
				t.Errorf("Patched(%q, %q) = %q, want %q", tt.system, tt.release, got, tt.want)
			}
		})
	}
}

func TestWarnNamesThePatchedRelease(t *testing.T) {
	var out strings.Builder
	l := slog.New(slog.NewTextHandler(&out, nil))
	release.Warn(l, "linux", "go1.25.0")
	if out.Len() > 0 {
		t.Errorf("on Linux, Warn logs %s", out.String())
	}
	release.Warn(l, "darwin", "go1.25.3")
	for _, want := range []string{"level=WARN", "release=go1.25.3", "patched=go1.25.12"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s lacks %s", out.String(), want)
		}
	}
}
