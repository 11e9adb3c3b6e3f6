package hexagonnn

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// NodeID names a node of a graph; 0 is none.
type NodeID uint32

// Input is an output of another node, hexagon_nn_input.
type Input struct {
	Source NodeID
	Output uint32
}

// Output describes what a node writes, hexagon_nn_output: at most this many elements per
// dimension, and bytes per element.
type Output struct {
	MaxSizes    [4]uint32 // batches, height, width, depth
	ElementSize uint32
}

// bytes is the declared size of an output.
func (o *Output) bytes() uint64 {
	n := uint64(o.ElementSize)
	for _, d := range o.MaxSizes {
		if n *= uint64(d); n > maxBytes {
			return maxBytes + 1
		}
	}
	return n
}

// Padding is hexagon_nn_padding_type.
type Padding int32

// Paddings.
const (
	PadNA Padding = iota
	PadSame
	PadValid
	PadMirrorReflect
	PadMirrorSymmetric
	PadSameCaffe
)

var paddingNames = [...]string{"NA", "SAME", "VALID", "MIRROR_REFLECT", "MIRROR_SYMMETRIC", "SAME_CAFFE"}

// String returns the name of the padding.
func (p Padding) String() string {
	if p >= 0 && int(p) < len(paddingNames) {
		return paddingNames[p]
	}
	return fmt.Sprintf("Padding(%d)", int32(p))
}

// Bounds of a graph.
const (
	maxBytes = 1 << 30 // of one tensor
	maxNodes = 1 << 16
	maxArity = 1 << 10 // inputs or outputs of a node
	maxLog   = 1 << 14 // bytes of the log: the newest lines stay
)

// node is an operation or, when op is Const, a constant.
type node struct {
	id      NodeID
	op      Op
	padding Padding
	inputs  []Input
	outputs []Output
	dims    [4]uint32 // of a constant
	data    []byte
	// After Prepare.
	values     []value
	operations int // of the model
	cycles     int64
	executions uint32
	fused      bool // the last execution had no steps of its own for it
}

// Graph is a graph under construction, or prepared. Its methods may be called from
// several goroutines; one of them runs at a time, as in the library.
type Graph struct {
	library    *Library
	mu         sync.Mutex
	nodes      map[NodeID]*node
	order      []*node // as appended
	debug      int
	log        []string
	logged     int // bytes of log
	executable *executable
	last       int64 // cycles of the last execution
	tornDown   bool
}

// SetDebugLevel is hexagon_nn_set_debug_level: from level 1 on every appended
// node and every execution is logged; errors always are.
func (g *Graph) SetDebugLevel(level int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.debug = level
}

// logf adds a line to the log when the debug level is at least level.
func (g *Graph) logf(level int, format string, args ...any) {
	if g.debug < level {
		return
	}
	line := fmt.Sprintf(format, args...)
	if len(line) > maxLog {
		line = line[:maxLog]
	}
	g.log, g.logged = append(g.log, line), g.logged+len(line)+1
	for g.logged > maxLog && len(g.log) > 1 {
		g.logged -= len(g.log[0]) + 1
		g.log = g.log[1:]
	}
}

// call runs one call of the interface: alone, not after Teardown, with errors logged and
// named, panics contained.
func (g *Graph) call(name string, f func() error) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	defer func() {
		if err != nil {
			g.logf(0, "%v", err)
		}
	}()
	defer hal.Contain(&err, "hexagonnn", name)
	if g.tornDown {
		return fmt.Errorf("hexagonnn: %s after Teardown", name)
	}
	if err := f(); err != nil {
		return fmt.Errorf("hexagonnn: %s: %w", name, err)
	}
	return nil
}

// append adds a node whose inputs and outputs are within bounds.
func (g *Graph) append(n *node) error {
	switch {
	case g.executable != nil:
		return fmt.Errorf("node %#x: the graph is prepared", n.id)
	case n.id == 0:
		return fmt.Errorf("node 0: numbers start at 1")
	case g.nodes[n.id] != nil:
		return fmt.Errorf("node %#x is there already (%s)", n.id, g.nodes[n.id].op)
	case len(g.order) >= maxNodes:
		return fmt.Errorf("node %#x: more than %d nodes", n.id, maxNodes)
	case len(n.inputs) > maxArity || len(n.outputs) > maxArity:
		return fmt.Errorf("node %#x: %d inputs and %d outputs, at most %d", n.id, len(n.inputs), len(n.outputs), maxArity)
	}
	g.nodes[n.id] = n
	g.order = append(g.order, n)
	g.logf(1, "appended node %#x, %s", n.id, n.op)
	return nil
}

