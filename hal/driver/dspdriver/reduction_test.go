package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/reduction"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestRandomAlong covers reductions and operations along an axis.
func TestRandomAlong(t *testing.T) {
	d := device(t)
	ops := []nn.OperationType{nn.OpReduceMax, nn.OpReduceMin, nn.OpReduceAll, nn.OpReduceAny, nn.OpArgmax, nn.OpArgmin, nn.OpL2Normalization}
	for seed := range uint64(105) {
		r := rand.New(rand.NewPCG(seed, 24))
		b := newBuilder(r)
		op := ops[seed%uint64(len(ops))]
		dims := dimensions(r, 1+r.IntN(4))
		if product(dims) > 1<<15 {
			dims = []int{3, 70, 16}
		}
		rank := len(dims)
		axis := r.IntN(rank)
		typ := quantType(r)
		args := []uint32{b.int32(axis)}
		var want []int
		for i, n := range dims {
			if i != axis {
				want = append(want, n)
			}
		}
		switch op {
		case nn.OpReduceAll, nn.OpReduceAny:
			typ = nn.TensorBool8
			fallthrough
		case nn.OpReduceMax, nn.OpReduceMin:
			axes := []int{axis}
			keep := r.IntN(2) == 0
			want = nil
			for i, n := range dims {
				if i != axis && r.IntN(3) == 0 {
					axes = append(axes, i)
					n = 1
				}
				if i == axis {
					n = 1
				}
				reduced := i == axis || axes[len(axes)-1] == i
				if !reduced || keep {
					want = append(want, n)
				}
			}
			args = []uint32{b.int32s([]uint32{uint32(len(axes))}, axes...), b.bool(keep)}
		case nn.OpArgmax, nn.OpArgmin:
			typ = anyType(r)
		}
		if len(want) == 0 {
			want = []int{1}
		}
		in := b.plain(typ, dims...)
		out := in
		switch op {
		case nn.OpArgmax, nn.OpArgmin:
			out = nn.Operand{Type: nn.TensorInt32}
		case nn.OpL2Normalization:
			want = dims
			out.Scale, out.ZeroPoint = 1./128, 128
			if typ == nn.TensorQuant8AsymmSigned {
				out.ZeroPoint = 0
			}
		}
		out.Dimensions = b.plain(nn.TensorInt32, want...).Dimensions
		b.add(op, append([]uint32{b.input(in)}, args...), b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_%v_%v_%d", seed, op, typ, dims, axis))
	}
}

// TestRandomBlend covers RESIZE_BILINEAR of few elements on any sizes.
func TestRandomBlend(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 26))
		b := newBuilder(r)
		n, h, w, c, oh, ow := 1+r.IntN(2), 1+r.IntN(12), 1+r.IntN(12), pick(r, 1, 2, 3, 9), 1+r.IntN(25), 1+r.IntN(25)
		in := b.activation(quantType(r), n, h, w, c)
		out := in
		out.Dimensions = []uint32{uint32(n), uint32(oh), uint32(ow), uint32(c)}
		nchw := r.IntN(3) == 0
		if nchw {
			in.Dimensions = []uint32{uint32(n), uint32(c), uint32(h), uint32(w)}
			out.Dimensions = []uint32{uint32(n), uint32(c), uint32(oh), uint32(ow)}
		}
		corners := r.IntN(2) == 0
		b.add(nn.OpResizeBilinear, []uint32{b.input(in), b.int32(ow), b.int32(oh), b.bool(nchw), b.bool(corners), b.bool(!corners && r.IntN(2) == 0)}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%dx%dx%dx%d_%dx%d", seed, n, h, w, c, oh, ow))
	}
}

// TestRandomBilinear covers RESIZE_BILINEAR on sizes whose weights are exact in
// both float32 and fixed point: powers of two.
func TestRandomBilinear(t *testing.T) {
	d := device(t)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 25))
		b := newBuilder(r)
		n, h, w, c := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(9), pick(r, 1, 3, 16, 40)
		oh, ow := h*pick(r, 1, 2, 4), w*pick(r, 1, 2, 4, 8)
		in := b.activation(quantType(r), n, h, w, c)
		out := in
		out.Dimensions = []uint32{uint32(n), uint32(oh), uint32(ow), uint32(c)}
		if nchw := r.IntN(3) == 0; nchw {
			in.Dimensions = []uint32{uint32(n), uint32(c), uint32(h), uint32(w)}
			out.Dimensions = []uint32{uint32(n), uint32(c), uint32(oh), uint32(ow)}
			b.add(nn.OpResizeBilinear, []uint32{b.input(in), b.int32(ow), b.int32(oh), b.bool(true), b.bool(false), b.bool(r.IntN(2) == 0)}, b.output(out))
		} else {
			b.add(nn.OpResizeBilinear, []uint32{b.input(in), b.int32(ow), b.int32(oh), b.bool(false), b.bool(false), b.bool(r.IntN(2) == 0)}, b.output(out))
		}
		b.run(t, d, fmt.Sprintf("%d_%dx%dx%dx%d_%dx%d", seed, n, h, w, c, oh, ow))
	}
}

// TestManySlices covers rows of more elements than a byte counts, many of them equal.
func TestManySlices(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(8, 26))
	for _, op := range []nn.OperationType{nn.OpArgmax, nn.OpArgmin, nn.OpTopkV2} {
		for _, depth := range []int{1, 255, 256, 257, 511, 513, 1000, reduction.MaxIndex + 1} {
			rows := pick(r, 1, 3, 127, 130)
			if depth > 1000 {
				rows = 1
			}
			b := newBuilder(r)
			o := b.activation(quantType(r), rows, depth)
			x := b.input(o)
			if op == nn.OpTopkV2 {
				k := min(depth, 1+r.IntN(9))
				out := o
				out.Dimensions = []uint32{uint32(rows), uint32(k)}
				b.add(op, []uint32{x, b.int32(k)}, b.output(out), b.output(b.plain(nn.TensorInt32, rows, k)))
			} else {
				b.add(op, []uint32{x, b.int32(1)}, b.output(b.plain(nn.TensorInt32, rows)))
			}
			values := 1 + r.IntN(3)
			data := b.bytes(rows * depth)
			for i := range data {
				data[i] = byte(int(data[i])%(1<<values)) << (8 - values)
				if at := i % depth; at == 255 || at == 256 { // the greatest, where the first byte of the number wraps
					if data[i] = 255; o.Type == nn.TensorQuant8AsymmSigned {
						data[i] = 127
					}
				}
			}
			t.Run(fmt.Sprintf("%v_%dx%d_%d", op, rows, depth, values), func(t *testing.T) { drivertest.Exact(t, d, &b.m, [][]byte{data}, true) })
		}
	}
}
