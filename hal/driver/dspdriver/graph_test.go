package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

// grow appends a random operation on earlier values of the graph. Values are
// images of one batch; the result may be a model output as well.
func (b *builder) grow(values []uint32) uint32 {
	r, ops := b.r, &b.m.Main
	x := values[r.IntN(len(values))]
	in := ops.Operands[x]
	in.Lifetime, in.Data = nn.TemporaryVariable, nil
	n, h, w, c := int(in.Dimensions[0]), int(in.Dimensions[1]), int(in.Dimensions[2]), int(in.Dimensions[3])
	out := func(h, w, c int) nn.Operand {
		o := b.activation(in.Type, n, h, w, c)
		o.Lifetime = nn.TemporaryVariable
		return o
	}
	emit := func(t nn.OperationType, args []uint32, o nn.Operand) uint32 {
		y := b.operand(o)
		if r.IntN(4) == 0 {
			ops.Operands[y].Lifetime = nn.SubgraphOutput
			ops.Outputs = append(ops.Outputs, y)
		}
		b.add(t, args, y)
		return y
	}
	act := b.int32(r.IntN(4))
	switch r.IntN(9) {
	case 0, 1: // convolution
		k, size, stride := pick(r, 3, 16, 40, 130), 1+2*r.IntN(2), 1+r.IntN(2)
		f, bias := b.weights(in, []int{k, size, size, c}, k, 0)
		o := out((h+stride-1)/stride, (w+stride-1)/stride, k)
		o.Scale = outScale(b, in, size*size*c)
		s := b.int32(stride)
		return emit(nn.OpConv2D, []uint32{x, f, bias, b.int32(nn.PaddingSame), s, s, act}, o)
	case 2, 3: // depthwise convolution
		f, bias := b.weights(in, []int{1, 3, 3, c}, c, 3)
		o := out(h, w, c)
		o.Scale = outScale(b, in, 9)
		one := b.int32(1)
		return emit(nn.OpDepthwiseConv2D, []uint32{x, f, bias, b.int32(nn.PaddingSame), one, one, one, act}, o)
	case 4: // sum with another value of the shape, or with itself
		y := x
		for _, v := range values {
			if d := ops.Operands[v].Dimensions; nn.Elements(d) == in.Elements() && int(d[3]) == c && int(d[1]) == h {
				y = v
			}
		}
		return emit(nn.OpAdd, []uint32{x, y, act}, out(h, w, c))
	case 5: // pooling keeps the quantization
		o := out(h, w, c)
		o.Scale, o.ZeroPoint = in.Scale, in.ZeroPoint
		one, size := b.int32(1), b.int32(min(3, h, w))
		return emit(pick(r, nn.OpMaxPool2D, nn.OpAveragePool2D), []uint32{x, b.int32(nn.PaddingSame), one, one, size, size, act}, o)
	case 6: // the same elements in another shape: the same one, or rows and columns exchanged
		o := out(h, w, c)
		if r.IntN(2) == 0 {
			o = out(w, h, c)
		}
		o.Scale, o.ZeroPoint = in.Scale, in.ZeroPoint
		shape := b.int32s([]uint32{4}, n, int(o.Dimensions[1]), int(o.Dimensions[2]), c)
		return emit(nn.OpReshape, []uint32{x, shape}, o)
	case 7: // padding
		o := out(h+2, w+1, c)
		o.Scale, o.ZeroPoint = in.Scale, in.ZeroPoint
		return emit(nn.OpPad, []uint32{x, b.int32s([]uint32{4, 2}, 0, 0, 1, 1, 0, 1, 0, 0)}, o)
	default: // along the channels, with itself
		return emit(nn.OpConcatenation, []uint32{x, x, b.int32(3)}, out(h, w, 2*c))
	}
}

// TestRandomGraphs runs graphs in which values have several readers with
// different wishes for their layout.
func TestRandomGraphs(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		b := newBuilder(r)
		in := b.activation(quantType(r), 1+r.IntN(2), 3+r.IntN(8), 3+r.IntN(8), pick(r, 1, 3, 16, 33, 128))
		values := []uint32{b.input(in)}
		for range 3 + r.IntN(8) {
			y := b.grow(values)
			if b.m.Main.Operands[y].Dimensions[3] < 300 {
				values = append(values, y)
			}
		}
		b.finish()
		b.run(t, d, fmt.Sprintf("%d_%v_%d", seed, in.Dimensions, len(b.m.Main.Operations)))
	}
}

// TestRandomFlatGraphs runs graphs of operations on single elements, of which few readers have wishes for the layout: most values
// are bytes side by side, of any number of channels.
func TestRandomFlatGraphs(t *testing.T) {
	d := device(t)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 19))
		b := newBuilder(r)
		in := b.activation(quantType(r), 1+r.IntN(2), 3+r.IntN(6), 3+r.IntN(6), pick(r, 1, 3, 5, 32, 33, 64, 65, 128, 129, 257))
		values := []uint32{b.input(in), b.input(in)}
		for range 3 + r.IntN(6) {
			if r.IntN(5) == 0 {
				values = append(values, b.grow(values))
			} else {
				values = append(values, b.growElementwise(values))
			}
		}
		b.finish()
		b.run(t, d, fmt.Sprintf("%d_%v_%d", seed, in.Dimensions, len(b.m.Main.Operations)))
	}
}

// growElementwise appends an operation on single elements of earlier values.
func (b *builder) growElementwise(values []uint32) uint32 {
	r, ops := b.r, &b.m.Main
	x := values[r.IntN(len(values))]
	in := ops.Operands[x]
	in.Lifetime, in.Data = nn.TemporaryVariable, nil
	y := x
	for _, v := range values {
		if fmt.Sprint(ops.Operands[v].Dimensions) == fmt.Sprint(in.Dimensions) && r.IntN(2) == 0 {
			y = v
		}
	}
	out := in
	out.Scale = float32(0.002 + 0.2*r.Float64())
	args := []uint32{x}
	op := pick(r, nn.OpAdd, nn.OpMul, nn.OpSub, nn.OpMaximum, nn.OpRelu6, nn.OpLogistic, nn.OpHardSwish)
	switch op {
	case nn.OpAdd, nn.OpMul, nn.OpSub:
		if op == nn.OpMul {
			out.Scale = in.Scale * ops.Operands[y].Scale * float32(1.01+50*r.Float64())
		}
		args = append(args, y, b.int32(r.IntN(4)))
	case nn.OpMaximum:
		args = append(args, y)
	case nn.OpRelu6:
		out.Scale, out.ZeroPoint = in.Scale, in.ZeroPoint
	case nn.OpLogistic:
		if out.Scale, out.ZeroPoint = 1./256, 0; in.Type == nn.TensorQuant8AsymmSigned {
			out.ZeroPoint = -128
		}
	}
	o := b.operand(out)
	if r.IntN(4) == 0 {
		ops.Operands[o].Lifetime = nn.SubgraphOutput
		ops.Outputs = append(ops.Outputs, o)
	}
	b.add(op, args, o)
	return o
}

// finish makes whatever nobody reads an output.
func (b *builder) finish() {
	read := map[uint32]bool{}
	for _, op := range b.m.Main.Operations {
		for _, i := range op.Inputs {
			read[i] = true
		}
	}
	for _, op := range b.m.Main.Operations {
		if y := op.Outputs[0]; !read[y] && b.m.Main.Operands[y].Lifetime != nn.SubgraphOutput {
			b.m.Main.Operands[y].Lifetime = nn.SubgraphOutput
			b.m.Main.Outputs = append(b.m.Main.Outputs, y)
		}
	}
}
