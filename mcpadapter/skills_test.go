package mcpadapter_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/mcpadapter"
)

// skillText returns a SKILL.md.
func skillText(name string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n# " + name + "\n"
}

// A skillClient sends requests of one era to a session, and fails the test on an error.
type skillClient struct {
	testing.TB
	*mcpadapter.Session
	modern bool
}

// skillClients returns a client of each era, each with its own session.
func skillClients(t testing.TB, a *mcpadapter.Adapter) map[string]skillClient {
	return map[string]skillClient{"legacy": {t, ready(t, a), false}, "modern": {t, a.NewSession(), true}}
}

// send sends a request with members as params, and decodes the result into result.
func (c skillClient) send(method, members string, result any) error {
	c.Helper()
	params := json.RawMessage("{" + members + "}")
	if c.modern {
		params = modern(members)
	}
	raw, err := c.Handle(ctx, method, params)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		c.Fatalf("%v in %s", err, raw)
	}
	return nil
}

// get is send for a request that must succeed.
func (c skillClient) get(method, members string, result any) {
	c.Helper()
	if err := c.send(method, members, result); err != nil {
		c.Fatalf("%s %s: %v", method, members, err)
	}
}

// uri returns the member "uri" of params.
func uri(uri string) string {
	raw, _ := json.Marshal(uri)
	return `"uri":` + string(raw)
}

// list returns all entries of skills/list.
func (c skillClient) list() (all []mcpadapter.SkillEntry) {
	c.Helper()
	for cursor := ""; ; {
		var page struct {
			Skills     []mcpadapter.SkillEntry
			NextCursor string
		}
		c.get("skills/list", cursor, &page)
		all = append(all, page.Skills...)
		if page.NextCursor == "" {
			return all
		}
		cursor = `"cursor":"` + page.NextCursor + `"`
	}
}

// read returns the bytes of a resource.
func (c skillClient) read(at string) (data []byte, mediaType string, err error) {
	c.Helper()
	var result struct {
		Contents []struct {
			URI, MIMEType string
			Text          *string
			Blob          *[]byte
		}
	}
	if err := c.send("resources/read", uri(at), &result); err != nil {
		return nil, "", err
	}
	if len(result.Contents) != 1 || result.Contents[0].URI != at || (result.Contents[0].Text == nil) == (result.Contents[0].Blob == nil) {
		c.Fatalf("%s: got %+v", at, result)
	}
	switch only := result.Contents[0]; {
	case only.Text != nil:
		return []byte(*only.Text), only.MIMEType, nil
	default:
		return *only.Blob, only.MIMEType, nil
	}
}

func digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// uris returns the URIs of entries.
func uris(entries []mcpadapter.SkillEntry) []string {
	all := []string{}
	for _, e := range entries {
		all = append(all, e.URI)
	}
	return all
}

// A skill in a file is published as a directory with a SKILL.md.
func TestASkillWithoutADirectoryIsPublished(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		".pi/skills/notes.md": skillText("notes"), ".pi/skills/file.md": skillText("style"), ".pi/skills/pdf/SKILL.md": skillText("pdf"), ".pi/skills/pdf/a.txt": "a",
		".pi/skills/pdf.md": skillText("pdf"), ".pi/skills/unnamed.md": "---\ndescription: d\n---\n",
	}), toolshelf.WithClient(client.Pi())))
	for era, c := range skillClients(t, a) {
		entries := c.list()
		if diff := cmp.Diff([]string{"skill://notes/SKILL.md", "skill://pdf/SKILL.md", "skill://style/SKILL.md"}, uris(entries)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", era, diff)
		}
		for i, want := range []int{1, 2, 1} {
			must.Len(t, era, want, entries[i].Resources)
		}
		for _, r := range entries[2].Resources {
			if data, _, err := c.read(r.URI); err != nil || string(data) != skillText("style") || r.Digest != digest(data) {
				t.Errorf("%s: %s: %s, %v", era, r.URI, data, err)
			}
		}
		for _, other := range []string{"skill://notes/notes.md", "skill://notes/file.md", "skill://notes/pdf/SKILL.md"} {
			if data, _, err := c.read(other); err == nil {
				t.Errorf("%s: %s: %s", era, other, data)
			}
		}
	}
}

