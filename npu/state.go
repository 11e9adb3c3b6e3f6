package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// State is what a run works on: registers, SHRAM, the account, and host memory that
// is reused. One run uses it at a time, and nothing of a run is seen by the next one
// but what the memories keep.
type State struct {
	core     *Core
	spec     *Spec
	memories []mem.Level
	program  *Program

	shram      []byte
	tablesLost bool // on machines where accumulators lie over the tables
	convSingle bool
	only       arithForm // tests: not the fastest form
	regs       regFile
	hz         hazards
	op         op
	q          quantizer
	scratch    scratch
	timer      timer
}

// arithForm is a form of the convolution loops.
type arithForm uint8

const (
	formFastest arithForm = iota
	formWords             // 16-bit products, as on machines without byte products
	formExact             // 64-bit sums
)

// NewState makes a state in front of memories: entries take the place of the Spec's
// memories by index, nil and missing ones keep the Spec's bandwidth and latency.
func (c *Core) NewState(memories []mem.Level) (*State, error) {
	if len(memories) > len(c.spec.Memories) {
		return nil, fmt.Errorf("npu: %d levels for %d memories", len(memories), len(c.spec.Memories))
	}
	return &State{core: c, spec: &c.spec, memories: memories, shram: make([]byte, c.spec.ShramBytes)}, nil
}

// begin starts a run.
func (st *State) begin(p *Program, r *Regions, o Options) {
	st.program = p
	st.regs = regFile{wide: st.spec.Product == ethosu.U65}
	clear(st.shram)
	st.tablesLost, st.convSingle = false, o.ConvSingle
	st.hz = newHazards(st.spec, r)
	st.timer.begin(st.spec, &o, st.memories, r)
}

// end lets go of what belongs to the caller.
func (st *State) end() {
	st.program, st.op, st.hz = nil, op{}, hazards{}
	st.timer.span, st.timer.report = nil, nil
}
