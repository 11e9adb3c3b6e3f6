package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/drivertest"
)

// TestAddAllPairs adds and subtracts all pairs of bytes, with scales that differ much,
// little and not at all. Of so many constants are found with which halves are enough.
func TestAddAllPairs(t *testing.T) {
	d := device(t)
	seen := map[string]int{}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 43))
		b := newBuilder(r)
		typ := quantType(r)
		oa, ob, oo := b.activation(typ, 256, 1), b.activation(typ, 1, 256), b.activation(typ, 256, 256)
		switch r.IntN(4) {
		case 0:
			ob.Scale = oa.Scale
		case 1:
			ob.Scale, oo.Scale = oa.Scale, 2*oa.Scale
		case 2:
			ob.Scale *= 30
			oo.Scale *= 30
		}
		op, act := pick(r, nn.OpAdd, nn.OpSub), r.IntN(4)
		b.add(op, []uint32{b.input(oa), b.input(ob), b.int32(act)}, b.output(oo))
		var all []byte
		for i := range 256 {
			all = append(all, byte(i))
		}
		t.Run(fmt.Sprintf("%d_%v_%d", seed, op, act), func(t *testing.T) {
			drivertest.Exact(t, d, &b.m, [][]byte{all, all}, true)
		})
		p := require.V(d.PrepareModel(&b.m, hal.PrepareOptions{}))(t)
		for _, k := range allKernels(p) {
			seen[strings.SplitN(k.Name, "_", 2)[0]]++
		}
	}
	if seen["affine"] != 37 || seen["add"]+seen["sub"] != 3 {
		t.Errorf("kernels %v", seen)
	}
}
