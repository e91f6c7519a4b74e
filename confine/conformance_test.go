package confine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

var ctx = context.Background()

// TestConformance tests the behavior on every platform and filesystem. A line is a call
// and, after "=", its result.
func TestConformance(t *testing.T) {
	for _, test := range []struct {
		name   string
		deny   bool   // DenySymlinks
		trust  bool   // TrustDirs(OUTSIDE)
		all    bool   // TrustAll
		within string // directories for Within, one after the other
		tree   tree
		calls  string
	}{
		{
			name: "files and directories",
			tree: tree{"a.txt": "hello", "sub/b.txt": "", "empty/": ""},
			calls: `
				stat . = directory
				lstat . = directory
				stat a.txt = file of 5
				lstat a.txt = file of 5
				stat sub = directory
				stat sub/b.txt = file of 0
				open a.txt = hello
				list . = [a.txt empty sub]
				list sub = [b.txt]
				list empty = []
				dir . lstat a.txt = file of 5
				dir . open a.txt = hello
				dir . head a.txt = "hel" of 5
				dir sub head b.txt = "" of 0
				dir . list sub = [b.txt]
				dir sub lstat b.txt = file of 0
			`,
		},
		{
			name: "what is not there, or not what is asked for",
			tree: tree{"a.txt": "hello", "sub/b.txt": ""},
			calls: `
				stat missing = not exist
				lstat missing = not exist
				open missing = not exist
				list missing = not exist
				readlink missing = not exist
				stat missing/b = not exist
				open sub/missing = not exist
				open sub = not regular
				open . = not regular
				list a.txt = not dir
				stat a.txt/b = not dir
				open a.txt/b = not dir
				readlink a.txt = invalid
				readlink sub = invalid
				readlink . = invalid
				dir . lstat missing = not exist
				dir . open missing = not exist
				dir . head missing = not exist
				dir . list missing = not exist
				dir . open sub = not regular
				dir . head sub = not regular
				dir . list a.txt = not dir
				dir . readlink a.txt = invalid
			`,
		},
		{
			name: "names that are refused",
			tree: tree{"a.txt": "hello", "sub/b.txt": ""},
			calls: `
				stat .. = escape
				stat ../proj = escape
				stat ../outside/secret.txt = escape
				stat ../missing = escape
				stat sub/../a.txt = escape
				stat sub/.. = escape
				lstat .. = escape
				open ../outside/secret.txt = escape
				list .. = escape
				list ../outside = escape
				readlink ../x = escape
				stat / = escape
				stat /etc/passwd = escape
				open /missing = escape
				stat //a.txt = escape
				stat  = invalid
				stat ./a.txt = invalid
				stat sub//b.txt = invalid
				stat sub/ = invalid
				stat sub/. = invalid
				stat a.txt\0 = invalid
				open \0 = invalid
				dir . lstat . = invalid
				dir . lstat  = invalid
				dir . lstat .. = escape
				dir sub open .. = escape
				dir sub open ../a.txt = invalid
				dir . open sub/b.txt = invalid
				dir . list sub/ = invalid
				dir . list .. = escape
				dir . head /etc/passwd = invalid
				dir . head a.txt\0 = invalid
				dir . readlink ../x = invalid
			`,
		},
		{
			name: "links inside the root",
			tree: tree{
				"a.txt": "hello", "sub/b.txt": "b", "sub/deep/c.txt": "c",
				"link": "-> a.txt", "dirlink": "-> sub", "sub/up": "-> ../a.txt", "sub/top": "-> ..", "self": "-> .",
				"chain": "-> dirlink/deep", "viaChain": "-> chain/../b.txt", "slash": "-> sub/", "dots": "-> ./sub/.//b.txt",
				"dangling": "-> missing/file", "fileslash": "-> a.txt/",
			},
			calls: `
				lstat link = link
				stat link = file of 5
				open link = hello
				stat dirlink = directory
				lstat dirlink/b.txt = file of 1
				list dirlink = [b.txt deep top up]
				open dirlink/up = hello
				open sub/up = hello
				open sub/top/a.txt = hello
				stat self/self/self/a.txt = file of 5
				open chain/c.txt = c
				open viaChain = b
				list slash = [b.txt deep top up]
				open dots = b
				stat dangling = not exist
				open dangling = not exist
				lstat dangling = link
				open fileslash = not dir
				open dirlink = not regular
				list link = not dir
				readlink link = a.txt
				readlink dirlink = sub
				readlink sub/up = a.txt
				readlink sub/top = .
				readlink self = .
				readlink chain = sub/deep
				readlink viaChain = sub/b.txt
				readlink slash = sub
				readlink dots = sub/b.txt
				readlink dangling = missing/file
				readlink dirlink/up = a.txt
				dir . lstat link = link
				dir . open link = symlink
				dir . head link = symlink
				dir . list dirlink = symlink
				dir . readlink link = a.txt
				dir sub readlink up = a.txt
				dir dirlink readlink up = a.txt
			`,
		},
		{
			name: "absolute links inside the root",
			tree: tree{
				"a.txt": "hello", "sub/b.txt": "b",
				"link": "-> ROOT/a.txt", "sub/dirlink": "-> ROOT/sub", "top": "-> ROOT", "out": "-> ROOT/sub/../../outside/secret.txt",
				"messy": "-> ROOT//sub/./b.txt", "sibling": "-> ROOT-secrets", "back": "-> ../proj/a.txt",
			},
			calls: `
				open link = hello
				lstat link = link
				open sub/dirlink/b.txt = b
				list top = [a.txt back link messy out sibling sub top]
				open top/sub/dirlink/dirlink/b.txt = b
				open messy = b
				open out = escape
				stat sibling = escape
				readlink link = a.txt
				readlink sub/dirlink = sub
				readlink top = .
				readlink messy = sub/b.txt
				readlink out = escape
				readlink sibling = escape
				dir sub readlink dirlink = sub
			`,
		},
		{
			name: "links outside the root, whether or not something is there",
			tree: tree{
				"out": "-> OUTSIDE/secret.txt", "outmissing": "-> OUTSIDE/missing", "outdir": "-> OUTSIDE", "rel": "-> ../outside/secret.txt",
				"sub/rel": "-> ../../outside", "relmissing": "-> ../missing", "parent": "-> ..", "etc": "-> /etc", "slash": "-> /",
				"twice": "-> sub/rel/secret.txt", "far": "-> ../../../../../../../../../../../../../../../../../etc/passwd",
			},
			calls: `
				lstat out = link
				stat out = escape
				stat outmissing = escape
				open out = escape
				open outmissing = escape
				list outdir = escape
				lstat outdir/secret.txt = escape
				lstat outdir/missing = escape
				stat outdir/secret.txt = escape
				open rel = escape
				open relmissing = escape
				open sub/rel/secret.txt = escape
				list parent = escape
				list parent/outside = escape
				list etc = escape
				list slash = escape
				open twice = escape
				open far = escape
				readlink out = escape
				readlink outmissing = escape
				readlink rel = escape
				readlink relmissing = escape
				readlink parent = escape
				readlink twice = escape
				readlink outdir/x = escape
				dir . readlink out = escape
				dir . open out = symlink
				dir . list outdir = symlink
				dir sub readlink rel = escape
			`,
		},
		{
			name: "no link followed with DenySymlinks",
			deny: true,
			tree: tree{"a.txt": "hello", "sub/b.txt": "b", "link": "-> a.txt", "dirlink": "-> sub", "out": "-> ../outside/secret.txt"},
			calls: `
				open a.txt = hello
				lstat link = link
				stat link = symlink
				open link = symlink
				list dirlink = symlink
				lstat dirlink/b.txt = symlink
				stat out = symlink
				readlink link = a.txt
				readlink out = escape
				readlink dirlink/x = symlink
			`,
		},
		{
			name:  "links to trusted directories with TrustDirs",
			trust: true,
			tree: tree{
				"a.txt": "hello", "link": "-> a.txt", "out": "-> OUTSIDE/secret.txt", "outdir": "-> OUTSIDE", "rel": "-> ../outside/secret.txt",
				"outmissing": "-> OUTSIDE/missing", "beyond": "-> OUTSIDE/../other", "etc": "-> /etc", "parent": "-> ..",
				"abs": "-> ROOT/a.txt",
			},
			calls: `
				open link = hello
				open abs = hello
				open out = secret
				open rel = secret
				list outdir = [secret.txt]
				open outdir/secret.txt = secret
				stat outmissing = not exist
				stat beyond = escape
				list etc = escape
				list parent = escape
				readlink out = escape
				readlink rel = escape
				readlink link = a.txt
				readlink outdir/secret.txt = invalid
				dir outdir open secret.txt = secret
				dir outdir lstat .. = escape
			`,
		},
		{
			name: "links to any directory with TrustAll",
			all:  true,
			tree: tree{
				"a.txt": "hello", "link": "-> a.txt", "out": "-> OUTSIDE/secret.txt", "outdir": "-> OUTSIDE", "rel": "-> ../outside/secret.txt",
				"outmissing": "-> OUTSIDE/missing", "abs": "-> ROOT/a.txt", "top": "-> /", "me": "-> ROOT/me",
			},
			calls: `
				open link = hello
				open abs = hello
				open out = secret
				open rel = secret
				list outdir = [secret.txt]
				open outdir/secret.txt = secret
				stat outmissing = not exist
				stat top = directory
				stat me = loop
				open ../outside/secret.txt = escape
				readlink out = escape
				readlink link = a.txt
				dir outdir lstat .. = escape
			`,
		},
		{
			name: "links in a circle",
			tree: tree{"a": "-> b", "b": "-> a", "me": "-> me", "sub/x": "-> ../sub/x/y", "down": "-> down/more"},
			calls: `
				stat a = loop
				open b = loop
				list me = loop
				stat a/x = loop
				stat sub/x = loop
				stat down = loop
				lstat a = link
				readlink a = b
				readlink me = me
			`,
		},
		{
			name:   "names of Within",
			within: "dir",
			tree:   tree{"a.txt": "a", "dir/b.txt": "hello", "dir/sub/c.txt": "c", "dir2/d.txt": "d", "dir/dir/e.txt": "e"},
			calls: `
				stat dir = directory
				lstat dir = directory
				list dir = [b.txt dir sub]
				open dir/b.txt = hello
				open dir/sub/c.txt = c
				open dir/dir/e.txt = e
				open dir = not regular
				readlink dir = invalid
				stat dir/missing = not exist
				stat dir/b.txt/x = not dir
				dir dir open b.txt = hello
				dir dir list sub = [c.txt]
				dir dir lstat .. = escape
				stat . = escape
				list . = escape
				stat a.txt = escape
				stat missing = escape
				stat b.txt = escape
				open dir2/d.txt = escape
				open dir/../a.txt = escape
				open .. = escape
				open /dir/b.txt = escape
				stat dir/ = invalid
				stat dir//b.txt = invalid
				stat  = invalid
			`,
		},
		{
			name:   "links below the directory of Within",
			within: "dir",
			tree: tree{
				"a.txt": "a", "other/o.txt": "o", "into": "-> dir", "dir/b.txt": "hello", "dir/sub/up": "-> ../b.txt", "dir/sub/top": "-> ..",
				"dir/link": "-> b.txt", "dir/dirlink": "-> sub", "dir/out": "-> ../a.txt", "dir/outdir": "-> ../other", "dir/missing": "-> ../missing",
				"dir/viaout": "-> out", "dir/sub/far": "-> ../../../outside/secret.txt", "dir/through": "-> sub/../../a.txt", "dir/self": "-> .",
				"dir/dangling": "-> sub/missing", "dir/loop": "-> loop", "dir/parent": "-> ..", "dir/into": "-> ../into/b.txt",
			},
			calls: `
				open dir/link = hello
				open dir/sub/up = hello
				open dir/dirlink/up = hello
				open dir/sub/top/link = hello
				open dir/self/self/b.txt = hello
				lstat dir/out = link
				stat dir/out = escape
				open dir/out = escape
				list dir/outdir = escape
				open dir/outdir/o.txt = escape
				stat dir/missing = escape
				open dir/viaout = escape
				open dir/sub/far = escape
				open dir/through = escape
				list dir/parent = escape
				open dir/into = escape
				open into/b.txt = escape
				stat dir/dangling = not exist
				stat dir/loop = loop
				readlink dir/link = dir/b.txt
				readlink dir/sub/top = dir
				readlink dir/dirlink/up = dir/b.txt
				readlink dir/dangling = dir/sub/missing
				readlink dir/out = escape
				readlink dir/viaout = escape
				readlink dir/parent = escape
				readlink into = escape
				dir dir readlink link = dir/b.txt
				dir dir readlink out = escape
				dir dir/dirlink readlink up = dir/b.txt
				dir dir open link = symlink
				dir dir list outdir = symlink
			`,
		},
		{
			name:   "links that leave the directory of Within and come back",
			within: "dir",
			tree: tree{
				"a.txt": "a", "into": "-> dir", "dir/b.txt": "hello", "dir/back": "-> ../dir/b.txt", "dir/abs": "-> ROOT/dir/b.txt", "dir/top": "-> ROOT/dir",
				"dir/far": "-> ../../proj/./dir//b.txt", "dir/absout": "-> ROOT/a.txt", "dir/root": "-> ROOT", "dir/sibling": "-> ROOT/dir2",
				"dir/absinto": "-> ROOT/into/b.txt", "dir/parent": "-> ..", "dir/over": "-> ROOT/dir/../a.txt", "dir/again": "-> ROOT/dir/../dir/b.txt", "dir2/x": "",
			},
			calls: `
				open dir/back = hello
				open dir/abs = hello
				open dir/top/back = hello
				open dir/far = hello
				open dir/again = hello
				open dir/parent/dir/b.txt = hello
				open dir/parent/a.txt = escape
				open dir/parent/into/b.txt = escape
				list dir/parent = escape
				open dir/absout = escape
				list dir/root = escape
				open dir/root/dir/b.txt = escape
				stat dir/sibling = escape
				open dir/absinto = escape
				open dir/over = escape
				readlink dir/back = dir/b.txt
				readlink dir/abs = dir/b.txt
				readlink dir/top = dir
				readlink dir/far = dir/b.txt
				readlink dir/absout = escape
			`,
		},
		{
			name:   "a directory of Within that is a link",
			within: "alias/sub",
			tree: tree{
				"alias": "-> real", "real/sub": "-> deep/dir", "real/deep/dir/b.txt": "hello", "real/deep/dir/link": "-> b.txt",
				"real/deep/dir/up": "-> ../x", "real/deep/x": "x", "real/deep/dir/abs": "-> ROOT/real/deep/dir/b.txt", "real/deep/dir/as": "-> ROOT/alias/sub/b.txt",
				"real/deep/dir/back": "-> ../dir/b.txt",
			},
			calls: `
				lstat alias/sub = directory
				list alias/sub = [abs as b.txt back link up]
				open alias/sub/link = hello
				open alias/sub/abs = hello
				open alias/sub/as = hello
				open alias/sub/back = hello
				open alias/sub/up = escape
				open real/deep/dir/b.txt = escape
				readlink alias/sub/link = alias/sub/b.txt
				dir alias/sub readlink link = alias/sub/b.txt
				dir alias/sub readlink up = escape
			`,
		},
		{
			name:   "a directory of Within that the FS does not open",
			within: "out",
			tree:   tree{"out": "-> OUTSIDE"},
			calls: `
				stat out = escape
				lstat out = escape
				list out = escape
				open out/secret.txt = escape
				stat out/missing = escape
			`,
		},
		{
			name:   "a directory of Within that is missing",
			within: "missing",
			tree:   tree{"a.txt": "a"},
			calls:  "stat missing = not exist\nlist missing = not exist\nopen missing/x = not exist\nopen a.txt = escape",
		},
		{
			name:   "a directory of Within that is a file",
			within: "a.txt",
			tree:   tree{"a.txt": "a"},
			calls:  "stat a.txt = not dir\nlist a.txt = not dir\nopen a.txt/x = not dir",
		},
		{
			name:   "Within with DenySymlinks",
			deny:   true,
			within: "dir",
			tree:   tree{"dir/b.txt": "hello", "dir/link": "-> b.txt", "dir/out": "-> ../b.txt"},
			calls:  "open dir/b.txt = hello\nopen dir/link = symlink\nopen dir/out = symlink\nreadlink dir/link = dir/b.txt\nreadlink dir/out = escape",
		},
		{
			name:   "Within of a link with DenySymlinks",
			deny:   true,
			within: "alias",
			tree:   tree{"dir/b.txt": "hello", "alias": "-> dir"},
			calls:  "open alias/b.txt = symlink\nstat alias = symlink",
		},
		{
			name:   "Within with TrustDirs",
			trust:  true,
			within: "dir",
			tree: tree{
				"a.txt": "a", "dir/b.txt": "hello", "dir/out": "-> ../a.txt", "dir/trusted": "-> OUTSIDE", "dir/rel": "-> ../../outside/secret.txt",
				"dir/abs": "-> ROOT/a.txt", "dir/beyond": "-> OUTSIDE/../proj/dir/b.txt", "dir/beside": "-> OUTSIDE/../proj/a.txt",
			},
			calls: `
				open dir/trusted/secret.txt = secret
				list dir/trusted = [secret.txt]
				open dir/rel = secret
				open dir/beyond = hello
				open dir/out = escape
				open dir/abs = escape
				open dir/beside = escape
				readlink dir/trusted = escape
				dir dir/trusted open secret.txt = secret
			`,
		},
		{
			name:   "Within of a trusted directory",
			trust:  true,
			within: "trusted",
			tree:   tree{"trusted": "-> OUTSIDE", "abs": "-> ROOT"},
			calls:  "list trusted = [secret.txt]\nopen trusted/secret.txt = secret\nreadlink trusted/secret.txt = invalid",
		},
		{
			name:   "Within with TrustAll",
			all:    true,
			within: "dir",
			tree:   tree{"a.txt": "a", "dir/out": "-> ../a.txt", "dir/abs": "-> OUTSIDE/secret.txt", "dir/root": "-> ROOT/a.txt", "dir/me": "-> b", "dir/b": "b"},
			calls:  "open dir/out = a\nopen dir/abs = secret\nopen dir/root = a\nopen dir/me = b\nopen a.txt = escape\nreadlink dir/out = escape\nreadlink dir/me = dir/b",
		},
		{
			name:   "Within of Within",
			within: "a a/link/c",
			tree: tree{
				"x": "x", "a/y": "y", "a/b/c/d": "hello", "a/b/c/near": "-> d", "a/b/c/far": "-> ../z", "a/b/z": "z", "a/link": "-> b", "a/b/c/e/up": "-> ../d",
				"a/b/c/out": "-> ../../y",
			},
			calls: `
				open a/link/c/d = hello
				open a/link/c/near = hello
				open a/link/c/e/up = hello
				open a/link/c/far = escape
				open a/link/c/out = escape
				open a/b/c/d = escape
				open a/y = escape
				open x = escape
				list a = escape
				readlink a/link/c/e/up = a/link/c/d
			`,
		},
		{
			name:   "Within of Within, by a link out of the first directory",
			within: "a a/out",
			tree:   tree{"b/c": "c", "a/out": "-> ../b"},
			calls:  "list a/out = escape\nopen a/out/c = escape",
		},
		{
			name:   "Within of Within, outside the first directory",
			within: "a b",
			tree:   tree{"a/x": "x", "b/x": "x"},
			calls:  "list a = escape\nopen a/x = escape\nlist b = escape\nopen b/x = escape",
		},
		{
			name:   "Within of the root",
			within: ". .",
			tree:   tree{"a/x": "x"},
			calls:  "stat . = directory\nlist . = [a]\nopen a/x = x\nlist .. = escape",
		},
		{
			name:   "Within of a name that is not valid",
			within: "a/../b",
			tree:   tree{"a/x": "x", "b/x": "x"},
			calls:  "list . = escape\nopen a/x = escape\nopen b/x = escape\nopen a/../b/x = escape\nstat a/../b = escape",
		},
		{
			name:  "forty links in a chain and no more",
			tree:  chain(41),
			calls: "open link1 = end\nopen link0 = loop",
		},
		{
			name: "names that would be hard to print",
			tree: tree{"a\nb": "1", "\x1b[31mred": "2", "\u202egnp": "3", " ": "4", "...": "5", "-rf": "6", "a\\b": "7", "C:": "8", "NUL": "9"},
			calls: `
				list . = [\e[31mred   -rf ... C: NUL a\nb a\b \u202egnp]
				open ... = 5
				open C: = 8
				open NUL = 9
			`,
		},
	} {
		for _, k := range kinds {
			t.Run(test.name+"/"+k.name, func(t *testing.T) {
				for _, content := range test.tree {
					if strings.HasPrefix(content, "-> ") && !k.links || strings.Contains(content, "ROOT") && !k.absolute {
						t.Skip("the filesystem has no such links")
					}
				}
				if strings.Contains(test.name, "hard to print") {
					skipWindows(t, "names with control characters, backslashes and colons")
				}
				o := options{denySymlinks: test.deny}
				o.trustAll = test.all
				if test.trust {
					o.trusted = []string{"OUTSIDE"}
				}
				f := k.make(t, test.tree, o)
				defer f.Close()
				for dir := range strings.FieldsSeq(test.within) {
					f = f.Within(dir)
				}
				for line := range strings.Lines(test.calls) {
					line = strings.Trim(line, "\t\n")
					if line == "" {
						continue
					}
					line, want, ok := strings.Cut(line, " = ")
					if !ok {
						t.Fatalf("no result in %q", line)
					}
					want = strings.NewReplacer(`\n`, "\n", `\e`, "\x1b", `\u202e`, "\u202e").Replace(want)
					must.Equal(t, line, want, call(f, line))
				}
			})
		}
	}
}

// chain is a tree with links from link0 to link1 and so on to a file.
func chain(n int) tree {
	files := tree{"end": "end"}
	next := "end"
	for i := n - 1; i >= 0; i-- {
		name := fmt.Sprint("link", i)
		files[name] = "-> " + next
		next = name
	}
	return files
}
