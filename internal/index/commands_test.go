package index

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/names"
)

// TestCommands scans layers of command files. The wanted lines are the listed
// commands, then the problems.
func TestCommands(t *testing.T) {
	const dependency = "---\nis_dependency: true\n---\n"
	for _, tt := range []struct {
		name   string
		config Config
		opts   []confine.Option
		layers []string // "commands" if nil
		tree   tree
		want   string
	}{
		{
			name: "the Markdown files of a directory",
			tree: tree{"commands/b.md": "", "commands/A.md": "", "commands/c.MD": "", "commands/notes.txt": "", "commands/sub/d.md": ""},
			want: "A commands/A.md; b commands/b.md; c commands/c.MD",
		},
		{
			name: "an empty directory",
			tree: tree{"commands/": ""},
		},
		{
			name: "hidden files and README.md",
			tree: tree{"commands/.a.md": "", "commands/README.md": "", "commands/readme.MD": ""},
		},
		{
			name: "names that no command can have",
			tree: tree{"commands/a b.md": "", "commands/.md": "", "commands/é.md": "", "commands/ok.md": ""},
			want: "ok commands/ok.md; INVALID_COMMAND_NAME commands/a b.md; INVALID_COMMAND_NAME commands/é.md",
		},
		{
			name:   "names that Config.Valid admits",
			config: Config{Valid: names.Loose},
			tree:   tree{"commands/a b.md": "", "commands/é.md": ""},
			want:   "a b commands/a b.md; é commands/é.md",
		},
		{
			name: "a directory with the name of a command file",
			tree: tree{"commands/a.md/b.md": ""},
			want: "NOT_A_FILE commands/a.md",
		},
		{
			name:   "a file larger than the limit",
			config: Config{MaxFileSize: 3},
			tree:   tree{"commands/large.md": "1234", "commands/limit.md": "123"},
			want:   "limit commands/limit.md; FILE_TOO_LARGE commands/large.md",
		},
		{
			name: "two files with the same name",
			tree: tree{"commands/a.MD": "", "commands/a.md": "", "commands/a.mD": ""},
			want: "a commands/a.md; SHADOWED commands/a.MD; SHADOWED commands/a.mD",
		},
		{
			name: "names that differ in letter case",
			tree: tree{"commands/Fix.md": "", "commands/fix.md": "", "commands/FIX.md": ""},
			want: `FIX commands/FIX.md; Fix commands/Fix.md; fix commands/fix.md
				NAME_DIFFERS_IN_CASE commands/Fix.md; NAME_DIFFERS_IN_CASE commands/fix.md`,
		},
		{
			name: "a dependency",
			tree: tree{"commands/a.md": dependency, "commands/b.md": ""},
			want: "b commands/b.md",
		},
		{
			name:   "the first layer with a name",
			layers: []string{"one", "two", "three"},
			tree:   tree{"one/a.md": "", "two/a.md": "", "two/b.md": "", "three/b.md": "", "three/a.md": "", "three/c.md": ""},
			want: `a one/a.md; b two/b.md; c three/c.md
				SHADOWED three/a.md; SHADOWED three/b.md; SHADOWED two/a.md`,
		},
		{
			name:   "a name that a dependency or a broken file of the first layer claims",
			config: Config{MaxFileSize: 100},
			layers: []string{"one", "two"},
			tree:   tree{"one/a.md": dependency, "one/b.md": strings.Repeat("x", 101), "two/a.md": "", "two/b.md": ""},
			want:   "FILE_TOO_LARGE one/b.md; SHADOWED two/a.md; SHADOWED two/b.md",
		},
		{
			name:   "a layer whose directory is missing",
			layers: []string{"missing", "two"},
			tree:   tree{"two/a.md": ""},
			want:   "a two/a.md",
		},
		{
			name:   "the top of the filesystem as a layer",
			layers: []string{"."},
			tree:   tree{"a.md": ""},
			want:   "a a.md",
		},
		{
			name: "a header with a problem",
			tree: tree{"commands/a.md": "---\ndescription: [x\n---\n", "commands/b.md": "---\nb: 1\nb: 2\n---\n"},
			want: "a commands/a.md; b commands/b.md; FRONTMATTER_RECOVERED commands/a.md; DUPLICATE_KEY commands/b.md",
		},
		{
			name:   "subdirectories",
			config: Config{Nested: true},
			tree:   tree{"commands/a.md": "", "commands/sub/a.md": "", "commands/sub/deep/b.md": "", "commands/empty/": "", "commands/.git/c.md": ""},
			want:   "a commands/a.md; sub:a commands/sub/a.md; sub:deep:b commands/sub/deep/b.md",
		},
		{
			name:   "a subdirectory with an invalid name",
			config: Config{Nested: true},
			tree:   tree{"commands/my team/a.md": "", "commands/sub/b c.md": ""},
			want:   "INVALID_COMMAND_NAME commands/my team; INVALID_COMMAND_NAME commands/sub/b c.md",
		},
		{
			name:   "subdirectories beyond the sixteenth level",
			config: Config{Nested: true},
			tree:   tree{"commands" + strings.Repeat("/d", 16) + "/a.md": "", "commands" + strings.Repeat("/e", 17) + "/a.md": ""},
			want: fmt.Sprintf("%sa commands%s/a.md; TOO_DEEP commands%s",
				strings.Repeat("d:", 16), strings.Repeat("/d", 16), strings.Repeat("/e", 17)),
		},
		{
			name: "links to files within the root",
			tree: tree{"commands/file.md": "-> ../lib/text.txt", "commands/chain.md": "-> file.md", "lib/text.txt": "Text."},
			want: "chain commands/chain.md; file commands/file.md",
		},
		{
			name: "links that lead to no file within the root",
			tree: tree{"commands/out.md": "-> ../../outside/secret.md", "commands/none.md": "-> nothing", "commands/loop.md": "-> loop.md",
				"commands/dir.md": "-> ../lib", "lib/a": "", "../outside/secret.md": ""},
			want: `FILE_READ_ERROR commands/dir.md; LINK_NOT_FOLLOWED commands/loop.md
				LINK_NOT_FOLLOWED commands/none.md; LINK_NOT_FOLLOWED commands/out.md`,
		},
		{
			name: "links under the policy that follows no link",
			opts: []confine.Option{confine.DenySymlinks()},
			tree: tree{"commands/link.md": "-> file.md", "commands/file.md": ""},
			want: "file commands/file.md; LINK_NOT_FOLLOWED commands/link.md",
		},
		{
			name:   "a linked subdirectory",
			config: Config{Nested: true},
			tree:   tree{"commands/sub": "-> ../lib", "lib/a.md": "", "lib/deep/b.md": ""},
			want:   "sub:a commands/sub/a.md; sub:deep:b commands/sub/deep/b.md",
		},
		{
			name:   "two links to one directory",
			config: Config{Nested: true},
			tree:   tree{"commands/one": "-> ../lib", "commands/two": "-> ../lib", "lib/a.md": ""},
			want:   "one:a commands/one/a.md; two:a commands/two/a.md",
		},
		{
			name:   "links to directories that contain the link",
			config: Config{Nested: true},
			tree: tree{"commands/a.md": "", "commands/self": "-> .", "commands/name": "-> ../commands", "commands/sub/b.md": "",
				"commands/sub/up": "-> ..", "commands/sub/top": "-> ../.."},
			want: `a commands/a.md; sub:b commands/sub/b.md
				LINK_NOT_FOLLOWED commands/name; LINK_NOT_FOLLOWED commands/self
				LINK_NOT_FOLLOWED commands/sub/top/commands; LINK_NOT_FOLLOWED commands/sub/up`,
		},
		{
			name:   "two directories that link to each other",
			config: Config{Nested: true},
			tree:   tree{"commands/a/x.md": "", "commands/a/b": "-> ../b", "commands/b/y.md": "", "commands/b/a": "-> ../a"},
			want: `a:b:y commands/a/b/y.md; a:x commands/a/x.md; b:a:x commands/b/a/x.md; b:y commands/b/y.md
				LINK_NOT_FOLLOWED commands/a/b/a; LINK_NOT_FOLLOWED commands/b/a/b`,
		},
		{
			name:   "linked subdirectories outside the root, and links to files and to nothing",
			config: Config{Nested: true},
			tree:   tree{"commands/out": "-> ../../outside", "commands/file": "-> a.md", "commands/none": "-> nothing", "commands/a.md": "", "../outside/b.md": ""},
			want:   "a commands/a.md",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.layers == nil {
				tt.layers = []string{"commands"}
			}
			onEveryFilesystem(t, tt.tree, tt.opts, func(t *testing.T, fsys *confine.FS) {
				expect(t, commandsOf(t, tt.config, fsys, tt.layers...), tt.want)
			})
		})
	}
}

