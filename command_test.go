package toolshelf_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

func TestContractGetExamples(t *testing.T) {
	const dir = "/opt/acmt/Commands"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		dir + "/analyze_zoom_speech_sdk_log.md": "---\ndescription: Analyzes Zoom Speech SDK log files for issues and performance problems\n---\n# Zoom Speech SDK Log Analyzer\n",
		dir + "/log-type-identification.md":     "---\ndescription: Rules for identifying different log types\n---\n# Log Type Identification Rules\n",
	})), toolshelf.WithCommandsDir(dir))
	for _, tt := range []struct{ name, want string }{
		{"analyze_zoom_speech_sdk_log", `{"name":"analyze_zoom_speech_sdk_log","content":"# Zoom Speech SDK Log Analyzer\n",` +
			`"metadata":{"path":"/opt/acmt/Commands/analyze_zoom_speech_sdk_log.md","size":123,"last_modified":"2025-11-20T10:30:00Z",` +
			`"description":"Analyzes Zoom Speech SDK log files for issues and performance problems"},` +
			`"next_steps":"Important: when this command has finished and produced its report, show the report to the user and ask what to do with it before going on."}`},
		{"log-type-identification.md", `{"name":"log-type-identification","content":"# Log Type Identification Rules\n",` +
			`"metadata":{"path":"/opt/acmt/Commands/log-type-identification.md","size":95,"last_modified":"2025-11-20T10:30:00Z",` +
			`"description":"Rules for identifying different log types"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			command, err := c.Get(t.Context(), tt.name)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(command)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, filepath.ToSlash(string(got))); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGetFindsEveryListedCommand(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		for _, tt := range []struct {
			name    string
			options []toolshelf.Option
			want    []string
		}{
			{"by default", nil,
				[]string{"analyze-logs", "broken", "Build", "crlf", "deploy_app", "empty", "zeta"}},
			{"nested", []toolshelf.Option{toolshelf.WithNestedCommands()},
				[]string{"analyze-logs", "broken", "Build", "crlf", "deploy_app", "empty", "frontend:component", "zeta"}},
			{"with loose names", []toolshelf.Option{toolshelf.WithLooseNames()},
				[]string{"analyze-logs", "broken", "Build", "crlf", "deploy_app", "empty", "my command", "zeta"}},
		} {
			t.Run(tt.name, func(t *testing.T) {
				c := open(tt.options...)
				got := names(t, c)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("names (-want +got):\n%s", diff)
				}
				for _, name := range got {
					if _, err := c.Get(t.Context(), name); err != nil {
						t.Errorf("Get of the listed command %q: %v", name, err)
					}
				}
			})
		}
	})
}

func TestGetReturnsTheFileUnchanged(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		c := open()
		for name, content := range map[string]string{
			"analyze-logs": "\n# Analyze logs\n\nRead $1 and name the first error.\n",
			"Build":        "Run the build and list the warnings.\n",
			"broken":       "Compare $1 with $2.\n",
			"crlf":         "Body\r\n",
			"empty":        "",
			"shared-rules": "Write in the active voice.\n",
			"zeta":         "An ending in capitals.\n",
		} {
			got, err := c.Get(t.Context(), name)
			if err != nil {
				t.Errorf("Get(%q): %v", name, err)
				continue
			}
			if got.Name != name || got.Content != content {
				t.Errorf("Get(%q) = %q with %q, want %q", name, got.Name, got.Content, content)
			}
			if !strings.HasSuffix(string(got.Raw), content) || int64(len(got.Raw)) != got.Metadata.Size {
				t.Errorf("Get(%q): Raw is %q, Size %d", name, got.Raw, got.Metadata.Size)
			}
		}
	})
}

func TestGetTakesNames(t *testing.T) {
	onEveryFilesystem(t, func(t *testing.T, open func(...toolshelf.Option) *toolshelf.Catalog) {
		strict := open()
		free := open(toolshelf.WithNestedCommands(), toolshelf.WithLooseNames())
		for _, tt := range []struct {
			catalog *toolshelf.Catalog
			name    string
			want    string // the command's name
			err     error
		}{
			{strict, "Build", "Build", nil},
			{strict, "Build.md", "Build", nil},
			{strict, "Build.MD", "Build", nil},
			{strict, "zeta.md", "zeta", nil},
			{strict, "shared-rules", "shared-rules", nil},
			{strict, "build", "", toolshelf.ErrCommandNotFound},
			{strict, "missing", "", toolshelf.ErrCommandNotFound},
			{strict, "README", "", toolshelf.ErrCommandNotFound},
			{strict, "x", "", toolshelf.ErrCommandNotFound},
			{strict, "Build.md.md", "", toolshelf.ErrInvalidCommandName},
			{strict, "", "", toolshelf.ErrInvalidCommandName},
			{strict, ".md", "", toolshelf.ErrInvalidCommandName},
			{strict, ".hidden", "", toolshelf.ErrInvalidCommandName},
			{strict, "my command", "", toolshelf.ErrInvalidCommandName},
			{strict, "frontend:component", "", toolshelf.ErrInvalidCommandName},
			{strict, "frontend/component", "", toolshelf.ErrInvalidCommandName},
			{strict, `frontend\component`, "", toolshelf.ErrInvalidCommandName},
			{strict, "../project/commands/Build", "", toolshelf.ErrInvalidCommandName},
			{strict, "..", "", toolshelf.ErrInvalidCommandName},
			{strict, "Build\x00", "", toolshelf.ErrInvalidCommandName},
			{strict, "Büild", "", toolshelf.ErrInvalidCommandName},
			{free, "frontend:component", "frontend:component", nil},
			{free, "frontend:component.md", "frontend:component", nil},
			{free, "my command", "my command", nil},
			{free, "my command.md", "my command", nil},
			{free, "frontend/component", "", toolshelf.ErrInvalidCommandName},
			{free, "..:component", "", toolshelf.ErrInvalidCommandName},
			{free, "frontend:..", "", toolshelf.ErrInvalidCommandName},
			{free, ".hidden", "", toolshelf.ErrInvalidCommandName},
		} {
			got, err := tt.catalog.Get(t.Context(), tt.name)
			if !errors.Is(err, tt.err) || got.Name != tt.want {
				t.Errorf("Get(%q) = %q, %v; want %q, %v", tt.name, got.Name, err, tt.want, tt.err)
			}
		}
	})
}

func TestAnInvalidCommandNameIsAnsweredWithTheNameThatItMeans(t *testing.T) {
	strict := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithCommandsDir("./a", ".claude/commands/", "lib/prompts"))
	nested := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithNestedCommands())
	loose := catalog(t, toolshelf.WithFs(afero.NewMemMapFs()), toolshelf.WithLooseNames())
	const (
		rule, nestedRule = `use letters, digits, "_" and "-"`, `use letters, digits, "_" and "-"; separate directories with ":"`
		withoutNested    = "; the catalog reads no subdirectories without WithNestedCommands"
		render           = ", and fill in the arguments with Render"
	)
	for _, tt := range []struct {
		catalog    *toolshelf.Catalog
		name, want string
	}{
		{strict, "/review", `write "review"`},
		{strict, "/review.md", `write "review"`},
		{strict, "/review the last commit", `write "review"` + render},
		{strict, "/review\nthe last commit", `write "review"` + render},
		{strict, " review ", `write "review"`},
		{strict, "review/", `write "review"`},
		{strict, "./review.md", `write "review"`},
		{strict, "a/review.md", `write "review"`},
		{strict, ".claude/commands/review.md", `write "review"`},
		{strict, `.claude\commands\review.md`, `write "review"`},
		{strict, "commands/review.md", `write "review"`},
		{strict, "prompts/review.md", `write "review"`},
		{strict, "/commands/review.md", `write "review"`},
		{strict, "review 417", rule + `; if arguments follow the name, write "review"` + render},
		{strict, "review src/main.go", rule + `; if arguments follow the name, write "review"` + render},
		{strict, "commands/review.md 417", rule + `; if arguments follow the name, write "review"` + render},
		{strict, "my.review 417", rule},
		{strict, "b/review.md", rule + withoutNested},
		{strict, "frontend/component", rule + withoutNested},
		{strict, `frontend\component.md`, rule + withoutNested},
		{strict, "a//b/", rule + withoutNested},
		{strict, "/my.review", rule},
		{strict, "/", rule},
		{strict, "", rule},
		{strict, "../secrets", rule},
		{strict, "/frontend:component", rule + withoutNested},
		{nested, "/frontend:component", `write "frontend:component"`},
		{nested, "/frontend:component a b", `write "frontend:component"` + render},
		{nested, "commands/frontend/component.md", `write "frontend:component"`},
		{nested, "frontend/component", `write "frontend:component"`},
		{nested, "frontend/../component", nestedRule},
		{loose, "/my.review", `write "my.review"`},
		{loose, "commands/my review.md", `write "my review"`},
		{loose, "/.review", "use one path element without separators, control characters and leading dot"},
	} {
		_, err := tt.catalog.Get(t.Context(), tt.name)
		want := fmt.Sprintf("toolshelf: Get: invalid command name %q: %s (INVALID_COMMAND_NAME)", tt.name, tt.want)
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestAnInvalidNameNeverReachesTheFilesystem(t *testing.T) {
	var touched []string
	c := catalog(t, toolshelf.WithFs(recording{memory(t, "."), &touched}))
	for _, name := range []string{"../secret", "/etc/passwd", "a/b", `a\b`, "", ".", "..", "a b", "nul\x00", strings.Repeat("/", 5000)} {
		if _, err := c.Get(t.Context(), name); !errors.Is(err, toolshelf.ErrInvalidCommandName) {
			t.Errorf("Get(%q): %v", name, err)
		}
	}
	if len(touched) > 0 {
		t.Errorf("the filesystem received %q", touched)
	}
}

// recording records every name that reaches a filesystem.
type recording struct {
	afero.Fs
	touched *[]string
}

func (r recording) Open(name string) (afero.File, error) {
	*r.touched = append(*r.touched, name)
	return r.Fs.Open(name)
}

func (r recording) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	*r.touched = append(*r.touched, name)
	return r.Fs.OpenFile(name, flag, perm)
}

func (r recording) Stat(name string) (os.FileInfo, error) {
	*r.touched = append(*r.touched, name)
	return r.Fs.Stat(name)
}
