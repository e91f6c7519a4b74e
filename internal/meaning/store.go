// Package meaning keeps the vectors of texts, which an embedding model of the program
// computes in the background. A failing model costs only the vectors.
package meaning

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/rank"
	"github.com/toolshelf-go/toolshelf/internal/vector"
)

// The limits of the calls of a model.
const (
	maxBatch     = 64               // texts of a call
	MaxWait      = time.Second      // of a search, for the vectors of its query and of few texts
	maxCall      = time.Minute      // for the vectors of a batch
	maxAbandoned = 8                // calls that did not return in time
	maxPause     = 5 * time.Minute  // after failures
	maxQueries   = 256              // vectors of queries that a Store keeps
	savePause    = time.Second      // between two writes of the file while a Store embeds
	maxStale     = 10 * time.Minute // of a temporary file, see Store.save
)

// A Config describes the model and the place of the vectors.
type Config struct {
	ID    string // of the model
	Embed func(ctx context.Context, texts []string, query bool) ([][]float32, error)
	Dir   string // an absolute path, or "" to keep no file

	Lifetime context.Context // of the Store
	Enter    func() bool     // reports whether the Store may use Dir until Leave
	Leave    func()
	Logger   *slog.Logger
}

// A Store has the vectors of documents. Several collections of documents may share a Store,
// and several goroutines may use a Store.
type Store struct {
	config Config

	mu      sync.Mutex
	vectors map[key]weak.Pointer[vector.Cell] // a vector that no document has is freed
	swept   int                               // the number of vectors after the last sweep
	pending map[key]string                    // the texts of unknown vectors
	// Pending and other keys, in the order of the documents, which makes searches faster.
	queue      []key
	queries    map[string]*vector.Point
	dimensions int // of all points; 0 before the first point

	filling  bool          // a goroutine runs fill
	loaded   bool          // fill has read the file
	slow     bool          // a search has waited in vain since the last progress
	progress chan struct{} // closed and replaced after each progress of fill

	texts, asked pause // of failed fills, and of failed queries

	abandoned atomic.Int32 // calls that have not returned in time and are still running
}

// A key identifies a model and a text.
type key [16]byte

// A pause grows with consecutive failures.
type pause struct {
	failures int
	until    time.Time
}

func (p *pause) over() bool { return !time.Now().Before(p.until) }

func (p *pause) record(failed bool) {
	if !failed {
		*p = pause{}
		return
	}
	p.until = time.Now().Add(min(maxPause, time.Second<<min(p.failures, 20)))
	p.failures++
}

// New returns a Store without vectors. New reads no file.
func New(config Config) *Store {
	return &Store{config: config,
		vectors: map[key]weak.Pointer[vector.Cell]{}, pending: map[key]string{},
		queries: map[string]*vector.Point{}, progress: make(chan struct{})}
}

// Vector returns the vector of a document, which is unknown until a fill. Documents with the
// same text share a vector. A Store frees the vectors that no document holds.
func (s *Store) Vector(d rank.Document) *vector.Cell {
	text := Text(d)
	if text == "" {
		v := new(vector.Cell)
		v.Reject()
		return v
	}
	k := s.key(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.vectors[k].Value(); v != nil {
		return v
	}
	v := new(vector.Cell)
	s.vectors[k], s.pending[k], s.queue = weak.Make(v), text, append(s.queue, k)
	if len(s.vectors) > 2*s.swept+1024 {
		for k, v := range s.vectors {
			if v.Value() == nil {
				delete(s.vectors, k)
				delete(s.pending, k)
			}
		}
		s.queue = slices.DeleteFunc(s.queue, func(k key) bool {
			_, pending := s.pending[k]
			return !pending
		})
		s.swept = len(s.vectors)
	}
	return v
}

func (s *Store) key(text string) key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(s.config.ID), s.config.ID, text))
	return key(sum[:])
}

// Within returns the context of the waits of a search. The context ends after most, or after half
// of the time before the deadline of ctx, because the search also needs time.
func Within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	wait := most
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	return context.WithTimeout(ctx, wait)
}

// Fill starts to embed the pending texts in the background. Fill waits for the file and for
// few texts until ctx ends, but not for a model that is slow.
func (s *Store) Fill(ctx context.Context) {
	for {
		s.mu.Lock()
		if !s.filling && len(s.pending) > 0 && s.texts.over() && s.config.Lifetime.Err() == nil {
			s.filling, s.loaded = true, false
			go s.run()
		}
		wait := s.filling && !s.slow && (!s.loaded || len(s.pending) <= maxBatch)
		progress := s.progress
		s.mu.Unlock()
		if !wait {
			return
		}
		select {
		case <-progress:
		case <-ctx.Done():
			s.mu.Lock()
			s.slow = s.slow || progress == s.progress && errors.Is(ctx.Err(), context.DeadlineExceeded)
			s.mu.Unlock()
			return
		}
	}
}

func (s *Store) run() {
	err := s.fill()
	s.mu.Lock()
	s.filling = false
	s.texts.record(err != nil)
	if len(s.pending) == 0 {
		s.pending, s.queue = map[key]string{}, nil // without their memory
	}
	s.advance()
	s.mu.Unlock()
	if err != nil && s.config.Lifetime.Err() == nil {
		s.config.Logger.Warn("the embedder failed; searches use words alone "+
			"until a later search embeds the texts", "error", err)
	}
}

// advance wakes the searches that wait. The caller holds s.mu.
func (s *Store) advance() {
	s.slow = false
	close(s.progress)
	s.progress = make(chan struct{})
}

