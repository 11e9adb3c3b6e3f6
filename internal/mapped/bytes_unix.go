//go:build unix

package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// load maps size bytes of a file.
func load(f *os.File, size int) (b []byte, release func() error, err error) {
	b, err = unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
	return b, func() error { return unix.Munmap(b) }, err
}
