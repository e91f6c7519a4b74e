package embedding_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/embedding"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

var _ toolshelf.Embedder = (*embedding.Client)(nil)

// A request is what a fake server receives.
type request struct {
	Input          []string
	Model          string
	Dimensions     int    `json:",omitempty"`
	InputType      string `json:"input_type,omitempty"`
	EncodingFormat string `json:"encoding_format,omitempty"`

	key string
}

// vectorOf is the vector of a text: its length and a constant.
func vectorOf(text string) []float32 { return []float32{float32(len(text)), 0.5} }

func base64Of(v []float32) string {
	var raw []byte
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// serve starts a server that records requests. answer writes the answer.
func serve(t *testing.T, answer func(w http.ResponseWriter, r request, number int)) (*embedding.Client, func() []request) {
	var mu sync.Mutex
	var all []request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, got *http.Request) {
		var r request
		if err := json.NewDecoder(got.Body).Decode(&r); err != nil || got.URL.Path != "/v1/embeddings" || got.Method != "POST" || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %v", got.Method, got.URL, err)
		}
		r.key = got.Header.Get("Authorization")
		mu.Lock()
		all = append(all, r)
		number := len(all)
		mu.Unlock()
		answer(w, r, number)
	}))
	t.Cleanup(server.Close)
	return &embedding.Client{URL: server.URL + "/v1", Model: "m", HTTP: server.Client()}, func() []request {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// floats is an answer of a server in order, with numbers.
func floats(w http.ResponseWriter, r request, _ int) {
	write(w, r, func(i int, text string) map[string]any {
		return map[string]any{"object": "embedding", "index": i, "embedding": vectorOf(text)}
	})
}

func write(w http.ResponseWriter, r request, row func(i int, text string) map[string]any) {
	var data []any
	for i, text := range r.Input {
		data = append(data, row(i, text))
	}
	json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": r.Model, "usage": map[string]int{"prompt_tokens": 1}})
}

// The forms of answers in the sources of the servers, as read in November 2026: ToEmbeddingList of
// Ollama (openai/openai.go), format_embeddings_response_oaicompat of llama.cpp (tools/server),
// EmbeddingResponseData of vLLM (entrypoints), and the API reference of OpenAI (create embeddings).
func TestAnswersOfServers(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, request, int){
		"OpenAI, Ollama and vLLM: numbers": floats,
		"base64": func(w http.ResponseWriter, r request, _ int) {
			write(w, r, func(i int, text string) map[string]any {
				return map[string]any{"object": "embedding", "index": i, "embedding": base64Of(vectorOf(text))}
			})
		},
		"llama.cpp: base64 with its name": func(w http.ResponseWriter, r request, _ int) {
			write(w, r, func(i int, text string) map[string]any {
				return map[string]any{"index": i, "object": "embedding", "encoding_format": "base64", "embedding": base64Of(vectorOf(text))}
			})
		},
		"another order": func(w http.ResponseWriter, r request, _ int) {
			input := r.Input
			slices.Reverse(r.Input)
			write(w, r, func(i int, text string) map[string]any {
				return map[string]any{"index": len(input) - 1 - i, "embedding": vectorOf(text)}
			})
		},
		"no indexes": func(w http.ResponseWriter, r request, _ int) {
			write(w, r, func(_ int, text string) map[string]any { return map[string]any{"embedding": vectorOf(text)} })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := serve(t, answer)
			got, err := c.Embed(t.Context(), []string{"a", "bb", "ccc"}, false)
			if diff := cmp.Diff([][]float32{{1, 0.5}, {2, 0.5}, {3, 0.5}}, got); err != nil || diff != "" {
				t.Errorf("%v, -want +got:\n%s", err, diff)
			}
		})
	}
}

