// Command fleet shows three stateless replicas of an MCP server over one bucket. The command starts
// an S3 server, three NATS servers with JetStream, and the replicas, each a process. The writer of
// the bucket publishes an event for each change to a stream, and each replica follows the stream.
// While nothing changes, the pages of prompts/list make no request of the S3 server.
//
// Six clients then walk the pages. Each page comes from the next replica, objects are written and
// deleted between the pages, and a replica and the leader of the stream are stopped. Each client
// must see each prompt that exists during the whole walk exactly once, and no prompt twice.
// Afterwards the other replicas must list a new prompt.
//
//	go -C stores/fleet run .
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
)

func main() {
	log.SetFlags(0)
	if isReplica() {
		log.SetPrefix("replica: ")
		if err := serveReplica(); err != nil {
			log.Fatal(err)
		}
		return
	}
	log.SetPrefix("fleet: ")
	stable := flag.Int("stable", 1000, "`number` of prompts that exist during the whole walk")
	volatile := flag.Int("volatile", 600, "`number` of prompts that come and go")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *stable, *volatile); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, stable, volatile int) error {
	cluster, err := startCluster(ctx)
	if err != nil {
		return err
	}
	defer cluster.stop()
	shelf, err := startShelf(ctx, cluster)
	if err != nil {
		return err
	}
	defer shelf.stop()
	for i := range stable {
		if err := shelf.put(ctx, stableName(i)); err != nil {
			return err
		}
	}
	var replicas []*replica
	for range 3 {
		r, err := startReplica(ctx, shelf)
		if err != nil {
			return err
		}
		defer r.kill()
		replicas = append(replicas, r)
	}
	fmt.Fprintf(out, "%d replicas over a bucket with %d prompts\n", len(replicas), stable)
	if err := compareCursors(ctx, out, replicas); err != nil {
		return err
	}
	if err := awaitQuiet(ctx, out, shelf, replicas); err != nil {
		return err
	}
	if err := walkAll(ctx, out, shelf, replicas, stable, volatile); err != nil {
		return err
	}
	return awaitPrompt(ctx, out, shelf, []*replica{replicas[0], replicas[2]})
}

// walkAll walks with six clients over all replicas. The third page of a client kills a replica and
// stops the leader of the stream.
func walkAll(ctx context.Context, out io.Writer, shelf *shelf, replicas []*replica, stable, volatile int) error {
	balancer := new(balancer)
	for _, r := range replicas {
		balancer.urls = append(balancer.urls, r.url)
	}
	front := httptest.NewServer(balancer)
	defer front.Close()
	killOnce := sync.OnceFunc(func() {
		replicas[1].kill()
		fmt.Fprintf(out, "killed replica 1 and stopped %s, the leader of the stream, after %d requests\n", shelf.cluster.stopLeader(), balancer.served.Load())
	})

	var changes atomic.Int64
	var walks [6]walk
	var errs [len(walks)]error
	var group sync.WaitGroup
	for i := range walks {
		group.Go(func() {
			walks[i], errs[i] = walkPrompts(ctx, front.URL, func(page int) error {
				if page == 3 {
					killOnce()
				}
				for range volatile / 50 {
					if err := shelf.change(ctx, int(changes.Add(1)), volatile); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	group.Wait()
	for i, w := range walks {
		others, err := 0, errs[i]
		if err == nil {
			others, err = w.check(stable)
		}
		if err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		fmt.Fprintf(out, "client %d: %d pages, each of the %d prompts once, and %d of the %d that come and go\n", i, len(w.cursors), stable, others, volatile)
	}
	fmt.Fprintf(out, "%d changes of the bucket; %d requests repeated with another replica\n", changes.Load(), balancer.repeated.Load())
	return nil
}
