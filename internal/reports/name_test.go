package reports

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

func TestStem(t *testing.T) {
	for command, want := range map[string]string{
		"analyze-logs":           "analyze-logs",
		"Analyze_2":              "Analyze_2",
		"frontend:component":     "frontend.component",
		"a:b:c":                  "a.b.c",
		"my command":             "my command",
		"v1.2":                   "v1%2E2",
		"a:":                     "a%3A",
		":a":                     "%3Aa",
		"100%":                   "100%25",
		`what? "a" <b> |c*`:      "what%3F %22a%22 %3Cb%3E %7Cc%2A",
		"日志-分析":                  "日志-分析",
		"con":                    "%63on",
		"NUL:x":                  "%4EUL.x",
		"lpt¹":                   "%6Cpt¹",
		"com10":                  "com10",
		"console":                "console",
		"a~b":                    "a%7Eb",
		strings.Repeat("a", 110): strings.Repeat("a", 110),
		strings.Repeat("a", 111): strings.Repeat("a", 93) + "~",
	} {
		got := Stem(command)
		if strings.HasSuffix(want, "~") && len(got) == maxStem {
			got = got[:len(want)] // without the hash
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

// looseNames draws valid command names, including names that some system forbids.
func looseNames() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_-]{1,12}`),
		rapid.StringMatching(`[ab:.% ~é]{1,6}`),
		rapid.StringMatching(`(con|NUL|com1|lpt9)[.: ]?[a-c]?`),
		rapid.StringMatching(`(%(2[0-9A-F]|3A|41|63)|[a-c.:]){1,5}`),
		rapid.StringMatching(`.{1,130}`),
	).Filter(names.Loose)
}

func TestDifferentCommandsHaveDifferentStems(t *testing.T) {
	stems := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		command := looseNames().Draw(t, "command")
		stem := Stem(command)
		if other, ok := stems[stem]; ok && other != command {
			t.Fatalf("%q and %q are both %q", command, other, stem)
		}
		stems[stem] = command
	})
}

func TestStemIsAFileNameOnEverySystem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := Stem(looseNames().Draw(t, "command"))
		switch {
		case !utf8.ValidString(stem), stem == "", len(stem) > maxStem,
			strings.ContainsAny(stem, `/\<>:"|?*`), strings.ContainsFunc(stem, unicode.IsControl),
			strings.HasPrefix(stem, "."), strings.HasSuffix(stem, "."), strings.HasSuffix(stem, " "), isDevice(stem):
			t.Fatalf("%q", stem)
		}
	})
}

func reportNames() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9_-]{1,100}`),
		rapid.StringMatching(`(_local|_v1|_20251120|_103000|x){1,5}`),
		rapid.StringMatching(`[\p{L}\p{Mn}\p{Nd}_-]{1,30}`),
	)
}

func TestParseFileNameInvertsFileName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := Stem(looseNames().Draw(t, "command"))
		want := Info{
			Name:    reportNames().Draw(t, "name"),
			Time:    time.Unix(rapid.Int64Range(0, 253402300799).Draw(t, "time"), 0).UTC(),
			Version: rapid.IntRange(1, 9999).Draw(t, "version"),
			Local:   rapid.Bool().Draw(t, "local"),
		}
		got, ok := ParseFileName(stem, FileName(stem, want))
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", ok, diff)
		}
	})
}

func TestFileNameFitsInADirectory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stem := Stem(looseNames().Draw(t, "command"))
		name := rapid.OneOf(reportNames(), rapid.StringMatching(`[日aé]{60,100}`)).Draw(t, "name")
		longest := confine.TempName(FileName(stem, Info{Name: name, Time: time.Now(), Version: maxVersions, Local: true}))
		if fits := len(name) <= maxNameBytes(stem); fits != (len(longest) <= 255) {
			t.Fatalf("%d bytes: %v", len(longest), fits)
		}
		if most := maxNameBytes(stem); most < maxName {
			t.Fatalf("%d ASCII letters do not fit", most+1)
		}
	})
}

func FuzzParseFileName(f *testing.F) {
	for _, seed := range [][2]string{
		{"a", "a_report_20251120_103000_v1.md"},
		{"a", "a_report_20251120_103000_v12_local.md"},
		{"a_report", "a_report_20251120_103000_v1.md"},
		{"a", "a_x_20251120_103000_v1.md_20251120_103000_v1.md"},
		{"a", "a_report_20251399_103000_v1.md"},
		{"a", "a_report_20251120_103000_v01.md"},
		{"", "_"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, stem, file string) {
		r, ok := ParseFileName(stem, file)
		if !ok {
			return
		}
		if again := FileName(stem, r); again != file {
			t.Errorf("%q is read as %+v, which is %q", file, r, again)
		}
	})
}

func TestCheckNameTellsWhyAReportCannotHaveTheName(t *testing.T) {
	for name, want := range map[string]string{
		"weekly": "",
		"a/b":    `invalid report name "a/b"; use 1 to 100 letters, digits, "_" and "-"`,
		"":       `invalid report name ""; use 1 to 100 letters, digits, "_" and "-"`,
		strings.Repeat("界", 100): "the report name has 300 bytes; use at most " + strconv.Itoa(maxNameBytes("review")) +
			" bytes, because the file name also contains the command name",
	} {
		got := ""
		if err := CheckName("review", name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %s; want %s", name, got, want)
		}
	}
}
