package skillsclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// sameFrontmatter reports whether the frontmatter of a file has exactly the fields of an
// entry. The types of YAML and JSON differ, so a scalar also equals a JSON string with
// its text, and the number or boolean that other readers of YAML see.
func sameFrontmatter(file []byte, entry map[string]any) bool {
	doc, _ := matter.Parse(file, true)
	return doc.Format == matter.YAML && sameFields(doc.AsYAML(), entry)
}

func sameFields(fields []matter.Field, entry map[string]any) bool {
	last := make(map[string]matter.Value, len(fields))
	for _, f := range fields {
		last[f.Key] = f.Value
	}
	if len(last) != len(entry) {
		return false
	}
	for key, value := range last {
		if want, ok := entry[key]; !ok || !sameValue(value, want) {
			return false
		}
	}
	return true
}

func sameValue(v matter.Value, entry any) bool {
	switch want := entry.(type) {
	case map[string]any:
		return v.Kind == matter.Mapping && sameFields(v.Fields(), want)
	case []any:
		return v.Kind == matter.Sequence && slices.EqualFunc(v.Items(), want, sameValue)
	case string:
		return v.Kind != matter.Mapping && v.Kind != matter.Sequence && v.Kind != matter.Null && v.Text == want
	case bool:
		got, ok := v.Bool()
		return ok && got == want && (v.Kind == matter.Bool || v.Kind == matter.String)
	case json.Number:
		return (v.Kind == matter.Int || v.Kind == matter.Float) && (string(v.AppendJSON(nil)) == string(want) || sameNumber(v.Text, string(want)))
	default:
		return v.Kind == matter.Null
	}
}

// sameNumber reports whether a number in the notation of YAML 1.1 or 1.2 equals a JSON
// number. Both must be exact as a float64.
func sameNumber(yaml, number string) bool {
	want, err := strconv.ParseFloat(number, 64)
	if err != nil || math.Abs(want) >= 1<<53 {
		return false
	}
	if got, err := strconv.ParseFloat(yaml, 64); err == nil && got == want {
		return true
	}
	got, err := strconv.ParseInt(yaml, 0, 64)
	return err == nil && float64(got) == want
}

// frontmatterHead returns a beginning of a SKILL.md with the frontmatter of an entry.
func frontmatterHead(entry map[string]any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("---\n")
	for _, key := range slices.Sorted(maps.Keys(entry)) {
		name, err := yamlJSON(key)
		if err != nil {
			return nil, err
		}
		value, err := yamlJSON(entry[key])
		if err != nil {
			return nil, err
		}
		b.WriteString(name + ": " + value + "\n")
	}
	b.WriteString("---\n")
	return b.Bytes(), nil
}

// yamlJSON returns a value as JSON that is also YAML. YAML does not allow all characters of
// JSON strings.
func yamlJSON(value any) (string, error) {
	encoded, err := escape.Marshal(value)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, r := range string(encoded) {
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	return b.String(), nil
}
