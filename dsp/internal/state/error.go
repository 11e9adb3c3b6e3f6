package state

import "fmt"

// FaultKind is the kind of rule that a program broke.
type FaultKind uint8

// Kinds of faults.
const (
	FaultHost    FaultKind = iota + 1 // not the program's: the host could not serve it
	FaultIllegal                      // a packet that is none, or breaks a packet rule
	FaultMemory                       // access outside memory, or store to read-only memory
	FaultAlign                        // scalar access to an address that is not a multiple of its size
	FaultJump                         // jump outside the program or into the middle of a packet
	FaultCall                         // system call that is not supported
	FaultLimit                        // the program runs longer than it may
)

// Error is a fault of the program: which packet broke which rule.
type Error struct {
	Kind   FaultKind
	Packet uint32 // address of the packet
	Thread int
	Job    string
	Rule   string

	nowhere bool // Packet is none: Rule is the reason, and LeadBy the origin
}

// Nowhere is the error of an address at which no packet can begin.
func Nowhere(pc uint32, why string, args ...any) *Error {
	return &Error{Kind: FaultJump, Packet: pc, Rule: fmt.Sprintf(why, args...), nowhere: true}
}

// LeadBy names the origin of an address where no packet can begin: the entry of the program, or the packet at last,
// which ends at end.
func (e *Error) LeadBy(entry bool, last, end uint32) {
	to, how := e.Packet, "jump to"
	switch {
	case !e.nowhere:
		return
	case entry:
		how = "entry"
	case end == to:
		how = "code runs on to"
	}
	if !entry {
		e.Packet = last
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
