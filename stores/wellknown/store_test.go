package wellknown_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/wellknown"
)

const (
	schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
	path   = "/.well-known/agent-skills/"
)

// A site is a server on loopback with answers by path, and counts the requests.
type site struct {
	*httptest.Server
	mu       sync.Mutex
	answers  map[string]http.HandlerFunc
	requests []string // path and, if conditional, " if-none-match"
	now, max atomic.Int32
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{answers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.max.Store(max(s.max.Load(), s.now.Add(1)))
		defer s.now.Add(-1)
		s.mu.Lock()
		request := r.URL.Path
		if r.Header.Get("If-None-Match") != "" {
			request += " if-none-match"
		}
		s.requests = append(s.requests, request)
		answer := s.answers[r.URL.Path]
		s.mu.Unlock()
		if answer == nil {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) handle(path string, answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path] = answer
}

// put serves bytes with an ETag.
func (s *site) put(path string, data []byte) {
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"`+digest(data)+`"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
}

// asked returns the requests since the last call.
func (s *site) asked() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.requests = s.requests, nil
	return all
}

type entry map[string]any

// publish serves an index of entries.
func (s *site) publish(t *testing.T, entries ...entry) {
	t.Helper()
	data := must.Get(json.Marshal(map[string]any{"$schema": schema, "skills": entries}))(t)
	s.put(path+"index.json", data)
}

// skill serves an artifact and returns its entry.
func (s *site) skill(name, url string, data []byte) entry {
	kind := "skill-md"
	if !strings.HasSuffix(url, ".md") {
		kind = "archive"
	}
	s.put(path+url, data)
	return entry{"name": name, "type": kind, "description": "Does " + name + ".", "url": url, "digest": "sha256:" + digest(data)}
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func skillFile(name, text string) []byte {
	return []byte("---\nname: " + name + "\ndescription: Does " + name + ".\n---\n" + text + "\n")
}

func zipOf(files map[string]string) []byte {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, _ := w.Create(name)
		f.Write([]byte(files[name]))
	}
	w.Close()
	return packed.Bytes()
}

func tarOf(headers ...tar.Header) []byte {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, h := range headers {
		if h.Typeflag == 0 {
			h.Typeflag, h.Size = tar.TypeReg, int64(len(h.Linkname))
		}
		text := ""
		if h.Typeflag == tar.TypeReg {
			text, h.Linkname = h.Linkname, ""
		}
		h.Mode = 0o644
		w.WriteHeader(&h)
		w.Write([]byte(text))
	}
	w.Close()
	return packed.Bytes()
}

func gzipOf(data []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(data)
	w.Close()
	return packed.Bytes()
}

func open(t *testing.T, s *site, opts wellknown.Options) *wellknown.Store {
	t.Helper()
	opts.Private = true
	return must.Get(wellknown.Open(t.Context(), s.URL, opts))(t)
}

// shown returns "name=text" for each skill of a catalog over the store, or "name!" for a skill that
// cannot be loaded.
func shown(t *testing.T, store *wellknown.Store) string {
	t.Helper()
	catalog := must.Get(toolshelf.New(toolshelf.WithRoot(t.TempDir()), toolshelf.WithCommandsDir(), toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("site", store)))(t)
	defer catalog.Close()
	var all []string
	for s, err := range catalog.Skills(t.Context()) {
		switch {
		case err != nil:
			t.Fatal(err)
		case !s.Loadable:
			all = append(all, s.Name+"!")
		default:
			all = append(all, s.Name+"="+strings.TrimSpace(s.Content))
		}
	}
	return strings.Join(all, " ")
}

