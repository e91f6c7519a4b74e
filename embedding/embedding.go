// Package embedding has an embedder for toolshelf.WithEmbedder: a client of the servers with the
// embeddings of the OpenAI API, such as OpenAI, Ollama, llama.cpp and vLLM. The package
// uses only the standard library. Only a call of [Client.Embed] opens a connection.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package embedding

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Client is an embedder for one model of a server. The fields must not change after the first
// call of a method. Several goroutines may use a Client.
type Client struct {
	URL   string // the API without /embeddings, such as https://api.openai.com/v1 or http://localhost:11434/v1
	Model string // the name of the model
	Key   string `json:"-"` // the API key, or ""; never in an error, in ID or in the text of a Client

	Dimensions int // the number of dimensions, for models that support several; 0 means the default of the model

	// The prefixes that the model expects before a query and before another text, such as
	// "search_query: " and "search_document: " for nomic-embed-text.
	QueryPrefix, DocumentPrefix string

	// Further fields of the request for queries and for other texts, such as input_type of Voyage.
	QueryFields, DocumentFields map[string]any

	Batch int          `json:"-"` // the maximum number of texts of a request; 0 means 64
	HTTP  *http.Client `json:"-"` // nil means http.DefaultClient; redirects are errors
}

// The limits of requests and answers.
const (
	defaultBatch  = 64
	maxRequest    = 1 << 20  // bytes of the texts of a request
	maxAnswer     = 1 << 20  // bytes for each text
	maxError      = 64 << 10 // bytes of an answer without vectors
	maxDimensions = 1 << 14  // of a vector
	maxMessage    = 300      // bytes of the message of a server in an error
	attempts      = 4        // of a request
	firstPause    = 250 * time.Millisecond
	maxRetryAfter = 30 * time.Second
)

// ID identifies the server, the model, the dimensions, the prefixes and the further fields. Without
// a model or with a URL that is not valid, ID is "".
func (c *Client) ID() string {
	id := *c
	u, err := url.Parse(c.URL)
	if err != nil || c.Model == "" {
		return ""
	}
	id.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/")}).String() // without a password and a key in the query
	text, err := json.Marshal(id)
	if err != nil {
		return ""
	}
	return string(text)
}

// String returns the ID, so that no log has the key.
func (c Client) String() string { return c.ID() }

// GoString is String.
func (c Client) GoString() string { return c.ID() }

// Embed returns one vector for each text. Embed sends requests of at most Batch texts and 1 MiB,
// one after the other. A request that fails with the status 408, 429 or 5xx, or without an answer,
// is repeated three times, after the time of Retry-After or a growing pause, but not beyond the
// deadline of ctx.
func (c *Client) Embed(ctx context.Context, texts []string, query bool) ([][]float32, error) {
	prefix, fields := c.DocumentPrefix, c.DocumentFields
	if query {
		prefix, fields = c.QueryPrefix, c.QueryFields
	}
	var all [][]float32
	for len(all) < len(texts) {
		var input []string
		size := 0
		for _, text := range texts[len(all):] {
			text = prefix + text
			if size += len(text); len(input) == cmp.Or(c.Batch, defaultBatch) || size > maxRequest && len(input) > 0 {
				break
			}
			input = append(input, text)
		}
		if size > maxRequest && len(input) == 1 && len(input[0]) > maxRequest {
			return nil, fmt.Errorf("embedding: a text has %d bytes; embed at most %d", len(input[0]), maxRequest)
		}
		body := map[string]any{}
		maps.Copy(body, fields)
		body["model"], body["input"] = c.Model, input
		if c.Dimensions != 0 {
			body["dimensions"] = c.Dimensions
		}
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("embedding: the fields of the request are not JSON (%w); change QueryFields or DocumentFields", err)
		}
		vectors, err := c.request(ctx, encoded, len(input))
		if err != nil {
			return nil, err
		}
		all = append(all, vectors...)
	}
	return all, nil
}

// request sends a request until the server answers with n vectors, or repeating is no use.
func (c *Client) request(ctx context.Context, body []byte, n int) ([][]float32, error) {
	pause := firstPause
	for attempt := 1; ; attempt++ {
		vectors, retry, after, err := c.try(ctx, body, n)
		if err == nil {
			return vectors, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !retry || attempt == attempts {
			return nil, err
		}
		wait := time.Duration(float64(pause) * (0.5 + rand.Float64()))
		if after >= 0 {
			wait = min(after, maxRetryAfter)
		}
		pause *= 2
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try sends a request once. If retry is true, another attempt can help, at the earliest after the
// given time; a negative time is unknown.
func (c *Client) try(ctx context.Context, body []byte, n int) (vectors [][]float32, retry bool, after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(c.URL, "/")+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, false, 0, errors.New("embedding: the URL is not valid; set URL to a URL such as http://localhost:11434/v1")
	}
	request.Header.Set("Content-Type", "application/json")
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	client := *cmp.Or(c.HTTP, http.DefaultClient)
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(request)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) { // a URL can have a key
			err = withURL.Err
		}
		return nil, true, -1, c.fail("the server does not answer", err.Error())
	}
	defer answer.Body.Close()
	most := n * maxAnswer
	if answer.StatusCode != http.StatusOK {
		most = maxError
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, true, -1, c.fail("the answer breaks off", err.Error())
	case answer.StatusCode != http.StatusOK:
		message, final := serverMessage(data)
		status := answer.StatusCode
		retry = !final && (status == http.StatusRequestTimeout || status == http.StatusTooManyRequests || status >= 500)
		return nil, retry, retryAfter(answer.Header.Get("Retry-After")), c.fail(fmt.Sprintf("the server answers %d %s", status, http.StatusText(status)), message)
	case len(data) > most:
		return nil, false, 0, fmt.Errorf("embedding: the answer has more than %d bytes for %d texts; check that the model computes embeddings", most, n)
	}
	vectors, err = decode(data, n)
	return vectors, false, 0, err
}

