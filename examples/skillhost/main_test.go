package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
	"github.com/toolshelf-go/toolshelf/mcpadapter/gosdk/skillsclient"
)

type list struct {
	mcp.ResultBase
	Skills []skill `json:"skills"`
}

type skill struct {
	URI         string            `json:"uri"`
	Frontmatter map[string]string `json:"frontmatter"`
	Resources   []file            `json:"resources"`
}

type file struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

// serve is serveWith for a skill that processes refunds.
func serve(t *testing.T, listed, served string) string {
	t.Helper()
	return serveWith(t, "Processes refunds", listed, served)
}

// serveWith publishes one skill over HTTP, and returns the address. The entry describes
// listed, and the file is served.
func serveWith(t *testing.T, description, listed, served string) string {
	t.Helper()
	const uri = "skill://acme/refunds/SKILL.md"
	capabilities := &mcp.ServerCapabilities{}
	capabilities.AddExtension(mcpadapter.SkillsExtension, nil)
	server := mcp.NewServer(&mcp.Implementation{Name: "acme", Version: "1"}, &mcp.ServerOptions{Capabilities: capabilities})
	server.AddResource(&mcp.Resource{URI: uri, Name: "refunds"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, Text: served}}}, nil
	})
	all := []skill{{uri, map[string]string{"name": "refunds", "description": description},
		[]file{{uri, fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(listed))), len(listed)}}}}
	if err := mcp.AddReceivingCustomMethod(server, "skills/list", func(context.Context, *mcp.ServerSession, *mcp.ListResourcesParams) (*list, error) {
		return &list{Skills: all}, nil
	}); err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	t.Cleanup(web.Close)
	return web.URL
}

func TestSkillsOfAServerStandBesideLocalSkills(t *testing.T) {
	const text = "---\nname: refunds\ndescription: Processes refunds\n---\nAsk for the receipt.\n"
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "refunds"), 0o755))
	local := strings.NewReplacer("Processes", "Explains", "Ask", "Look").Replace(text)
	must.Do(t, os.WriteFile(filepath.Join(dir, "refunds", "SKILL.md"), []byte(local), 0o644))
	servers := []string{"one=" + serve(t, text, text), "two=" + serve(t, text, strings.Replace(text, "receipt", "address", 1))}
	for name, want := range map[string]string{
		"":                 "one.acme.refunds: Processes refunds\nrefunds: Explains refunds\ntwo.acme.refunds: Processes refunds\n",
		"refunds":          "Origin: " + dir + "\nFiles: 1\n\nLook for the receipt.\n",
		"one.acme.refunds": "Origin: one\nFiles: 1\n\nAsk for the receipt.\n",
	} {
		var out bytes.Buffer
		if err := run(t.Context(), &out, dir, servers, name); err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v", name, out.String(), err)
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), &out, dir, servers, "two.acme.refunds"); !errors.Is(err, skillsclient.ErrDigest) || out.Len() > 0 {
		t.Errorf("a skill with another digest: got %q, %v", out.String(), err)
	}
}

func TestTextOfAServerCannotControlTheTerminal(t *testing.T) {
	const text = "---\nname: refunds\ndescription: \"Pays\\n\\e[2J\\u202Eback\\u0085now\"\n---\nAsk\tfor\x1b[8mthe\u200b receipt.\n"
	servers := []string{"one=" + serveWith(t, "Pays\n\x1b[2J\u202eback\u0085now", text, text)}
	for name, want := range map[string]string{
		"":                 "one.acme.refunds: Pays \ufffd[2J\ufffdback now\n",
		"one.acme.refunds": "Origin: one\nFiles: 1\n\nAsk\tfor\ufffd[8mthe\ufffd receipt.\n",
	} {
		var out bytes.Buffer
		if err := run(t.Context(), &out, t.TempDir(), servers, name); err != nil || out.String() != want {
			t.Errorf("%s: got %q, %v", name, out.String(), err)
		}
	}
}
