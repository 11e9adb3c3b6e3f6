package dspdriver

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

// Requantization is exact for every kind of multiplier and for accumulators of
// any size: biases cover all of int32, output scales 2^-6 to 2^34 of the
// accumulator's.
func TestRequantExtremes(t *testing.T) {
	d := device(t)
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 11))
		b := newBuilder(r)
		k := pick(r, 20, 50, 128, 170)
		in := b.activation(quantType(r), 1, 3, 3, 4)
		in.Scale = 1.0 / 64
		x := b.input(in)
		depthwise := r.IntN(3) == 0
		dims, channelDim := []int{k, 1, 1, 4}, 0
		if depthwise {
			in.Dimensions[3] = uint32(k)
			b.m.Main.Operands[x] = in
			b.m.Main.Operands[x].Lifetime = nn.SubgraphInput
			dims, channelDim = []int{1, 1, 1, k}, 3
		}
		f, bias := b.weights(in, dims, k, channelDim)
		out := b.activation(in.Type, 1, 3, 3, k)
		w := &b.m.Main.Operands[f]
		if w.Channel != nil {
			for c := range w.Channel.Scales {
				w.Channel.Scales[c] = float32(math.Exp2(40*r.Float64() - 34))
			}
			out.Scale = in.Scale
		} else {
			out.Scale = in.Scale * w.Scale * float32(math.Exp2(40*r.Float64()-6))
		}
		data := b.m.Main.Operands[bias].Data
		for c := range k {
			v := int32(r.Uint32()) >> r.IntN(32)
			switch r.IntN(8) {
			case 0:
				v = math.MaxInt32 - r.Int32N(1<<20)
			case 1:
				v = math.MinInt32 + r.Int32N(1<<20)
			}
			binary.LittleEndian.PutUint32(data[4*c:], uint32(v))
		}
		args := []uint32{x, f, bias, b.int32(nn.PaddingValid), b.int32(1), b.int32(1)}
		op := nn.OpConv2D
		if depthwise {
			op = nn.OpDepthwiseConv2D
			args = append(args, b.int32(1))
		}
		b.add(op, append(args, b.int32(r.IntN(4))), b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%v_k%d", seed, op, k))
	}
}
