package toolshelf_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf"
)

func TestNewRejectsInvalidOptions(t *testing.T) {
	for name, option := range map[string]toolshelf.Option{
		"no filesystem":                          toolshelf.WithFs(nil),
		"no FS":                                  toolshelf.WithCommandsFS("x", nil),
		"no name":                                toolshelf.WithSkillsFS("", sub(t, "skills")),
		"an empty directory name":                toolshelf.WithCommandsDir("a", ""),
		"a size of 0":                            toolshelf.WithMaxFileSize(0),
		"trusted directories without the policy": toolshelf.WithSymlinks(toolshelf.SymlinksInside, "/srv"),
		"the policy without directories":         toolshelf.WithSymlinks(toolshelf.SymlinksTrusted),
		"a relative trusted directory":           toolshelf.WithSymlinks(toolshelf.SymlinksTrusted, "dotfiles"),
		"no such policy":                         toolshelf.WithSymlinks(7),
	} {
		if _, err := toolshelf.New(option); !errors.Is(err, toolshelf.ErrInvalidOption) {
			t.Errorf("%s: %v, want ErrInvalidOption", name, err)
		}
	}
}

// TestOptionsCompileOnlyWithTheirMethods assigns the result type of each option to the option types of the methods, as
// the compiler does.
func TestOptionsCompileOnlyWithTheirMethods(t *testing.T) {
	const (
		dirs    = "ListDir Tree FindFiles"
		files   = dirs + " Grep"
		search  = "Search SearchSkills"
		prompts = "SkillsPrompt CommandsPrompt"
		all     = files + " " + search + " Lint ReadFile GetSkill " + prompts
	)
	for _, tt := range []struct {
		name    string
		option  any // a function that returns the option
		methods string
	}{
		{"After", toolshelf.After, dirs},
		{"SortedBy", toolshelf.SortedBy, dirs},
		{"WithoutSizes", toolshelf.WithoutSizes, dirs},
		{"Exclude", toolshelf.Exclude, files},
		{"Gitignore", toolshelf.Gitignore, files},
		{"Limit", toolshelf.Limit, files},
		{"MaxDepth", toolshelf.MaxDepth, files},
		{"ShowHidden", toolshelf.ShowHidden, files},
		{"SkipDependencies", toolshelf.SkipDependencies, files},
		{"Budget", toolshelf.Budget, files + " " + prompts},
		{"Tokens", toolshelf.Tokens, files + " " + prompts},
		{"WithProgress", func() (o toolshelf.WithProgress) { return }, files + " " + search + " Lint"},
		{"ContextLines", toolshelf.ContextLines, "Grep"},
		{"InFiles", toolshelf.InFiles, "Grep"},
		{"IgnoreCase", toolshelf.IgnoreCase, "Grep"},
		{"Literal", toolshelf.Literal, "Grep"},
		{"WholeWords", toolshelf.WholeWords, "Grep"},
		{"Column", toolshelf.Column, "ReadFile"},
		{"Lines", toolshelf.Lines, "ReadFile"},
		{"MaxBytes", toolshelf.MaxBytes, "ReadFile"},
		{"PromptFirst", toolshelf.PromptFirst, prompts},
		{"PromptFor", toolshelf.PromptFor, prompts},
		{"PromptLocations", toolshelf.PromptLocations, prompts},
		{"Digests", toolshelf.Digests, "GetSkill"},
	} {
		option := reflect.TypeOf(tt.option).Out(0)
		var methods []string
		for name := range strings.FieldsSeq(all) {
			method, _ := reflect.TypeFor[*toolshelf.Catalog]().MethodByName(name)
			if parameters := method.Type; option.AssignableTo(parameters.In(parameters.NumIn() - 1).Elem()) {
				methods = append(methods, name)
			}
		}
		if got := strings.Join(methods, " "); got != tt.methods {
			t.Errorf("%s compiles with %s, want %s", tt.name, got, tt.methods)
		}
	}
}
