package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// half16 saturates to a half.
func half16(x int64) int64 { return min(max(x, math.MinInt16), math.MaxInt16) }

// inHalves is a window's sum as the kernel makes it: each term and each addition in
// a group wraps, groups are joined by saturation.
func (f *pairForm) inHalves(w, x [3][3]int64, offset [2]int64, single int) int64 {
	var group [pairGroups]int16
	for y := range 3 {
		for c := range 3 {
			r, col := f.at(y, c)
			group[f.group[f.term(r, col, single)]] += int16(w[y][c] * x[y][c])
		}
	}
	for i, o := range offset {
		group[i] += int16(o)
	}
	return half16(half16(int64(group[0])+int64(group[1])) + int64(group[2]))
}

// TestPairs compares sums in halves with exact ones for all divisions that are said to be
// right, at all corners of the inputs and at random ones: between the first and the last
// step they are the same, and nowhere else do they lie there.
func TestPairs(t *testing.T) {
	right, saturated := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 71))
		size := pick(r, 10, 40, 100, 200, 255)
		var c pairChannel
		var w [3][3]int64
		for y := range w {
			for x := range w[y] {
				w[y][x] = int64(r.IntN(2*size+1) - size)
				if r.IntN(8) == 0 {
					w[y][x] = int64(pick(r, -255, 255, -128, 127, 0))
				}
				c.tap[y][x] = pairReach{min(255*w[y][x], 0), max(255*w[y][x], 0)}
			}
		}
		c.bias = int64(r.IntN(2*pick(r, 1, 1000, 100000)+1) - r.IntN(100000))
		win := pairWindow{int64(r.IntN(1<<15) - r.IntN(1<<15)), 0}
		win.last = min(win.first+int64(r.IntN(1<<16)), math.MaxInt16-1)
		for _, group := range pairGroupings {
			f := pairForm{turned: r.IntN(2) == 0, row: r.IntN(3), group: group, single: pick(r, []int{2}, []int{2, 0}, []int{1})}
			offset, ok := f.offsets(&c, win, [2]bool{})
			if !ok {
				continue
			}
			right++
			for n := range 1<<9 + 100 {
				var x [3][3]int64
				sum := c.bias
				for i := range 9 {
					if v := &x[i/3][i%3]; n < 1<<9 {
						*v = int64(n >> i & 1 * 255)
					} else {
						*v = int64(r.IntN(256))
					}
					sum += w[i/3][i%3] * x[i/3][i%3]
				}
				for _, single := range f.single {
					got := f.inHalves(w, x, offset, single)
					if got != half16(sum) {
						saturated++
					}
					bound := func(v int64) int64 { return min(max(v, win.first-1), win.last) }
					if bound(got) != bound(sum) {
						t.Fatalf("seed %d: %+v, weights %v, bias %d as %d, window %v: inputs %v make %d, want %d", seed, f, w, c.bias, offset, win, x, got, sum)
					}
				}
			}
		}
	}
	t.Logf("%d divisions, %d sums differ outside the window", right, saturated)
	if right < 1000 || saturated < 1000 {
		t.Errorf("%d divisions, %d sums differ", right, saturated)
	}
}

// TestRandomNinePairs runs depthwise windows of three by three whose weights are small enough
// for sums in halves, on inputs of which many are 0 or 255.
func TestRandomNinePairs(t *testing.T) {
	d := device(t)
	seen := map[string]int{}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 72))
		b := newBuilder(r)
		c := pick(r, 3, 16, 32, 40, 64, 96, 128, 144, 256, 300)
		n, h, w := 1+r.IntN(2), 1+r.IntN(6), 2+r.IntN(30)
		s, dil := pick(r, 1, 1, 2, 2, 3), pick(r, 1, 1, 1, 2)
		in := b.activation(quantType(r), n, h, w, c)
		x := b.input(in)
		f := b.activation(in.Type, 1, 3, 3, c)
		f.Lifetime = nn.ConstantCopy
		least := -int(unsignedBias(in.Type))
		f.ZeroPoint = int32(128 + least)
		f.ZeroPoint += int32(pick(r, 0, 0, 20, -20, -100))
		size := pick(r, 15, 30, 45, 60)
		for range c * 9 {
			f.Data = append(f.Data, byte(max(int(f.ZeroPoint)+r.IntN(2*size+1)-size, least)))
		}
		for range pick(r, 0, 0, 1, 4) {
			f.Data[r.IntN(len(f.Data))] = byte(pick(r, r.IntN(256), 0, 255, 127))
		}
		bias := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(c)}, Scale: in.Scale * f.Scale, Lifetime: nn.ConstantCopy}
		for range c {
			bias.Data = binary.LittleEndian.AppendUint32(bias.Data, uint32(r.Int32N(8001)-4000))
		}
		out := b.activation(in.Type, n, 0, 0, c)
		out.Scale = in.Scale * f.Scale * float32(math.Exp2(2+6*r.Float64()))
		p := [4]int{r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3)}
		for 2*dil+1 > w+p[0]+p[1] {
			p[1]++
		}
		for 2*dil+1 > h+p[2]+p[3] {
			p[3]++
		}
		out.Dimensions[1], out.Dimensions[2] = uint32((h+p[2]+p[3]-2*dil-1)/s+1), uint32((w+p[0]+p[1]-2*dil-1)/s+1)
		b.add(nn.OpDepthwiseConv2D, []uint32{x, b.operand(f), b.operand(bias), b.int32(p[0]), b.int32(p[1]), b.int32(p[2]), b.int32(p[3]), b.int32(s), b.int32(s),
			b.int32(1), b.int32(r.IntN(4)), b.bool(false), b.int32(dil), b.int32(dil)}, b.output(out))
		bytes := b.bytes(int(in.Elements()))
		for i := range bytes {
			if r.IntN(3) > 0 {
				bytes[i] = byte(pick(r, 0, 255, 128, 127))
			}
		}
		t.Run(fmt.Sprintf("%d_%dx%dx%dx%d_s%d_d%d", seed, n, h, w, c, s, dil), func(t *testing.T) { check(t, d, &b.m, [][]byte{bytes}, false) })
		p2, err := d.PrepareModel(&b.m, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range allKernels(p2) {
			name, ok := strings.CutPrefix(k.name, "depth_pairs_")
			if !ok {
				continue
			}
			seen["pairs"]++
			for _, part := range strings.Split(name, "_") {
				for _, what := range [...]string{"s1", "s2", "s3", "d2", "o01", "o11", "same0", "m0.0.0.0.0.0.0.0.0", "c1+0", "c2", "c4"} {
					if strings.HasPrefix(part, what) {
						seen[what]++
					}
				}
			}
		}
	}
	t.Log(seen)
	for what, least := range map[string]int{"pairs": 15, "s1": 5, "s2": 5, "s3": 3, "d2": 3, "o01": 3, "o11": 3, "same0": 3} {
		if seen[what] < least {
			t.Errorf("%d kernels of %s", seen[what], what)
		}
	}
	if seen["m0.0.0.0.0.0.0.0.0"] == seen["pairs"] {
		t.Error("no kernel has weights of more than a byte")
	}
}