// AppendNode is hexagon_nn_append_node. Nodes are executed in the order in which they
// are appended; what a node reads may be appended later only when it is a constant.
func (g *Graph) AppendNode(id NodeID, op Op, p Padding, inputs []Input, outputs []Output) error {
	return g.call("AppendNode", func() error {
		if int(op) >= len(opNames) || op.String() == "Const" {
			return fmt.Errorf("node %#x: operation %d (%s) is no operation to append", id, op, op)
		}
		return g.append(&node{id: id, op: op, padding: p, inputs: slices.Clone(inputs), outputs: slices.Clone(outputs)})
	})
}

// opConst is the operation of constant nodes.
const opConst Op = 3

// AppendConstNode is hexagon_nn_append_const_node. A constant that is only a shape may
// have any data.
func (g *Graph) AppendConstNode(id NodeID, batches, height, width, depth uint32, data []byte) error {
	return g.call("AppendConstNode", func() error {
		if len(data) > maxBytes {
			return fmt.Errorf("node %#x: %d bytes, at most %d", id, len(data), maxBytes)
		}
		return g.append(&node{id: id, op: opConst, dims: [4]uint32{batches, height, width, depth}, data: slices.Clone(data)})
	})
}

// AppendEmptyConstNode is hexagon_nn_append_empty_const_node: a constant of size bytes,
// zero until PopulateConstNode writes them.
func (g *Graph) AppendEmptyConstNode(id NodeID, batches, height, width, depth, size uint32) error {
	return g.call("AppendEmptyConstNode", func() error {
		if size > maxBytes {
			return fmt.Errorf("node %#x: %d bytes, at most %d", id, size, maxBytes)
		}
		return g.append(&node{id: id, op: opConst, dims: [4]uint32{batches, height, width, depth}, data: make([]byte, size)})
	})
}

// PopulateConstNode is hexagon_nn_populate_const_node: it writes a part of a constant.
func (g *Graph) PopulateConstNode(id NodeID, data []byte, offset uint32) error {
	return g.call("PopulateConstNode", func() error {
		n := g.nodes[id]
		switch {
		case g.executable != nil:
			return fmt.Errorf("node %#x: the graph is prepared", id)
		case n == nil || n.op != opConst:
			return fmt.Errorf("node %#x is no constant", id)
		case uint64(offset)+uint64(len(data)) > uint64(len(n.data)):
			return fmt.Errorf("node %#x: %d bytes at offset %d of %d", id, len(data), offset, len(n.data))
		}
		copy(n.data[offset:], data)
		return nil
	})
}

// Teardown is hexagon_nn_teardown: the graph frees its memory and accepts no more calls.
func (g *Graph) Teardown() error {
	return g.call("Teardown", func() error {
		g.nodes, g.order, g.executable, g.tornDown = nil, nil, nil, true
		return nil
	})
}

// Log is hexagon_nn_getlog: what happened since the last call, newest last, at most
// 16 KiB.
func (g *Graph) Log() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := strings.Join(g.log, "\n")
	g.log, g.logged = nil, 0
	return s
}

// Print is hexagon_nn_snpprint: a line per node, and per node that computes the
// operations of the model that it became.
func (g *Graph) Print() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for _, n := range g.order {
		if n.op == opConst {
			fmt.Fprintf(&b, "%#x Const %dx%dx%dx%d, %d bytes\n", n.id, n.dims[0], n.dims[1], n.dims[2], n.dims[3], len(n.data))
			continue
		}
		fmt.Fprintf(&b, "%#x %s, padding %s, reads", n.id, n.op, n.padding)
		for _, in := range n.inputs {
			fmt.Fprintf(&b, " %#x:%d", in.Source, in.Output)
		}
		if g.executable != nil {
			fmt.Fprintf(&b, ", %d operations", n.operations)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
