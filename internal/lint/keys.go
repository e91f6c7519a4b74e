package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/names"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// misspelledKeys reports each unknown key that resembles a key of the client, once.
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

// spelling returns the key of the client for a misspelled key, for example argument-hint for
// argument_hint, or "". A key of less than five letters is misspelled only in letter case, because
// other short words are near. The keys of the specification have no such exception in a skill.
func (f *File) spelling(key string) string {
	if knownKeys()[key] || slices.Contains(f.profile.meant[f.kind], key) {
		return ""
	}
	keys := f.profile.meant[f.kind]
	if f.kind == client.Skills {
		keys = append(slices.Clone(specified()), keys...)
	}
	similar := similarKey(key, keys)
	short := len(similar) < len("model") && !strings.EqualFold(similar, key)
	if short && (f.kind != client.Skills || !slices.Contains(specified(), similar)) {
		return ""
	}
	return similar
}

// spell returns the suggestion for a field with a misspelled key. No suggestion leads to a
// second field with the right key.
func (f *File) spell(field matter.Field, key string) string {
	used, ok := f.meant[key]
	if !ok {
		return "rename the key to " + key
	}
	if used.Key != field.Key {
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
// misspelled, with all corrections. The key decides the type of the value, and which comments
// are text. The suggestion is "" if the field needs only another key, or if another field supplies
// the value.
func (f *File) respelled(misspelled, key string) string {
	field := f.meant[key]
	if field.Key != misspelled || f.Doc.Format != matter.YAML || field.Column != 1 {
		return ""
	}
	first, last := f.Doc.Lines(field)
	text := strings.Join(strings.SplitAfter(f.Doc.Header, "\n")[first-f.Doc.Line-1:last-f.Doc.Line], "")
	notation, _, ok := matter.KeyLine(text)
	if !ok {
		return ""
	}
	renamed, _ := matter.Parse([]byte("---\n"+key+":"+text[len(notation):]+"---\n"), true)
	for _, p := range renamed.Problems {
		if text, ok := matter.Written(p.Suggestion); ok {
			return f.Doc.Write(field, text)
		}
	}
	return ""
}

// similarKey returns the key that differs only in underscores and hyphens, or else the first of the
// keys that resembles a key, or "".
func similarKey(key string, keys []string) string {
	if len(key) > 2*len("disable-model-invocation") {
		return ""
	}
	hyphens := strings.NewReplacer("_", "-")
	plain := hyphens.Replace(key)
	if i := slices.IndexFunc(keys, func(known string) bool { return hyphens.Replace(known) == plain }); i >= 0 {
		return keys[i]
	}
	for _, known := range keys {
		// A character counts by its bytes, because a known key has only ASCII.
		limit, d := len(known)/4, len(key)-len(known)
		if max(d, -d) <= limit && names.Near(plain, hyphens.Replace(known), limit) {
			return known
		}
	}
	return ""
}
