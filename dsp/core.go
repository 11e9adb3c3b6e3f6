package dsp

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Core is a DSP. It is immutable: every run has its own state and cold
// memories, so runs may be made from several goroutines.
type Core struct {
	spec Spec
}

// New checks the machine description.
func New(spec Spec) (*Core, error) { return &Core{spec: spec}, nil }

// Spec is the machine description.
func (c *Core) Spec() Spec { return c.spec }

// Run executes the jobs one after another on cold caches. Instructions are
// fetched from p, which also answers data loads in its range; every other
// address is answered by space, VTCM included (map a segment at
// Spec.VTCMBase). The error names the packet and the rule it broke.
func (c *Core) Run(p *Program, space *mem.Space, jobs []Job, o Options) (*sim.Report, error) {
	return nil, nil
}

// RunThread runs one thread from st.PC with the state in st until the program
// counter equals halt (or it returns or traps) and leaves the final state in
// st.
func (c *Core) RunThread(p *Program, space *mem.Space, st *State, halt uint32, o Options) (*sim.Report, error) {
	return nil, nil
}
