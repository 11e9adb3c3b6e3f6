package gpu

import (
	"errors"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Core is one GPU. It keeps decoded kernels between runs; a Core must not be
// used by two goroutines at once.
type Core struct {
	spec Spec
	dram mem.Level
}

// New builds a core in front of dram, which serves what misses in L2. dram may
// be nil when every run is functional.
func New(spec Spec, dram mem.Level) (*Core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return &Core{spec: spec, dram: dram}, nil
}

// Spec is the machine.
func (c *Core) Spec() Spec { return c.spec }

// Run executes dispatches one after the other on the bytes of space and says
// what it cost. Errors of the program are *Fault.
func (c *Core) Run(space *mem.Space, dispatches []Dispatch, opt Options) (*sim.Report, error) {
	return nil, errors.New("gpu: run: no executor")
}