// The examples of the draft: a SKILL.md and an archive, by a path-absolute, a relative and an
// absolute URL.
func TestTheExamplesOfTheDraft(t *testing.T) {
	s := newSite(t)
	review := s.skill("code-review", "code-review/SKILL.md", skillFile("code-review", "Review."))
	review["url"] = path + "code-review/SKILL.md"
	wrangler := s.skill("wrangler", "wrangler.tar.gz", gzipOf(tarOf(
		tar.Header{Name: "SKILL.md", Linkname: string(skillFile("wrangler", "Deploy."))}, tar.Header{Name: "scripts/deploy.sh", Linkname: "deploy"})))
	zipped := s.skill("zipped", "zipped.zip", zipOf(map[string]string{"SKILL.md": string(skillFile("zipped", "Zip."))}))
	zipped["url"] = s.URL + path + "zipped.zip"
	s.publish(t, review, wrangler, zipped)
	store := open(t, s, wellknown.Options{})
	must.Equal(t, "shown", "code-review=Review. wrangler=Deploy. zipped=Zip.", shown(t, store))
	must.Equal(t, "ReadFile", "deploy",
		string(must.Get(fs.ReadFile(store, "wrangler/scripts/deploy.sh"))(t)))
	if status := store.Status(); status.Skills != 3 || status.Err != nil || len(status.Problems) != 0 || status.Origin != s.URL || time.Since(status.Checked) > time.Minute {
		t.Errorf("%+v", status)
	}
}

func TestAListMakesNoRequestAndARefreshOne(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	const n = 1000
	var entries []entry
	for i := range n {
		name := fmt.Sprintf("s%04d", i)
		entries = append(entries, s.skill(name, name+"/SKILL.md", skillFile(name, "Do.")))
	}
	s.publish(t, entries...)
	store := open(t, s, wellknown.Options{Dir: dir})
	must.Equal(t, "result", n, strings.Count(shown(t, store), "=Do."))
	if got := s.asked(); len(got) != n+1 || s.max.Load() > 8 {
		t.Errorf("%d requests, %d at the same time", len(got), s.max.Load())
	}
	shown(t, store)
	if err := store.Refresh(t.Context()); err != nil {
		t.Error(err)
	}
	again := open(t, s, wellknown.Options{Dir: dir})
	offline := open(t, s, wellknown.Options{Dir: dir, Offline: true})
	must.Equal(t, "another store", shown(t, store), shown(t, again))
	must.Equal(t, "another store", shown(t, store), shown(t, offline))
	must.Match(t, "asked",
		[]string{path + "index.json if-none-match", path + "index.json if-none-match"}, s.asked())
}

func TestAStartWithoutANetworkServesTheLastIndex(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	s.publish(t, s.skill("a", "a.md", skillFile("a", "One.")))
	open(t, s, wellknown.Options{Dir: dir})
	s.Close()
	store := must.Get(wellknown.Open(t.Context(), s.URL, wellknown.Options{Dir: dir, Private: true}))(t)
	if status := store.Status(); shown(t, store) != "a=One." || status.Err == nil || status.Checked.IsZero() {
		t.Errorf("%s, %+v", shown(t, store), status)
	}
	if _, err := wellknown.Open(t.Context(), s.URL, wellknown.Options{Private: true}); err == nil {
		t.Error("without a cache, Open has no error")
	}
	if _, err := wellknown.Open(t.Context(), s.URL, wellknown.Options{Private: true, Offline: true}); err == nil {
		t.Error("without a cache and a request, Open has no error")
	}
}

func TestARefreshServesTheNewSkillsAndReportsOddChanges(t *testing.T) {
	s := newSite(t)
	a, b := s.skill("a", "a.md", skillFile("a", "One.")), s.skill("b", "b.md", skillFile("b", "One."))
	b["version"] = "1.0.0"
	s.publish(t, a, b, s.skill("c", "c.md", skillFile("c", "One.")))
	store := open(t, s, wellknown.Options{})
	b = s.skill("b", "b2.md", skillFile("b", "Two."))
	b["version"] = "1.0.0"
	s.publish(t, s.skill("a", "a2.md", skillFile("a", "Two.")), b)
	s.asked()
	must.Do(t, store.Refresh(t.Context()))
	must.Equal(t, "shown", "a=Two. b=Two.", shown(t, store))
	want := []wellknown.Problem{{Skill: "b", Message: `the digest has changed under the version "1.0.0"`}, {Skill: "c", Message: "the index no longer lists the skill"}}
	must.Match(t, "Status", want, store.Status().Problems)
	must.Len(t, "asked", 3, s.asked())
}

