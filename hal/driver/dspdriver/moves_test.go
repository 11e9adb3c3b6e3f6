package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// permutations lists all orders of n dimensions.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var list [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			q := append(append(append([]int{}, p[:at]...), n-1), p[at:]...)
			list = append(list, q)
		}
	}
	return list
}

// TestTransposePermutations transposes every order of one to four dimensions of
// odd and round sizes.
func TestTransposePermutations(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(31, 1))
	sizes := []int{1, 2, 3, 4, 8, 16, 31, 32, 33, 64, 100, 127, 128, 129, 200, 300}
	for rank := 1; rank <= 4; rank++ {
		for _, perm := range permutations(rank) {
			for range 4 {
				var dims []int
				for len(dims) < rank {
					if n := pick(r, sizes...); n*product(dims) <= 1<<17 {
						dims = append(dims, n)
					}
				}
				r.Shuffle(rank, func(i, k int) { dims[i], dims[k] = dims[k], dims[i] })
				var want []int
				for _, p := range perm {
					want = append(want, dims[p])
				}
				b := newBuilder(r)
				o := b.activation(quantType(r), dims...)
				out := o
				out.Dimensions = b.activation(o.Type, want...).Dimensions
				b.add(nn.OpTranspose, []uint32{b.input(o), b.int32s([]uint32{uint32(rank)}, perm...)}, b.output(out))
				b.run(t, d, fmt.Sprintf("%v_%v", dims, perm))
			}
		}
	}
}

// TestRandomRuntimeWeights convolves with filters and biases that an execution brings or
// the model has, in both layouts, with all kinds of groups, paddings and dilations.
func TestRandomRuntimeWeights(t *testing.T) {
	d := device(t)
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 41))
		b := newBuilder(r)
		op := pick(r, nn.OpConv2D, nn.OpConv2D, nn.OpDepthwiseConv2D, nn.OpGroupedConv2D, nn.OpTransposeConv2D, nn.OpFullyConnected)
		n, h, w := 1+r.IntN(2), 1+r.IntN(9), 1+r.IntN(9)
		groups, mult := 1, 1
		per, out := pick(r, 1, 2, 3, 4, 5, 8, 16, 31, 32, 64, 127, 129), pick(r, 1, 2, 4, 5, 16, 31, 32, 33, 97, 127, 128, 129, 250)
		if op == nn.OpGroupedConv2D {
			groups = pick(r, 1, 2, 3, 4, 8, 12)
			per, out = min(per, 33), min(out, 40)
		}
		c, k := groups*per, groups*out
		kh, kw, sh, sw := 1+r.IntN(min(h, 4)), 1+r.IntN(min(w, 4)), 1+r.IntN(3), 1+r.IntN(3)
		dims, channelDim := []int{k, kh, kw, per}, 0
		switch op {
		case nn.OpDepthwiseConv2D:
			mult = pick(r, 1, 1, 2, 3)
			k = c * mult
			dims, channelDim = []int{1, kh, kw, k}, 3
		case nn.OpFullyConnected:
			dims, h, w, kh, kw = []int{k, c}, 1, 1, 1, 1
		}
		nchw := r.IntN(3) == 0
		image := func(h, w, c int) []int {
			switch {
			case op == nn.OpFullyConnected:
				return []int{n, c}
			case nchw:
				return []int{n, c, h, w}
			}
			return []int{n, h, w, c}
		}
		in := b.activation(quantType(r), image(h, w, c)...)
		x := b.input(in)
		f, bias := b.weights(in, dims, k, channelDim)
		if fo := &b.m.Main.Operands[f]; op == nn.OpFullyConnected && fo.Type == nn.TensorQuant8SymmPerChannel {
			o := b.activation(in.Type, k, c)
			o.Lifetime, o.Data = nn.ConstantCopy, fo.Data
			*fo = o
			b.m.Main.Operands[bias].Scale = in.Scale * o.Scale
		}
		data := [][]byte{b.bytes(n * h * w * c)}
		for _, i := range []uint32{f, bias} {
			if o := &b.m.Main.Operands[i]; r.IntN(4) != 0 {
				data = append(data, o.Data)
				o.Lifetime, o.Data = nn.SubgraphInput, nil
				b.m.Main.Inputs = append(b.m.Main.Inputs, i)
			}
		}
		pad := pick(r, nn.PaddingSame, nn.PaddingSame, nn.PaddingValid)
		oh, ow := (h+sh-1)/sh, (w+sw-1)/sw
		if pad == nn.PaddingValid {
			oh, ow = (h-kh)/sh+1, (w-kw)/sw+1
		}
		act, form := b.int32(r.IntN(4)), b.bool(nchw)
		args := []uint32{x, f, bias, b.int32(pad), b.int32(sw), b.int32(sh)}
		dilation := func() []uint32 {
			if sh*sw > 1 || pad == nn.PaddingValid {
				return nil
			}
			return []uint32{b.int32(1 + r.IntN(3)), b.int32(1 + r.IntN(3))}
		}
		switch op {
		case nn.OpDepthwiseConv2D:
			args = append(append(args, b.int32(mult), act, form), dilation()...)
		case nn.OpGroupedConv2D:
			args = append(args, b.int32(groups), act, form)
		case nn.OpTransposeConv2D:
			var p [4]int
			for i := range p {
				p[i] = r.IntN(3)
			}
			oh, ow = sh*(h-1)+kh-p[2]-p[3], sw*(w-1)+kw-p[0]-p[1]
			if oh < 1 || ow < 1 {
				continue
			}
			args = []uint32{x, f, bias, b.int32(p[0]), b.int32(p[1]), b.int32(p[2]), b.int32(p[3]), b.int32(sw), b.int32(sh), act, form}
		case nn.OpFullyConnected:
			args = []uint32{x, f, bias, act}
		default:
			args = append(append(args, act, form), dilation()...)
		}
		o := b.activation(in.Type, image(oh, ow, k)...)
		o.Scale = outScale(b, in, kh*kw*per)
		b.add(op, args, b.output(o))
		t.Run(fmt.Sprintf("%d_%v_%dx%dx%dx%d_f%v_s%dx%d_g%d", seed, op, n, h, w, c, dims, sh, sw, groups), func(t *testing.T) {
			drivertest.Exact(t, d, &b.m, data, r.IntN(2) == 0)
		})
	}
}

