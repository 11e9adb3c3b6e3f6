package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// product is that of a tap of the form's rows and columns.
func (f *acc16Split) product(y, x int) int {
	if y == f.row {
		return int(f.partner[x])
	}
	return x
}

// half16 saturates to a half.
func half16(x int64) int64 { return min(max(x, math.MinInt16), math.MaxInt16) }

// inAcc16 is a window's sum as the kernel makes it: products and additions in a group
// wrap, and groups are joined by saturation.
func (f *acc16Split) inAcc16(c *acc16Channel, x *[3][3]int64, offset [acc16Products]int64) int64 {
	var group [acc16Products]int16
	for y := range 3 {
		for col := range 3 {
			p := f.product(f.at(y, col))
			group[f.group[p]] += int16(int64(c.weight[y][col]) * x[y][col])
		}
	}
	sum := int64(0)
	for i := range f.groups() {
		sum = half16(sum + int64(group[i]+int16(offset[i])))
	}
	return sum
}

// TestAcc16Splits compares sums in halves with exact ones for divisions that are said to be
// right, at all corners of the inputs and at random ones: between the first and the last
// step they are the same, and nowhere else do they lie there.
func TestAcc16Splits(t *testing.T) {
	right, saturated, settled := map[int]int{}, 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 71))
		size := pick(r, 10, 40, 70, 100, 200, 255)
		sign := int32(pick(r, 0, 0, 1, -1))
		var c acc16Channel
		for y := range c.weight {
			for x := range c.weight[y] {
				w := int32(r.IntN(2*size+1) - size)
				if r.IntN(8) == 0 {
					w = int32(pick(r, -255, 255, -128, 127, 0))
				}
				if sign != 0 {
					w = sign * max(w, -w)
				}
				c.weight[y][x] = w
			}
		}
		c.bias = int64(r.IntN(2*pick(r, 1, 1000, 100000)+1) - r.IntN(100000))
		win := acc16Range{int64(r.IntN(1<<15) - r.IntN(1<<15)), 0}
		win.last = min(win.first+int64(r.IntN(1<<pick(r, 8, 12, 16))), math.MaxInt16-1)
		if r.IntN(8) == 0 { // near the end of what has one result
			size := int64(0)
			for i := range 9 {
				w := &c.weight[i/3][i%3]
				*w = -max(*w, -*w)
				size -= int64(*w) * 255
			}
			if c.bias = win.first - 2 + int64(r.IntN(3)); r.IntN(2) == 0 {
				c.bias = win.last + size - 1 + int64(r.IntN(3))
			}
		}
		model := c
		if c = c.settled(win); c != model {
			settled++
		}
		for range 25 {
			list := acc16Splits(r.IntN(2) == 0, r.IntN(3), pick(r, thirdProduct, acc16Products))
			f := list[r.IntN(len(list))]
			for g := range f.offset {
				f.offset[g] = r.IntN(4) > 0
			}
			reaches := f.reaches(&c)
			offset, ok := f.divide(&reaches, c.bias, win)
			if !ok {
				continue
			}
			right[f.groups()]++
			for g, o := range offset {
				if o != 0 && !f.offset[g] || o != half16(o) {
					t.Fatalf("seed %d: %+v has offsets %v", seed, f, offset)
				}
			}
			for n := range 1<<9 + 100 {
				var x [3][3]int64
				sum := model.bias
				for i := range 9 {
					if v := &x[i/3][i%3]; n < 1<<9 {
						*v = int64(n >> i & 1 * 255)
					} else {
						*v = int64(r.IntN(256))
					}
					sum += int64(model.weight[i/3][i%3]) * x[i/3][i%3]
				}
				got := f.inAcc16(&c, &x, offset)
				if got != half16(sum) {
					saturated++
				}
				bound := func(v int64) int64 { return min(max(v, win.first-1), win.last) }
				if bound(got) != bound(sum) {
					t.Fatalf("seed %d: %+v, %+v with offsets %v, window %v: inputs %v make %d, want %d", seed, f, model, offset, win, x, got, sum)
				}
			}
		}
	}
	t.Logf("%v divisions by groups, %d sums differ outside the window, %d channels are settled", right, saturated, settled)
	for _, groups := range []int{1, 2, 3, 4} {
		if right[groups] < 50 {
			t.Errorf("%d divisions into %d groups", right[groups], groups)
		}
	}
	if saturated < 1000 || settled < 20 {
		t.Errorf("only %d sums differ, %d channels are settled", saturated, settled)
	}
}

