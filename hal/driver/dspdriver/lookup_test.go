package dspdriver

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestRandomLookup covers the operations whose places depend on values, and
// those of later feature levels, also with empty and large rows.
func TestRandomLookup(t *testing.T) {
	d := device(t)
	ops := []nn.OperationType{nn.OpGather, nn.OpEmbeddingLookup, nn.OpHashtableLookup, nn.OpTopkV2, nn.OpPack, nn.OpMirrorPad,
		nn.OpReverse, nn.OpBatchMatmul, nn.OpDiv, nn.OpRank, nn.OpRsqrt}
	for seed := range uint64(132) {
		r := rand.New(rand.NewPCG(seed, 31))
		b := newBuilder(r)
		op := ops[seed%uint64(len(ops))]
		typ := anyType(r)
		dims := dimensions(r, 1+r.IntN(4))
		if product(dims) > 1<<13 {
			dims = []int{5, 33, 3}
		}
		var in [][]byte
		value := func(t nn.OperandType, dims ...int) uint32 {
			x := b.input(b.plain(t, dims...))
			data := b.bytes(product(dims) * t.ElementBytes())
			if t == nn.TensorInt32 && r.IntN(2) == 0 { // values that often repeat
				for i := 0; i < len(data); i += 4 {
					binary.LittleEndian.PutUint32(data[i:], uint32(int32(r.IntN(7)-3)))
				}
			}
			in = append(in, data)
			return x
		}
		like := func(x uint32, dims ...int) uint32 { // an output quantized as x
			o := b.m.Main.Operands[x]
			o.Dimensions = b.plain(nn.TensorInt32, dims...).Dimensions
			return b.output(o)
		}
		indices := func(n, below int) uint32 {
			x := value(nn.TensorInt32, n)
			for i := range n {
				binary.LittleEndian.PutUint32(in[len(in)-1][4*i:], uint32(r.IntN(below)))
			}
			return x
		}
		switch op {
		case nn.OpGather:
			axis, n := r.IntN(len(dims)), 1+r.IntN(9)
			x := value(typ, dims...)
			want := append([]int{}, dims...)
			want[axis] = n
			b.add(op, []uint32{x, b.int32(axis), indices(n, dims[axis])}, like(x, want...))
		case nn.OpEmbeddingLookup:
			x, n := value(typ, dims...), 1+r.IntN(9)
			b.add(op, []uint32{indices(n, dims[0]), x}, like(x, append([]int{n}, dims[1:]...)...))
		case nn.OpHashtableLookup:
			typ = pick(r, nn.TensorInt32, nn.TensorQuant8Asymm)
			keys := indices(dims[0], 3*dims[0]) // not sorted, some twice
			n := 1 + r.IntN(40)
			lookups, x := indices(n, 3*dims[0]), value(typ, dims...)
			hits := b.output(nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{uint32(n)}, Scale: 1})
			out := like(x, append([]int{n}, dims[1:]...)...)
			b.m.Main.Outputs[0], b.m.Main.Outputs[1] = out, hits
			b.add(op, []uint32{lookups, keys, x}, out, hits)
		case nn.OpTopkV2:
			x, last := value(typ, dims...), len(dims)-1
			want := append([]int{}, dims...)
			want[last] = 1 + r.IntN(dims[last])
			b.add(op, []uint32{x, b.int32(want[last])}, like(x, want...), b.output(b.plain(nn.TensorInt32, want...)))
		case nn.OpPack:
			if len(dims) == 4 {
				dims = dims[:3]
			}
			axis, n := r.IntN(len(dims)+1), 1+r.IntN(3)
			args := []uint32{b.int32(axis), value(typ, dims...)}
			for range n - 1 {
				x := b.input(b.m.Main.Operands[args[1]])
				args, in = append(args, x), append(in, b.bytes(len(in[0])))
			}
			want := append(append(append([]int{}, dims[:axis]...), n), dims[axis:]...)
			b.add(op, args, like(args[1], want...))
		case nn.OpMirrorPad:
			x, mode := value(typ, dims...), r.IntN(2)
			var pads, want []int
			for _, n := range dims {
				most := min(n+mode, 5) // the edge counts when it is repeated
				lo, hi := r.IntN(most), r.IntN(most)
				pads, want = append(pads, lo, hi), append(want, n+lo+hi)
			}
			b.add(op, []uint32{x, b.int32s([]uint32{uint32(len(dims)), 2}, pads...), b.int32(mode)}, like(x, want...))
		case nn.OpReverse:
			x := value(typ, dims...)
			b.add(op, []uint32{x, b.int32s([]uint32{1}, r.IntN(len(dims)))}, like(x, dims...))
		case nn.OpBatchMatmul:
			typ = pick(r, nn.TensorInt32, nn.TensorQuant8AsymmSigned)
			batch, rows, depth, cols := 1+r.IntN(3), 1+r.IntN(9), pick(r, 1, 3, 17, 130), pick(r, 1, 5, 33, 70)
			adjA, adjB := r.IntN(2) == 0, r.IntN(2) == 0
			da, db := []int{batch, rows, depth}, []int{batch, depth, cols}
			if adjA {
				da[1], da[2] = depth, rows
			}
			if adjB {
				db[1], db[2] = cols, depth
			}
			x, y := value(typ, da...), value(typ, db...)
			out := like(x, batch, rows, cols)
			if typ.IsQuant8() {
				b.m.Main.Operands[out].Scale = outScale(b, b.m.Main.Operands[x], depth)
			}
			b.add(op, []uint32{x, y, b.bool(adjA), b.bool(adjB)}, out)
		case nn.OpDiv:
			x, y := value(nn.TensorInt32, dims...), value(nn.TensorInt32, dims[len(dims)-1])
			binary.LittleEndian.PutUint32(in[0], 1<<31)
			binary.LittleEndian.PutUint32(in[1], ^uint32(0))
			b.add(op, []uint32{x, y, b.int32(0)}, like(x, dims...))
		case nn.OpRank:
			b.add(op, []uint32{value(typ, dims...)}, b.output(nn.Operand{Type: nn.Int32}))
		case nn.OpRsqrt:
			x := value(quantType(r), dims...)
			o := b.m.Main.Operands[x]
			o.Scale *= 40
			b.add(op, []uint32{x}, b.output(o))
		}
		t.Run(fmt.Sprintf("%d_%v_%v_%v", seed, op, typ, dims), func(t *testing.T) {
			drivertest.Exact(t, d, &b.m, in, r.IntN(2) == 0)
			checkRuntimeParameters(t, d, &b.m, in)
		})
	}
}

