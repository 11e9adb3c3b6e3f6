package base

import (
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
)

// Engine is what a device adds to run the program of a graph: what an execution works on, M, and how
// its core runs there. Its methods may be called from several goroutines, each with an M of its own.
type Engine[M any] interface {
	// Acquire returns what an execution works on, with nothing of another in it.
	Acquire(o *RunOptions) (M, error)
	// Input is where the program reads input i, nil where it does not.
	Input(m M, i int) []byte
	// Execute runs the program. After an error m is not used again.
	Execute(m M, o *RunOptions) (hal.Stats, error)
	// Fault is the operation that has met a value that it does not allow, and why.
	Fault(m M) (operation int, reason string, failed bool)
	// Output is where output i is; entries is the word with the number of its entries along
	// dimension 0, nil where all of them count.
	Output(m M, i int) (data, entries []byte)
	// Release takes m back when nobody reads its outputs any more.
	Release(m M)
}

// RunOn is the Run of an Executable: inputs go where the program reads them, it runs, and what it leaves is
// the outputs, valid until the Run is released.
func RunOn[M any](e Engine[M], g *graph.Graph, inputs [][]byte, o RunOptions) (Run, error) {
	m, err := e.Acquire(&o)
	if err != nil {
		return nil, err
	}
	for i := range g.Inputs {
		to := e.Input(m, i)
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
	if op, reason, failed := e.Fault(m); failed {
		e.Release(m)
		return nil, hal.Errorf(hal.GeneralFailure, "operation %d: %s", op, reason)
	}
	r := &ran{stats: stats, release: func() { e.Release(m) }}
	for i, x := range g.Outputs {
		data, entries := e.Output(m, i)
		r.outputs = append(r.outputs, counted(data, g.Operands[x].Dimensions, entries))
	}
	return r, nil
}

// counted is an output of which so many entries along dimension 0 count.
func counted(data []byte, dims []uint32, entries []byte) value {
	if entries == nil || len(dims) == 0 || dims[0] == 0 {
		return value{data, dims}
	}
	entry := len(data) / int(dims[0])
	dims = slices.Clone(dims)
	dims[0] = min(dims[0], binary.LittleEndian.Uint32(entries))
	return value{data[:int(dims[0])*entry], dims}
}

// ran is a finished run. It implements Run.
type ran struct {
	outputs []value
	stats   hal.Stats
	release func()
}

// Output implements Run.
func (r *ran) Output(i int) ([]byte, []uint32) { return r.outputs[i].data, r.outputs[i].dims }

// Stats implements Run.
func (r *ran) Stats() hal.Stats { return r.stats }

// Release implements Run.
func (r *ran) Release() { r.release() }
