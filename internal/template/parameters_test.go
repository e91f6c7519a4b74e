package template_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/template"
)

func TestArgumentsThatARenderingRequires(t *testing.T) {
	for _, text := range []string{"$+", "$1", "${1}"} {
		of, r := template.Source{Text: text}, template.Renderer{Rules: client.Kit().Rules}
		got, err := r.Parameters(t.Context(), of)
		if _, failure := r.Render(t.Context(), of, template.Args{}); failure == nil || len(got) != 1 || !got[0].Required || err != nil {
			t.Errorf("%s: %v without arguments; Parameters returns %+v, %v", text, failure, got, err)
		}
	}
}

// Render fails only for a missing required argument: a text is rendered with all required
// arguments, by name, and up to the last one by position.
func TestParametersAreWhatRenderRequires(t *testing.T) {
	headers := []string{"x: y", "arguments: [a, b]", "argument-hint: <x> [y]", "argument-hint: \"[A=<v>] [x]\"", "argument-hint: Say it", "arguments: ['2', B]", "argument-hint: \"[1] <--f>\""}
	pieces := []string{"$1", "$3", "$0", "$10", "$2000", "$a", "$x", "$A", "$B_2", "$ARGUMENTS", "$@", "$+", "${1}", "${4}", "${2:3}", "${3000:1}", "${@:2}", "${@:2:1}",
		"${3:-d}", "${@:-d}", "{{args}}", "${input:c:d}", "${input:1}", "$ARGUMENTS[2]", "`$1`", "!`$2`", "!{$1}", "@$1", `\$1`, "$$1", "\n", "a", "1"}
	rules := append(template.AllRules(), client.Rules{Forms: client.NoForms - 1, NoNumber: client.Fails, NoName: client.Fails})
	rapid.Check(t, func(t *rapid.T) {
		_, header := parse("---\n" + rapid.SampledFrom(headers).Draw(t, "header") + "\n---\n")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		of, r := template.Source{Text: text, Header: header}, template.Renderer{Rules: rapid.SampledFrom(rules).Draw(t, "rules")}
		parameters := must.Get(r.Parameters(t.Context(), of))(t)
		var list []string
		named, last := map[string]string{}, 0
		for i, p := range parameters {
			if list = append(list, "v"); r.Rules.Forms&client.Capital != 0 {
				list[i] = p.Name + "=v"
			}
			if p.Required {
				named[p.Name], last = "v", i+1
			}
		}
		for _, args := range []template.Args{{Named: named}, {List: list[:last]}} {
			_, err := r.Render(t.Context(), of, args)
			if failed := new(template.Error); err != nil && (!errors.As(err, &failed) || failed.Code != template.Unclosed) {
				t.Errorf("%+v of %+v: %v", args, parameters, err)
			}
		}
	})
}

// The positions of Parameters are the positions of Render, and the names are the
// names of Args.Named.
func TestParametersFillTheText(t *testing.T) {
	headers := []string{"x: y", "arguments: [a, b]", "arguments: a", "argument-hint: <x> [y]", "argument-hint: \"[x]\"\narguments: [a]", "argument-hint: Say it"}
	rapid.Check(t, func(t *rapid.T) {
		_, header := parse("---\n" + rapid.SampledFrom(headers).Draw(t, "header") + "\n---\n")
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"$1", "$2", "$3", "$0", "$a", "$b", "$x", "$x-y", "$ARGUMENTS", "{{args}}", "${input:c:d}", "${input:a}", "$ARGUMENTS[0]", "`$1`", "$HOME", "!`$1`", `\$1`, "\n"})).Draw(t, "text"), " ")
		r := template.Renderer{Rules: rapid.SampledFrom(template.AllRules()).Draw(t, "rules")}
		if r.Rules.Forms&client.Capital != 0 || r.Rules.Pairs || r.Rules.NoNumber == client.Fails {
			t.Skip("the arguments are KEY=value, or required")
		}

		var byPosition []string
		byName := map[string]string{}
		parameters := must.Get(r.Parameters(t.Context(), template.Source{Text: text, Header: header}))(t)
		for i, arg := range parameters {
			if _, taken := byName[arg.Name]; taken || arg.Name == "" || arg.Position != i+1 {
				t.Fatalf("argument %d is %+v", i+1, arg)
			}
			byPosition = append(byPosition, "value "+strconv.Itoa(i))
			byName[arg.Name] = byPosition[i]
		}
		positional := must.Get(r.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{List: byPosition}))(t)
		named, err := r.Render(t.Context(), template.Source{Text: text, Header: header}, template.Args{Named: byName})
		if diff := cmp.Diff(positional, named); diff != "" || err != nil {
			t.Fatalf("%v (-by position +by name):\n%s", err, diff)
		}
	})
}

func FuzzParameters(f *testing.F) {
	for _, seed := range [][2]string{{"<issue> [branch]", "$1 $2"}, {"[a] | --b", "$ARGUMENTS"}, {"[[<", "${input:x:y}"}, {"K=<v>, (x)", "\xff$1"}, {"[a,b]...", "$10"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, hint, text string) {
		object := must.Get(json.Marshal(map[string]string{"argument-hint": hint, "arguments": hint}))(t)
		text, header := parse(string(object) + "\n" + text)
		parameters := must.Get(template.Renderer{}.Parameters(t.Context(), template.Source{Text: text, Header: header}))(t)
		names := map[string]bool{}
		for i, arg := range parameters {
			if names[arg.Name] || arg.Name == "" || arg.Position != i+1 {
				t.Errorf("argument %d is %+v", i+1, arg)
			}
			names[arg.Name] = true
		}
	})
}

// A shell splits lines in one process of sh.
type shell struct {
	in  io.Writer
	out *bufio.Reader
}

