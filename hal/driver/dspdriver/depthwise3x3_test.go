package dspdriver

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// TestRandomDepthwise3x3 runs depthwise windows of three by three, and demands that most have
// the 3x3 kernel, each kind of it: both ways of requantization, weights of more than a signed byte, biases of more than
// a half, columns shared or not.
func TestRandomDepthwise3x3(t *testing.T) {
	d := device(t)
	seen, all := map[string]int{}, 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 34))
		b := newBuilder(r)
		c := pick(r, 3, 8, 16, 24, 32, 40, 64)
		n, h, w := 1+r.IntN(2), 1+r.IntN(9), 2+r.IntN(40)
		s, dil := pick(r, 1, 1, 2, 2), pick(r, 1, 1, 1, 2)
		typ := quantType(r)
		if seed%2 == 0 {
			typ = nn.TensorQuant8Asymm
		}
		in := b.activation(typ, n, h, w, c)
		x := b.input(in)
		f, bias := b.weights(in, []int{1, 3, 3, c}, c, 3)
		if o := &b.m.Main.Operands[f]; o.Type != nn.TensorQuant8SymmPerChannel {
			outliers := pick(r, 0, 1, 3)
			for i := range o.Data {
				least := 0
				if o.Type != nn.TensorQuant8Asymm {
					least = -128
				}
				w := max(least, min(least+255, int(o.ZeroPoint)+r.IntN(200)-100))
				o.Data[i] = byte(w)
			}
			for range outliers {
				o.Data[r.IntN(len(o.Data))] = byte(r.IntN(256))
			}
		}
		if r.IntN(4) == 0 {
			data := b.m.Main.Operands[bias].Data
			for range 1 + r.IntN(3) {
				binary.LittleEndian.PutUint32(data[4*r.IntN(c):], uint32(r.Int32N(400001)-200000))
			}
		}
		out := b.activation(in.Type, n, 0, 0, c)
		out.Scale = outScale(b, in, 9)
		p := [4]int{r.IntN(3), r.IntN(3), r.IntN(3), r.IntN(3)}
		for 2*dil+1 > w+p[0]+p[1] {
			p[1]++
		}
		for 2*dil+1 > h+p[2]+p[3] {
			p[3]++
		}
		out.Dimensions[1], out.Dimensions[2] = uint32((h+p[2]+p[3]-2*dil-1)/s+1), uint32((w+p[0]+p[1]-2*dil-1)/s+1)
		b.add(nn.OpDepthwiseConv2D, []uint32{x, f, bias, b.int32(p[0]), b.int32(p[1]), b.int32(p[2]), b.int32(p[3]), b.int32(s), b.int32(s),
			b.int32(1), b.int32(r.IntN(4)), b.bool(false), b.int32(dil), b.int32(dil)}, b.output(out))
		b.run(t, d, fmt.Sprintf("%d_%dx%dx%dx%d_s%d_d%d", seed, n, h, w, c, s, dil))
		p2, err := d.PrepareModel(&b.m, hal.PrepareOptions{})
		if err != nil {
			continue
		}
		all++
		for _, k := range allKernels(p2) {
			name, found := strings.CutPrefix(k.Name, "dw3x3_")
			if !found {
				continue
			}
			seen["3x3"]++
			mark := func(what string, is bool) {
				if is {
					seen[what]++
				}
			}
			parts := strings.Split(name, "_")
			find := func(prefix string) string {
				for _, x := range parts {
					if strings.HasPrefix(x, prefix) {
						return x
					}
				}
				return ""
			}
			mark("several positions", !strings.HasPrefix(find("c"), "c1+"))
			mark("stride 1", find("s") == "s1")
			mark("stride 2", find("s") == "s2")
			mark("dilation", find("d") == "d2")
			mark("by channel", strings.Contains(find("q"), "c"))
			mark("halves", strings.Contains(find("q"), "h"))
			mark("from zero", strings.Contains(find("q"), "0"))
			mark("wide", find("wide") != "")
			mark("one record", find("same") != "")
			mark("more bytes", strings.ContainsAny(parts[7], "2")) // of the words' weights
		}
	}
	t.Logf("%d operations: %v", all, seen)
	for _, what := range []string{"several positions", "stride 1", "stride 2", "dilation", "by channel", "halves",
		"from zero", "wide", "one record", "more bytes"} {
		if seen[what] < 3 {
			t.Errorf("%d kernels with %s", seen[what], what)
		}
	}
	if seen["3x3"] < all/2 {
		t.Errorf("%d of %d have the kernel", seen["3x3"], all)
	}
}
