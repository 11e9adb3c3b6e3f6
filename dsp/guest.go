package dsp

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Guest is a program with its own hardware thread and memory. An operating system above the core makes it, as dsp/linux
// does.
type Guest struct {
	Registers *Registers
	Space     *mem.Space // all of its memory, its code included
	// Trap serves trap0 with the general registers; exit ends the guest. An error that is an
	// *Error keeps its kind and rule, any other is one of the host.
	Trap func(r *[32]uint32) (exit bool, err error)
	// WritableCode means that the guest may write to its code. When it has done so to code that has run, RunGuests
	// fails.
	WritableCode bool
}

// RunGuests runs guests of one program to their exits. They share the code p and see each
// other's memory nowhere but as lines of the caches.
func (c *Core) RunGuests(p *Program, gs []*Guest, o Options) (*sim.Report, error) {
	if len(gs) == 0 || len(gs) > c.spec.Threads {
		return nil, fmt.Errorf("dsp: %d guests, the core has %d threads", len(gs), c.spec.Threads)
	}
	r, err := c.newRun(p, nil, o, 0)
	if err != nil {
		return nil, err
	}
	r.job = &Job{Threads: len(gs), Entry: gs[0].Registers.PC}
	r.space = gs[0].Space // for the DMA engines, which use physical addresses
	for i, g := range gs {
		t := r.thread(i)
		t.Load(g.Registers)
		t.Memory.Base, t.Memory.Code, t.Memory.Space = 0, nil, g.Space
		t.guest, t.vector, t.origin = g, i < c.spec.Contexts, uint64(i)<<32
	}
	rep, err := r.once()
	for i, g := range gs {
		if err == nil && g.WritableCode {
			if pc, changed := r.dec.Changed(g.Space); changed {
				err = &Error{Kind: FaultIllegal, Packet: pc, Thread: i, Rule: "the program wrote over code that has run: self-modifying code is not supported"}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return rep, nil
}

// trap serves the trap0 with which t has ended its block b.
func (r *run) trap(t *thread, b *block) error {
	exit, err := t.guest.Trap((*[32]uint32)(t.GR[:state.NumR]))
	if err != nil {
		e := Error{Kind: FaultHost, Rule: err.Error()}
		if own := (*Error)(nil); errors.As(err, &own) {
			e = *own
		}
		e.Packet, e.Thread, e.Job = b.Packets[len(b.Packets)-1].Addr, t.id, r.job.Name
		return &e
	}
	if !exit {
		t.Halt = 0
	}
	return nil
}
