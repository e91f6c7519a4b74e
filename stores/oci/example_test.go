package oci_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/file"
	orasoci "oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/stores/oci"
)

// Skills in a registry. The client of a remote.Repository holds the credentials.
func ExampleNew() {
	repo, err := remote.NewRepository("ghcr.io/example/skills")
	if err != nil {
		log.Fatal(err)
	}
	store, err := oci.New(repo, "v1", oci.Options{Dir: "skills"})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithSkillsDir(), toolshelf.WithSkillsFS("ghcr.io/example/skills", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
}

func ExampleLayout() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	push(dir, "v1", "deploy.md", "Deploy to $1.")

	store, err := oci.New(oci.Layout(os.DirFS(dir)), "v1", oci.Options{})
	if err != nil {
		log.Fatal(err)
	}
	catalog, err := toolshelf.New(toolshelf.WithCommandsDir(), toolshelf.WithCommandsFS("team", store))
	if err != nil {
		log.Fatal(err)
	}
	defer catalog.Close()
	command, err := catalog.Get(context.Background(), "deploy")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(command.Content)
	// Output: Deploy to $1.
}

// push does the same as "oras push --oci-layout DIR:TAG NAME".
func push(dir, tag, name, content string) {
	source, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(source)
	if err := os.WriteFile(filepath.Join(source, name), []byte(content), 0o644); err != nil {
		log.Fatal(err)
	}
	files, err := file.New(source)
	if err != nil {
		log.Fatal(err)
	}
	defer files.Close()
	ctx := context.Background()
	layer, err := files.Add(ctx, name, "text/markdown", "")
	if err != nil {
		log.Fatal(err)
	}
	manifest, err := oras.PackManifest(ctx, files, oras.PackManifestVersion1_1, "application/vnd.example.commands",
		oras.PackManifestOptions{Layers: []v1.Descriptor{layer}})
	if err != nil {
		log.Fatal(err)
	}
	if err := files.Tag(ctx, manifest, tag); err != nil {
		log.Fatal(err)
	}
	layout, err := orasoci.New(dir)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := oras.Copy(ctx, files, tag, layout, tag, oras.DefaultCopyOptions); err != nil {
		log.Fatal(err)
	}
}
