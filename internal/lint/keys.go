package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// effectiveKeys are the keys that change the effect of a command in toolshelf or in a usual
// client. Lint reports a key that resembles one of these keys.
var effectiveKeys = []string{
	"description", "argument-hint", "arguments", "allowed-tools", "disallowed-tools", "disable-model-invocation", "user-invocable",
	"is_dependency", "when_to_use", "model", "tags",
}

// otherKeys are further keys that a client defines for commands, skills or agents. No
// otherKey is a misspelled key.
var otherKeys = []string{
	"name", "agent", "agents", "mode", "tools", "context", "effort", "hooks", "paths", "shell", "version", "license", "metadata", "compatibility",
	"subtask", "template", "invokable", "user-invokable", "hide-from-slash-command-tool", "scripts", "agent_scripts", "handoffs",
	"auto_execution_mode", "globs", "alwaysApply", "applyTo",
}

// misspelledKeys reports each unknown key that resembles an effective key, once.
func (f *File) misspelledKeys() []problem.Problem {
	var found []problem.Problem
	seen := make(map[string]bool)
	for _, field := range f.Doc.Fields {
		if seen[field.Key] {
			continue
		}
		seen[field.Key] = true
		if similar := misspelled(field.Key); similar != "" {
			found = append(found, f.at(field, problem.Warning, problem.FieldMisspelled,
				"the key "+strconv.Quote(shorten(field.Key))+" is unknown and has no effect", "write "+similar))
		}
	}
	return found
}

// misspelled returns the effective key for a misspelled key, for example argument_hint or
// modle, or "". A key of less than five letters is misspelled only in letter case, because
// other short words are near.
func misspelled(key string) string {
	if slices.Contains(effectiveKeys, key) || slices.Contains(otherKeys, key) {
		return ""
	}
	similar := similarKey(key, effectiveKeys)
	if len(similar) < len("model") && !strings.EqualFold(similar, key) {
		return ""
	}
	return similar
}

// similarKey returns the first of the keys that resembles a key, or "". Underscores count as
// hyphens.
func similarKey(key string, keys []string) string {
	if len(key) > 2*len("disable-model-invocation") {
		return ""
	}
	hyphens := strings.NewReplacer("_", "-")
	for _, known := range keys {
		if names.Nearest(hyphens.Replace(key), slices.Values([]string{hyphens.Replace(known)}), len(known)/4, nil) != "" {
			return known
		}
	}
	return ""
}
