package gpudriver

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

// TestRandomConv draws convolutions of all shapes and paddings.
func TestRandomConv(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	n := 60
	if testing.Short() {
		n = 10
	}
	for i := range n {
		pick := func(v ...int) int { return v[r.IntN(len(v))] }
		c := convCase{n: 1 + r.IntN(2), h: 1 + r.IntN(14), w: 1 + r.IntN(14), c: pick(1, 2, 3, 4, 8, 12, 16, 24, 32, 48), k: pick(1, 5, 16, 31, 32, 33, 64, 96, 130),
			kh: 1 + r.IntN(4), kw: 1 + r.IntN(4), sh: 1 + r.IntN(3), sw: 1 + r.IntN(3), dh: 1 + r.IntN(2), dw: 1 + r.IntN(2), act: int32(r.IntN(4))}
		if r.IntN(3) == 0 {
			c.mult = 1 + r.IntN(3)
			c.k = c.c * c.mult
		}
		ph, pw := (c.kh-1)*c.dh, (c.kw-1)*c.dw
		c.top, c.bottom, c.left, c.right = r.IntN(ph+1), r.IntN(ph+1), r.IntN(pw+1), r.IntN(pw+1)
		if oh, ow := c.outDims(); oh < 1 || ow < 1 || c.h+c.top+c.bottom < ph+1 || c.w+c.left+c.right < pw+1 {
			continue
		}
		typ := []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16}[r.IntN(2)]
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b, want := c.build(typ)
			b.check(t, want)
			if t.Failed() {
				t.Logf("%s %+v", typ, c)
			}
		})
	}
}