// fill makes the vectors of all pending texts known.
func (s *Store) fill() error {
	s.use(s.load)
	s.mu.Lock()
	s.loaded = true
	s.advance()
	s.mu.Unlock()
	var saved time.Time
	unsaved := false
	defer func() {
		if unsaved {
			s.use(s.save)
		}
	}()
	for {
		keys, texts := s.batch()
		if len(keys) == 0 {
			return nil
		}
		if err := s.embedAll(keys, texts); err != nil {
			s.mu.Lock()
			s.queue = append(s.queue, keys...)
			s.mu.Unlock()
			return err
		}
		if unsaved = true; time.Since(saved) >= savePause {
			s.use(s.save)
			saved, unsaved = time.Now(), false
		}
	}
}

// use calls load or save, unless the program keeps no file or the catalog is closed.
func (s *Store) use(do func() error) {
	if s.config.Dir == "" || !s.config.Enter() {
		return
	}
	defer s.config.Leave()
	if err := do(); err != nil {
		s.config.Logger.Debug("the vectors are not in the file", "error", err)
	}
}

// batch takes some pending texts from the queue, and drops the texts that no document has any more.
func (s *Store) batch() (keys []key, texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) > 0 && len(keys) < maxBatch {
		k := s.queue[0]
		s.queue = s.queue[1:]
		text, pending := s.pending[k]
		if pending && s.vectors[k].Value() == nil {
			delete(s.pending, k)
			delete(s.vectors, k)
		} else if pending {
			keys, texts = append(keys, k), append(texts, text)
		}
	}
	return keys, texts
}

// probe is a text that every model accepts. After a failure, probe tells a text that the model
// rejects from a model that is down.
var probe = []string{"tool"}

// embedAll makes the vectors of a batch known. If the batch fails, but not the probe, embedAll
// embeds each text alone, and rejects a text that fails.
func (s *Store) embedAll(keys []key, texts []string) error {
	points, err := s.call(s.config.Lifetime, maxCall, texts, false)
	if err == nil {
		s.settle(keys, points)
		return nil
	}
	if !s.alive(err) {
		return err
	}
	for i, text := range texts {
		points, err := s.call(s.config.Lifetime, maxCall, []string{text}, false)
		if err != nil && !s.alive(err) {
			return err
		}
		s.settle(keys[i:i+1], points)
	}
	return nil
}

// alive reports whether the model embeds the probe after an error that is no timeout.
func (s *Store) alive(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || s.config.Lifetime.Err() != nil {
		return false
	}
	_, err = s.call(s.config.Lifetime, maxCall, probe, false)
	return err == nil
}

// settle sets the points of pending texts. Without points, settle rejects the texts.
func (s *Store) settle(keys []key, points []vector.Point) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range keys {
		delete(s.pending, k)
		v := s.vectors[k].Value()
		switch {
		case v == nil:
			delete(s.vectors, k)
		case points == nil:
			v.Reject()
		default:
			v.Set(points[i])
		}
	}
	s.advance()
}

// Query returns the point of a query, or nil if the model fails or ctx ends before.
func (s *Store) Query(ctx context.Context, query string) *vector.Point {
	s.mu.Lock()
	known, over := s.queries[query], s.asked.over()
	s.mu.Unlock()
	if known != nil || !over {
		return known
	}
	points, err := s.call(ctx, MaxWait, []string{query}, true)
	if err != nil {
		s.config.Logger.Debug("the embedder failed for a query; the search uses words alone", "error",
			err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) {
			s.asked.record(true)
		}
		return nil
	}
	s.asked.record(false)
	if len(s.queries) == maxQueries {
		clear(s.queries)
	}
	s.queries[query] = &points[0]
	return &points[0]
}

// call calls the model, and returns one point for each text.
func (s *Store) call(
	ctx context.Context, limit time.Duration, texts []string, query bool,
) ([]vector.Point, error) {
	if s.abandoned.Load() >= maxAbandoned {
		return nil, fmt.Errorf("%d calls have not returned: %w", maxAbandoned, context.DeadlineExceeded)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := parallel.Go(func() ([][]float32, error) {
		return s.config.Embed(ctx, slices.Clone(texts), query)
	})
	var embeddings [][]float32
	select {
	case o := <-done:
		if exit := o.Exit(); exit != nil {
			return nil, errors.New(exit.String())
		}
		var err error
		if embeddings, err = o.Result(); err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
	case <-ctx.Done():
		s.abandoned.Add(1)
		go func() {
			<-done
			s.abandoned.Add(-1)
		}()
		return nil, ctx.Err()
	}
	if len(embeddings) != len(texts) {
		return nil, fmt.Errorf("%d vectors for %d texts", len(embeddings), len(texts))
	}
	points := make([]vector.Point, len(texts))
	for i, e := range embeddings {
		p, ok := vector.NewPoint(e)
		if !ok {
			return nil, fmt.Errorf(
				"vector %d of %d numbers has no direction, or has numbers that are not finite", i, len(e))
		}
		points[i] = p
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range points {
		if dimensions := cmp.Or(s.dimensions, len(points[0].Values())); len(p.Values()) != dimensions {
			return nil, fmt.Errorf("a vector of %d numbers beside vectors of %d numbers; "+
				"a changed model needs another ID", len(p.Values()), dimensions)
		}
	}
	s.dimensions = len(points[0].Values())
	return points, nil
}
