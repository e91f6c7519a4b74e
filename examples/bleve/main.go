// Command bleve searches the commands of a project with a Bleve index on disk. The index stays
// between runs: a run reads only the commands that changed since the last run.
//
//	go -C examples/bleve run . ../sample/project index logs
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/blevesearch/bleve/v2"

	"github.com/toolshelf-go/toolshelf"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: bleve PROJECT INDEX QUERY")
	}
	if err := run(context.Background(), os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer, project, index, query string) error {
	e, err := openEngine(index)
	if err != nil {
		return err
	}
	defer e.Close()
	catalog, err := toolshelf.New(toolshelf.WithRoot(project), toolshelf.WithSearcher(e, nil))
	if err != nil {
		return err
	}
	defer catalog.Close()
	if err := e.update(ctx, w, catalog); err != nil {
		return err
	}
	found, err := catalog.Search(ctx, query, 10)
	for _, r := range found.Results {
		fmt.Fprintf(w, "%s: %s\n", r.Name, r.Description)
	}
	return err
}

// An engine is a toolshelf.Searcher. The ID of a document is the name of a command.
type engine struct{ bleve.Index }

func openEngine(dir string) (engine, error) {
	index, err := bleve.Open(dir)
	if errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		index, err = bleve.New(dir, bleve.NewIndexMapping())
	}
	return engine{index}, err
}

// update reads the commands whose size or time differ from the index. Search omits the hits of
// removed commands; a server deletes their documents in Catalog.OnChange.
func (e engine) update(ctx context.Context, w io.Writer, catalog *toolshelf.Catalog) error {
	batch := e.NewBatch()
	for info, err := range catalog.All(ctx) {
		if err != nil {
			return err
		}
		version := fmt.Sprint(info.Size, info.LastModified.UnixNano())
		if known, err := e.GetInternal([]byte(info.Name)); err == nil && string(known) == version {
			continue
		}
		command, err := catalog.Get(ctx, info.Name)
		if err != nil {
			continue // removed or unreadable since the listing
		}
		if err := batch.Index(info.Name, map[string]string{"description": info.Description, "text": command.Content}); err != nil {
			return err
		}
		batch.SetInternal([]byte(info.Name), []byte(version))
		fmt.Fprintln(w, "read", info.Name)
	}
	return e.Batch(batch)
}

// Search implements toolshelf.Searcher.
func (e engine) Search(ctx context.Context, query string, limit int) ([]toolshelf.Hit, int, error) {
	found, err := e.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(query), limit, 0, false))
	if err != nil {
		return nil, 0, err
	}
	var hits []toolshelf.Hit
	for _, h := range found.Hits {
		hits = append(hits, toolshelf.Hit{Name: h.ID, Score: h.Score})
	}
	return hits, int(found.Total), nil
}
