// Package gelu is an operation that NNAPI and this project lack, whole: GELU, the activation of
// transformers, as operation 0 of the extension org.example.activations. This file describes it
// and computes it in Go; gpu.go, dsp.go and npu.go have a kernel for each engine. Nothing else in the
// project knows it: devices take it through their Config.
package gelu

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// Extension is the name of the extension.
const Extension = "org.example.activations"

// Op is GELU in this package's tables. A model may give the extension any prefix.
var Op = nn.OperationType(nn.ExtensionCode(20, 0))

// arguments holds what an operation is given.
type arguments struct {
	Input, Output uint32
	Dims          []uint32
}

func read(a *opspec.Args) (g arguments, err error) {
	g.Input, g.Output = a.In("input"), a.Op.Outputs[0]
	g.Dims, err = a.Dims("input")
	return g, err
}

// Row describes GELU: types, arguments, the shape of its result, the steps of an element.
var Row = opspec.Row{
	Op: Op, Since: opspec.Extension, Extension: Extension, Types: "F32@extension Q8@extension",
	Args:  opspec.Arguments[arguments]{Read: read, Shapes: func(g *arguments) [][]uint32 { return [][]uint32{g.Dims} }},
	Work:  opspec.WorkRule{Float: 12, Quant: 1},
	Forms: []opspec.Form{{Since: opspec.Extension, Inputs: "input:T", Outputs: "output:T"}},
}

// gelu is x * sigmoid(1.702 x), the approximation of Hendrycks and Gimpel (arXiv 1606.08415, section 2).
func gelu(x float64) float64 { return x / (1 + math.Exp(-slope*x)) }

const slope = 1.702

// table maps each byte of a quantized tensor.
func table(in, out *nn.Operand) (t [256]byte) {
	for q := range t {
		y := gelu(float64(in.Scale) * float64(int32(q)-in.ZeroPoint))
		t[q] = byte(min(max(math.Round(y/float64(out.Scale))+float64(out.ZeroPoint), 0), 255))
	}
	return t
}

// prepare is the reference.
func prepare(v opspec.View, op *nn.Operation) (refcpu.Kernel, error) {
	g, err := opspec.Read[arguments](v, op)
	if err != nil {
		return nil, err
	}
	in, out := v.Operands[g.Input], v.Operands[g.Output]
	if in.Type == nn.TensorQuant8Asymm {
		t := table(&in, &out)
		return func(r *refcpu.Run) error {
			for i, q := range r.Bytes(g.Input) {
				r.Bytes(g.Output)[i] = t[q]
			}
			return nil
		}, nil
	}
	return func(r *refcpu.Run) error {
		x, y := r.Bytes(g.Input), r.Bytes(g.Output)
		for i := 0; i < len(x); i += 4 {
			v := float64(math.Float32frombits(binary.LittleEndian.Uint32(x[i:])))
			binary.LittleEndian.PutUint32(y[i:], math.Float32bits(float32(gelu(v))))
		}
		return nil
	}, nil
}

// Reference is the standard operations and GELU, for the CPU and for judges.
func Reference() (*refcpu.Table, error) { return refcpu.Standard().With(Row, prepare) }

// Draw says how random models draw GELU.
var Draw = randgraph.Operation{Op: Op, Class: randgraph.Relaxed, Draw: func(d *randgraph.Draw, op nn.OperationType, key nn.OperandType) bool {
	x := d.Tensor(key, 1, 4)
	return d.Finish(op, []uint32{x}, d.Output(op, key, x))
}}
