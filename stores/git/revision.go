package git

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// commit returns the commit of the revision.
func (s *source) commit() (*object.Commit, error) {
	hash, err := s.hash()
	if err != nil {
		return nil, err
	}
	found, err := s.objects.EncodedObject(plumbing.AnyObject, hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) && plumbing.IsHash(s.revision) {
		return nil, fmt.Errorf("%w: fetch the commit", fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	decoded, err := object.DecodeObject(s.objects, found)
	if err != nil {
		return nil, err
	}
	switch decoded := decoded.(type) {
	case *object.Commit:
		return decoded, nil
	case *object.Tag:
		return decoded.Commit()
	}
	return nil, fmt.Errorf("a %s is not a commit: %w", found.Type(), fs.ErrNotExist)
}

// hash returns the commit or the tag to which the revision points.
func (s *source) hash() (plumbing.Hash, error) {
	if plumbing.IsHash(s.revision) {
		return plumbing.NewHash(s.revision), nil
	}
	for _, format := range plumbing.RefRevParseRules {
		ref, err := storer.ResolveReference(s.objects, plumbing.ReferenceName(fmt.Sprintf(format, s.revision)))
		if err == nil {
			return ref.Hash(), nil
		}
		// A short name such as main is no reference by itself.
		if !errors.Is(err, plumbing.ErrReferenceNotFound) && !errors.Is(err, dotgit.ErrReferenceNameEscape) {
			return plumbing.ZeroHash, err
		}
	}
	return plumbing.ZeroHash, fmt.Errorf("%w: create or fetch the reference", fs.ErrNotExist)
}