func TestEntriesDescribeTheFilesOfSkills(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"skills/pdf/SKILL.md":              "---\nname: pdf\ndescription: >\n  Fills\n  forms.\nlicense: MIT\nmetadata:\n  version: \"1.0\"\n  tags: [a, 2, true, null]\nallowed-tools: Bash(git:*) Read\n---\nUse it.\n",
		"skills/pdf/empty.txt":             "",
		"skills/pdf/a b/é.md":              "text",
		"skills/pdf/logo.png":              "\x89PNG\x00",
		"skills/pdf/.hidden":               "hidden",
		"skills/pdf/.git/config":           "secret",
		"skills/pdf/node_modules/x/x.js":   "x",
		"skills/pdf/nested/inner/SKILL.md": skillText("inner"),
		"skills/lower/skill.md":            skillText("lower"),
	})))
	want := map[string]map[string]string{
		"skill://pdf/SKILL.md": {
			"skill://pdf/.hidden": "hidden", "skill://pdf/SKILL.md": "", "skill://pdf/a%20b/%C3%A9.md": "text", "skill://pdf/empty.txt": "",
			"skill://pdf/logo.png": "\x89PNG\x00", "skill://pdf/nested/inner/SKILL.md": skillText("inner"),
		},
		"skill://lower/SKILL.md": {"skill://lower/SKILL.md": skillText("lower")},
	}
	for era, c := range skillClients(t, a) {
		entries := c.list()
		must.Match(t, era, []string{"skill://lower/SKILL.md", "skill://pdf/SKILL.md"}, uris(entries))
		sameJSON(t, entries[1].Frontmatter, `{"name":"pdf","description":"Fills forms.\n","license":"MIT","metadata":{"version":"1.0","tags":["a",2,true,null]},"allowed-tools":"Bash(git:*) Read"}`)
		for _, e := range entries {
			var single struct{ Skill mcpadapter.SkillEntry }
			c.get("skills/get", uri(e.URI), &single)
			must.Match(t, era, e, single.Skill)
			files := map[string]string{}
			for _, r := range e.Resources {
				data, _, err := c.read(r.URI)
				if err != nil || r.Digest != digest(data) || r.Size != int64(len(data)) {
					t.Errorf("%s: %s: %d bytes, %s, %v; the entry has %+v", era, r.URI, len(data), digest(data), err, r)
				}
				if files[r.URI] = string(data); strings.HasSuffix(r.URI, "/pdf/SKILL.md") {
					files[r.URI] = ""
				}
			}
			must.Match(t, era, want[e.URI], files)
		}
	}
}

func TestResourcesHaveMediaTypes(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{
		"skills/pdf/SKILL.md": skillText("pdf"), "skills/pdf/notes.md": "n", "skills/pdf/fill.py": "p", "skills/pdf/LICENSE": "MIT", "skills/pdf/data.bin": "\x00\xff", "skills/pdf/empty": "",
	})))
	c := skillClients(t, a)["modern"]
	for name, want := range map[string]string{"SKILL.md": "text/markdown", "notes.md": "text/markdown", "fill.py": "text/x-python",
		"LICENSE": "text/plain", "data.bin": "application/octet-stream", "empty": "text/plain"} {
		if _, got, err := c.read("skill://pdf/" + name); got != want || err != nil {
			t.Errorf("%s: got %s, %v; want %s", name, got, err, want)
		}
	}
}

func TestResultsFollowTheEra(t *testing.T) {
	a := adapter(t)
	for _, tt := range []struct {
		method, members, member string
		cached                  bool
	}{
		{"skills/list", "", "skills", true},
		{"skills/get", uri("skill://weather/SKILL.md"), "skill", true},
		{"resources/list", "", "resources", true},
		{"resources/templates/list", "", "resourceTemplates", true},
		{"resources/read", uri("skill://weather/SKILL.md"), "contents", true},
		{"resources/directory/read", uri("skill://weather"), "resources", false},
	} {
		for era, c := range skillClients(t, a) {
			var got map[string]any
			c.get(tt.method, tt.members, &got)
			want := []string{tt.member}
			if era == "modern" {
				want = append(want, "resultType", "_meta")
				if tt.cached {
					want = append(want, "ttlMs", "cacheScope")
				}
			}
			keys := []string{}
			for key := range got {
				keys = append(keys, key)
			}
			slices.Sort(keys)
			slices.Sort(want)
			must.Match(t, tt.method, want, keys)
		}
	}
}