func TestAnImmutableIndexIsRequestedOnce(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	a := s.skill("a", "a.md", skillFile("a", "Old."))
	a["url"] = "../a.md"
	data, _ := json.Marshal(map[string]any{"$schema": schema, "skills": []entry{a}})
	s.put(path+"v0.1.1/index.json", data)
	for range 2 {
		must.Equal(t, "shown", "a=Old.",
			shown(t, open(t, s, wellknown.Options{Dir: dir, Version: "v0.1.1"})))
	}
	must.Match(t, "asked", []string{path + "v0.1.1/index.json", path + "a.md"}, s.asked())
	for _, version := range []string{"..", ".", "a/b", "/"} {
		if _, err := wellknown.Open(t.Context(), s.URL, wellknown.Options{Version: version, Private: true}); err == nil {
			t.Errorf("the version %q has no error", version)
		}
	}
}

// Each answer loses the skill "bad" or the whole index, and the skill "good" stays.
func TestHostileAnswers(t *testing.T) {
	good := skillFile("good", "Good.")
	file := string(skillFile("bad", "Bad."))
	deep := strings.Repeat("d/", 40) + "x"
	tests := map[string]struct {
		artifact []byte                                       // of an archive
		entry    entry                                        // replaces members
		answer   func(w http.ResponseWriter, r *http.Request) // in place of the artifact
		reason   string
	}{
		"another digest":             {entry: entry{"digest": "sha256:" + strings.Repeat("0", 64)}, reason: "the artifact has the digest"},
		"a digest in capitals":       {entry: entry{"digest": "sha256:" + strings.Repeat("A", 64)}, reason: "lowercase"},
		"a digest of another kind":   {entry: entry{"digest": "md5:" + strings.Repeat("0", 32)}, reason: "the digest is not"},
		"no digest":                  {entry: entry{"digest": nil}, reason: "the digest is not"},
		"a digest that is a number":  {entry: entry{"digest": 7}, reason: "not valid"},
		"an unknown type":            {entry: entry{"type": "script"}, reason: "the type"},
		"no url":                     {entry: entry{"url": ""}, reason: "no url"},
		"a url of another host":      {entry: entry{"url": "https://elsewhere.example/x"}, reason: "not of the origin"},
		"a url of a file":            {entry: entry{"url": "file:///etc/passwd"}, reason: "not of the origin"},
		"a url with a user":          {entry: entry{"url": "http://a:b@127.0.0.1/x"}, reason: "not of the origin"},
		"a url without a scheme":     {entry: entry{"url": "//elsewhere.example/x"}, reason: "not of the origin"},
		"a malformed url":            {entry: entry{"url": "http://[::1"}, reason: "not valid"},
		"a name with a slash":        {entry: entry{"name": "a/b"}, reason: "the name"},
		"a name that leads out":      {entry: entry{"name": ".."}, reason: "the name"},
		"a hidden name":              {entry: entry{"name": ".git"}, reason: "the name"},
		"an empty name":              {entry: entry{"name": ""}, reason: "the name"},
		"a name with a line break":   {entry: entry{"name": "a\nb"}, reason: "the name"},
		"a name with a bidi control": {entry: entry{"name": "a\u202eb"}, reason: "the name"},
		"a long name":                {entry: entry{"name": strings.Repeat("a", 5000)}, reason: "the name"},
		"a backslash in a name":      {entry: entry{"name": `a\b`}, reason: "the name"},
		"node_modules":               {entry: entry{"name": "node_modules"}, reason: "the name"},
		"the name of another entry":  {entry: entry{"name": "good"}, reason: "twice"},
		"not found":                  {answer: http.NotFound, reason: "404"},
		"an error":                   {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, reason: "500"},
		"unchanged":                  {answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, reason: "304"},
		"a stated size": {answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "9")
			w.Write([]byte("x"))
		}, reason: "EOF"},
		"an endless body":           {answer: endless, reason: "more than 65536 bytes"},
		"a slow body":               {answer: slow(true), reason: "deadline"},
		"slow headers":              {answer: slow(false), reason: "deadline"},
		"long headers":              {answer: func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, reason: "header"},
		"a redirect out":            {answer: redirect("https://elsewhere.example/x"), reason: "redirect"},
		"a redirect to a file":      {answer: redirect("file:///etc/passwd"), reason: "redirect"},
		"a redirect for ever":       {answer: redirect(path + "bad"), reason: "redirects"},
		"no archive":                {artifact: []byte("PK no archive"), reason: "the archive"},
		"an empty archive":          {artifact: zipOf(nil), reason: "no SKILL.md"},
		"a wrapper directory":       {artifact: zipOf(map[string]string{"bad/SKILL.md": file}), reason: "no SKILL.md"},
		"a path that leads out":     {artifact: zipOf(map[string]string{"SKILL.md": file, "../x": "x"}), reason: "unsafe name"},
		"an absolute path":          {artifact: zipOf(map[string]string{"SKILL.md": file, "/x": "x"}), reason: "unsafe name"},
		"a deep path":               {artifact: zipOf(map[string]string{"SKILL.md": file, deep: "x"}), reason: "unsafe name"},
		"a SKILL.md that is a link": {artifact: tarOf(tar.Header{Name: "SKILL.md", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), reason: "no SKILL.md"},
		"a bomb in a tar":           {artifact: gzipOf(tarOf(tar.Header{Name: "SKILL.md", Linkname: strings.Repeat("x", 1<<20)})), reason: "too large"},
		"a bomb in a zip":           {artifact: zipOf(map[string]string{"SKILL.md": strings.Repeat("x", 1<<20)}), reason: "MaxUnpacked"},
		"gzip of gzip":              {artifact: gzipOf(gzipOf(tarOf(tar.Header{Name: "SKILL.md", Linkname: file}))), reason: "the archive"},
		"a truncated gzip":          {artifact: gzipOf(bytes.Repeat([]byte("x"), 1000))[:20], reason: "the archive"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			bad := s.skill("bad", "bad", tt.artifact)
			if tt.artifact == nil {
				bad = s.skill("bad", "bad", []byte(file))
				bad["type"] = "skill-md"
			}
			if tt.answer != nil {
				s.handle(path+"bad", tt.answer)
			}
			maps.Copy(bad, tt.entry)
			s.publish(t, s.skill("good", "good.md", good), bad)
			timeout := 10 * time.Second
			if strings.HasPrefix(name, "slow") || strings.HasPrefix(name, "a slow") {
				timeout = 300 * time.Millisecond
			}
			store := open(t, s, wellknown.Options{Dir: t.TempDir(), MaxArtifact: 64 << 10, MaxUnpacked: 128 << 10, Timeout: timeout})
			if got := shown(t, store); got != "good=Good." && got != "bad! good=Good." {
				t.Errorf("the store has %.200q", got)
			}
			if got := store.Status().Problems; len(got) != 1 || !strings.Contains(got[0].Message, tt.reason) {
				t.Errorf("%.500q; want %q", got, tt.reason)
			}
		})
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(make([]byte, 32<<10)); err != nil {
			return
		}
	}
}

