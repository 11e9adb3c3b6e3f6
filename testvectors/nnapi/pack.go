//go:build ignore

// Command pack writes corpus.tar.zst from a folder of documents (.json or
// .json.gz), the same bytes for the same documents.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/nnsoc/nnsoc/internal/try"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run pack.go FOLDER")
	}
	if err := pack(os.Args[1], "corpus.tar.zst"); err != nil {
		log.Fatal(err)
	}
}

func pack(dir, name string) (err error) {
	defer try.Catch(&err)
	paths := try.V(filepath.Glob(filepath.Join(dir, "*.json*"))) // sorted
	var archive bytes.Buffer
	// The window spans the archive: variants of one specification share most of their data.
	z := try.V(zstd.NewWriter(&archive, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(32<<20)))
	t := tar.NewWriter(z)
	for _, path := range paths {
		text := try.V(read(path))
		header := tar.Header{Name: strings.TrimSuffix(filepath.Base(path), ".gz"), Mode: 0o644, Size: int64(len(text))}
		try.E(t.WriteHeader(&header))
		try.V(t.Write(text))
	}
	try.E(t.Close())
	try.E(z.Close())
	return os.WriteFile(name, archive.Bytes(), 0o644)
}

func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return text, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