func TestResourcesListHasTheSkills(t *testing.T) {
	var got json.RawMessage
	c := skillClients(t, adapter(t))["legacy"]
	c.get("resources/list", "", &got)
	sameJSON(t, got, fmt.Sprintf(`{"resources":[
		{"uri":"skill://calculator/SKILL.md","name":"calculator","description":"Adds and multiplies.","mimeType":"text/markdown","size":%d},
		{"uri":"skill://weather/SKILL.md","name":"weather","description":"Tells the weather.","mimeType":"text/markdown","size":%d}]}`,
		len(project["skills/calculator/SKILL.md"]), len(project["skills/weather/SKILL.md"])))
	c.get("resources/templates/list", "", &got)
	sameJSON(t, got, `{"resourceTemplates":[{"uriTemplate":"skill://{+path}","name":"skill-file","description":"A file of a skill. The entry of a skill in skills/list contains the URIs of its files."}]}`)
}

func TestReadDirectory(t *testing.T) {
	fsys := memory(t, map[string]string{
		"skills/acme/refunds/SKILL.md": skillText("refunds"), "skills/acme/refunds/templates/b.md": "b", "skills/acme/refunds/templates/a.md": "a",
		"skills/acme/refunds/templates/eu/c.md": "c", "skills/plain/SKILL.md": skillText("plain"),
	})
	must.Do(t, fsys.MkdirAll("skills/plain/empty", 0o755))
	a := adapterOf(t, catalog(t, fsys, toolshelf.WithSkillDepth(3)))
	for era, c := range skillClients(t, a) {
		for at, want := range map[string][]string{
			"skill://acme":                      {"refunds inode/directory"},
			"skill://acme/refunds":              {"refunds text/markdown", "templates inode/directory"},
			"skill://acme/refunds/templates":    {"a.md text/markdown", "b.md text/markdown", "eu inode/directory"},
			"skill://acme/refunds/templates/eu": {"c.md text/markdown"},
			"skill://plain":                     {"plain text/markdown", "empty inode/directory"},
			"skill://plain/empty":               {},
		} {
			var got struct{ Resources []mcpadapter.Resource }
			c.get("resources/directory/read", uri(at), &got)
			children := []string{}
			for _, r := range got.Resources {
				children = append(children, r.Name+" "+r.MIMEType)
				if path.Dir(strings.TrimPrefix(r.URI, "skill://")) != strings.TrimPrefix(at, "skill://") || (r.Size == nil) != (r.MIMEType == mcpadapter.DirectoryType) {
					t.Errorf("%s: %s has the child %+v", era, at, r)
				}
			}
			if diff := cmp.Diff(want, children); diff != "" || got.Resources == nil {
				t.Errorf("%s: %s (-want +got):\n%s", era, at, diff)
			}
		}
		for _, at := range []string{"skill://acme/refunds/SKILL.md", "skill://acme/refunds/", "skill://none", "skill://acme/refunds/templates/none", "skill://acme/refun", "skill://Acme"} {
			must.Equal(t, era, mcpadapter.CodeInvalidParams,
				rpcError(t, c.send("resources/directory/read", uri(at), new(any))).Code)
		}
	}
}