// fail returns an error with a text of the server or of the network, as one line without the key.
func (c *Client) fail(what, text string) error {
	if c.Key != "" {
		text = strings.ReplaceAll(text, c.Key, "[key]")
	}
	if len(text) > maxMessage {
		text = text[:maxMessage] + "…"
	}
	return fmt.Errorf("embedding: %s (%s); check the URL, the model and the key", what, strconv.Quote(strings.ToValidUTF8(text, "")))
}

// serverMessage returns the message of an error. The servers differ: error is an object or a text,
// and some servers have message or detail at the top. An error is final if no later request will
// succeed.
func serverMessage(data []byte) (message string, final bool) {
	var answer struct {
		Error           json.RawMessage
		Message, Detail any
	}
	if json.Unmarshal(data, &answer) != nil {
		return string(data), false
	}
	var inner struct{ Message, Code any }
	if json.Unmarshal(answer.Error, &inner) == nil && inner.Message != nil {
		return fmt.Sprint(inner.Message), inner.Code == "insufficient_quota"
	}
	for _, each := range []any{answer.Message, answer.Detail} {
		if each != nil {
			return fmt.Sprint(each), false
		}
	}
	return cmp.Or(string(answer.Error), string(data)), false
}

// retryAfter returns the time of the header Retry-After, in seconds or as a date, or a negative
// time.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(maxRetryAfter/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(date))
	}
	return -1
}

// decode returns the n vectors of an answer, in the order of their indexes. Without indexes, the
// order is the order of the answer.
func decode(data []byte, n int) ([][]float32, error) {
	answer := struct{ Data items }{items{limit: n + 1}}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, errors.New("embedding: the answer is not JSON with embeddings; check that the URL ends with /v1")
	}
	if got := len(answer.Data.all); got > n {
		return nil, fmt.Errorf("embedding: the answer has at least %d vectors for %d texts; check that the model computes embeddings", got, n)
	} else if got < n {
		return nil, fmt.Errorf("embedding: the answer has %d vectors for %d texts; check that the model computes embeddings", got, n)
	}
	all := make([][]float32, n)
	for i, d := range answer.Data.all {
		if d.Index != nil {
			i = *d.Index
		}
		if i < 0 || i >= n || all[i] != nil {
			return nil, fmt.Errorf("embedding: the answer has the index %d twice or out of range; use a Batch of 1", i)
		}
		v, err := vector(d.Embedding)
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}

// items are the first elements of an array. A small answer can have elements that need much memory.
type items struct {
	limit int
	all   []item
}

type item struct {
	Index     *int
	Embedding json.RawMessage
}

func (i *items) UnmarshalJSON(data []byte) error {
	i.all = nil
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); token != json.Delim('[') {
		return cmp.Or(err, errors.New("no array"))
	}
	for len(i.all) < i.limit && decoder.More() {
		var one item
		if err := decoder.Decode(&one); err != nil {
			return err
		}
		i.all = append(i.all, one)
	}
	return nil
}

// vector decodes an array of numbers, or the base64 form of 32-bit numbers in little-endian order.
func vector(data json.RawMessage) ([]float32, error) {
	var text string
	if json.Unmarshal(data, &text) == nil && len(data) > 0 && data[0] == '"' {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(raw)%4 != 0 || len(raw) == 0 {
			return nil, errors.New("embedding: a vector is not the base64 form of 32-bit numbers; ask for floats with DocumentFields")
		}
		v := make([]float32, len(raw)/4)
		_, _ = binary.Decode(raw, binary.LittleEndian, v) // raw has the length of v
		return finite(v)
	}
	var numbers []*float32 // nil is the JSON form of NaN
	if bytes.Count(data, []byte{','}) >= maxDimensions || json.Unmarshal(data, &numbers) != nil || len(numbers) == 0 || slices.Contains(numbers, nil) {
		return nil, errors.New("embedding: a vector is no array of numbers, or of more than 16384 numbers; check that the server pools the vectors of a text into one")
	}
	v := make([]float32, len(numbers))
	for i, p := range numbers {
		v[i] = *p
	}
	return finite(v)
}

func finite(v []float32) ([]float32, error) {
	if slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) }) {
		return nil, errors.New("embedding: a vector has numbers that are not finite; check the model")
	}
	return v, nil
}
