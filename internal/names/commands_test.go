package names

import "testing"

func TestCommandsHaveTheNamesOfTheirRule(t *testing.T) {
	for _, tt := range []struct {
		name                 string
		plain, colons, loose bool
		plugins, looseColons bool
	}{
		{name: "review", plain: true, colons: true, loose: true, plugins: true, looseColons: true},
		{name: "a:b", colons: true, loose: true, plugins: true, looseColons: true},
		{name: "a b", loose: true, plugins: true, looseColons: true},
		{name: "a::b", loose: true, plugins: true, looseColons: true},
		{name: "a/b"},
		{name: "..:b"},
		{name: ""},
	} {
		for _, rule := range []struct {
			rule Commands
			want bool
		}{
			{Commands{}, tt.plain}, {Commands{Colons: true}, tt.colons}, {Commands{Loose: true}, tt.loose},
			{Commands{Plugins: true}, tt.plugins}, {Commands{Colons: true, Loose: true}, tt.looseColons},
		} {
			if got := rule.rule.Valid(tt.name); got != rule.want {
				t.Errorf("%+v: Valid(%q) is %t", rule.rule, tt.name, got)
			}
		}
	}
}

func TestCorrectionIsTheNameThatTheCallerMeans(t *testing.T) {
	const rule = `use letters, digits, "_" and "-"`
	for _, tt := range []struct {
		given string
		rule  Commands
		want  string
	}{
		{"/review", Commands{}, `write "review"`},
		{"/review 417", Commands{}, `write "review", and fill in the arguments with Render`},
		{"review 417", Commands{}, rule + `; if arguments follow the name, write "review", and fill in the arguments with Render`},
		{"a/b", Commands{Colons: true}, `write "a:b"`},
		{"a/b", Commands{}, rule + "; the catalog reads no subdirectories without WithNestedCommands"},
		{"a?b", Commands{}, rule},
		{"a?b", Commands{Colons: true}, rule + `; separate directories with ":"`},
		{"a\x00b", Commands{Loose: true}, "use one path element without separators, control characters and leading dot"},
	} {
		if got := tt.rule.Correction(Meant(tt.given, nil)); got != tt.want {
			t.Errorf("%q, %+v: %s; want %s", tt.given, tt.rule, got, tt.want)
		}
	}
}
