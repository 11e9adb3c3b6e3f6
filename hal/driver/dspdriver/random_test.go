package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

func TestRandomDepthwise(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := newBuilder(r)
		n, h, w := 1+r.IntN(2), 1+r.IntN(12), 1+r.IntN(12)
		c := pick(r, 1, 2, 3, 8, 16, 17, 32, 33, 64, 70, 128, 130, 260)
		mult := pick(r, 1, 1, 1, 2, 3, 8)
		kh, kw := 1+r.IntN(min(h, 5)), 1+r.IntN(min(w, 5))
		sh, sw := 1+r.IntN(3), 1+r.IntN(3)
		in := b.activation(quantType(r), n, h, w, c)
		x := b.input(in)
		f, bias := b.weights(in, []int{1, kh, kw, c * mult}, c*mult, 3)
		out := b.activation(in.Type, n, 0, 0, c*mult)
		out.Scale = outScale(b, in, kh*kw)
		var args []uint32
		var oh, ow int
		if r.IntN(2) == 0 { // explicit padding, dilation
			dil := 1 + r.IntN(2)
			if (kh-1)*dil+1 > h || (kw-1)*dil+1 > w {
				dil = 1
			}
			p := [4]int{r.IntN(kw + 1), r.IntN(kw + 1), r.IntN(kh + 1), r.IntN(kh + 1)}
			args = []uint32{x, f, bias, b.int32(p[0]), b.int32(p[1]), b.int32(p[2]), b.int32(p[3]), b.int32(sw), b.int32(sh),
				b.int32(mult), b.int32(r.IntN(4)), b.bool(false), b.int32(dil), b.int32(dil)}
			oh, ow = (h+p[2]+p[3]-(kh-1)*dil-1)/sh+1, (w+p[0]+p[1]-(kw-1)*dil-1)/sw+1
		} else {
			args = []uint32{x, f, bias, b.int32(nn.PaddingSame), b.int32(sw), b.int32(sh), b.int32(mult), b.int32(r.IntN(4))}
			oh, ow = (h+sh-1)/sh, (w+sw-1)/sw
		}
		out.Dimensions[1], out.Dimensions[2] = uint32(oh), uint32(ow)
		b.add(nn.OpDepthwiseConv2D, args, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%dx%dx%dx%d_m%d_f%dx%d_s%dx%d", seed, n, h, w, c, mult, kh, kw, sh, sw))
	}
}

// TestRandomDepthwiseSliding covers windows that slide: rows long enough for loops,
// every pitch, and filters of which few weights need more than a signed byte.
func TestRandomDepthwiseSliding(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 33))
		b := newBuilder(r)
		c := pick(r, 3, 8, 24, 32, 40, 64, 96, 128, 144, 256)
		h, w := 1+r.IntN(12), 1+r.IntN(24)
		kh, kw := pick(r, 1, 2, 3, 3, 3, 5, 7), pick(r, 1, 2, 3, 3, 3, 5, 7)
		s, dil := pick(r, 1, 1, 2, 2, 3), pick(r, 1, 1, 2)
		typ := quantType(r)
		if seed%2 == 0 {
			typ = nn.TensorQuant8Asymm
		}
		in := b.activation(typ, 1, h, w, c)
		x := b.input(in)
		f, bias := b.weights(in, []int{1, kh, kw, c}, c, 3)
		if o := &b.m.Main.Operands[f]; o.Type == nn.TensorQuant8Asymm {
			for i := range o.Data {
				if r.IntN(100) > 0 {
					o.Data[i] = byte(max(0, min(255, int(o.ZeroPoint)+r.IntN(120)-60)))
				}
			}
		}
		out := b.activation(in.Type, 1, 0, 0, c)
		out.Scale = outScale(b, in, kh*kw)
		p := [4]int{r.IntN(kw + 1), r.IntN(kw + 1), r.IntN(kh + 1), r.IntN(kh + 1)}
		for (kw-1)*dil+1 > w+p[0]+p[1] {
			p[1]++
		}
		for (kh-1)*dil+1 > h+p[2]+p[3] {
			p[3]++
		}
		out.Dimensions[1], out.Dimensions[2] = uint32((h+p[2]+p[3]-(kh-1)*dil-1)/s+1), uint32((w+p[0]+p[1]-(kw-1)*dil-1)/s+1)
		b.add(nn.OpDepthwiseConv2D, []uint32{x, f, bias, b.int32(p[0]), b.int32(p[1]), b.int32(p[2]), b.int32(p[3]), b.int32(s), b.int32(s),
			b.int32(1), b.int32(r.IntN(4)), b.bool(false), b.int32(dil), b.int32(dil)}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%dx%dx%d_f%dx%d_s%d_d%d", seed, h, w, c, kh, kw, s, dil))
	}
}