// TestCommandsOfLayersWithPatterns scans layers of one directory with other suffixes, prefixes and
// name rules.
func TestCommandsOfLayersWithPatterns(t *testing.T) {
	named := func(name string) string { return "---\nname: " + name + "\n---\n" }
	for _, tt := range []struct {
		name   string
		layers []Layer // of the directory "commands"
		tree   tree
		want   string
	}{
		{
			name:   "another suffix",
			layers: []Layer{{Suffix: ".prompt.md"}},
			tree:   tree{"commands/a.prompt.md": "", "commands/b.md": "", "commands/c.prompt.MD": "", "commands/.prompt.md": "", "commands/v1.2.prompt.md": "", "commands/sub/d.prompt.md": ""},
			want:   "a commands/a.prompt.md; INVALID_COMMAND_NAME commands/v1.2.prompt.md",
		},
		{
			name:   "TOML files in subdirectories",
			layers: []Layer{{Suffix: ".toml", Nested: true}},
			tree:   tree{"commands/a.toml": "prompt = 'x'", "commands/git/commit.toml": "prompt = 'x'", "commands/b.md": ""},
			want:   "a commands/a.toml; git:commit commands/git/commit.toml",
		},
		{
			name:   "a TOML file that is not valid",
			layers: []Layer{{Suffix: ".toml"}},
			tree:   tree{"commands/a.toml": "prompt = x"},
			want:   "a commands/a.toml; FRONTMATTER_INVALID commands/a.toml",
		},
		{
			name:   "two suffixes in one directory",
			layers: []Layer{{}, {Suffix: ".toml"}},
			tree:   tree{"commands/a.toml": "prompt = 'x'", "commands/a.md": "", "commands/b.toml": "prompt = 'x'"},
			want:   "a commands/a.md; b commands/b.toml; SHADOWED commands/a.toml",
		},
		{
			name:   "a prefix",
			layers: []Layer{{Prefix: "user:", Nested: true}},
			tree:   tree{"commands/a.md": "", "commands/b/c.md": ""},
			want:   "user:a commands/a.md; user:b:c commands/b/c.md",
		},
		{
			name:   "names in the headers",
			layers: []Layer{{Names: client.FromHeader, Prefix: "p:"}},
			tree:   tree{"commands/a.md": named("b"), "commands/b.md": "", "commands/c.md": named("not valid"), "commands/d.md": named("''"), "commands/e.md": named("Z")},
			want:   "p:b commands/a.md; p:c commands/c.md; p:d commands/d.md; p:Z commands/e.md; SHADOWED commands/b.md",
		},
		{
			name:   "subdirectories of one layer",
			layers: []Layer{{Dir: "commands"}, {Dir: "more", Nested: true}},
			tree:   tree{"commands/sub/a.md": "", "more/sub/b.md": ""},
			want:   "sub:b more/sub/b.md",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			onEveryFilesystem(t, tt.tree, nil, func(t *testing.T, fsys *confine.FS) {
				config := Config{}
				for _, l := range tt.layers {
					l.FS, l.Dir = fsys, cmp.Or(l.Dir, "commands")
					l.Name = l.Dir
					config.Layers = append(config.Layers, l)
				}
				expect(t, commandsOf(t, config, fsys), tt.want)
			})
		})
	}
}

// A name from the header changes with the header, and the name of the file returns without a name
// in the header.
func TestTheNameInAHeaderChanges(t *testing.T) {
	fsys := tree{"commands/a.md": "---\nname: b\n---\n"}.inMemory(t)
	at := confined(t)(confine.Over(fsys, "/"))
	x := commandsOf(t, Config{Layers: []Layer{{Name: "commands", FS: at, Dir: "commands", Names: client.FromHeader}}}, at)
	for _, step := range []struct{ text, want string }{
		{"", "b commands/a.md"},
		{"---\nname: c\n---\n", "c commands/a.md"},
		{"Text.", "a commands/a.md"},
		{"---\nname: d\n---\n", "d commands/a.md"},
	} {
		if step.text != "" {
			must.Do(t, write(fsys, "commands/a.md", step.text))
		}
		expect(t, x, step.want)
	}
}