func TestLayersAndDirectoriesBecomePrefixes(t *testing.T) {
	builtin := fstest.MapFS{"deploy/SKILL.md": {Data: []byte(skillText("deploy"))}, "group/scan/SKILL.md": {Data: []byte(skillText("scan"))}}
	files := map[string]string{
		"project/skills/review/SKILL.md": skillText("review"), "project/skills/a/b/deep/SKILL.md": skillText("deep"),
		"project/skills/review/nested/SKILL.md": skillText("nested"),
	}
	outside := map[string]string{
		"/opt/team/skills/deploy/SKILL.md": skillText("deploy"), "/opt/team/skills/lint/SKILL.md": skillText("lint"),
		"/home/me/skills/mine/SKILL.md": skillText("mine"),
	}
	for _, tt := range []struct {
		name string
		opts []toolshelf.Option
		want []string
	}{
		{"one directory", []toolshelf.Option{toolshelf.WithSkillsDir("project/skills")}, []string{"skill://review/SKILL.md"}},
		{"one filesystem", []toolshelf.Option{toolshelf.WithSkillsFS("built in", builtin), toolshelf.WithSkillDepth(2)}, []string{"skill://deploy/SKILL.md", "skill://group/scan/SKILL.md"}},
		{"nested directories", []toolshelf.Option{toolshelf.WithSkillsDir("project/skills"), toolshelf.WithSkillDepth(4)},
			[]string{"skill://a/b/deep/SKILL.md", "skill://review/SKILL.md", "skill://review/nested/SKILL.md"}},
		{"several layers", []toolshelf.Option{toolshelf.WithSkillsDir("project/skills", "/opt/team/skills", "/home/me/skills"), toolshelf.WithSkillsFS("built in", builtin)},
			[]string{"skill://project/skills/review/SKILL.md", "skill://skills-2/mine/SKILL.md", "skill://skills/deploy/SKILL.md", "skill://skills/lint/SKILL.md"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fsys := memory(t, files)
			for name, content := range outside {
				write(t, fsys, name, content)
			}
			a := adapterOf(t, catalog(t, fsys, tt.opts...))
			for era, c := range skillClients(t, a) {
				entries := c.list()
				must.Match(t, era, tt.want, uris(entries))
				for _, e := range entries {
					if _, _, err := c.read(e.URI); err != nil {
						t.Errorf("%s: %v", era, err)
					}
				}
			}
		})
	}
}

func TestUnpublishableSkillsAreReported(t *testing.T) {
	files := map[string]string{
		"skills/good/SKILL.md":      skillText("good"),
		"skills/folder/SKILL.md":    skillText("declared"),
		"skills/folder/in/x.md":     "x",
		"skills/twin/SKILL.md":      skillText("good"),
		"skills/spaces/SKILL.md":    skillText("PDF Tools"),
		"skills/words/SKILL.md":     skillText("技能"),
		"skills/number/SKILL.md":    "---\nname: 2024\ndescription: A number.\n---\n",
		"skills/nameless/SKILL.md":  "---\ndescription: Has no name.\n---\n",
		"skills/silent/SKILL.md":    "---\nname: silent\n---\n",
		"skills/list/SKILL.md":      "---\nname: list\ndescription: [a, b]\n---\n",
		"skills/toml/SKILL.md":      "+++\nname = \"toml\"\ndescription = \"TOML.\"\n+++\n",
		"skills/broken/SKILL.md":    "---\nname: broken\ndescription: Use when: asked\n---\n",
		"skills/comment/SKILL.md":   "---\nname: comment\ndescription: Fix #1 in the parser\n---\n",
		"skills/late/SKILL.md":      "\n\n---\nname: late\ndescription: Late.\n---\n",
		"skills/bare/SKILL.md":      "No frontmatter.\n",
		"skills/none/readme.txt":    "No skill.\n",
		"skills/many/SKILL.md":      skillText("many"),
		"skills/exact/SKILL.md":     skillText("exact"),
		"skills/large/SKILL.md":     skillText("large"),
		"skills/large/one.bin":      strings.Repeat("x", 9<<20),
		"skills/large/two.bin":      strings.Repeat("x", 9<<20),
		"skills/unread/SKILL.md":    skillText("unread"),
		"skills/unread/secret.txt":  "secret",
		"skills/unlisted/SKILL.md":  skillText("unlisted"),
		"skills/unlisted/dir/x.txt": "x",
	}
	for i := range 512 {
		files[fmt.Sprintf("skills/many/%03d.txt", i)] = ""
		if i > 0 {
			files[fmt.Sprintf("skills/exact/%03d.txt", i)] = ""
		}
	}
	fsys := deny{memory(t, files), []string{"skills/unread/secret.txt", "skills/unlisted/dir"}}
	a := adapterOf(t, catalog(t, fsys), mcpadapter.WithPageSize(2))
	want := []string{
		"skills/bare/SKILL.md SKILL_FRONTMATTER_MISSING", "skills/broken/SKILL.md FRONTMATTER_RECOVERED", "skills/comment/SKILL.md FRONTMATTER_RECOVERED", "skills/large/SKILL.md SKILL_TOO_LARGE",
		"skills/late/SKILL.md FRONTMATTER_AFTER_BLANK_LINES", "skills/list/SKILL.md SKILL_DESCRIPTION_NOT_TEXT", "skills/many/SKILL.md SKILL_TOO_MANY_FILES",
		"skills/nameless/SKILL.md SKILL_NO_URI", "skills/none/SKILL.md SKILL_FILE_MISSING", "skills/number/SKILL.md SKILL_NO_URI", "skills/silent/SKILL.md SKILL_DESCRIPTION_MISSING",
		"skills/spaces/SKILL.md SKILL_NO_URI", "skills/toml/SKILL.md SKILL_FRONTMATTER_NOT_YAML", "skills/twin/SKILL.md SKILL_URI_TAKEN",
		"skills/unlisted/dir FILE_READ_ERROR", "skills/unread/secret.txt FILE_READ_ERROR", "skills/words/SKILL.md SKILL_NO_URI",
	}
	diagnostics := must.Get(a.SkillDiagnostics(ctx))(t)
	got := []string{}
	for _, d := range diagnostics {
		got = append(got, d.Path+" "+string(d.Code))
		if d.Severity != toolshelf.SeverityError || d.Message == "" {
			t.Errorf("%s", d)
		}
	}
	must.Match(t, "diagnostics", want, got)
	for era, c := range skillClients(t, a) {
		if diff := cmp.Diff([]string{"skill://declared/SKILL.md", "skill://exact/SKILL.md", "skill://good/SKILL.md"}, uris(c.list())); diff != "" {
			t.Errorf("%s: skills (-want +got):\n%s", era, diff)
		}
		if _, _, err := c.read("skill://declared/in/x.md"); err != nil {
			t.Errorf("%s: %v", era, err)
		}
		for _, omitted := range []string{"large", "many", "spaces", "silent", "broken", "comment", "unread", "folder", "none"} {
			must.Equal(t, era, mcpadapter.CodeInvalidParams,
				rpcError(t, c.send("skills/get", uri("skill://"+omitted+"/SKILL.md"), new(any))).Code)
			if _, _, err := c.read("skill://" + omitted + "/SKILL.md"); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
				t.Errorf("%s: resources/read of %s: %v", era, omitted, err)
			}
		}
	}
}