// TestTransposeOfAlias convolves in NCHW what EXPAND_DIMS gives, whose bytes keep the shape of three dimensions.
func TestTransposeOfAlias(t *testing.T) {
	d := device(t)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 43))
		b := newBuilder(r)
		dims := []int{1 + r.IntN(3), 1 + r.IntN(3), 1 + r.IntN(5)}
		axis := int(seed) % 4
		wide := slices.Insert(slices.Clone(dims), axis, 1)
		in := b.activation(quantType(r), dims...)
		x := b.input(in)
		in.Dimensions = nil
		for _, n := range wide {
			in.Dimensions = append(in.Dimensions, uint32(n))
		}
		middle := in
		middle.Lifetime = nn.TemporaryVariable
		y := b.operand(middle)
		b.add(nn.OpExpandDims, []uint32{x, b.int32(axis)}, y)
		k := 1 + r.IntN(4)
		f, bias := b.weights(in, []int{k, 1, 1, wide[1]}, k, 0)
		o := b.activation(in.Type, wide[0], k, wide[2], wide[3])
		o.Scale = outScale(b, in, wide[1])
		b.add(nn.OpConv2D, []uint32{y, f, bias, b.int32(nn.PaddingValid), b.int32(1), b.int32(1), b.int32(0), b.bool(true)}, b.output(o))
		t.Run(fmt.Sprintf("%d_%v_axis%d", seed, dims, axis), func(t *testing.T) {
			drivertest.Exact(t, d, &b.m, [][]byte{b.bytes(dims[0] * dims[1] * dims[2])}, true)
		})
	}
}

