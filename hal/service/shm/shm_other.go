//go:build !linux

package shm

import (
	"os"
	"time"

	"github.com/nnsoc/nnsoc/hal/burst"
)

// Region is a shared memory file and its mapping in this process.
type Region struct{ Data []byte }

// Create makes a region.
func Create(int) (*Region, error) { return nil, ErrUnsupported }

// Open maps the region behind a descriptor of another process.
func Open(_, _ int, _ uint64, _ bool) (*Region, error) { return nil, ErrUnsupported }

// NewFile makes an anonymous file.
func NewFile() (*os.File, error) { return nil, ErrUnsupported }

// Access reports how a file of this process is open.
func Access(*os.File) (read, write bool, err error) { return false, false, ErrUnsupported }

// OpenFile opens a file of another process.
func OpenFile(_, _ int, _, _ bool) (*os.File, error) { return nil, ErrUnsupported }

// FD is the descriptor in this process.
func (*Region) FD() int { return -1 }

// Close unmaps the region.
func (*Region) Close() error { return ErrUnsupported }

// RingBytes is the bytes of a ring of n datums.
func RingBytes(int) int { return 0 }

// Ring is a burst.Channel in shared memory.
type Ring struct{}

// NewRing is a ring in shared memory.
func NewRing([]byte, int) (*Ring, error) { return nil, ErrUnsupported }

// NewRings are the rings of a burst.
func NewRings([]byte, int, int) (in, out *Ring, err error) { return nil, nil, ErrUnsupported }

// Len implements burst.Channel.
func (*Ring) Len() int { return 0 }

// Valid implements burst.Channel.
func (*Ring) Valid() bool { return false }

// Invalidate implements burst.Channel.
func (*Ring) Invalidate() {}

// Write implements burst.Channel.
func (*Ring) Write([]burst.Datum) error { return ErrUnsupported }

// Read implements burst.Channel.
func (*Ring) Read(time.Duration) ([]burst.Datum, error) { return nil, ErrUnsupported }