// slow sends no header, or no body, until the client leaves.
func slow(header bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if header {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
}

// Each index is an error of Refresh, and the last index stays.
func TestHostileIndexes(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"no JSON":          write("skills"),
		"two values":       write(`{"$schema":"` + schema + `","skills":[]}{}`),
		"no schema":        write(`{"skills":[]}`),
		"a later schema":   write(`{"$schema":"https://schemas.agentskills.io/discovery/0.3.0/schema.json","skills":[]}`),
		"skills as a text": write(`{"$schema":"` + schema + `","skills":"a"}`),
		"too many skills":  write(`{"$schema":"` + schema + `","skills":[` + strings.Repeat("{},", 100) + `{}]}`),
		"a deep value":     write(`{"$schema":"` + schema + `","skills":[` + strings.Repeat("[", 20_000)),
		"an endless index": endless,
		"an error":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"a redirect out":   redirect("https://elsewhere.example/index.json"),
		"a compressed index": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write(gzipOf([]byte(`{"$schema":"` + schema + `","skills":[]}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.publish(t, s.skill("good", "good.md", skillFile("good", "Good.")))
			store := open(t, s, wellknown.Options{MaxIndex: 64 << 10, MaxSkills: 100})
			s.handle(path+"index.json", answer)
			if err := store.Refresh(t.Context()); err == nil || store.Status().Err == nil {
				t.Error("Refresh has no error")
			}
			must.Equal(t, "shown", "good=Good.", shown(t, store))
		})
	}
}

func write(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(text)) }
}

func TestTheSkillsStayWithinMaxSize(t *testing.T) {
	s := newSite(t)
	s.publish(t, s.skill("a", "a.md", bytes.Repeat([]byte("a"), 600)), s.skill("b", "b.md", bytes.Repeat([]byte("b"), 600)))
	store := open(t, s, wellknown.Options{MaxSize: 1000})
	if status := store.Status(); status.Skills != 1 || len(status.Problems) != 1 || !strings.Contains(status.Problems[0].Message, "MaxSize") {
		t.Errorf("%+v", status)
	}
}

func TestPrivateAddressesAreRefusedAtTheConnection(t *testing.T) {
	for _, origin := range []string{"https://127.0.0.1:9", "https://localhost:9", "https://[::1]:9", "https://10.0.0.1:9", "https://169.254.169.254", "https://[fe80::1]:9",
		"https://[::ffff:10.0.0.1]:9", "https://[64:ff9b::a00:1]:9", "https://100.64.0.1:9", "https://[fd00::1]:9", "https://0.0.0.0:9"} {
		_, err := wellknown.Open(t.Context(), origin, wellknown.Options{Timeout: 5 * time.Second})
		if err == nil || !strings.Contains(err.Error(), "private address") {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

func TestOriginsThatAreNoOrigins(t *testing.T) {
	for _, origin := range []string{"", "example.com", "http://example.com", "ftp://example.com", "https://", "https://a@example.com", "https://example.com/x", "https://example.com?x", "http://127.0.0.1", "https://[::1"} {
		if _, err := wellknown.Open(t.Context(), origin, wellknown.Options{Offline: true}); err == nil || strings.Contains(err.Error(), "cache") {
			t.Errorf("%s: %v", origin, err)
		}
	}
	if _, err := wellknown.Open(t.Context(), "http://example.com", wellknown.Options{Private: true, Offline: true}); err == nil || strings.Contains(err.Error(), "cache") {
		t.Error("http of a public host:", err)
	}
}

func TestTheEndOfTheContextKeepsTheLastIndex(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	s.publish(t, s.skill("a", "a.md", skillFile("a", "One.")))
	store := open(t, s, wellknown.Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	s.publish(t, s.skill("a", "a2.md", skillFile("a", "Two.")))
	s.handle(path+"a2.md", func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	must.Is(t, "Refresh", context.Canceled, store.Refresh(ctx))
	must.Equal(t, "shown", "a=One.", shown(t, store))
	must.Equal(t, "the cache", "a=One.",
		shown(t, open(t, s, wellknown.Options{Dir: dir, Offline: true})))
}

// A program may end at each change of the cache: each prefix of the changes leaves the old or the
// new index, and no byte of another file.
func TestAnAlteredCacheServesNoOtherByte(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	s.publish(t, s.skill("a", "a.md", skillFile("a", "One.")), s.skill("b", "b.md", skillFile("b", "One.")))
	open(t, s, wellknown.Options{Dir: dir})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		kept := must.Get(os.ReadFile(file))(t)
		for name, change := range map[string]func() error{
			"removed": func() error { return os.Remove(file) },
			"empty":   func() error { return os.WriteFile(file, nil, 0o600) },
			"cut":     func() error { return os.WriteFile(file, kept[:len(kept)/2], 0o600) },
			"other":   func() error { return os.WriteFile(file, bytes.ToUpper(kept), 0o600) },
			"a link out": func() error {
				secret := filepath.Join(t.TempDir(), "secret")
				return errors.Join(os.Remove(file), os.WriteFile(secret, kept, 0o600), os.Symlink(secret, file))
			},
			"a directory": func() error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o700)) },
		} {
			if err := change(); err != nil {
				t.Skip("the filesystem has no links: ", err)
			}
			store, err := wellknown.Open(t.Context(), s.URL, wellknown.Options{Dir: dir, Private: true, Offline: true})
			if got := "none"; err == nil {
				if got = shown(t, store); strings.Contains(strings.NewReplacer("a=One.", "", "b=One.", "").Replace(got), "=") {
					t.Errorf("%s, %s: %s", file, name, got)
				}
			}
			os.RemoveAll(file)
			must.Equal(t, file, "a=One. b=One.", shown(t, open(t, s, wellknown.Options{Dir: dir})))
			must.Do(t, os.WriteFile(file, kept, 0o600))
		}
	}
}

func TestManyStoresShareACache(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	var entries []entry
	for i := range 20 {
		name := fmt.Sprintf("s%02d", i)
		entries = append(entries, s.skill(name, name+".md", skillFile(name, "Do.")))
	}
	s.publish(t, entries...)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			store, err := wellknown.Open(context.Background(), s.URL, wellknown.Options{Dir: dir, Private: true})
			if err == nil {
				err = store.Refresh(context.Background())
			}
			if err != nil || store.Status().Skills != 20 {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*.tmp")); len(left) != 0 {
		t.Errorf("%q", left)
	}
	must.Equal(t, "result", 20, strings.Count(shown(t, open(t, s, wellknown.Options{Dir: dir, Offline: true})), "=Do."))
}

func TestARefreshRemovesUnusedFilesOfTheCache(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	s.publish(t, s.skill("a", "a.md", skillFile("a", "One.")))
	store := open(t, s, wellknown.Options{Dir: dir})
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	old := time.Now().Add(-2 * time.Hour)
	for _, file := range append(files, filepath.Join(filepath.Dir(files[0]), "x.tmp")) {
		if f, err := os.OpenFile(file, os.O_CREATE, 0o600); err != nil || errors.Join(f.Close(), os.Chtimes(file, old, old)) != nil {
			t.Fatal(err)
		}
	}
	must.Do(t, store.Refresh(t.Context()))
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); !slices.Equal(left, files) {
		t.Errorf("%q; want %q", left, files)
	}
	s.publish(t)
	must.Do(t, store.Refresh(t.Context()))
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "sha256-*")); len(left) != 0 {
		t.Errorf("%q", left)
	}
}

func TestACacheThatCannotBeWrittenIsAnError(t *testing.T) {
	s, dir := newSite(t), t.TempDir()
	s.publish(t, s.skill("a", "a.md", skillFile("a", "One.")))
	file := filepath.Join(dir, "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	if _, err := wellknown.Open(t.Context(), s.URL, wellknown.Options{Dir: file, Private: true}); err == nil {
		t.Error("a file is a directory of a cache")
	}
	store := open(t, s, wellknown.Options{Dir: dir})
	s.publish(t, s.skill("a", "a2.md", skillFile("a", "Two.")))
	kept, _ := filepath.Glob(filepath.Join(dir, "*", "index.json"))
	must.Do(t, errors.Join(os.Remove(kept[0]), os.MkdirAll(filepath.Join(kept[0], "x"), 0o700)))
	if err := store.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "cache cannot be written") {
		t.Error(err)
	}
	must.Equal(t, "a full disk loses the new index", "a=Two.", shown(t, store))
}
