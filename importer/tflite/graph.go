package tflite

import (
	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/nn"
)

// none is the operand of an omitted input and of a tensor without a value.
const none = lowering.None

// graph is a subgraph of the file during its conversion to an nn.Subgraph.
//
// Its methods fail by panic with an *Error or a refusal; catch converts that to an error at the boundaries: the whole
// subgraph and each of its operators.
type graph struct {
	*lowering.Graph
	im      *importer
	index   int // of the subgraph in the file
	table   flatbuffer.Table
	tensors []flatbuffer.Table
	// value is the operand that holds each tensor of the file, none before an operator sets it. Two tensors may share
	// an operand.
	value   []uint32
	states  []state
	resized bool // the shapes of tensors in the file do not hold
	initial bool // the subgraph of a CALL_ONCE
	// handles are the names of resource variables by tensor.
	handles map[int]string
	// imaginaries are the imaginary parts of complex tensors, whose value is the real part.
	imaginaries map[int]uint32
	where       string
}

// format begins each error.
const format = "tflite"

// catch ends a panic of Failf or Refusef.
func (g *graph) catch(err *error) {
	if e := lowering.Ended(format, g.where, recover()); e != nil {
		*err = e
	}
}

// tensorAt checks an index of a tensor.
func (g *graph) tensorAt(what string, k int, t int64) int {
	if t < 0 || t >= int64(len(g.tensors)) {
		g.Failf("%s %d names tensor %d of %d", what, k, t, len(g.tensors))
	}
	return int(t)
}

// input makes tensor t an input of the subgraph.
func (g *graph) input(t int, o nn.Operand, shape []uint32) {
	if g.value[t] != none {
		g.Failf("tensor %d is an input twice", t)
	}
	g.value[t] = g.Input(o, shape)
}

// readOutputs makes the outputs that the file lists outputs of the subgraph.
func (g *graph) readOutputs() {
	outputs := g.table.Vector("outputs")
	if outputs.N == 0 {
		g.Failf("no outputs")
	}
	for k := range outputs.N {
		t := g.tensorAt("output", k, outputs.Int(k))
		if g.isComplex(t) {
			g.Failf("output %d has complex numbers, which NNAPI lacks", k)
		}
		x := g.load(t)
		if list, ok := g.Wide[x]; ok {
			g.Failf("output %d is the constant %v, which does not fit 32 bits", k, list)
		}
		if scale, ok := g.unsigned16(t); ok {
			x = g.Emit(nn.OpQuantize16, nn.Operand{Type: nn.TensorQuant16Asymm, Scale: scale}, x)
		}
		g.Output(x)
		if o := g.Operand(g.Sub.Outputs[k]); g.im.outputNames[t] != "" {
			o.Name = g.im.outputNames[t]
		} else if o.Name == "" {
			o.Name = g.tensors[t].Text("name")
		}
	}
}