func TestRandomFullyConnected(t *testing.T) {
	d := device(t)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 4))
		b := newBuilder(r)
		batch, depth, units := 1+r.IntN(40), pick(r, 1, 3, 10, 32, 64, 65, 200, 256), pick(r, 1, 2, 12, 64, 100, 128, 150, 300)
		dims := []int{batch, depth}
		if r.IntN(3) == 0 { // flattened by the operation
			dims = []int{batch, 2, 3, depth}
			depth *= 6
		}
		in := b.activation(quantType(r), dims...)
		x := b.input(in)
		f, bias := b.weights(in, []int{units, depth}, units, 0)
		if b.m.Main.Operands[f].Type == nn.TensorQuant8SymmPerChannel { // not allowed here
			o := b.activation(in.Type, units, depth)
			o.Lifetime, o.Data = nn.ConstantCopy, b.m.Main.Operands[f].Data
			b.m.Main.Operands[f] = o
			b.m.Main.Operands[bias].Scale = in.Scale * o.Scale
		}
		out := b.activation(in.Type, batch, units)
		out.Scale = outScale(b, in, depth)
		b.add(nn.OpFullyConnected, []uint32{x, f, bias, b.int32(r.IntN(4))}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_u%d", seed, dims, units))
	}
}

func TestRandomPool(t *testing.T) {
	d := device(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 5))
		b := newBuilder(r)
		n, h, w, c := 1+r.IntN(2), 1+r.IntN(12), 1+r.IntN(12), pick(r, 1, 5, 16, 32, 64, 65, 128, 200)
		kh, kw, sh, sw := 1+r.IntN(h), 1+r.IntN(w), 1+r.IntN(3), 1+r.IntN(3)
		in := b.activation(quantType(r), n, h, w, c)
		out := in
		pad := pick(r, nn.PaddingSame, nn.PaddingValid)
		oh, ow := (h+sh-1)/sh, (w+sw-1)/sw
		if pad == nn.PaddingValid {
			oh, ow = (h-kh)/sh+1, (w-kw)/sw+1
		}
		out.Dimensions = []uint32{uint32(n), uint32(oh), uint32(ow), uint32(c)}
		x := b.input(in)
		op := pick(r, nn.OpAveragePool2D, nn.OpMaxPool2D)
		b.add(op, []uint32{x, b.int32(int(pad)), b.int32(sw), b.int32(sh), b.int32(kw), b.int32(kh), b.int32(r.IntN(4))}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_%dx%dx%dx%d_f%dx%d_s%dx%d", seed, op, n, h, w, c, kh, kw, sh, sw))
	}
}

func TestRandomMean(t *testing.T) {
	d := device(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 6))
		b := newBuilder(r)
		rank := 1 + r.IntN(4)
		var dims, axes, want []int
		for range rank {
			dims = append(dims, 1+r.IntN(9))
		}
		keep := r.IntN(2)
		for i := range dims {
			if r.IntN(2) == 0 {
				axes = append(axes, i)
				if keep == 1 {
					want = append(want, 1)
				}
			} else {
				want = append(want, dims[i])
			}
		}
		if len(axes) == 0 {
			axes, want = []int{rank - 1}, want[:rank-1]
			if keep == 1 {
				want = append(want, 1)
			}
		}
		if len(want) == 0 {
			want = []int{1}
		}
		in := b.activation(quantType(r), dims...)
		out := in
		out.Dimensions = nil
		for _, x := range want {
			out.Dimensions = append(out.Dimensions, uint32(x))
		}
		x := b.input(in)
		b.add(nn.OpMean, []uint32{x, b.int32s([]uint32{uint32(len(axes))}, axes...), b.int32(keep)}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_axes%v_keep%d", seed, dims, axes, keep))
	}
}

func TestRandomBinary(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := newBuilder(r)
		rank := 1 + r.IntN(4)
		var da, db, dout []int
		for range rank {
			n := pick(r, 1, 2, 3, 7, 20, 40, 130)
			x, y := n, n
			if r.IntN(4) == 0 {
				x = 1
			} else if r.IntN(4) == 0 {
				y = 1
			}
			da, db, dout = append(da, x), append(db, y), append(dout, n)
		}
		if nn.Elements(b.activation(nn.TensorQuant8Asymm, dout...).Dimensions) > 1<<17 {
			continue
		}
		if r.IntN(3) == 0 && rank > 1 && da[0] == 1 {
			da, dout[0] = da[1:], db[0]
		}
		for i := range dout { // two ones make a one
			j := i - (rank - len(da))
			if (j < 0 || da[j] == 1) && db[i] == 1 {
				dout[i] = 1
			}
		}
		typ := quantType(r)
		oa, ob, oo := b.activation(typ, da...), b.activation(typ, db...), b.activation(typ, dout...)
		op := pick(r, nn.OpAdd, nn.OpSub, nn.OpMul)
		if op == nn.OpMul {
			oo.Scale = oa.Scale * ob.Scale * float32(1.01+50*r.Float64())
		}
		x := b.input(oa)
		var y uint32
		if r.IntN(3) == 0 {
			ob.Lifetime, ob.Data = nn.ConstantCopy, b.bytes(int(ob.Elements()))
			y = b.operand(ob)
		} else {
			y = b.input(ob)
		}
		b.add(op, []uint32{x, y, b.int32(r.IntN(4))}, b.output(oo))
		b.run(t, d, fmt.Sprintf("%d_%v_%v_%v", seed, op, da, db))
	}
}

