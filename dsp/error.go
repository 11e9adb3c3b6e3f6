package dsp

import "github.com/nnsoc/nnsoc/dsp/internal/state"

// FaultKind says what kind of rule a program broke.
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