// Each URI of an attack has the same error as a URI of the same form that nothing has.
func TestURIAttacksRevealNothing(t *testing.T) {
	files := map[string]string{
		"skills/pdf/SKILL.md": skillText("pdf"), "skills/pdf/a b.md": "a", "skills/pdf/.git/config": "secret", "skills/secret.txt": "secret",
		"skills/open/notes.txt": "no skill", "secret.txt": "secret", "commands/secret.md": "secret",
	}
	a := adapterOf(t, catalog(t, memory(t, files)))
	for _, at := range []string{
		"skill://pdf/../../secret.txt", "skill://pdf/../secret.txt", "skill://pdf/%2e%2e/secret.txt", "skill://pdf/..%2Fsecret.txt", "skill://pdf%2F..%2Fsecret.txt",
		"skill://pdf/%252e%252e/secret.txt", "skill://pdf/%252E%252E%252Fsecret.txt", "skill:///secret.txt", "skill://secret.txt", "skill://open/notes.txt", "skill://open/SKILL.md",
		"skill://PDF/SKILL.md", "skill://pdf/skill.md", "SKILL://pdf/SKILL.md", "skill://pdf/SKILL.md%00", "skill://pdf/SKILL.md\x00", "skill://pdf/%53KILL.md", "skill://pdf/SKILL.md/",
		"skill://pdf/.git/config", "skill://pdf/a b.md", "skill://pdf/a+b.md", "skill://user@pdf/SKILL.md", "skill://pdf:80/SKILL.md", "skill://other/pdf/SKILL.md", "file:///etc/passwd", "skill://..", "",
		`skill://pdf/..\secret.txt`, "skill://pdf/..%5Csecret.txt", "skill://pdf/SKILL.md?x", "skill://pdf/SKILL.md#x", "skill://skills/pdf/SKILL.md",
	} {
		for era, c := range skillClients(t, a) {
			for _, method := range []string{"resources/read", "skills/get", "resources/directory/read"} {
				e := rpcError(t, c.send(method, uri(at), new(any)))
				unknown := rpcError(t, c.send(method, uri("skill://unknown/file"), new(any)))
				quoted := fmt.Sprintf("%q", at)
				if e.Code != mcpadapter.CodeInvalidParams || e.Data != nil || strings.Replace(e.Message, quoted, `"skill://unknown/file"`, 1) != unknown.Message {
					t.Errorf("%s: %s of %q: %v", era, method, at, e)
				}
			}
		}
	}
	for _, method := range []string{"resources/read", "skills/get", "resources/directory/read"} {
		for _, params := range []string{``, `{}`, `{"uri":null}`, `{"uri":1}`, `{"uri":["skill://pdf/SKILL.md"]}`} {
			if _, err := ready(t, a).Handle(ctx, method, json.RawMessage(params)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
				t.Errorf("%s %s: %v", method, params, err)
			}
		}
	}
}