// TestRandomDensify stores random matrices sparsely.
func TestRandomDensify(t *testing.T) {
	d := device(t)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 32))
		b := newBuilder(r)
		rows, cols := 1+r.IntN(20), 1+r.IntN(40)
		segments, places := []int{0}, []int{}
		for range rows {
			for c := range cols {
				if r.IntN(4) == 0 {
					places = append(places, c)
				}
			}
			segments = append(segments, len(places))
		}
		if len(places) == 0 {
			continue
		}
		o := b.plain(anyType(r), len(places))
		x := b.input(o)
		none := func() uint32 { return b.operand(nn.Operand{Type: nn.TensorInt32, Lifetime: nn.NoValue}) }
		list := func(v ...int) uint32 { return b.int32s([]uint32{uint32(len(v))}, v...) }
		o.Dimensions = []uint32{uint32(rows), uint32(cols)}
		b.add(nn.OpDensify, []uint32{x, list(0, 1), none(), list(0, 1), list(rows, cols), none(), none(), list(segments...), list(places...)}, b.output(o))
		b.run(t, d, fmt.Sprintf("%d_%v_%dx%d", seed, o.Type, rows, cols))
	}
}

// An index that an execution brings and that does not exist fails it, and
// leaves the outputs alone.
func TestGatherBounds(t *testing.T) {
	b := newBuilder(rand.New(rand.NewPCG(1, 3)))
	o := b.activation(nn.TensorQuant8Asymm, 4, 200)
	x := b.input(o)
	idx := b.input(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{3}})
	o.Dimensions = []uint32{3, 200}
	b.add(nn.OpGather, []uint32{x, b.int32(0), idx}, b.output(o))
	p := require.V(device(t).PrepareModel(&b.m, hal.PrepareOptions{}))(t)
	data := b.bytes(800)
	for _, bad := range []int{4, -1, 1 << 30, -1 << 31} {
		out := make([]byte, 600)
		_, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{data, words(0, bad, 1)}, Outputs: [][]byte{out}})
		if hal.StatusOf(err) != hal.GeneralFailure || !strings.Contains(err.Error(), "GATHER: an index is not below 4") {
			t.Errorf("index %d: %v", bad, err)
		}
		for _, b := range out {
			if b != 0 {
				t.Fatalf("index %d: the output was written", bad)
			}
		}
	}
	require.V(execute(t, p, &b.m, [][]byte{data, words(3, 0, 1)}))(t)
}
