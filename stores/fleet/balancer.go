package main

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
)

// A balancer passes each request to the next replica. If the replica fails, the balancer repeats
// the request with the next replica: requests for prompts change nothing.
type balancer struct {
	urls             []string
	next             atomic.Int64
	served, repeated atomic.Int64
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for range b.urls {
		response, content, err := b.send(r, body)
		if err != nil {
			b.repeated.Add(1)
			continue
		}
		b.served.Add(1)
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		w.Write(content)
		return
	}
	http.Error(w, "no replica answers", http.StatusBadGateway)
}

// send sends the request to the next replica and reads the whole response.
func (b *balancer) send(r *http.Request, body []byte) (*http.Response, []byte, error) {
	url := b.urls[int(b.next.Add(1))%len(b.urls)]
	request, err := http.NewRequestWithContext(r.Context(), r.Method, url+r.URL.Path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header = r.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response, content, err
}
