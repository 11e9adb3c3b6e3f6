package mem

import "github.com/nnsoc/nnsoc/sim"

// Kind is the kind of an access.
type Kind uint8

// Access kinds.
const (
	Read Kind = iota
	Write
	Prefetch // a read without a waiting requester
)

// Level is one timed memory. Access reserves the banks, ports and bus slots that the bytes need, no earlier than t, and
// returns when the last byte has arrived (Read) or has been accepted (Write), and the reason that a waiting core
// charges: the deepest level that had to serve it.
//
// Calls must be in roughly rising t; a Level may serve a slightly earlier t as if it were now. Access does not
// allocate.
type Level interface {
	Access(t sim.Time, addr uint64, bytes int, k Kind) (done sim.Time, from sim.Reason)
	// Reset returns to the cold state at time 0 and clears the counters.
	Reset()
}
