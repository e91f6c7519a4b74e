package servertest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// comparable removes from a result the members of only one protocol revision or SDK, and the values
// that differ between calls. comparable normalizes forms with equal meaning in the specification.
func comparable(t testing.TB, raw json.RawMessage) any {
	t.Helper()
	if raw == nil {
		return nil
	}
	result, ok := decoded(t, raw).(map[string]any)
	if !ok {
		t.Fatalf("a result is no object: %s", raw)
	}
	for _, own := range []string{"_meta", "resultType", "ttlMs", "cacheScope"} {
		delete(result, own)
	}
	for _, list := range []string{"tools", "prompts"} { // mcp-go sorts the lists
		if items, ok := result[list].([]any); ok {
			slices.SortFunc(items, func(x, y any) int {
				return strings.Compare(x.(map[string]any)["name"].(string), y.(map[string]any)["name"].(string))
			})
			for _, item := range items { // mcp-go encodes missing annotations as {}
				if tool := item.(map[string]any); cmp.Equal(tool["annotations"], map[string]any{}) {
					delete(tool, "annotations")
				}
			}
		}
	}
	withoutVolatile(result["structuredContent"])
	if content, ok := result["content"].([]any); ok {
		block := content[0].(map[string]any)
		if text := block["text"].(string); strings.HasPrefix(text, "{") {
			block["text"] = decoded(t, []byte(text))
			withoutVolatile(block["text"])
		}
	}
	return result
}

func withoutVolatile(content any) {
	object, _ := content.(map[string]any)
	delete(object, "search_time_ms")
	if object["action_taken"] != nil {
		for _, name := range []string{"report_path", "report_name", "version", "message"} {
			delete(object, name)
		}
	}
}

func decoded(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}
