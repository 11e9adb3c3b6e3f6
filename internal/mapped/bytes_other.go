//go:build !unix

package mapped

import (
	"io"
	"os"
)

// load reads size bytes of a file.
func load(f *os.File, size int) (b []byte, release func() error, err error) {
	b = make([]byte, size)
	_, err = io.ReadFull(f, b)
	return b, func() error { return nil }, err
}