func TestRequestsHaveAtMostBatchTexts(t *testing.T) {
	c, requests := serve(t, floats)
	c.Batch = 2
	texts := []string{"a", "bb", "ccc", strings.Repeat("d", 700_000), strings.Repeat("e", 700_000), "ffffff"}
	got, err := c.Embed(t.Context(), texts, false)
	if err != nil || len(got) != 6 || got[4][0] != 700_000 || got[5][0] != 6 {
		t.Errorf("%d vectors, %v", len(got), err)
	}
	var sizes []int
	for _, r := range requests() {
		sizes = append(sizes, len(r.Input))
	}
	must.Match(t, "texts of the requests", []int{2, 2, 2}, sizes)
	if got, err := c.Embed(t.Context(), nil, false); err != nil || got != nil {
		t.Errorf("no texts: %v, %v", got, err)
	}
	c.Batch = 0
	if _, err := c.Embed(t.Context(), texts, false); err != nil || len(requests()) != 5 {
		t.Errorf("%d requests, %v; two texts of 700,000 bytes need two requests", len(requests())-3, err)
	}
	if _, err := c.Embed(t.Context(), []string{strings.Repeat("x", 2<<20)}, false); err == nil {
		t.Error("a text of 2 MiB is embedded")
	}
}

func TestQueriesAndDocumentsHaveTheirPrefixesAndFields(t *testing.T) {
	c, requests := serve(t, floats)
	c.Key, c.Dimensions = "secret", 256
	c.QueryPrefix, c.DocumentPrefix = "search_query: ", "search_document: "
	c.QueryFields, c.DocumentFields = map[string]any{"input_type": "query"}, map[string]any{"input_type": "document"}
	for _, query := range []bool{true, false} {
		if _, err := c.Embed(t.Context(), []string{"a"}, query); err != nil {
			t.Error(err)
		}
	}
	want := []request{
		{[]string{"search_query: a"}, "m", 256, "query", "", "Bearer secret"},
		{[]string{"search_document: a"}, "m", 256, "document", "", "Bearer secret"},
	}
	must.Match(t, "result", want, requests(), cmp.AllowUnexported(request{}))
}

func TestTheIDHasAllThatChangesAVector(t *testing.T) {
	base := embedding.Client{URL: "http://localhost:11434/v1", Model: "m"}
	ids := map[string]string{base.ID(): "the same"}
	for name, change := range map[string]func(*embedding.Client){
		"URL":        func(c *embedding.Client) { c.URL = "http://localhost:8080/v1" },
		"model":      func(c *embedding.Client) { c.Model = "n" },
		"dimensions": func(c *embedding.Client) { c.Dimensions = 3 },
		"prefix":     func(c *embedding.Client) { c.QueryPrefix = "q" },
		"fields":     func(c *embedding.Client) { c.DocumentFields = map[string]any{"a": 1} },
	} {
		c := base
		change(&c)
		if other, known := ids[c.ID()]; known {
			t.Errorf("the ID with another %s is the ID of %s", name, other)
		}
		ids[c.ID()] = name
	}
	for name, change := range map[string]func(*embedding.Client){
		"key":             func(c *embedding.Client) { c.Key = "secret" },
		"batch":           func(c *embedding.Client) { c.Batch = 3 },
		"slash":           func(c *embedding.Client) { c.URL += "/" },
		"password in URL": func(c *embedding.Client) { c.URL = "http://user:secret@localhost:11434/v1?key=secret" },
	} {
		c := base
		change(&c)
		if c.ID() != base.ID() {
			t.Errorf("the %s changes the ID to %s", name, c.ID())
		}
	}
	for name, c := range map[string]*embedding.Client{
		"without a model":        {URL: "x"},
		"whose URL is not valid": {URL: "http://user:secret%zz@localhost/v1", Model: "m"},
	} {
		if id := c.ID(); id != "" {
			t.Errorf("a client %s has the ID %s", name, id)
		}
	}
}

