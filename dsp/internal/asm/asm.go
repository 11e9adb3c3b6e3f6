// Package asm runs micro-ops in the host's machine code where it has handlers for them, and
// in Go where it has none.
package asm

import (
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Handlers holds the entries of the assembly handlers by operation; 0 means
// that an operation runs in Go.
type Handlers struct {
	ByOp  [hexagon.NumOps]uintptr
	Exit  uintptr // back to Go
	Guard uintptr // test of a predicate, then the operation's own handler
	Again uintptr // end of a block that may run several times

	// Superinstructions by operation: they execute two micro-ops that are next to each other.
	twice [hexagon.NumOps]uintptr
}

// Of is the entry for an operation: its own, or the way back to Go.
func (a *Handlers) Of(op hexagon.Op) uintptr {
	if a == nil {
		return 0
	}
	if h := a.ByOp[op]; h != 0 {
		return h
	}
	return a.Exit
}

// Join lets one handler execute two micro-ops where there is one: both read the same vector,
// which the first does not write, and write different ones.
func (a *Handlers) Join(ops []state.Uop) {
	for i := 1; a != nil && i < len(ops); i++ {
		u, next := &ops[i-1], &ops[i]
		own, joint := a.ByOp[u.Op], a.twice[u.Op]
		if joint != 0 && next.Op == u.Op && u.Asm == own && next.Asm == own &&
			u.Arg[1] == next.Arg[1] && u.Arg[0] != u.Arg[1] && u.Arg[0] != next.Arg[0] {
			u.Asm = joint
			i++
		}
	}
}

// begin prepares a thread to run a block a number of times.
func begin(t *state.Thread, rounds uint32) {
	t.Rounds, t.Slots = rounds, 0
	if rounds > 1 {
		t.Slots = 4 * state.MaxMemOps
	}
}

// expect brings up to date which segments the micro-ops of a block expect.
func expect(t *state.Thread, c *state.Code) {
	if t.Sought {
		t.Sought = false
		c.Expect()
	}
}

// runGo runs the micro-ops one by one through their semantic functions and returns the number of remaining rounds. The
// last entry of ops only ends assembly.
func runGo(t *state.Thread, c *state.Code) (left uint32) {
	ops := c.Ops[:len(c.Ops)-1]
	for {
		for i := range ops {
			ops[i].Fn(t, &ops[i])
		}
		if t.Slots != 0 {
			copy(t.Addr[t.Slots/4:], t.Addr[:c.Slots])
			t.Slots += 4 * uint64(c.Slots)
		}
		if t.Rounds--; t.Rounds == 0 || t.Fault.Violation != state.NoViolation {
			expect(t, c)
			return t.Rounds
		}
	}
}
