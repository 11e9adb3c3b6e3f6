package dsp

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Program is a linked code image: packets of little-endian words at an address.
// It is not to be copied.
type Program struct {
	Base uint32 // address of Code[0], a multiple of 4
	Code []byte // length a multiple of 4

	Gaps []Gap // by address: parts of Code that are none

	decoded atomic.Pointer[decoded] // left by Core.Run for the next, nil while one uses it
}

// Gap is a range of addresses between executable segments.
type Gap = decode.Gap

// check reports an invalid program.
func (p *Program) check() error {
	if p == nil || p.Base&3 != 0 || len(p.Code)&3 != 0 {
		return errors.New("dsp: program is not aligned to words")
	}
	if uint64(p.Base)+uint64(len(p.Code)) > ReturnAddress {
		return fmt.Errorf("dsp: program of %d bytes at %#x leaves the address space", len(p.Code), p.Base)
	}
	return nil
}

// Job is one kernel: Threads hardware threads start at Entry at the same time
// and each runs until it returns to ReturnAddress (jumpr r31) or executes
// trap0. The first job of a run wakes the threads; the next ones begin behind a
// barrier, when the one before has ended.
type Job struct {
	Region  int    // id of the RegionReport that is charged, the operation index
	Name    string // for spans and errors
	Entry   uint32
	Threads int        // 1..Spec.Threads
	Args    [][]uint32 // Args[i] are r0, r1, .. of thread i; at most 28 each
}

// ReturnAddress is the value of r31 at the start of a job. A jump to it ends the thread.
const ReturnAddress = 0xfffffff0

// Options steer one run.
type Options struct {
	// Functional skips the timing model: same bytes, a report without cycles.
	Functional bool
	// MaxPackets ends a run that does not end by itself; 0 is 1<<34.
	MaxPackets int64
	// Until ends a timed run that has not ended then with a *sim.Late; 0: nothing does.
	Until sim.Time
	// Memory serves the misses of L2 in a run that begins with cold caches. The run does not reset it. State replaces
	// it where caches outlive a run; a timed run needs one of the two.
	Memory mem.Level
	State  *State
	// Profile, when set, receives the cost of every packet of a timed run.
	Profile *Profile
	// Record, when set, receives packets of a timed run one by one.
	Record *Recorder
	// Preemption, when set, reports between jobs whether another program may run.
	Preemption sim.Preemption
	// Span, when set, is called with the spans of every hardware thread.
	Span func(sim.Span)
}

// Registers are the architectural state of one hardware thread.
type Registers = state.Registers

// FaultKind is the kind of rule that a program broke.
type FaultKind = state.FaultKind

// Kinds of faults.
const (
	FaultHost    = state.FaultHost    // not the program's: the host could not serve it
	FaultIllegal = state.FaultIllegal // a packet that is none, or breaks a packet rule
	FaultMemory  = state.FaultMemory  // access outside memory, or store to read-only memory
	FaultAlign   = state.FaultAlign   // scalar access to an address that is not a multiple of its size
	FaultJump    = state.FaultJump    // jump outside the program or into the middle of a packet
	FaultCall    = state.FaultCall    // system call that is not supported
	FaultLimit   = state.FaultLimit   // the program runs longer than it may
)

// Error is a fault of the program: which packet broke which rule.
type Error = state.Error