func TestKeysAreInNoErrorAndNoText(t *testing.T) {
	const key = "sk-secret"
	c, _ := serve(t, func(w http.ResponseWriter, r request, _ int) {
		w.WriteHeader(401)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key: %s\nsee the account","type":"invalid_request_error","code":"invalid_api_key"}}`, strings.TrimPrefix(r.key, "Bearer "))
	})
	c.Key = key
	_, err := c.Embed(t.Context(), []string{"a"}, false)
	if err == nil || !strings.Contains(err.Error(), "401 Unauthorized") || !strings.Contains(err.Error(), "Incorrect API key: [key]") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	down := &embedding.Client{URL: "http://user:sk-secret@127.0.0.1:1/v1?key=sk-secret", Model: "m", Key: key}
	broken := &embedding.Client{URL: ":sk-secret", Model: "m", Key: key}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // no retries
	defer cancel()
	_, err2 := down.Embed(ctx, []string{"a"}, false)
	_, err3 := broken.Embed(t.Context(), []string{"a"}, false)
	encoded, _ := json.Marshal(c)
	if err2 == nil || err3 == nil {
		t.Error("no error without a server")
	}
	for _, text := range []string{fmt.Sprint(err, err2, err3), fmt.Sprintf("%v %+v %#v %s", c, *c, *c, c), string(encoded), c.ID()} {
		if strings.Contains(text, "secret") {
			t.Errorf("the key is in %s", text)
		}
	}
}

func TestNoRequestFollowsARedirect(t *testing.T) {
	other, others := serve(t, floats)
	c, _ := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		w.Header().Set("Location", other.URL+"/embeddings")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	c.Key = "secret"
	if _, err := c.Embed(t.Context(), []string{"a"}, false); err == nil || len(others()) > 0 {
		t.Errorf("%v; the other server receives %v", err, others())
	}
}

// The errors of servers, see TestAnswersOfServers.
func TestErrorsOfServers(t *testing.T) {
	for _, test := range []struct {
		name     string
		status   int
		body     string
		want     string
		requests int
	}{
		{"OpenAI: no quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, `"You exceeded your current quota"`, 1},
		{"OpenAI: too many requests", 429, `{"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}}`, `"Rate limit reached"`, 4},
		{"Ollama: no model", 404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error","param":null,"code":null}}`, `not found, try pulling it first`, 1},
		{"llama.cpp: loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, `"Loading model"`, 4},
		{"vLLM: too long", 400, `{"object":"error","message":"This model's maximum context length is 512 tokens","type":"BadRequestError","param":null,"code":400}`, `maximum context length`, 1},
		{"FastAPI", 422, `{"detail":"Field required"}`, `"Field required"`, 1},
		{"a text", 500, "panic\x00\nat main\xff", `"panic\x00\nat main"`, 4},
		{"a long text", 400, strings.Repeat("x", 10_000), `xxx…"`, 1},
		{"no JSON", 200, "<html>", "not JSON", 1},
		{"no vectors", 200, `{"data":[]}`, "0 vectors for 1 texts", 1},
		{"more vectors", 200, `{"data":[{"embedding":[1]},{"embedding":[1]}]}`, "2 vectors for 1 texts", 1},
		{"index out of range", 200, `{"data":[{"index":1,"embedding":[1]}]}`, "the index 1", 1},
		{"llama.cpp: no pooling", 200, `{"data":[{"index":0,"embedding":[[1,2],[3,4]]}]}`, "no array of numbers", 1},
		{"llama.cpp: NaN", 200, `{"data":[{"index":0,"embedding":[1,null]}]}`, "no array of numbers", 1},
		{"empty", 200, `{"data":[{"index":0,"embedding":[]}]}`, "no array of numbers", 1},
		{"large numbers", 200, `{"data":[{"index":0,"embedding":[1e99]}]}`, "no array of numbers", 1},
		{"NaN in base64", 200, `{"data":[{"index":0,"embedding":"AADAfw=="}]}`, "not finite", 1},
		{"broken base64", 200, `{"data":[{"index":0,"embedding":"AADA"}]}`, "not the base64 form", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, requests := serve(t, func(w http.ResponseWriter, _ request, _ int) {
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(test.status)
				io.WriteString(w, test.body)
			})
			v, err := c.Embed(t.Context(), []string{"a"}, false)
			if err == nil || v != nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 600 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("%v, %v, want %s", v, err, test.want)
			}
			must.Equal(t, "len(requests())", test.requests, len(requests()))
		})
	}
}

// A transport is a server without a connection, so that the time of synctest passes.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRepeatedRequestsWait(t *testing.T) {
	date := func(after time.Duration) string { return time.Now().Add(after).UTC().Format(http.TimeFormat) }
	for _, test := range []struct {
		name     string
		header   func() string
		deadline time.Duration
		min, max time.Duration // for one repetition
		fails    bool
	}{
		{"a pause", func() string { return "" }, time.Hour, 125 * time.Millisecond, 375 * time.Millisecond, false},
		{"seconds", func() string { return "7" }, time.Hour, 7 * time.Second, 7 * time.Second, false},
		{"a date", func() string { return date(5 * time.Second) }, time.Hour, 4 * time.Second, 5 * time.Second, false},
		{"a long time", func() string { return "99999999999" }, time.Hour, 30 * time.Second, 30 * time.Second, false},
		{"a time beyond the deadline", func() string { return "7" }, time.Second, 0, 0, true},
		{"no number", func() string { return "soon" }, time.Hour, 125 * time.Millisecond, 375 * time.Millisecond, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				c := &embedding.Client{URL: "http://server/v1", Model: "m", HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
					answer := httptest.NewRecorder()
					if calls++; calls == 1 {
						answer.Header().Set("Retry-After", test.header())
						answer.WriteHeader(429)
					} else {
						io.WriteString(answer, `{"data":[{"index":0,"embedding":[1]}]}`)
					}
					return answer.Result(), nil
				})}}
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				begin := time.Now()
				_, err := c.Embed(ctx, []string{"a"}, true)
				if waited := time.Since(begin); waited < test.min || waited > test.max || (err != nil) != test.fails {
					t.Errorf("waits %v, %v", waited, err)
				}
			})
		})
	}
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &embedding.Client{URL: "http://server/v1", Model: "m", HTTP: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Embed(ctx, []string{"a"}, true); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestAnswersHaveALimit(t *testing.T) {
	read := 0
	c := &embedding.Client{URL: "http://server/v1", Model: "m", HTTP: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(endless{&read})}, nil
	})}}
	if _, err := c.Embed(t.Context(), []string{"a"}, true); err == nil || read > 2<<20 {
		t.Errorf("%v after %d bytes", err, read)
	}
}