func TestRandomUnary(t *testing.T) {
	d := device(t)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 8))
		b := newBuilder(r)
		in := b.activation(quantType(r), 1+r.IntN(3), 1+r.IntN(20), 1+r.IntN(150))
		op := pick(r, nn.OpRelu, nn.OpRelu1, nn.OpRelu6, nn.OpLogistic, nn.OpQuantize)
		out := in
		switch op {
		case nn.OpLogistic:
			out.Scale, out.ZeroPoint = 1./256, 0
			if in.Type == nn.TensorQuant8AsymmSigned {
				out.ZeroPoint = -128
			}
		case nn.OpQuantize:
			out = b.activation(quantType(r))
			out.Dimensions = in.Dimensions
		}
		x := b.input(in)
		if op == nn.OpQuantize {
			f := b.operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: in.Dimensions})
			b.add(nn.OpDequantize, []uint32{x}, f)
			x = f
		}
		b.add(op, []uint32{x}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_%v", seed, op, in.Dimensions))
	}
}

func TestRandomSoftmax(t *testing.T) {
	d := device(t)
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 9))
		b := newBuilder(r)
		dims := []int{1 + r.IntN(5), pick(r, 1, 2, 3, 10, 12, 100, 128, 129, 1001)}
		if r.IntN(3) == 0 {
			dims = []int{1 + r.IntN(2), 1 + r.IntN(3), 1 + r.IntN(3), dims[1]}
		}
		in := b.activation(quantType(r), dims...)
		in.Scale = float32(0.0001 + 0.3*r.Float64()*r.Float64())
		out := in
		out.Scale, out.ZeroPoint = 1./256, 0
		if in.Type == nn.TensorQuant8AsymmSigned {
			out.ZeroPoint = -128
		}
		x := b.input(in)
		b.add(nn.OpSoftmax, []uint32{x, b.float32(float32(0.1 + 2*r.Float64()))}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v", seed, dims))
	}
}

func TestRandomMovement(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 10))
		b := newBuilder(r)
		typ := quantType(r)
		var dims []int
		for range 1 + r.IntN(4) {
			dims = append(dims, pick(r, 1, 2, 3, 5, 16, 33, 70))
		}
		in := b.activation(typ, dims...)
		if in.Elements() > 1<<17 {
			continue
		}
		switch op := pick(r, nn.OpReshape, nn.OpPad, nn.OpConcatenation, nn.OpSqueeze); op {
		case nn.OpReshape:
			n := int(in.Elements())
			first := 1
			for _, k := range []int{2, 3, 5, 16} {
				if n%k == 0 && r.IntN(2) == 0 {
					first = k
				}
			}
			out := in
			out.Dimensions = []uint32{uint32(first), uint32(n / first)}
			x := b.input(in)
			b.add(op, []uint32{x, b.int32s([]uint32{2}, first, -1)}, b.output(out))
			b.run(t, d, fmt.Sprintf("%d_reshape_%v_%v", seed, dims, out.Dimensions))
		case nn.OpSqueeze:
			out := in
			out.Dimensions = nil
			for _, x := range in.Dimensions {
				if x != 1 {
					out.Dimensions = append(out.Dimensions, x)
				}
			}
			if len(out.Dimensions) == 0 {
				out.Dimensions = []uint32{1}
			}
			x := b.input(in)
			b.add(op, []uint32{x, b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{0}, Lifetime: nn.NoValue})}, b.output(out))
			b.run(t, d, fmt.Sprintf("%d_squeeze_%v", seed, dims))
		case nn.OpPad:
			out := in
			out.Dimensions = nil
			var pads []int
			for _, x := range in.Dimensions {
				p, q := r.IntN(4), r.IntN(4)
				pads = append(pads, p, q)
				out.Dimensions = append(out.Dimensions, x+uint32(p+q))
			}
			x := b.input(in)
			b.add(op, []uint32{x, b.int32s([]uint32{uint32(len(dims)), 2}, pads...)}, b.output(out))
			b.run(t, d, fmt.Sprintf("%d_pad_%v_%v", seed, dims, pads))
		case nn.OpConcatenation:
			axis := r.IntN(len(dims))
			out := b.activation(typ, dims...)
			out.Dimensions[axis] = 0
			var args []uint32
			for range 1 + r.IntN(3) {
				o := b.activation(typ, dims...)
				o.Dimensions[axis] = uint32(1 + r.IntN(40))
				if r.IntN(2) == 0 {
					o.Scale, o.ZeroPoint = out.Scale, out.ZeroPoint
				}
				out.Dimensions[axis] += o.Dimensions[axis]
				args = append(args, b.input(o))
			}
			b.add(op, append(args, b.int32(axis)), b.output(out))
			b.run(t, d, fmt.Sprintf("%d_concat_%v_axis%d", seed, dims, axis))
		}
	}
}