// TestRandomDepthwise3x3Acc16 runs depthwise windows of three by three whose weights are small enough
// for sums in halves, on inputs of which many are 0 or 255.
func TestRandomDepthwise3x3Acc16(t *testing.T) {
	d := device(t)
	seen := map[string]int{}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 72))
		b := newBuilder(r)
		c := pick(r, 3, 16, 32, 40, 64, 64, 96, 128, 144, 256, 300)
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
		out.Scale = in.Scale * f.Scale * float32(math.Exp2(1+9*r.Float64()))
		if r.IntN(3) == 0 {
			out.ZeroPoint = int32(least)
		}
		p := [4]int{pick(r, 0, 1, 2), r.IntN(3), r.IntN(3), r.IntN(3)}
		if s == 2 {
			p[0] &^= 1
		}
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
			name, ok := strings.CutPrefix(k.Name, "dw3x3_acc16_")
			if !ok {
				continue
			}
			seen["acc16"]++
			for _, part := range strings.Split(name, "_") {
				if strings.HasPrefix(part, "q") {
					for _, kind := range []string{"s", "0", "k"} {
						if strings.Contains(part, kind) {
							seen["q"+kind]++
						} else {
							seen["not q"+kind]++
						}
					}
				}
				for _, what := range [...]string{"s1", "s2", "s3", "d2", "o1", "o3", "o7", "same0", "m0.0.0.0.0.0.0.0.0", "c1+0", "c2", "c4"} {
					if strings.HasPrefix(part, what) {
						seen[what]++
					}
				}
			}
		}
	}
	t.Log(seen)
	for what, least := range map[string]int{"acc16": 15, "s1": 5, "s2": 5, "s3": 3, "d2": 3, "same0": 3, "c2": 3, "c4": 3, "not qs": 3, "not q0": 3, "not qk": 3} {
		if seen[what] < least {
			t.Errorf("%d kernels of %s", seen[what], what)
		}
	}
	if seen["m0.0.0.0.0.0.0.0.0"] == seen["acc16"] {
		t.Error("no kernel has weights of more than a byte")
	}
}

// TestAcc16OfSomeChunks: a channel whose sums are too wide for halves leaves them to the
// other chunks, where those are large enough.
func TestAcc16OfSomeChunks(t *testing.T) {
	d := device(t)
	for _, wide := range []int{5, 130, 299} {
		r := rand.New(rand.NewPCG(uint64(wide), 73))
		b := newBuilder(r)
		const c, h, w = 300, 20, 50
		in := b.activation(nn.TensorQuant8Asymm, 1, h, w, c)
		f := b.activation(nn.TensorQuant8Asymm, 1, 3, 3, c)
		f.ZeroPoint, f.Lifetime, f.Data = 128, nn.ConstantCopy, make([]byte, 9*c)
		for i := range f.Data {
			if f.Data[i] = byte(128 + r.IntN(41) - 20); i%c == wide {
				f.Data[i] = byte(pick(r, 0, 255))
			}
		}
		bias := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{c}, Scale: in.Scale * f.Scale, Lifetime: nn.ConstantCopy, Data: make([]byte, 4*c)}
		out := b.activation(in.Type, 1, h, w, c)
		out.Scale, out.ZeroPoint = in.Scale*f.Scale*50, 0
		x := b.input(in)
		b.add(nn.OpDepthwiseConv2D, []uint32{x, b.operand(f), b.operand(bias), b.int32(nn.PaddingSame), b.int32(1), b.int32(1), b.int32(1), b.int32(0)}, b.output(out))
		check(t, d, &b.m, [][]byte{b.bytes(h * w * c)}, false)
		p, err := d.PrepareModel(&b.m, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, k := range allKernels(p) {
			for _, kind := range []string{"dw3x3_acc16_", "dw3x3_acc32_"} {
				if strings.HasPrefix(k.Name, kind) {
					count[kind]++
				}
			}
		}
		if count["dw3x3_acc16_"] == 0 || count["dw3x3_acc32_"] == 0 {
			t.Errorf("channel %d: kernels %v", wide, count)
		}
	}
}

// TestDepthwisePackets: whole depthwise operations of the default network make about
// as many multiply-accumulates per packet as docs/HexagonTiming.md says.
func TestDepthwisePackets(t *testing.T) {
	m := zoo.MustBuild("mobilenet_v1_1.0_224_quant")
	p, err := device(t).PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := make([]byte, m.Main.Operands[m.Main.Inputs[0]].Bytes())
	res, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{in}, Outputs: outputs(m), ExecuteOptions: hal.ExecuteOptions{Detail: true}})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, o := range res.Stats.Operations {
		if o.Index < 0 || m.Main.Operations[o.Index].Type != nn.OpDepthwiseConv2D {
			continue
		}
		for _, c := range o.Counters {
			if c.Name == "packets" {
				checked++
				if got := float64(o.MACs) / float64(c.Value); got < 85 {
					t.Errorf("operation %d: %.1f per packet", o.Index, got)
				}
			}
		}
	}
	if checked != 13 {
		t.Errorf("%d operations", checked)
	}
}
