package dsp

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// TestSuperinstructions compares rows of multiplications, one or two in a packet, whose
// accumulators and factors are often the same, with those executed one by one in Go.
func TestSuperinstructions(t *testing.T) {
	core := testCore(t)
	r := rand.New(rand.NewSource(13))
	joined := map[hexagon.Op]int{}
	for range 400 {
		var text strings.Builder
		acc, sign := "uw", "ub"
		if r.Intn(2) == 0 {
			acc, sign = "w", "b"
		}
		multiply := func(d int) string {
			return fmt.Sprintf("v%d.%s += vrmpy(v%d.ub,r%d.%s)", d, acc, r.Intn(3), r.Intn(3), sign)
		}
		inst := func(d int) string {
			if r.Intn(12) == 0 {
				return fmt.Sprintf("v%d = vmem(r26+#%d)", d, r.Intn(3))
			}
			return multiply(d)
		}
		for range 1 + r.Intn(8) {
			a, b := r.Intn(4), r.Intn(4)
			if a == b || r.Intn(4) == 0 {
				fmt.Fprintf(&text, "{ %s }\n", inst(a))
			} else {
				fmt.Fprintf(&text, "{ %s ; %s }\n", inst(a), multiply(b))
			}
		}
		p, st := assemble(t, codeBase, text.String()), randomState(r)
		scratch := make([]byte, 1024)
		r.Read(scratch)
		want, _ := runOn(t, core, nil, p, st, scratch)
		handlers := hostHandlers(t)
		if got, _ := runOn(t, core, handlers, p, st, scratch); got != want {
			t.Fatalf("differs from Go:\n%s", text.String())
		}
		inner := *core.Core
		inner.asm = handlers
		d := require.V(inner.decode(p, 0))(t)
		var b decode.Block
		require.NoError(t, d.dec.Block(codeBase, &b))
		for i := range b.Ops[:len(b.Ops)-1] {
			if op := hexagon.Op(b.Ops[i].Op); b.Ops[i].Asm != handlers.Of(op) {
				joined[op]++
			}
		}
	}
	for _, op := range []hexagon.Op{hexagon.V6_vrmpyub_acc, hexagon.V6_vrmpybus_acc} {
		if joined[op] < 100 {
			t.Errorf("%d superinstructions of %v", joined[op], op)
		}
	}
}
