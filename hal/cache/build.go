package cache

import (
	"crypto/rand"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
)

// buildDigits are the hexadecimal digits of a build's name.
const buildDigits = 12

// Build names the program that runs: two programs of one name were built from the same
// sources by the same toolchain. A build must not load what another has cached: its
// drivers may compile differently.
func Build() string { return build() }

var build = sync.OnceValue(func() string {
	f, err := executable()
	if err != nil {
		return shorten([]byte(rand.Text())) // no cache of this process is one of another
	}
	defer func() { _ = f.Close() }()
	name, err := buildOf(f)
	if err != nil {
		return shorten([]byte(rand.Text()))
	}
	return name
})

// executable opens the file of the running program, on Linux even after the file has been
// replaced.
func executable() (*os.File, error) {
	if f, err := os.Open("/proc/self/exe"); err == nil {
		return f, nil
	}
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// buildID is what the Go linker writes: a hash of the inputs of the link and one of its
// output, with those of package main between. A program that somebody linked with an
// identity of his own has another form.
var buildID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\w-]{20}/[\w-]{20}/[\w-]{20}/[\w-]{20}`) })

// buildOf names the program in a file: by the linker's identity, or by all its bytes.
func buildOf(f interface {
	io.ReaderAt
	io.Reader
}) (string, error) {
	if x, err := elf.NewFile(f); err == nil {
		if s := x.Section(".note.go.buildid"); s != nil && s.Size < 1<<12 {
			if data, err := s.Data(); err == nil {
				if id := buildID().Find(data); id != nil {
					return shorten(id), nil
				}
			}
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return shorten(h.Sum(nil)), nil
}

func shorten(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:buildDigits]
}

// Fingerprint is a text that changes with values: structs of exported fields, numbers,
// lists and maps, as what programs are compiled for.
func Fingerprint(values ...any) (string, error) {
	h := sha256.New()
	for _, v := range values {
		if err := json.NewEncoder(h).Encode(v); err != nil {
			return "", fmt.Errorf("cache: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
