package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/nn"
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

// divideHalves is what the window kernel does in 16 bits.
func divideHalves(t *testing.T, w []uint32, sum int) int32 {
	t.Helper()
	add := int16(w[winLess-winAbove])
	if int16(sum) > int16(w[0]) {
		add = int16(w[winMore-winAbove])
	}
	x := (sum + int(add)) << w[winUp-winAbove]
	if x < 0 || x >= 1<<16 {
		t.Fatalf("dividend %d overflows", x)
	}
	return int32(uint32(x) * (w[winMult-winAbove] & 0xffff) >> 16 >> w[winDown-winAbove])
}

// Quotients are exact for every count and sum that matters: all sums of small
// windows, the neighbourhood of every quotient's edges for large ones.
func TestQuotient(t *testing.T) {
	divide := func(q *quotient, sum int32) int32 {
		add := q.less
		if sum > q.above {
			add = q.more
		}
		y := int64(sum+add)<<q.up + 1<<(q.up-1)
		if y >= 1<<31 {
			t.Fatalf("dividend %d overflows", y)
		}
		return int32((y*int64(q.mult)+1<<30)>>31) >> q.down
	}
	truth := func(sum, n int32, signed, mean bool) int32 {
		if signed {
			sum -= 128 * n
		}
		switch {
		case mean:
		case sum > 0:
			sum += n / 2
		default:
			sum -= n / 2
		}
		v := sum / n
		if signed {
			v += 128
		}
		return v
	}
	counts := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 25, 31, 32, 33, 49, 64, 100, 127, 128, 255, 256, 257, 1000, 4095, 4096,
		12544, 65535, 65536, 65537, 200000, maxQuotient - 1, maxQuotient}
	for _, n := range counts {
		for _, signed := range []bool{false, true} {
			for _, mean := range []bool{false, true} {
				make := averageQuotient
				if mean {
					make = meanQuotient
				}
				q, err := make(n, signed)
				if err != nil {
					t.Fatal(err)
				}
				try := func(sum int) {
					if sum < 0 || sum > 255*n {
						return
					}
					want := truth(int32(sum), int32(n), signed, mean)
					if got := divide(&q, int32(sum)); got != want {
						t.Fatalf("n %d signed %v mean %v: sum %d gives %d, want %d", n, signed, mean, sum, got, want)
					}
					if n <= maxHalves {
						if got := divideHalves(t, q.halfWords(n), sum); got != want {
							t.Fatalf("n %d signed %v mean %v: in 16 bits sum %d gives %d, want %d", n, signed, mean, sum, got, want)
						}
					}
				}
				if n <= 64 {
					for sum := 0; sum <= 255*n; sum++ {
						try(sum)
					}
					continue
				}
				for edge := 0; edge <= 255*n; edge += max(n/2, 1) {
					for off := -3; off <= 3; off++ {
						try(edge + off)
					}
				}
			}
		}
	}
	if _, err := newQuotient(maxQuotient+1, 0, 0, 0); err == nil {
		t.Error("no error beyond the limit")
	}
}