// TestPermuteNetworks routes random maps through each network and carries them out
// as the instructions do.
func TestPermuteNetworks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		var chunks []datamove.Chunk
		want := map[uint32]uint32{}
		from := r.Uint32N(1000)
		for to := uint32(0); to < layout.VectorBytes; {
			n := min(1+r.Uint32N(1+r.Uint32N(60)), layout.VectorBytes-to)
			if r.IntN(5) != 0 {
				chunks = append(chunks, datamove.Chunk{To: to, From: from, N: n})
				for i := range n {
					want[to+i] = from + i
				}
			}
			to += n
			from = pick(r, from+n, from+2*n, from, r.Uint32N(1000))
		}
		for _, k := range []datamove.Network{datamove.VdeltaNetwork, datamove.VrdeltaNetwork, datamove.Vlut32Network} {
			got := map[uint32]uint32{}
			for _, w := range k.Windows(chunks) {
				var at [layout.VectorBytes]uint32
				for i := range at {
					at[i] = w.At + uint32(i)
				}
				for s := range 7 {
					stride := 64 >> s
					if k == datamove.VrdeltaNetwork {
						stride = 1 << s
					}
					was := at
					for i := range at {
						if k != datamove.Vlut32Network && int(w.Controls[i])&stride != 0 {
							at[i] = was[i^stride]
						}
					}
				}
				for i, c := range w.Controls {
					if k == datamove.Vlut32Network && c < 0x80 {
						got[uint32(i)] |= w.At + uint32(c&63)<<1 + uint32(c>>6)
					} else if k != datamove.Vlut32Network && c&0x80 != 0 {
						got[uint32(i)] = at[i]
					}
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("network %d: %v\n%v, want\n%v", k, chunks, got, want)
			}
		}
	}
}

// TestRandomGatherShapes gathers entries of all lengths along all axes, with
// indexes that are constants or come with the execution.
func TestRandomGatherShapes(t *testing.T) {
	d := device(t)
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 42))
		b := newBuilder(r)
		dims := []int{pick(r, 1, 3, 31, 40), 1 + r.IntN(70), pick(r, 1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 127, 128, 129, 300)}
		axis := r.IntN(3)
		o := b.plain(anyType(r), dims...)
		list := make([]int, 1+r.IntN(90))
		for i := range list {
			list[i] = r.IntN(dims[axis])
		}
		out := o
		dims[axis] = len(list)
		out.Dimensions = b.plain(nn.TensorInt32, dims...).Dimensions
		data := [][]byte{b.bytes(int(o.Bytes()))}
		x, index := b.input(o), b.int32s([]uint32{uint32(len(list))}, list...)
		if i := &b.m.Main.Operands[index]; r.IntN(2) == 0 {
			data = append(data, i.Data)
			i.Lifetime, i.Data = nn.SubgraphInput, nil
			b.m.Main.Inputs = append(b.m.Main.Inputs, index)
		}
		b.add(nn.OpGather, []uint32{x, b.int32(axis), index}, b.output(out))
		t.Run(fmt.Sprintf("%d_%v_axis%d", seed, o.Dimensions, axis), func(t *testing.T) { drivertest.Exact(t, d, &b.m, data, r.IntN(2) == 0) })
	}
}

// TestLongRows reduces few rows of many elements.
func TestLongRows(t *testing.T) {
	d := device(t)
	r := rand.New(rand.NewPCG(9, 43))
	for _, op := range []nn.OperationType{nn.OpReduceMax, nn.OpReduceMin, nn.OpReduceAll, nn.OpReduceAny} {
		for _, dims := range [][]int{{1, 1025}, {1025}, {3, 1, 1031, 1}, {32, 1536}, {2, 40, 127}, {33, 1100}} {
			b := newBuilder(r)
			typ := quantType(r)
			if op == nn.OpReduceAll || op == nn.OpReduceAny {
				typ = nn.TensorBool8
			}
			in := b.plain(typ, dims...)
			out := in
			out.Dimensions = []uint32{uint32(dims[0])}
			axes := []int{1, 2, 3}[:len(dims)-1]
			if len(dims) == 1 {
				axes, out.Dimensions = []int{0}, []uint32{1}
			}
			b.add(op, []uint32{b.input(in), b.int32s([]uint32{uint32(len(axes))}, axes...), b.bool(false)}, b.output(out))
			data := b.bytes(product(dims))
			for i := range data { // no value that ends a reduction early
				if data[i] = data[i]%254 + 1; typ == nn.TensorBool8 {
					data[i] = byte(b2i(op == nn.OpReduceAll) ^ b2i(r.IntN(2000) == 0))
				}
			}
			t.Run(fmt.Sprintf("%v_%v", op, dims), func(t *testing.T) { drivertest.Exact(t, d, &b.m, [][]byte{data}, true) })
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
