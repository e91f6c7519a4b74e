package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/matter"
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
	for _, field := range f.unique {
		if key := f.spelling(field.Key); key != "" {
			found = append(found, f.at(field, problem.Warning, problem.FieldMisspelled,
				"the key "+strconv.Quote(shorten(field.Key))+" is unknown and has no effect", f.spell(field, key)))
		}
	}
	return found
}

// spelling returns the key for a misspelled key, or "".
func (f *File) spelling(key string) string {
	if f.skill {
		switch similar := similarKey(key, specifiedFields); {
		case slices.Contains(specifiedFields, key):
			return ""
		case similar != "":
			return similar
		}
	}
	return misspelled(key)
}

// spell returns the suggestion for a field with a misspelled key. No suggestion leads to a
// second field with the right key.
func (f *File) spell(field matter.Field, key string) string {
	if used := f.meant[key]; used.Key != field.Key {
		if blank(field) {
			return "remove the field"
		}
		return fmt.Sprintf("merge the value into %s in line %d, or remove the field", key, used.Line)
	}
	if i := slices.IndexFunc(f.unique, func(other matter.Field) bool { return other.Key == key }); i >= 0 {
		return fmt.Sprintf("rename the key to %s, and remove the empty field in line %d", key, f.unique[i].Line)
	}
	if suggestion := f.respelled(field.Key, key); suggestion != "" {
		return suggestion
	}
	return "rename the key to " + key
}

// respelled returns the suggestion to write the field for a key, which the author
// misspelled, with all corrections. The suggestion is "" if the field needs only another
// key, or if another field supplies the value.
func (f *File) respelled(misspelled, key string) string {
	field := f.meant[key]
	if field.Key != misspelled {
		return ""
	}
	return f.Doc.Rename(field, key)
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
