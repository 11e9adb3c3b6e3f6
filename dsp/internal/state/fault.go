package state

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Violation is why a micro-op could not be executed.
type Violation uint8

// Violations of the rules of memory.
const (
	NoViolation Violation = iota
	Unmapped
	ReadOnly
	Misaligned
)

// Fault is the first violation of a thread.
type Fault struct {
	Violation Violation
	PC        uint32
	op        hexagon.Op
	addr      uint32
	n         uint32
}

// raise records a fault; the first one counts. The thread stops at the end of
// its block.
func (t *Thread) raise(u *Uop, kind Violation, addr, n uint32) {
	if t.Fault.Violation == NoViolation {
		t.Fault = Fault{Violation: kind, PC: u.PC, op: hexagon.Op(u.Op), addr: addr, n: n}
		t.Halt = 2
	}
}

// Kind is the kind of rule that was broken.
func (f *Fault) Kind() FaultKind {
	if f.Violation == Misaligned {
		return FaultAlign
	}
	return FaultMemory
}

// Rule names the access and its error.
func (f *Fault) Rule() string {
	switch f.Violation {
	case ReadOnly:
		return fmt.Sprintf("%s: store of %d bytes to read-only address %#x", f.op, f.n, f.addr)
	case Misaligned:
		return fmt.Sprintf("%s: address %#x is not a multiple of %d", f.op, f.addr, f.n)
	}
	return fmt.Sprintf("%s: %d bytes at %#x are not mapped", f.op, f.n, f.addr)
}