// A compressed answer is as small as its pattern.
func TestASmallAnswerNeedsLittleMemory(t *testing.T) {
	const size = 8 << 20
	texts := slices.Repeat([]string{"a"}, 16)
	for name, test := range map[string]struct {
		status              int
		begin, pattern, end string
	}{
		"empty objects":     {200, `{"data":[`, "{},", "{}]}"},
		"numbers":           {200, `{"data":[` + strings.Repeat(`{"embedding":[0]},`, 15) + `{"embedding":[`, "0,", "0]}]}"},
		"parts of an error": {400, `{"message":[`, "0,", "0]}"},
	} {
		t.Run(name, func(t *testing.T) {
			body := test.begin + strings.Repeat(test.pattern, size/len(test.pattern)) + test.end
			c := &embedding.Client{URL: "http://server/v1", Model: "m", HTTP: &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: test.status, Body: io.NopCloser(strings.NewReader(body))}, nil
			})}}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := c.Embed(t.Context(), texts, false)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || allocated > 12*size {
				t.Errorf("%d bytes for an answer of %d bytes, %v", allocated, size, err)
			}
		})
	}
}

type endless struct{ read *int }

func (e endless) Read(p []byte) (int, error) { *e.read += len(p); return len(p), nil }

func ExampleClient() {
	// The server stands for Ollama at http://localhost:11434.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		var data []map[string]any
		for i, text := range asked.Input {
			v := []float32{1, 0}
			if strings.Contains(text, "invoice") || strings.Contains(text, "payment") {
				v = []float32{0, 1}
			}
			data = append(data, map[string]any{"index": i, "embedding": v})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	defer server.Close()

	model := &embedding.Client{URL: server.URL + "/v1", Model: "nomic-embed-text", QueryPrefix: "search_query: ", DocumentPrefix: "search_document: "}
	vectors, err := model.Embed(context.Background(), []string{"collect a payment", "write a test"}, true)
	fmt.Println(vectors, err)
	// Output: [[0 1] [1 0]] <nil>
}
