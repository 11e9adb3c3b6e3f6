package lower

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// SignedBytes reports whether the client's bytes are signed.
func SignedBytes(t nn.OperandType) bool {
	return t == nn.TensorQuant8AsymmSigned || t == nn.TensorQuant8SymmPerChannel || t == nn.TensorQuant8Symm
}

// Storable reports whether tensors of a type have a flat form.
func Storable(t nn.OperandType) bool {
	switch t {
	case nn.TensorInt32, nn.TensorBool8, nn.TensorQuant8SymmPerChannel, nn.TensorQuant8Symm, nn.TensorQuant16Symm, nn.TensorQuant16Asymm:
		return true
	}
	return isBytes(t)
}

// isBytes reports whether tensors of a type are values of one unsigned byte, with a pitch
// between positions.
func isBytes(t nn.OperandType) bool { return t.IsQuant8() || t.IsCode() }

// ZeroOf is the zero point of an operand in the unsigned domain.
func ZeroOf(o *nn.Operand) int32 {
	if o.Type == nn.TensorQuant8AsymmSigned {
		return o.ZeroPoint + 128
	}
	return o.ZeroPoint
}

// UnsignedBias is what is added to values of a type to make them unsigned.
func UnsignedBias(t nn.OperandType) int32 {
	if t == nn.TensorQuant8AsymmSigned {
		return 128
	}
	return 0
}

// View reads operations and operands of the graph.
func (l *Lowering) View() opspec.View { return l.view }

// Operand is an operand of the graph.
func (l *Lowering) Operand(i uint32) *nn.Operand { return &l.Graph.Operands[i] }

// NewTensor makes an internal tensor; pitch 0 is the usual one.
func (l *Lowering) NewTensor(name string, s layout.Shape, pitch int, zero int32) *layout.Tensor {
	if pitch == 0 {
		pitch = s.Pitch()
	}
	t := &layout.Tensor{Name: name, Shape: s, Pitch: pitch, Zero: byte(zero)}
	l.list.Tensors = append(l.list.Tensors, t)
	return t
}

// denseTensor is an operand as the client sees it.
func (l *Lowering) denseTensor(i uint32) *layout.Tensor {
	o := &l.Graph.Operands[i]
	s := layout.ShapeOf(o.Dimensions)
	s.C *= o.Type.ElementBytes()
	t := l.NewTensor(fmt.Sprintf("operand %d", i), s, 1, 0)
	t.Dense = true
	t.Signed = SignedBytes(o.Type)
	return t
}

// Result makes the tensor of an operation's output.
func (l *Lowering) Result(i uint32, pitch int) *layout.Tensor {
	o := &l.Graph.Operands[i]
	t := l.NewTensor(fmt.Sprintf("operand %d", i), layout.ShapeOf(o.Dimensions), pitch, ZeroOf(o))
	l.Values[i] = t
	return t
}

// Value is the internal tensor of an operand; inputs and constants are imported
// on first use, by the program itself.
func (l *Lowering) Value(i uint32) *layout.Tensor {
	if t := l.Values[i]; t != nil {
		return l.asAccepted(i, t)
	}
	o := &l.Graph.Operands[i]
	if f := l.Flats[i]; f != nil && isBytes(o.Type) {
		return l.asAccepted(i, l.fromFlat(i, f))
	}
	if c := l.Clients[i]; c != nil && isBytes(o.Type) {
		l.fromClient(i, c)
		return l.asAccepted(i, l.Values[i])
	}
	computed.Refuse(!o.IsConst() || !isBytes(o.Type), "operand %d (%s, %s)", i, o.Type, o.Lifetime)
	d := l.denseTensor(i)
	d.Unplaced = true
	d.Addr = l.Constant(o.Data)
	l.importValue(i, d)
	return l.Values[i]
}

// fromClient makes the internal form of an input.
func (l *Lowering) fromClient(i uint32, c *layout.Tensor) {
	l.importValue(i, c)
	if !l.Values[i].External {
		return
	}
	l.Clients[i] = nil // it is the client's value itself
	for k := range l.list.Inputs {
		if l.list.Inputs[k] == c {
			l.list.Inputs[k] = l.Values[i]
		}
	}
}

