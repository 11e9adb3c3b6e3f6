package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/exec"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// State is the mutable state of a run: registers, SHRAM, the account, and host memory that is reused. One run uses it
// at a time, and the next one sees nothing of it but the contents of the memories.
type State struct {
	core     *Core
	spec     *Spec
	memories []mem.Level
	program  *Program

	machine state.Machine
	engine  exec.Engine
	hz      hazards
	op      state.Op
	timer   timer
}

// NewState makes a state in front of memories: entries replace the Spec's
// memories by index, nil and missing ones keep the Spec's bandwidth and latency.
func (c *Core) NewState(memories []mem.Level) (*State, error) {
	if len(memories) > len(c.spec.Memories) {
		return nil, fmt.Errorf("npu: %d levels for %d memories", len(memories), len(c.spec.Memories))
	}
	st := &State{core: c, spec: &c.spec, memories: memories}
	st.machine = state.Machine{Product: c.spec.Product, SHRAM: make([]byte, c.spec.ShramBytes)}
	st.engine = exec.Engine{Machine: &st.machine, UBlock: c.spec.UBlockStream}
	return st, nil
}

// begin starts a run.
func (st *State) begin(p *Program, r *Regions, o Options) {
	st.program = p
	m := &st.machine
	m.Registers = state.Registers{Wide: m.Product == ethosu.U65}
	clear(m.SHRAM)
	m.TablesOverwritten = false
	st.engine.ConvSingle, st.engine.TimingOnly, st.engine.Cache = o.ConvSingle, o.TimingOnly, &p.weights
	st.hz = newHazards(st.spec, r)
	st.timer.begin(st.spec, &o, st.memories, r)
}

// end releases the references to the caller's data.
func (st *State) end() {
	st.program, st.engine.Cache, st.op, st.hz = nil, nil, state.Op{}, hazards{}
	st.timer.span, st.timer.report, st.timer.profile = nil, nil, nil
}
