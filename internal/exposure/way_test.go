package exposure

import "testing"

func TestDirOfAName(t *testing.T) {
	for name, want := range map[string]string{
		"packages/web:deploy": "packages/web", "web:deploy": "web", ".github/x:deploy": ".github/x", "a:b:deploy": "a:b",
		"deploy": "", "a/b": "", "../web:deploy": "", "/web:deploy": "", "web/:deploy": "", "./web:deploy": "", ".:deploy": "", ":deploy": "", "web:": "",
		"web:a/b": "", `a\b:deploy`: "", "a//b:deploy": "", "a/../b:deploy": "", "a/.../b:deploy": "", "a/\n:deploy": "",
	} {
		if dir, ok := Dir(name); dir != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", name, dir, ok)
		}
	}
}