// newShell skips the test on a machine without a shell.
func newShell(t testing.TB) shell {
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell is installed")
	}
	cmd := exec.Command(path)
	cmd.Env = []string{"LC_ALL=C"}
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error("the shell fails:", err)
		}
	})
	return shell{in, bufio.NewReader(out)}
}

// words returns the words of a line by the shell. If a quote is open, ok is false.
func (s shell) words(t testing.TB, line string) (words []string, ok bool) {
	t.Helper()
	quoted := "'" + strings.ReplaceAll(line, "'", `'\''`) + "'"
	must.Get(io.WriteString(s.in, `(eval "set -- "`+quoted+` && printf 'ok\0%d\0' $# && printf '%s\0' "$@") 2>/dev/null; printf '\nend\0'`+"\n"))(t)
	var fields []string
	for len(fields) == 0 || fields[len(fields)-1] != "\nend" {
		field := must.Get(s.out.ReadString(0))(t)
		fields = append(fields, field[:len(field)-1])
	}
	if fields[0] != "ok" {
		return nil, false
	}
	if fields[1] == "0" { // printf has written an empty word
		return nil, true
	}
	return fields[2 : len(fields)-1], true
}

// comparable reports whether a shell reads a line as words alone: the line has no expansion, no operator, no comment
// and no control character.
func comparable(line string) bool {
	return !strings.ContainsAny(line, "$`~*?[]{}|&;<>()#") && utf8.ValidString(line) &&
		!strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// FuzzWordsOfAShell compares the words of a line with the words of sh, and checks properties for
// every line.
func FuzzWordsOfAShell(f *testing.F) {
	for line := range strings.Lines(texts) {
		if question, ok := strings.CutPrefix(line, "\twords "); ok {
			f.Add(must.Arguments(question)[0])
		}
	}
	for _, seed := range []string{
		`a\"b "c\"d" 'e"f' g'h'"i"j`, `"'\''" '\''`, `\\\'\"`, `" '\' "`, `"a'b" c'd "e" f'g`, `'\'"\\"`, `=a -- -n --x=y %s \%d`, "é 'ü ö' \"ß\"\\ñ", "\ta\t'\t'\t",
	} {
		f.Add(seed)
	}
	sh := newShell(f)
	f.Fuzz(func(t *testing.T, line string) {
		words := template.Words(line)
		if comparable(line) {
			if want, ok := sh.words(t, line); ok && !cmp.Equal(want, words) {
				t.Errorf("the words of %q are %q, the shell has %q", line, words, want)
			}
		}
		if !strings.ContainsAny(line, `'"\`) {
			if got, want := strings.Join(words, " "), strings.Join(strings.FieldsFunc(strings.ReplaceAll(line, "\r\n", "\n"), func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }), " "); got != want {
				t.Errorf("the words of %q without quotes are %q, want %q", line, got, want)
			}
		}
		letters := func(s string) string {
			return strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", `\`, "", `'`, "", `"`, "").Replace(s)
		}
		if got, want := letters(strings.Join(words, "")), letters(line); got != want {
			t.Errorf("the words %q of %q lose a letter", words, line)
		}
		var quoted []string
		for _, word := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		if again := template.Words(strings.Join(quoted, " ")); !cmp.Equal(words, again) {
			t.Errorf("the quoted words %q are read as %q", words, again)
		}
	})
}

// The lines make a search for a closing quote fail, or have many parts in one word.
func TestWordsOfALineNeedAllocationsForWordsOnly(t *testing.T) {
	const n = 1 << 16
	for _, tt := range []struct {
		line string
		want float64
	}{
		{strings.Repeat("abcdefghijklmno ", n/16), 25}, // the list grows
		{`"` + strings.Repeat(`\"`, n/2), 50},
		{strings.Repeat(`'a'`, n/3), 50},
		{`'` + strings.Repeat(`\'"`, n/3), 50},
	} {
		if got := testing.AllocsPerRun(1, func() { template.Words(tt.line) }); got > tt.want {
			t.Errorf("%.0f allocations for %q…, want at most %.0f", got, tt.line[:10], tt.want)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	for name, part := range map[string]string{"plain": "word ", "quoted": `'a b' `, "escaped": `\"`, "open": `"\"`} {
		line := strings.Repeat(part, 1<<20/len(part))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				template.Words(line)
			}
		})
	}
}

// The file testdata/words.txt has lines, their words, and the words of other programs where these differ.
func TestWordsBesideOtherPrograms(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/words.txt"))(t)
	unquoted := func(text string) (list []string) {
		for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
			quoted, err := strconv.QuotedPrefix(text)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			word, _ := strconv.Unquote(quoted)
			list, text = append(list, word), text[len(quoted):]
		}
		return list
	}
	lines, others := 0, map[string]int{}
	var line string
	var words []string
	for row := range strings.Lines(string(data)) {
		key, rest, _ := strings.Cut(strings.Trim(row, "\t\r\n"), " ")
		switch key {
		case "", "#":
		case "line":
			lines++
			line = unquoted(rest)[0]
		case "words":
			words = unquoted(rest)
			if diff := cmp.Diff(words, template.Words(line)); diff != "" {
				t.Errorf("the words of %q (-want +got):\n%s", line, diff)
			}
		case "sh":
			if rest != "same" && rest != "error" {
				t.Errorf("%q: sh has other words: %s", line, rest)
			}
		default:
			others[key]++
			if slices.Equal(unquoted(rest), words) {
				t.Errorf("%q: %s has the same words; remove the line", line, key)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(others)) {
		t.Logf("%s: %d of %d lines have the same words", name, lines-others[name], lines)
		if others[name]*3 > lines {
			t.Errorf("%s has other words in %d of %d lines", name, others[name], lines)
		}
	}
}
