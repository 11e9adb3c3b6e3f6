// Package nnapi carries the public test vectors of NNAPI's operations: a
// document per specification of Android's test suite, in the neutral JSON that
// package importer/vectors reads. NOTICE names their origin and licence.
//
// The documents are one compressed archive: the float, relaxed and half
// precision variants of a specification share most of their data.
package nnapi

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

//go:embed corpus.tar.zst
var archive []byte

var documents = sync.OnceValues(func() (map[string][]byte, error) { return unpack(archive) })

// Names lists the documents, sorted: VERSION__SPECIFICATION.json.
func Names() []string {
	all, err := documents()
	if err != nil {
		panic("nnapi: the embedded archive: " + err.Error()) // it is part of the program
	}
	return slices.Sorted(maps.Keys(all))
}

// Read returns the text of a document, which the caller must not change. Its
// error is fs.ErrNotExist for a name that Names does not list.
func Read(name string) ([]byte, error) {
	all, err := documents()
	if err != nil {
		return nil, err
	}
	text, ok := all[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

func unpack(archive []byte) (map[string][]byte, error) {
	z, err := zstd.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	all := map[string][]byte{}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			_, err := io.Copy(io.Discard, z) // to the checksum
			return all, err
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		all[h.Name] = text
	}
}
