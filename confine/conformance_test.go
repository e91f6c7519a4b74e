package confine

import (
	"context"
	"strings"
	"testing"
)

var ctx = context.Background()

// TestConformance tests the behavior on every platform and filesystem. A line is a call
// and, after "=", its result.
func TestConformance(t *testing.T) {
	skipWindows(t)
	for _, test := range []struct {
		name  string
		deny  bool // DenySymlinks
		trust bool // TrustDirs(OUTSIDE)
		all   bool // TrustAll
		tree  tree
		calls string
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
				o := options{denySymlinks: test.deny}
				o.trustAll = test.all
				if test.trust {
					o.trusted = []string{"OUTSIDE"}
				}
				f := k.make(t, test.tree, o)
				defer f.Close()
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
					if got := call(f, line); got != want {
						t.Errorf("%s: got %s, want %s", line, got, want)
					}
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
		name := "link" + string(rune('A'+i))
		if i < 2 {
			name = "link" + string(rune('0'+i))
		}
		files[name] = "-> " + next
		next = name
	}
	return files
}
