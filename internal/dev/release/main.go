// Release checks that the modules of the repository work for programs that fetch the modules, and
// tags a release. The program runs in the root directory of the repository:
//
//	.ci/release [-tag] VERSION
//	.ci/release -tree [COMMAND [ARG …]]
//
// Release serves the modules of a copy of the tree as a module proxy, with the proxies of GOPROXY
// as fallback. Without a workspace, release runs go mod tidy -diff in each module, and fetches,
// builds and runs a program for each module, each in an empty module cache.
//
// With VERSION, the tree must be committed, CHANGELOG.md must describe the version, and .ci/api
// must pass; with -tag, release commits the versions and makes the tags. With -tree, release checks
// the working tree, with the module cache of the user, and runs COMMAND in each module of go.work.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"
)

func main() {
	tag := flag.Bool("tag", false, "commit the versions, and make the tags")
	tree := flag.Bool("tree", false, "check the working tree as the version after the last tag")
	flag.Parse()
	if err := run(*tag, *tree, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(tag, tree bool, args []string) error {
	last, err := lastTag()
	if err != nil {
		return err
	}
	version := next(last)
	if !tree {
		if len(args) != 1 || semver.Canonical(args[0]) != args[0] || semver.Compare(args[0], last) <= 0 {
			return fmt.Errorf("name one version after %s, such as %s", last, version)
		}
		version = args[0]
		if err := releasable(version); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &stage{version: version, temp: dir, tree: filepath.Join(dir, "tree"), proxy: filepath.Join(dir, "proxy")}
	if err := s.copyTree(); err != nil {
		return err
	}
	if err := s.setVersions(); err != nil {
		return err
	}
	if err := s.publish(); err != nil {
		return err
	}
	if err := s.environment(tree); err != nil {
		return err
	}
	if err := s.checkModules(tree); err != nil {
		return err
	}
	if err := s.runPrograms(tree); err != nil {
		return err
	}
	if tree {
		return s.runInWorkspace(args)
	}
	return s.tag(tag)
}

// releasable reports why the tree cannot be released.
func releasable(version string) error {
	status, err := output("", nil, "git", "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(status) > 0 {
		return fmt.Errorf("the tree is not committed; commit or stash:\n%s", status)
	}
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	if heading := "\n## [" + version[1:] + "]"; !bytes.Contains(changelog, []byte(heading)) {
		return fmt.Errorf("CHANGELOG.md has no section %q; describe the version there", heading[1:])
	}
	return command("", nil, ".ci/api")
}

// lastTag returns the newest version with a tag, or v0.0.0.
func lastTag() (string, error) {
	tags, err := output("", nil, "git", "tag", "--list", "v*")
	versions := append(strings.Fields(string(tags)), "v0.0.0")
	semver.Sort(versions)
	return versions[len(versions)-1], err
}

// next returns the version whose minor number follows.
func next(version string) string {
	var major, minor int
	fmt.Sscanf(version, "v%d.%d", &major, &minor)
	return fmt.Sprintf("v%d.%d.0", major, minor+1)
}

// tag prints the tags of the release. With make, tag copies the changed go.mod, go.sum and go.work
// files to the repository, commits the files and makes the tags.
func (s *stage) tag(make bool) error {
	var tags []string
	for _, m := range s.modules {
		if m.released {
			tags = append(tags, strings.TrimPrefix(m.dir+"/"+s.version, "./"))
		}
	}
	fmt.Println(strings.Join(tags, "\n"))
	if !make {
		return nil
	}
	for file, data := range s.written {
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	message := "Release " + s.version
	if err := command("", nil, "git", "commit", "--quiet", "--all", "--message", message); err != nil {
		return err
	}
	for _, t := range tags {
		if err := command("", nil, "git", "tag", t); err != nil {
			return err
		}
	}
	return nil
}

// output returns the standard output of a command in a directory. The error has the standard error
// of the command.
func output(dir string, env []string, name string, args ...string) ([]byte, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", cmd, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes(), nil
}

// command runs a command in a directory with the standard output of release.
func command(dir string, env []string, name string, args ...string) error {
	stdout, err := output(dir, env, name, args...)
	os.Stdout.Write(stdout)
	return err
}

// copyFile copies a file with its permission bits, and creates its directory.
func copyFile(to, from string) error {
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) { // deleted in the working tree
		return nil
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}
