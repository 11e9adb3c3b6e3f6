package engine

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/sim"
)

// Run implements compile.Executable: inputs are copied to their places, the program runs, and the outputs in their
// places are valid until the compile.Run is released.
func (x *Executable[M]) Run(inputs [][]byte, o compile.RunOptions) (compile.Run, error) {
	e, p := x.program, &x.IO
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
	for i, k := range x.Graph.Outputs {
		r.outputs = append(r.outputs, counted(p.Outputs[i].of(memory), x.Graph.Operands[k].Dimensions, p.Counts[i].of(memory)))
	}
	return r, nil
}

// OnZeros runs the program on inputs of zeros and cold caches.
func (x *Executable[M]) OnZeros(run func(M) error) error {
	m, err := x.program.Acquire(&compile.RunOptions{})
	if err != nil {
		return err
	}
	for _, s := range x.IO.Inputs {
		clear(s.of(func(i int) []byte { return x.program.Memory(m, i) }))
	}
	if err := run(m); err != nil {
		return err
	}
	x.program.Release(m)
	return nil
}

// Regions are the cycles of each region of a report.
func Regions(r *sim.Report) map[int]int64 {
	cycles := map[int]int64{}
	for i := range r.Regions {
		cycles[r.Regions[i].ID] = r.Regions[i].Cycles
	}
	return cycles
}

// counted is an output with its number of valid entries along dimension 0.
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

// ran is a finished run. It implements compile.Run.
type ran struct {
	outputs []output
	stats   hal.Stats
	release func()
}

// Output implements compile.Run.
func (r *ran) Output(i int) ([]byte, []uint32) { return r.outputs[i].data, r.outputs[i].dims }

// Stats implements compile.Run.
func (r *ran) Stats() hal.Stats { return r.stats }

// Release implements compile.Run.
func (r *ran) Release() { r.release() }
