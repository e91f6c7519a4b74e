package mcpgo_test

import (
	"encoding/base64"
	"testing"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n# " + name + "\n"
}

func TestSkillsAreResources(t *testing.T) {
	fsys := memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/a/sub/x y.bin": "\x00\xff", "skills/a/empty": "", "skills/b/SKILL.md": skillText("b")})
	s := serverOf(t, adapterOf(t, fsys), server.WithResourceCapabilities(true, true))
	list := func() (uris []string) {
		var page struct {
			Resources []struct{ URI, Name, Description, MIMEType string }
		}
		request(t, s, "resources/list", `{}`).into(t, &page)
		for _, r := range page.Resources {
			if r.Description != "Does "+r.Name+"." || r.MIMEType != "text/markdown" {
				t.Errorf("got %+v", r)
			}
			uris = append(uris, r.URI)
		}
		return uris
	}
	must.Match(t, "result", []string{"skill://a/SKILL.md", "skill://b/SKILL.md"}, list())
	for uri, want := range map[string]string{"skill://a/SKILL.md": skillText("a"), "skill://a/sub/x%20y.bin": "\x00\xff", "skill://a/empty": ""} {
		var result struct {
			Contents []struct {
				Text *string
				Blob string
			}
		}
		request(t, s, "resources/read", `{"uri":"`+uri+`"}`).into(t, &result)
		if len(result.Contents) != 1 {
			t.Fatalf("%s: got %+v", uri, result)
		}
		got := ""
		if c := result.Contents[0]; c.Text != nil {
			got = *c.Text
		} else if raw, err := base64.StdEncoding.DecodeString(c.Blob); err == nil {
			got = string(raw)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", uri, got, want)
		}
	}
	for _, uri := range []string{"skill://a/../b/SKILL.md", "skill://a/none", "SKILL://a/SKILL.md", "skill://a/sub/x y.bin"} {
		if got := request(t, s, "resources/read", `{"uri":"`+uri+`"}`); got.Error.Code == 0 {
			t.Errorf("%s: got %+v", uri, got)
		}
	}
	must.Do(t, fsys.RemoveAll("skills/a"))
	must.Do(t, afero.WriteFile(fsys, "skills/c/SKILL.md", []byte(skillText("c")), 0o644))
	must.Match(t, "after a change", []string{"skill://b/SKILL.md", "skill://c/SKILL.md"}, list())
	for _, method := range []string{"skills/list", "skills/get", "resources/directory/read"} { // as documented
		if got := request(t, s, method, `{"uri":"skill://b"}`); got.Error.Code != -32601 {
			t.Errorf("%s: got %+v", method, got)
		}
	}
}
