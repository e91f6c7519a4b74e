package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

const (
	account = "fleet" // access key and secret key
	bucket  = "shelf"
)

// A shelf is an S3 server with one bucket. The server stores the objects in a temporary directory.
// The methods that change the bucket also publish an event.
type shelf struct {
	dir     string
	cluster *cluster
	socket  string // address of the server
	client  *s3.Client
	cancel  context.CancelFunc
	done    chan error
}

// startShelf starts the only S3 server of the process. The directory of the server becomes the
// working directory.
func startShelf(ctx context.Context, cluster *cluster) (*shelf, error) {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &shelf{dir: dir, cluster: cluster, socket: filepath.Join(dir, "s3"), cancel: cancel, done: make(chan error, 1)}
	s.client = newClient(s.socket)
	if err := s.serve(ctx); err != nil {
		s.stop()
		return nil, err
	}
	_, err = s.client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String(bucket)})
	if err != nil {
		s.stop()
	}
	return s, err
}

func (s *shelf) serve(ctx context.Context) error {
	objects, attributes := filepath.Join(s.dir, "objects"), filepath.Join(s.dir, "attributes")
	if err := errors.Join(os.Mkdir(objects, 0o700), os.Mkdir(attributes, 0o700)); err != nil {
		return err
	}
	sidecar, err := meta.NewSideCar(attributes)
	if err != nil {
		return err
	}
	backend, err := posix.New(objects, sidecar, posix.PosixOpts{SideCarDir: attributes})
	if err != nil {
		return err
	}
	go func() {
		s.done <- embedgw.RunVersityGW(ctx, backend, &embedgw.Config{RootUserAccess: account, RootUserSecret: account,
			Ports: []string{s.socket}, MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 1, Quiet: true, KeepAlive: true,
			AccessLog: s.log()})
		close(s.done)
	}()
	for {
		select {
		case err := <-s.done:
			return fmt.Errorf("the S3 server has ended: %w", err)
		default:
		}
		if conn, err := net.Dial("unix", s.socket); err == nil {
			return conn.Close()
		}
		runtime.Gosched()
	}
}

func (s *shelf) log() string { return filepath.Join(s.dir, "log") }

// requests returns the number of requests that the server has answered. The log has a line for
// each.
func (s *shelf) requests() (int, error) {
	log, err := os.ReadFile(s.log())
	return bytes.Count(log, []byte("\n")), err
}

func (s *shelf) stop() {
	s.cancel()
	for range s.done {
	}
	os.RemoveAll(s.dir)
}

// newClient returns a client of the server at a socket.
func newClient(socket string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String("http://s3.local"), UsePathStyle: true, Region: "us-east-1",
		HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}},
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: account, SecretAccessKey: account}, nil
		}),
	})
}

func stableName(i int) string { return fmt.Sprintf("stable-%04d", i) }

func (s *shelf) put(ctx context.Context, name string) error {
	text := "---\ndescription: The prompt " + name + "\nargument-hint: \"[topic]\"\n---\nExplain $ARGUMENTS.\n"
	_, err := s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(name + ".md"), Body: strings.NewReader(text)})
	return errors.Join(err, s.cluster.publish(name+".md"))
}

// change makes the i-th change of a number of names between the stable names. The changes write all
// names, delete all names, and so on.
func (s *shelf) change(ctx context.Context, i, names int) error {
	const step = 7919 // a prime, so consecutive changes are on different pages
	name := stableName(i*step%names) + "-volatile"
	if i/names%2 == 0 {
		return s.put(ctx, name)
	}
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: aws.String(name + ".md")})
	return errors.Join(err, s.cluster.publish(name+".md"))
}
