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
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run pack.go FOLDER")
	}
	if err := pack(os.Args[1], "corpus.tar.zst"); err != nil {
		log.Fatal(err)
	}
}

func pack(dir, name string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json*")) // sorted
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	// The window spans the archive: variants of one specification share most of their data.
	z, err := zstd.NewWriter(&archive, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(32<<20))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, path := range paths {
		text, err := read(path)
		if err != nil {
			return err
		}
		header := tar.Header{Name: strings.TrimSuffix(filepath.Base(path), ".gz"), Mode: 0o644, Size: int64(len(text))}
		if err := t.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := t.Write(text); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
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
