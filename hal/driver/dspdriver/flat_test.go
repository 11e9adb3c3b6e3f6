package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

// dimensions are a random shape of the given rank.
func dimensions(r *rand.Rand, rank int) []int {
	var d []int
	for range rank {
		d = append(d, pick(r, 1, 2, 3, 4, 5, 16, 31, 33, 70, 127, 129))
	}
	return d
}

func product(d []int) int {
	n := 1
	for _, x := range d {
		n *= x
	}
	return n
}

// plain is an operand of a type that need not be quantized.
func (b *builder) plain(t nn.OperandType, dims ...int) nn.Operand {
	if t.IsQuant8() {
		return b.activation(t, dims...)
	}
	o := nn.Operand{Type: t}
	for _, d := range dims {
		o.Dimensions = append(o.Dimensions, uint32(d))
	}
	return o
}

func anyType(r *rand.Rand) nn.OperandType {
	return pick(r, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorInt32)
}

// TestRandomReorder covers the operations that select or reorder elements.
func TestRandomReorder(t *testing.T) {
	d := device(t)
	ops := []nn.OperationType{nn.OpTranspose, nn.OpSlice, nn.OpStridedSlice, nn.OpSplit, nn.OpTile, nn.OpExpandDims,
		nn.OpGather, nn.OpChannelShuffle, nn.OpPadV2, nn.OpResizeNearestNeighbor, nn.OpSpaceToDepth, nn.OpDepthToSpace,
		nn.OpSpaceToBatchNd, nn.OpBatchToSpaceNd}
	for seed := range uint64(140) {
		r := rand.New(rand.NewPCG(seed, 20))
		b := newBuilder(r)
		op := ops[seed%uint64(len(ops))]
		dims := dimensions(r, 1+r.IntN(4))
		if product(dims) > 1<<15 {
			dims = []int{5, 33, 3}
		}
		typ, rank := anyType(r), len(dims)
		list := func(v []int) uint32 { return b.int32s([]uint32{uint32(len(v))}, v...) }
		image := func(n, h, w, c int) { dims, rank, typ = []int{n, h, w, c}, 4, quantType(r) }
		var args []uint32
		want := append([]int{}, dims...)
		outs := 1
		switch op {
		case nn.OpTranspose:
			typ = quantType(r)
			perm := r.Perm(rank)
			for i, p := range perm {
				want[i] = dims[p]
			}
			args = []uint32{list(perm)}
		case nn.OpSlice:
			var begin, size []int
			for i, n := range dims {
				at := r.IntN(n)
				want[i] = 1 + r.IntN(n-at)
				begin, size = append(begin, at), append(size, want[i])
			}
			args = []uint32{list(begin), list(size)}
		case nn.OpStridedSlice:
			typ = quantType(r)
			var begin, end, step []int
			for i, n := range dims {
				s := 1 + r.IntN(3)
				at := r.IntN(n)
				begin, end, step = append(begin, at), append(end, n), append(step, s)
				want[i] = (n - at + s - 1) / s
			}
			args = []uint32{list(begin), list(end), list(step), b.int32(0), b.int32(0), b.int32(0)}
		case nn.OpSplit:
			axis := r.IntN(rank)
			outs = 1 + r.IntN(3)
			dims[axis] *= outs
			args = []uint32{b.int32(axis), b.int32(outs)}
		case nn.OpTile:
			var m []int
			for i := range dims {
				m = append(m, 1+r.IntN(3))
				want[i] = dims[i] * m[i]
			}
			args = []uint32{list(m)}
		case nn.OpExpandDims:
			axis := r.IntN(rank + 1)
			want = append(append(append([]int{}, dims[:axis]...), 1), dims[axis:]...)
			args = []uint32{b.int32(axis)}
		case nn.OpGather:
			axis := r.IntN(rank)
			var idx []int
			for range 1 + r.IntN(7) {
				idx = append(idx, r.IntN(dims[axis]))
			}
			want[axis] = len(idx)
			args = []uint32{b.int32(axis), list(idx)}
		case nn.OpChannelShuffle:
			typ = quantType(r)
			g, axis := 1+r.IntN(4), r.IntN(rank)
			dims[axis] *= g
			want[axis] = dims[axis]
			args = []uint32{b.int32(g), b.int32(axis)}
		case nn.OpPadV2:
			typ = quantType(r)
			var pads []int
			for i := range dims {
				p, q := r.IntN(4), r.IntN(4)
				pads = append(pads, p, q)
				want[i] += p + q
			}
			args = []uint32{b.int32s([]uint32{uint32(rank), 2}, pads...), b.int32(r.IntN(100))}
		case nn.OpResizeNearestNeighbor:
			image(1+r.IntN(2), 1+r.IntN(8), 1+r.IntN(8), pick(r, 1, 3, 16, 40))
			oh, ow := 1+r.IntN(12), 1+r.IntN(12)
			want = []int{dims[0], oh, ow, dims[3]}
			args = []uint32{b.int32(ow), b.int32(oh), b.bool(false), b.bool(r.IntN(2) == 0), b.bool(false)}
		case nn.OpSpaceToDepth, nn.OpSpaceToBatchNd:
			s := 1 + r.IntN(3)
			image(1+r.IntN(2), s*(1+r.IntN(4)), s*(1+r.IntN(4)), pick(r, 1, 3, 16, 40))
			want = []int{dims[0], dims[1] / s, dims[2] / s, dims[3] * s * s}
			args = []uint32{b.int32(s)}
			if op == nn.OpSpaceToBatchNd {
				want = []int{dims[0] * s * s, dims[1]/s + 1, dims[2] / s, dims[3]}
				args = []uint32{list([]int{s, s}), b.int32s([]uint32{2, 2}, s-1, 1, 0, 0)}
			}
		default:
			s := 1 + r.IntN(3)
			image((1+r.IntN(2))*s*s, 1+r.IntN(4), 1+r.IntN(4), s*s*pick(r, 1, 3, 16))
			want = []int{dims[0], dims[1] * s, dims[2] * s, dims[3] / s / s}
			args = []uint32{b.int32(s)}
			if op == nn.OpBatchToSpaceNd {
				want = []int{dims[0] / s / s, dims[1] * s, dims[2] * s, dims[3]}
				args = []uint32{list([]int{s, s})}
			}
		}
		in := b.plain(typ, dims...)
		out := in
		out.Dimensions = b.plain(nn.TensorInt32, want...).Dimensions
		x := b.input(in)
		var results []uint32
		for range outs {
			results = append(results, b.output(out))
		}
		b.add(op, append([]uint32{x}, args...), results...)
		b.run(t, d, fmt.Sprintf("%d_%v_%v_%v", seed, op, typ, dims))
	}
}

