package progress_test

import (
	"encoding/json"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter/internal/progress"
)

func TestTokensAreStringsAndIntegers(t *testing.T) {
	for raw, want := range map[string]bool{
		`"a"`: true, `""`: true, `0`: true, `-7`: true, `9007199254740991`: true,
		`9007199254740993`: false, `1.5`: false, `null`: false, `true`: false, `[]`: false, `{}`: false,
	} {
		var v any
		must.Do(t, json.Unmarshal([]byte(raw), &v))
		must.Equal(t, raw, want, progress.IsToken(v))
	}
}