func TestPagesOfSkills(t *testing.T) {
	const size = 4
	for _, n := range []int{0, 1, 3, 4, 5, 8, 9} {
		files := map[string]string{"skills/zz-large/SKILL.md": skillText("zz-large"), "skills/zz-large/x": strings.Repeat("x", 17<<20)}
		for i := range n {
			files[fmt.Sprintf("skills/s%02d/SKILL.md", i)] = skillText(fmt.Sprintf("s%02d", i))
			files[fmt.Sprintf("skills/s00/d%02d", i)] = ""
		}
		if n == 0 {
			delete(files, "skills/s00/SKILL.md")
		}
		a := adapterOf(t, catalog(t, memory(t, files), toolshelf.WithMaxFileSize(64<<20)), mcpadapter.WithPageSize(size))
		for era, c := range skillClients(t, a) {
			for _, method := range []string{"skills/list", "resources/list", "resources/directory/read"} {
				rows, about := n, ""
				if method == "resources/directory/read" {
					if about, rows = uri("skill://s00"), n+1; n == 0 {
						continue
					}
				}
				seen, pages := []string{}, 0
				for cursor := ""; ; pages++ {
					var page struct {
						Skills, Resources []struct{ URI string }
						NextCursor        string
					}
					c.get(method, strings.Trim(about+","+cursor, ","), &page)
					for _, row := range append(page.Skills, page.Resources...) {
						seen = append(seen, row.URI)
					}
					if page.NextCursor == "" {
						pages++
						break
					}
					cursor = `"cursor":"` + page.NextCursor + `"`
				}
				if want := max(1, (rows+size-1)/size); pages != want || len(seen) != rows || !slices.IsSorted(seen) || len(slices.Compact(seen)) != rows {
					t.Errorf("%d skills, %s, %s: %d pages, want %d: %q", n, era, method, pages, want, seen)
				}
			}
		}
	}
}

func TestForeignCursorsOfSkillsAreRejected(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		files["skills/"+name+"/SKILL.md"] = skillText(name)
		files["skills/"+name+"/x.md"] = ""
	}
	a := adapterOf(t, catalog(t, memory(t, files)), mcpadapter.WithPageSize(1))
	c := skillClients(t, a)["modern"]
	lists := map[string]string{
		`skills/list`: "", `resources/list`: "", `resources/directory/read`: uri("skill://a") + ",", `resources/directory/read `: uri("skill://b") + ",", `resources/templates/list`: "",
	}
	for from, about := range lists {
		var page struct{ NextCursor string }
		c.get(strings.TrimSpace(from), strings.Trim(about, ","), &page)
		cursors := []string{"", "x", "skills.", "skills.x", "skills.AQ", page.NextCursor + "A", strings.ToUpper(page.NextCursor)}
		for to, about := range lists {
			if to != from && page.NextCursor != "" {
				if err := c.send(strings.TrimSpace(to), about+`"cursor":"`+page.NextCursor+`"`, new(any)); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
					t.Errorf("%s accepts the cursor of %s: %v", to, from, err)
				}
			}
		}
		for _, cursor := range cursors {
			if cursor == "A" && page.NextCursor == "" {
				continue
			}
			if err := c.send(strings.TrimSpace(from), about+`"cursor":"`+cursor+`"`, new(any)); err == nil || rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
				t.Errorf("%s accepts the cursor %q: %v", from, cursor, err)
			}
		}
	}
}

