package engine

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/sim"
)

// Program is what a device adds to run the program of a graph: what an execution works on, M, and how
// its core runs there. Its methods may be called from several goroutines, each with an M of its own.
type Program[M any] interface {
	// Acquire returns what an execution works on, with nothing of another in it.
	Acquire(o *base.RunOptions) (M, error)
	// Memory is memory i of the Places.
	Memory(m M, i int) []byte
	// Execute runs the program. After an error m is not used again.
	Execute(m M, o *base.RunOptions) (hal.Stats, error)
	// Release takes m back when nobody reads its outputs any more.
	Release(m M)
}

// Run is the Run of a base.Executable: inputs go to their places, the program runs, and what it leaves in the
// places of outputs is valid until the base.Run is released.
func Run[M any](e Program[M], p *Places, g *graph.Graph, inputs [][]byte, o base.RunOptions) (base.Run, error) {
	m, err := e.Acquire(&o)
	if err != nil {
		return nil, err
	}
	memory := func(i int) []byte { return e.Memory(m, i) }
	for i, s := range p.Inputs {
		to := s.of(memory)
		if to != nil && len(inputs[i]) != len(to) {
			e.Release(m)
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(inputs[i]), len(to))
		}
		copy(to, inputs[i])
	}
	stats, err := e.Execute(m, &o)
	if err != nil {
		return nil, err
	}
	if f := p.fault(memory); f != nil {
		e.Release(m)
		return nil, hal.Errorf(hal.GeneralFailure, "operation %d: %s", f.Operation, f.Reason)
	}
	r := &ran{stats: stats, release: func() { e.Release(m) }}
	for i, x := range g.Outputs {
		r.outputs = append(r.outputs, counted(p.Outputs[i].of(memory), g.Operands[x].Dimensions, p.Counts[i].of(memory)))
	}
	return r, nil
}

// Cycles runs a program on inputs of zeros and cold caches, and returns the cycles of each region of its report
// and of all.
func Cycles[M any](e Program[M], p *Places, run func(M) (*sim.Report, error)) (regions map[int]int64, all int64, err error) {
	m, err := e.Acquire(&base.RunOptions{})
	if err != nil {
		return nil, 0, err
	}
	for _, s := range p.Inputs {
		clear(s.of(func(i int) []byte { return e.Memory(m, i) }))
	}
	report, err := run(m)
	if err != nil {
		return nil, 0, err
	}
	e.Release(m)
	regions = map[int]int64{}
	for _, r := range report.Regions {
		regions[r.ID] = r.Cycles
	}
	return regions, report.Cycles, nil
}

// counted is an output of which so many entries along dimension 0 count.
func counted(data []byte, dims []uint32, entries []byte) output {
	if entries == nil || len(dims) == 0 || dims[0] == 0 {
		return output{data, dims}
	}
	entry := len(data) / int(dims[0])
	dims = slices.Clone(dims)
	dims[0] = min(dims[0], binary.LittleEndian.Uint32(entries))
	return output{data[:int(dims[0])*entry], dims}
}

// output is a tensor that a run leaves.
type output struct {
	data []byte
	dims []uint32
}

// ran is a finished run. It implements base.Run.
type ran struct {
	outputs []output
	stats   hal.Stats
	release func()
}

// Output implements base.Run.
func (r *ran) Output(i int) ([]byte, []uint32) { return r.outputs[i].data, r.outputs[i].dims }

// Stats implements base.Run.
func (r *ran) Stats() hal.Stats { return r.stats }

// Release implements base.Run.
func (r *ran) Release() { r.release() }