// asAccepted is a value in a form that the operation being lowered accepts: a copy at the usual
// pitch if the value has a small pitch and the operation does not accept it.
func (l *Lowering) asAccepted(i uint32, t *layout.Tensor) *layout.Tensor {
	if l.accepts.Small || !t.HasSmallPitch() {
		return t
	}
	if l.usual[i] == nil {
		l.usual[i] = l.WithPitch(t, t.Shape.Pitch())
	}
	return l.usual[i]
}

// OpenOutput makes the tensor of an output with the given shape, of which the word in
// count gives the number of valid entries along dimension 0 when the program has run.
func (l *Lowering) OpenOutput(x uint32, dims []uint32, count *layout.Tensor) *layout.Tensor {
	l.Graph.Operands[x].Dimensions = dims
	if l.list.Extents == nil {
		l.list.Extents = map[uint32]*layout.Tensor{}
	}
	count.External = true
	l.list.Extents[x] = count
	return l.FlatResult(x)
}

// Add appends a step of the current operation.
func (l *Lowering) Add(name string, reads, writes []*layout.Tensor, w step.Work) {
	l.list.Steps = append(l.list.Steps, step.New(l.op, name, reads, writes, w))
}

// AddRows appends a step of the current operation that can be done row by row.
func (l *Lowering) AddRows(name string, reads, writes []*layout.Tensor, rows step.RowDependence, w step.Work) {
	l.list.Steps = append(l.list.Steps, step.NewRows(l.op, name, reads, writes, rows, w))
}

// AddFault makes an execution fail for a reason where the current operation's kernel has set a word.
func (l *Lowering) AddFault(word *layout.Tensor, reason string) {
	l.list.Faults = append(l.list.Faults, step.Fault{Op: l.op, Word: word, Reason: reason})
}

// carried reports whether tensors of a type have a flat form here.
func carried(t nn.OperandType) bool { return Storable(t) || t == nn.TensorFloat32 }

// AffineOf is the quantization of a flat tensor.
func AffineOf(o *nn.Operand) hvxmath.Quant {
	switch o.Type {
	case nn.TensorQuant16Asymm:
		return hvxmath.Quant{Scale: o.Scale, Zero: o.ZeroPoint, Lo: 0, Hi: math.MaxUint16}
	case nn.TensorQuant16Symm:
		return hvxmath.Quant{Scale: o.Scale, Zero: 0, Lo: math.MinInt16, Hi: math.MaxInt16}
	}
	return hvxmath.Quant{Scale: o.Scale, Zero: ZeroOf(o), Lo: 0, Hi: math.MaxUint8}
}

// copyTensor emits the copy of a value into a tensor of the same shape.
func (l *Lowering) copyTensor(dst, src *layout.Tensor) {
	rows := step.SameRows(dst.Shape.N * dst.Shape.H)
	rows.Plain = true
	l.AddRows("copy", []*layout.Tensor{src}, []*layout.Tensor{dst}, rows, launch.Copy{Dst: dst, Src: src})
}

// Reshape emits the copy between shapes of the same number of elements.
func (l *Lowering) Reshape(dst, src *layout.Tensor) {
	l.Add("reshape", []*layout.Tensor{src}, []*layout.Tensor{dst}, launch.Reshape{Src: src, Dst: dst})
}

// WithPitch copies a value into a tensor of another pitch.
func (l *Lowering) WithPitch(t *layout.Tensor, pitch int) *layout.Tensor {
	dst := l.NewTensor(t.Name+" repitched", t.Shape, pitch, int32(t.Zero))
	l.copyTensor(dst, t)
	return dst
}

// Dequantized finds the quantized operand whose DEQUANTIZE feeds a QUANTIZE.
func Dequantized(g *graph.Graph, quantize *nn.Operation) (uint32, bool) {
	real := g.Input(quantize)
	for i := range g.Operations {
		if d := &g.Operations[i]; d.Type == nn.OpDequantize && len(d.Outputs) == 1 && d.Outputs[0] == real {
			from := g.Input(d)
			return from, from != opspec.None && g.Operands[from].Type.IsQuant8()
		}
	}
	return 0, false
}
