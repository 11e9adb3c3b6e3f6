package lower

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/depthwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// clientForm reports whether the bytes are those that the client sees: nothing
// between positions, rows or images, and values of an unsigned type.
func clientForm(t *layout.Tensor, typ nn.OperandType) bool {
	return !t.Dense && !t.HasHalo() && t.Pitch == t.Shape.C && t.Shape.C%layout.VectorBytes == 0 && typ == nn.TensorQuant8Asymm
}

// importValue makes the internal form of a dense value. Tensors that only
// convolutions read get the small pitch.
func (l *Lowering) importValue(i uint32, dense *layout.Tensor) {
	o := &l.graph.Operands[i]
	s := layout.ShapeOf(o.Dimensions)
	if dense.Keep && s.C%layout.VectorBytes == 0 && o.Type == nn.TensorQuant8Asymm && l.staysPlain(i) { // clientForm
		l.Result(i, s.C).Keep = true
		dense.Unplaced, dense.Keep = true, false
		return
	}
	pitch := s.Pitch()
	if l.onlyConv(i) || l.takenNarrow(i) {
		pitch = s.SmallPitch()
	}
	l.copyTensor(l.Result(i, pitch), dense)
}

// staysPlain reports whether all readers of operand i leave its tensor as it is:
// none asks for a halo or passes it on under another name.
func (l *Lowering) staysPlain(i uint32) bool {
	for k := range l.graph.Operations {
		op := &l.graph.Operations[k]
		for _, in := range op.Inputs {
			if in != i {
				continue
			}
			switch op.Type {
			case nn.OpFullyConnected, nn.OpSoftmax, nn.OpAdd, nn.OpMul, nn.OpConcatenation, nn.OpLogistic,
				nn.OpRelu, nn.OpRelu1, nn.OpRelu6, nn.OpAveragePool2D, nn.OpMaxPool2D, nn.OpMean:
			default:
				return false
			}
		}
	}
	return true
}

// onlyConv reports whether nothing but convolutions read operand i, directly or
// through a few operations that work on any pitch.
func (l *Lowering) onlyConv(i uint32) bool { return l.reachesOnlyConv(i, 4) }

func (l *Lowering) reachesOnlyConv(i uint32, steps int) bool {
	for k := range l.graph.Operations {
		op := &l.graph.Operations[k]
		for n, in := range op.Inputs {
			if in != i {
				continue
			}
			switch op.Type {
			case nn.OpConv2D:
				if n != 0 {
					return false
				}
			case nn.OpDequantize, nn.OpQuantize, nn.OpRequantize, nn.OpLogistic:
				if len(op.Outputs) != 1 || steps == 0 || !l.reachesOnlyConv(op.Outputs[0], steps-1) {
					return false
				}
			default:
				return false
			}
		}
	}
	for _, o := range l.graph.Outputs {
		if o == i {
			return false
		}
	}
	return true
}

// narrowPitch is the pitch of a value of c channels all of whose readers take a small
// one, 0 for the usual one.
func (l *Lowering) narrowPitch(i uint32, c int) int {
	if c > conv.NarrowOutputs || !l.takenNarrow(i) {
		return 0
	}
	return layout.Shape{C: c}.SmallPitch()
}

// takenNarrow reports whether all readers of an operand take positions of few bytes:
// convolutions, and depthwise ones whose own results may have such.
func (l *Lowering) takenNarrow(i uint32) bool {
	taken, known := l.narrow[i]
	if known || !l.final() {
		return taken
	}
	l.narrow[i] = false
	for k := range l.graph.Operations {
		op := &l.graph.Operations[k]
		for n, in := range op.Inputs {
			if in != i {
				continue
			}
			if n != 0 || op.Type != nn.OpConv2D && op.Type != nn.OpDepthwiseConv2D {
				return false
			}
			c, err := l.view.Conv(op)
			if err != nil || c.NCHW {
				return false
			}
			if c.Depthwise && (c.Multiplier > 1 || c.KH*c.KW > depthwise.MaxTaps || c.StrideW > 2 || !l.packable(c.Filter, c.Bias) || !l.takenNarrow(c.Output)) {
				return false
			}
			taken = true
		}
	}
	for _, o := range l.graph.Outputs {
		taken = taken && o != i
	}
	l.narrow[i] = taken
	return taken
}
