package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// TestRandomPipelined runs convolutions of little depth over many positions, and
// demands that most have a software-pipelined kernel.
func TestRandomPipelined(t *testing.T) {
	d := device(t)
	pipelined, all := 0, 0
	run := func(b *builder, what string) {
		b.run(t, d, what)
		p, err := d.PrepareModel(&b.m, hal.PrepareOptions{})
		if err != nil {
			return
		}
		for _, k := range allKernels(p) {
			if strings.HasPrefix(k.Name, "pipelined") {
				pipelined++
			}
		}
		all++
	}
	for seed := range uint64(90) {
		r := rand.New(rand.NewPCG(seed, 31))
		b := newBuilder(r)
		n, h, w := 1+r.IntN(2), 7+r.IntN(18), 7+r.IntN(18)
		c := pick(r, 1, 3, 4, 7, 8, 12, 16, 17, 24, 32, 33, 48, 64, 96, 144)
		k := pick(r, 1, 8, 16, 17, 32, 40, 64, 65, 96, 100, 128, 129, 144, 192, 230, 256, 300)
		kh, kw, sh, sw := 1, 1, 1, 1
		if r.IntN(2) == 0 {
			kh, kw, sh, sw = 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(2)
		}
		_, what := b.conv(n, h, w, c, k, kh, kw, sh, sw)
		run(b, fmt.Sprintf("%d_%s", seed, what))
	}
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 32))
		b := newBuilder(r)
		batch, depth, units := 64+r.IntN(100), 1+r.IntN(64), 1+r.IntN(128)
		in := b.activation(quantType(r), batch, depth)
		x := b.input(in)
		o := b.activation(in.Type, units, depth)
		o.Lifetime, o.Data = nn.ConstantCopy, b.bytes(units*depth)
		bias := b.operand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(units)}, Scale: in.Scale * o.Scale,
			Lifetime: nn.ConstantCopy, Data: make([]byte, 4*units)})
		out := b.activation(in.Type, batch, units)
		out.Scale = outScale(b, in, depth)
		b.add(nn.OpFullyConnected, []uint32{x, b.operand(o), bias, b.int32(r.IntN(4))}, b.output(out))
		run(b, fmt.Sprintf("fc%d_%dx%d_u%d", seed, batch, depth, units))
	}
	if pipelined < all/2 {
		t.Errorf("%d of %d convolutions have a software-pipelined kernel", pipelined, all)
	}
	t.Logf("%d of %d convolutions have a software-pipelined kernel", pipelined, all)
}