func TestStoredCursorOfSkillsStaysValid(t *testing.T) {
	a := adapterOf(t, catalog(t, memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/b/SKILL.md": skillText("b")})), mcpadapter.WithPageSize(1))
	list, err := a.NewSession().ListSkills(ctx, nil)
	const stored = "skills.ARd1qXlza2lsbDovL2EvU0tJTEwubWQ"
	must.Do(t, err)
	must.Equal(t, "list.NextCursor", stored, list.NextCursor)
}

func TestSkillsOfMissingDirectories(t *testing.T) {
	empty := memory(t, map[string]string{"commands/a.md": "a"})
	named := adapterOf(t, catalog(t, empty, toolshelf.WithSkillsDir("skills")))
	for era, c := range skillClients(t, named) {
		must.Len(t, era, 0, c.list())
		var list struct{ Resources []any }
		if c.get("resources/list", "", &list); list.Resources == nil || len(list.Resources) != 0 {
			t.Errorf("%s: got %v", era, list)
		}
		must.Equal(t, era, mcpadapter.CodeInvalidParams,
			rpcError(t, c.send("skills/get", uri("skill://a/SKILL.md"), new(any))).Code)
	}
	for name, a := range map[string]*mcpadapter.Adapter{
		"no directory": adapterOf(t, catalog(t, empty)),
		"no layer":     adapterOf(t, catalog(t, memory(t, project), toolshelf.WithSkillsDir())),
		"not wanted":   adapter(t, mcpadapter.WithoutSkillResources()),
	} {
		for _, c := range skillClients(t, a) {
			for _, method := range []string{"skills/list", "skills/get", "resources/list", "resources/templates/list", "resources/read", "resources/directory/read", "resources/subscribe"} {
				must.Equal(t, name, mcpadapter.CodeMethodNotFound,
					rpcError(t, c.send(method, uri("skill://weather/SKILL.md"), new(any))).Code)
			}
			must.Equal(t, name, false, a.ServesSkills())
		}
		got := must.Get(a.NewSession().Handle(ctx, "server/discover", modern("")))(t)
		must.NotContain(t, name, string(got), "resources", mcpadapter.SkillsExtension)
	}
}

// A view publishes only the skills of its filter.
func TestSkillsOfAView(t *testing.T) {
	view := must.Get(catalog(t, memory(t, project)).View(toolshelf.WithSkillFilter(func(s toolshelf.SkillInfo) bool { return s.Name == "weather" })))(t)
	for era, c := range skillClients(t, adapterOf(t, view)) {
		must.Match(t, era, []string{"skill://weather/SKILL.md"}, uris(c.list()))
		if _, _, err := c.read("skill://calculator/SKILL.md"); rpcError(t, err).Code != mcpadapter.CodeInvalidParams {
			t.Errorf("%s: %v", era, err)
		}
	}
}

// write replaces a file in memory.
func write(t testing.TB, fsys afero.Fs, name, content string) {
	t.Helper()
	must.Do(t, afero.WriteFile(fsys, name, []byte(content), 0o644))
}

func TestReadResourceRejectsStaleEntries(t *testing.T) {
	const file, own = "skill://pdf/notes.md", "skill://pdf/SKILL.md"
	files := map[string]string{"skills/pdf/SKILL.md": skillText("pdf"), "skills/pdf/notes.md": "one", "skills/pdf/other.md": "other"}
	for _, era := range []string{"legacy", "modern"} {
		fsys := memory(t, files)
		a := adapterOf(t, catalog(t, fsys))
		c, other := skillClients(t, a)[era], skillClients(t, a)[era]
		if data, _, err := c.read(file); string(data) != "one" || err != nil {
			t.Fatalf("%s: without an entry: %q, %v", era, data, err)
		}
		c.list()
		write(t, fsys, "skills/pdf/notes.md", "two")
		_, _, err := c.read(file)
		if e := rpcError(t, err); e.Code != mcpadapter.CodeInternalError || !strings.Contains(e.Message, "skills/get") || string(e.Data) != `{"uri":"`+own+`"}` {
			t.Errorf("%s: stale entry: %v, %s", era, e, e.Data)
		}
		if data, _, err := c.read("skill://pdf/other.md"); string(data) != "other" || err != nil {
			t.Errorf("%s: an unchanged file: %q, %v", era, data, err)
		}
		other.get("skills/get", uri(own), new(any))
		if data, _, err := other.read(file); string(data) != "two" || err != nil {
			t.Errorf("%s: the client with a fresh entry: %q, %v", era, data, err)
		}
		if _, _, err := c.read(file); rpcError(t, err).Code != mcpadapter.CodeInternalError {
			t.Errorf("%s: the entry of another client: %v", era, err)
		}
		c.get("skills/get", uri(own), new(any))
		if data, _, err := c.read(file); string(data) != "two" || err != nil {
			t.Errorf("%s: fresh entry: %q, %v", era, data, err)
		}
		must.Do(t, fsys.Remove("skills/pdf/notes.md"))
		if _, _, err := c.read(file); rpcError(t, err).Code != mcpadapter.CodeInternalError {
			t.Errorf("%s: a removed file: %v", era, err)
		}
	}
}

func TestOnSkillsChangeReportsURIs(t *testing.T) {
	fsys := memory(t, map[string]string{"skills/a/SKILL.md": skillText("a"), "skills/dir/SKILL.md": skillText("b"), "skills/c/SKILL.md": skillText("c")})
	c := catalog(t, fsys)
	a := adapterOf(t, c)
	told := make(chan []string, 100)
	stop := a.OnSkillsChange(func(uris []string) { told <- uris })
	client := skillClients(t, a)["legacy"]
	client.list()
	write(t, fsys, "skills/a/SKILL.md", skillText("a")+"changed\n")
	write(t, fsys, "skills/new/SKILL.md", skillText("new"))
	must.Do(t, fsys.RemoveAll("skills/dir"))
	client.list()
	must.Match(t, "result", []string{"skill://a/SKILL.md", "skill://b/SKILL.md", "skill://new/SKILL.md"}, <-told)
	stop()
	write(t, fsys, "skills/a/SKILL.md", skillText("a"))
	client.list()
	must.Equal(t, "changes after stop", 0, len(told))
}

func TestSubscriptions(t *testing.T) {
	const own, file = "skill://weather/SKILL.md", "skill://calculator/references/table.md"
	a := adapter(t, mcpadapter.WithListChanged())
	c := skillClients(t, a)["legacy"]
	c.get("resources/subscribe", uri(own), new(any))
	c.get("resources/subscribe", uri(own), new(any))
	c.get("resources/subscribe", uri(file), new(any))
	c.get("resources/unsubscribe", uri(file), new(any))
	c.get("resources/unsubscribe", uri("skill://none/SKILL.md"), new(any))
	if !c.Subscribed(own) || c.Subscribed(file) || a.NewSession().Subscribed(own) {
		t.Error("wrong subscriptions")
	}
	must.Equal(t, "Code", mcpadapter.CodeInvalidParams,
		rpcError(t, c.send("resources/subscribe", uri("skill://weather/../x"), new(any))).Code)
	long := "skill://weather/" + strings.Repeat("x", 16<<10)
	if e := rpcError(t, c.send("resources/subscribe", uri(long), new(any))); e.Code != mcpadapter.CodeInvalidParams || c.Subscribed(long) {
		t.Error(e)
	}
	for i := range 999 {
		c.get("resources/subscribe", uri(fmt.Sprintf("skill://s%d/SKILL.md", i)), new(any))
	}
	must.Equal(t, "Code", mcpadapter.CodeInvalidParams,
		rpcError(t, c.send("resources/subscribe", uri(file), new(any))).Code)
	for name, c := range map[string]skillClient{"modern": skillClients(t, a)["modern"], "without WithListChanged": skillClients(t, adapter(t))["legacy"]} {
		for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
			must.Equal(t, name, mcpadapter.CodeMethodNotFound,
				rpcError(t, c.send(method, uri(own), new(any))).Code)
		}
	}
}

// A file of a nested skill is in the entries of both skills.
func TestReadsOfNestedSkillsCheckAllEntries(t *testing.T) {
	const file, inner, outer = "skill://outer/inner/x.md", "skill://outer/inner/SKILL.md", "skill://outer/SKILL.md"
	fsys := memory(t, map[string]string{"skills/outer/SKILL.md": skillText("outer"), "skills/outer/inner/SKILL.md": skillText("inner"), "skills/outer/inner/x.md": "one"})
	c := skillClients(t, adapterOf(t, catalog(t, fsys, toolshelf.WithSkillDepth(2))))["legacy"]
	c.list()
	write(t, fsys, "skills/outer/inner/x.md", "two")
	for _, stale := range []string{outer, inner} {
		_, _, err := c.read(file)
		if e := rpcError(t, err); e.Code != mcpadapter.CodeInternalError || string(e.Data) != `{"uri":"`+stale+`"}` {
			t.Errorf("want the stale entry %s: %v, %s", stale, e, e.Data)
		}
		c.get("skills/get", uri(stale), new(any))
	}
	if data, _, err := c.read(file); string(data) != "two" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
}
