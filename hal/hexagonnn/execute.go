package hexagonnn

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal"
)

// executable is a prepared graph.
type executable struct {
	prepared hal.PreparedModel
	origin   []*node // of each operation
	inputs   []tensorSpec
	outputs  []outSpec
}

// TensorDef is a tensor of an execution, hexagon_nn_tensordef. The Data of an output is its
// buffer; the execution sets the shape and ValidLen.
type TensorDef struct {
	Batches, Height, Width, Depth uint32
	Data                          []byte
	ValidLen                      uint32 // bytes of Data that an execution has written
}

// ExecuteNew is hexagon_nn_execute_new: it runs a prepared graph once.
func (g *Graph) ExecuteNew(inputs, outputs []TensorDef) error {
	return g.call("ExecuteNew", func() error {
		x := g.executable
		switch {
		case x == nil:
			return fmt.Errorf("the graph is not prepared")
		case len(inputs) != len(x.inputs) || len(outputs) != len(x.outputs):
			return fmt.Errorf("%d inputs and %d outputs, the graph has %d and %d", len(inputs), len(outputs), len(x.inputs), len(x.outputs))
		}
		var b hal.Buffers
		for i, in := range inputs {
			if d := [4]uint32{in.Batches, in.Height, in.Width, in.Depth}; d != x.inputs[i].dims || len(in.Data) < x.inputs[i].bytes {
				return fmt.Errorf("input %d has the shape %v and %d bytes, want %v and %d", i, d, len(in.Data), x.inputs[i].dims, x.inputs[i].bytes)
			}
			b.Inputs = append(b.Inputs, in.Data[:x.inputs[i].bytes])
		}
		for i, o := range x.outputs {
			if len(outputs[i].Data) < o.bytes {
				return fmt.Errorf("output %d has %d bytes, needs %d", i, len(outputs[i].Data), o.bytes)
			}
			if !o.known {
				b.Outputs = append(b.Outputs, outputs[i].Data[:o.bytes])
			}
		}
		r, err := hal.Execute(x.prepared, &b)
		if err != nil {
			return err
		}
		next := 0
		for i, o := range x.outputs {
			d := [4]uint32{1, 1, 1, 1}
			if o.known {
				binary.LittleEndian.PutUint32(outputs[i].Data, math.Float32bits(o.real))
			} else {
				d, next = aligned(r.OutputDimensions[next]), next+1
			}
			t := &outputs[i]
			t.Batches, t.Height, t.Width, t.Depth, t.ValidLen = d[0], d[1], d[2], d[3], uint32(o.bytes)
		}
		g.account(&r.Stats)
		return nil
	})
}

// Execute is hexagon_nn_execute: ExecuteNew for a graph of one input and one output.
func (g *Graph) Execute(in TensorDef, out *TensorDef) error {
	list := []TensorDef{*out}
	err := g.ExecuteNew([]TensorDef{in}, list)
	*out = list[0]
	return err
}

// account adds the cycles of an execution to the nodes.
func (g *Graph) account(s *hal.Stats) {
	for _, n := range g.order {
		if n.op != opConst {
			n.executions++
		}
	}
	for _, n := range g.executable.origin {
		n.fused = len(s.Operations) > 0
	}
	for _, o := range s.Operations {
		if o.Index >= 0 && o.Index < len(g.executable.origin) {
			n := g.executable.origin[o.Index]
			n.cycles, n.fused = n.cycles+o.Cycles, false
		}
	}
	g.last = s.Cycles
	for _, o := range s.Operations {
		if o.Index == hal.LaunchIndex { // the host's time around the DSP
			g.last -= o.Cycles
		}
	}
	g.logf(1, "executed in %d cycles", g.last)
}

// PerfInfo are the costs of a node, hexagon_nn_perfinfo.
type PerfInfo struct {
	Node       NodeID
	Op         Op
	Executions uint32
	Cycles     int64 // of all executions
	// Fused: the last execution had no steps for it. The device computes it within another node,
	// which has its cycles, as an activation within the convolution before it, or it moves nothing.
	Fused bool
}

// PerfInfo is hexagon_nn_get_perfinfo: a row per node that is no constant, in the order
// of execution. The cycles of a chain that became one operation are those of its first
// node.
func (g *Graph) PerfInfo() []PerfInfo {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []PerfInfo
	for _, n := range g.order {
		if n.op != opConst {
			list = append(list, PerfInfo{n.id, n.op, n.executions, n.cycles, n.fused})
		}
	}
	return list
}

// ResetPerfInfo is hexagon_nn_reset_perfinfo.
func (g *Graph) ResetPerfInfo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.order {
		n.executions, n.cycles, n.fused = 0, 0, false
	}
}

// LastExecutionCycles is hexagon_nn_last_execution_cycles: cycles of the device's clock while
// it computes, without the way to it and back.
func (g *Graph) LastExecutionCycles() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}
