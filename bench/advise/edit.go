package advise

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// edit is a network that is being changed; parts shared with the original are not written.
type edit struct{ m nn.Model }

func cloned(m *nn.Model) *edit {
	e := &edit{*m}
	e.m.Main.Operands = slices.Clone(m.Main.Operands)
	e.m.Main.Operations = slices.Clone(m.Main.Operations)
	e.m.Main.Consumers = nil
	return e
}

func (e *edit) model() *nn.Model { return &e.m }

// passThrough replaces an operation by a RESHAPE of an input that has the type and elements of
// its one output, and reports whether there is one.
func (e *edit) passThrough(i int) bool {
	g := &e.m.Main
	op := g.Operations[i]
	if len(op.Outputs) != 1 {
		return false
	}
	out := &g.Operands[op.Outputs[0]]
	for _, x := range op.Inputs {
		in := &g.Operands[x]
		same := in.Type == out.Type && in.Scale == out.Scale && in.ZeroPoint == out.ZeroPoint && in.Known() && out.Known() && in.Elements() == out.Elements()
		if !same || in.IsConst() || in.Type.IsScalar() {
			continue
		}
		shape := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(len(out.Dimensions))}, Lifetime: nn.ConstantCopy}
		for _, d := range out.Dimensions {
			shape.Data = binary.LittleEndian.AppendUint32(shape.Data, d)
		}
		g.Operands = append(g.Operands, shape)
		g.Operations[i] = nn.Operation{Type: nn.OpReshape, Inputs: []uint32{x, uint32(len(g.Operands) - 1)}, Outputs: op.Outputs}
		return true
	}
	return false
}

// keepsChannels are operations whose output has the channels of their first input, each from
// its own, without weights.
var keepsChannels = []nn.OperationType{
	nn.OpAveragePool2D, nn.OpMaxPool2D, nn.OpL2Pool2D, nn.OpRelu, nn.OpRelu1, nn.OpRelu6, nn.OpTanh, nn.OpLogistic, nn.OpHardSwish, nn.OpElu,
	nn.OpQuantize, nn.OpDequantize, nn.OpAbs, nn.OpNeg, nn.OpFloor, nn.OpSqrt, nn.OpRsqrt, nn.OpExp,
}

var errChannels = errors.New("the channels are needed elsewhere")

// narrow reduces the output channels of a convolution to the first depth of them, and returns the operations that
// change: those whose channels follow, up to the convolutions that read them.
func (e *edit) narrow(i, depth int) (touched []int, err error) {
	g := &e.m.Main
	op := &g.Operations[i]
	c, err := opspec.Read[opspec.Conv]((opspec.View{Operands: g.Operands}), op)
	if err != nil || c.NCHW {
		return nil, errors.Join(errChannels, err)
	}
	axis := 0
	if c.Depthwise {
		if axis = 3; c.Multiplier != 1 {
			return nil, errChannels
		}
	}
	if err := e.sliceConstant(op, 1, axis, depth); err != nil {
		return nil, err
	}
	if err := e.sliceConstant(op, 2, 0, depth); err != nil {
		return nil, err
	}
	touched = []int{i}
	return touched, e.follow(op.Outputs[0], depth, &touched)
}

// follow narrows the last dimension of a tensor and all that depends on it.
func (e *edit) follow(x uint32, depth int, touched *[]int) (err error) {
	defer try.Catch(&err)
	g := &e.m.Main
	if slices.Contains(g.Outputs, x) || slices.Contains(g.Inputs, x) {
		return errChannels
	}
	o := &g.Operands[x]
	if len(o.Dimensions) == 0 || int(o.Dimensions[len(o.Dimensions)-1]) < depth {
		return errChannels
	}
	narrowed := slices.Clone(o.Dimensions)
	narrowed[len(narrowed)-1] = uint32(depth)
	for i := range g.Operations { // which are read as they were

		op := &g.Operations[i]
		uses := 0
		for _, in := range op.Inputs {
			if in == x {
				uses++
			}
		}
		if uses == 0 {
			continue
		}
		if uses > 1 || slices.Index(op.Inputs, x) != 0 {
			return errChannels
		}
		*touched = append(*touched, i)
		switch {
		case op.Type == nn.OpConv2D:
			try.E(e.sliceConstant(op, 1, 3, depth))
		case op.Type == nn.OpDepthwiseConv2D:
			*touched = (*touched)[:len(*touched)-1]
			more := try.V(e.narrow(i, depth))
			*touched = append(*touched, more...)
		case slices.Contains(keepsChannels, op.Type):
			try.E(e.follow(op.Outputs[0], depth, touched))
		default:
			return errChannels
		}
	}
	g.Operands[x].Dimensions = narrowed
	return nil
}

// sliceConstant sets input k of an operation to its own constant: the first n along an axis.
func (e *edit) sliceConstant(op *nn.Operation, k, axis, n int) error {
	g := &e.m.Main
	o := g.Operands[op.Inputs[k]]
	size := o.Type.ElementBytes()
	if !o.IsConst() || size == 0 || axis >= len(o.Dimensions) || int(o.Dimensions[axis]) < n || int64(len(o.Data)) != o.Elements()*int64(size) {
		return fmt.Errorf("input %d is no constant of %d along axis %d: %w", k, n, axis, errChannels)
	}
	outer, inner := 1, size
	for d, m := range o.Dimensions {
		if d < axis {
			outer *= int(m)
		} else if d > axis {
			inner *= int(m)
		}
	}
	row := int(o.Dimensions[axis]) * inner
	data := make([]byte, 0, outer*n*inner)
	for at := range outer {
		data = append(data, o.Data[at*row:at*row+n*inner]...)
	}
	o.Data, o.Lifetime = data, nn.ConstantCopy
	o.Dimensions = slices.Clone(o.Dimensions)
	o.Dimensions[axis] = uint32(n)
	if o.Channel != nil && int(o.Channel.Dim) == axis {
		q := *o.Channel
		q.Scales = q.Scales[:n]
		o.Channel = &q
	}
	g.Operands = append(g.Operands, o)
	op.Inputs = slices.Clone(op.Inputs)
	op.Inputs[k] = uint32(len(g.Operands) - 1)
	return nil
}