// TestRandomPairs covers binary operations and SELECT on all their types, with
// shapes that are repeated.
func TestRandomPairs(t *testing.T) {
	d := device(t)
	ops := []nn.OperationType{nn.OpSub, nn.OpMaximum, nn.OpMinimum, nn.OpPrelu, nn.OpEqual, nn.OpNotEqual, nn.OpLess, nn.OpLessEqual,
		nn.OpGreater, nn.OpGreaterEqual, nn.OpLogicalAnd, nn.OpLogicalOr, nn.OpSelect, nn.OpAdd, nn.OpMul}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 21))
		b := newBuilder(r)
		op := ops[seed%uint64(len(ops))]
		typ := anyType(r)
		compare := false
		switch op {
		case nn.OpPrelu:
			typ = quantType(r)
		case nn.OpAdd, nn.OpMul: // the quantized hvx.Ones have a test of their own
			typ = nn.TensorInt32
		case nn.OpLogicalAnd, nn.OpLogicalOr:
			typ = nn.TensorBool8
		case nn.OpEqual, nn.OpNotEqual, nn.OpLess, nn.OpLessEqual, nn.OpGreater, nn.OpGreaterEqual:
			compare = true
			if r.IntN(4) == 0 {
				typ = nn.TensorBool8
			}
		}
		dims := dimensions(r, 1+r.IntN(4))
		if product(dims) > 1<<15 {
			dims = []int{70, 16, 5}
		}
		da, db := append([]int{}, dims...), append([]int{}, dims...)
		if op != nn.OpSelect {
			for i := range dims {
				switch r.IntN(5) {
				case 0:
					da[i] = 1
				case 1:
					db[i] = 1
				}
			}
		}
		oa, ob, out := b.plain(typ, da...), b.plain(typ, db...), b.plain(typ, dims...)
		if r.IntN(3) == 0 {
			ob.Scale, ob.ZeroPoint = oa.Scale, oa.ZeroPoint
		}
		if typ == nn.TensorInt32 && compare && r.IntN(2) == 0 { // many that are equal
			ob.Lifetime, ob.Data = nn.ConstantCopy, make([]byte, 4*product(db))
		}
		if compare {
			out = b.plain(nn.TensorBool8, dims...)
		}
		var args []uint32
		if op == nn.OpSelect {
			args = append(args, b.input(b.plain(nn.TensorBool8, dims...)))
		}
		args = append(args, b.input(oa))
		if ob.Data != nil {
			args = append(args, b.operand(ob))
		} else {
			args = append(args, b.input(ob))
		}
		switch op {
		case nn.OpSub:
			act := r.IntN(4)
			if typ == nn.TensorInt32 {
				act = 0
			}
			args = append(args, b.int32(act))
		case nn.OpAdd, nn.OpMul:
			args = append(args, b.int32(0))
		}
		b.add(op, args, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_%v_%v_%v", seed, op, typ, da, db))
	}
}

// TestRandomWhole covers unary operations on integers and booleans.
func TestRandomWhole(t *testing.T) {
	d := device(t)
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 22))
		b := newBuilder(r)
		n := 1 + r.IntN(900)
		op := pick(r, nn.OpAbs, nn.OpNeg, nn.OpLogicalNot, nn.OpCast, nn.OpTanh, nn.OpHardSwish)
		in := b.plain(nn.TensorInt32, n)
		out := in
		switch op {
		case nn.OpLogicalNot:
			in.Type, out.Type = nn.TensorBool8, nn.TensorBool8
		case nn.OpCast:
			pair := pick(r, [2]nn.OperandType{nn.TensorInt32, nn.TensorQuant8Asymm}, [2]nn.OperandType{nn.TensorQuant8Asymm, nn.TensorInt32},
				[2]nn.OperandType{nn.TensorQuant8Asymm, nn.TensorQuant8Asymm})
			in, out = b.plain(pair[0], n), b.plain(pair[1], n)
		case nn.OpTanh:
			in = b.activation(quantType(r), n)
			out = in
			out.Scale, out.ZeroPoint = 1./128, 128
			if in.Type == nn.TensorQuant8AsymmSigned {
				out.ZeroPoint = 0
			}
		case nn.OpHardSwish:
			in = b.activation(quantType(r), n)
			out = in
		}
		b.add(op, []uint32{b.input(in)}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_%v_%d", seed, op, in.Type, n))
	}
}
