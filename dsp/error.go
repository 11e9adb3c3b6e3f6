package dsp

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// FaultKind says what kind of rule a program broke.
type FaultKind uint8

// Kinds of faults.
const (
	FaultHost    FaultKind = iota // not the program's: the host could not serve it
	FaultIllegal                  // a packet that is none, or breaks a packet rule
	FaultMemory                   // access outside memory, or store to read-only memory
	FaultAlign                    // scalar access to an address that is not a multiple of its size
	FaultJump                     // jump outside the program or into the middle of a packet
	FaultCall                     // system call that is not supported
	FaultLimit                    // the program runs longer than it may
)

// Error is a fault of the program: which packet broke which rule.
type Error struct {
	Kind   FaultKind
	Packet uint32 // address of the packet
	Thread int
	Job    string
	Rule   string

	nowhere bool // Packet is none: Rule says why, and blame who led there
}

// nowhere is the error of an address at which no packet can begin.
func nowhere(pc uint32, why string, args ...any) *Error {
	return &Error{Kind: FaultJump, Packet: pc, Rule: fmt.Sprintf(why, args...), nowhere: true}
}

// leadBy names the packet that led to an address where none can begin, the last
// of a block, nil at the entry of a program.
func (e *Error) leadBy(from *block) {
	to, how := e.Packet, "jump to"
	switch {
	case !e.nowhere:
		return
	case from == nil:
		how = "entry"
	case from.end == to:
		how = "code runs on to"
	}
	if from != nil {
		e.Packet = from.packets[len(from.packets)-1].addr
	}
	e.Rule, e.nowhere = fmt.Sprintf("%s %#x, which is %s", how, to, e.Rule), false
}

func (e *Error) Error() string {
	s := fmt.Sprintf("dsp: packet %#x: %s", e.Packet, e.Rule)
	if e.Job != "" {
		s += fmt.Sprintf(" (job %s, thread %d)", e.Job, e.Thread)
	}
	return s
}

// illegal turns an error of the decoder or the packet checker into ours.
func illegal(pc uint32, err error) *Error {
	var d *hexagon.DecodeError
	var r *hexagon.RuleError
	switch {
	case errors.As(err, &d):
		return &Error{Kind: FaultIllegal, Packet: d.Addr, Rule: fmt.Sprintf("word %d (%#08x): %s", d.Index, d.Word, d.Reason)}
	case errors.As(err, &r) && r.Text != "":
		return &Error{Kind: FaultIllegal, Packet: r.Addr, Rule: r.Text + ": " + r.Rule}
	case errors.As(err, &r):
		return &Error{Kind: FaultIllegal, Packet: r.Addr, Rule: r.Rule}
	}
	return &Error{Kind: FaultIllegal, Packet: pc, Rule: err.Error()}
}

// faultKind is why a micro-op could not be executed.
type faultKind uint8

const (
	faultNone faultKind = iota
	faultUnmapped
	faultReadOnly
	faultMisaligned
)

// fault is the first fault of a thread.
type fault struct {
	kind faultKind
	pc   uint32
	op   hexagon.Op
	addr uint32
	n    uint32
}

// raise records a fault; the first one counts. The thread stops at the end of
// its block.
func (t *thread) raise(u *uop, kind faultKind, addr, n uint32) {
	if t.fault.kind == faultNone {
		t.fault = fault{kind: kind, pc: u.pc, op: hexagon.Op(u.op), addr: addr, n: n}
		t.halt = 2
	}
}

func (f *fault) public() FaultKind {
	if f.kind == faultMisaligned {
		return FaultAlign
	}
	return FaultMemory
}

func (f *fault) rule() string {
	switch f.kind {
	case faultReadOnly:
		return fmt.Sprintf("%s: store of %d bytes to read-only address %#x", f.op, f.n, f.addr)
	case faultMisaligned:
		return fmt.Sprintf("%s: address %#x is not a multiple of %d", f.op, f.addr, f.n)
	}
	return fmt.Sprintf("%s: %d bytes at %#x are not mapped", f.op, f.n, f.addr)
}
