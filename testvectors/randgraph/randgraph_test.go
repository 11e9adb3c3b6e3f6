package randgraph

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// noSignature has the operation whose result is random.
var noSignature = []nn.OperationType{nn.OpRandomMultinomial}

// TestEveryOperation: all operations of the reference can be drawn, in all types.
func TestEveryOperation(t *testing.T) {
	have := map[nn.OperationType]bool{}
	for _, v := range Variants() {
		have[v.Op] = true
	}
	for _, op := range nn.Operations() {
		if refcpu.Supported(op) && !have[op] && !slices.Contains(noSignature, op) {
			t.Errorf("%v has no signature", op)
		}
	}
}

// TestLegal: drawn cases pass validation and run on the reference.
func TestLegal(t *testing.T) {
	for i, v := range slices.Concat(Variants(), Variants()) {
		kind := &kinds[0]
		if i >= len(Variants()) {
			kind = &kinds[5] // unusual
		}
		tries, drawn := 0, 0
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			b := newBuilder(Standard(), kind)
			for !b.add(v, &source{rng: r}) && tries < 4000 {
				tries++
			}
			if len(b.slots) == 0 {
				break
			}
			drawn++
			for x, data := range b.data {
				for at := 0; v.sig.sums && b.g.Operands[x].Type == nn.TensorFloat32 && at < len(data); at += 4 {
					f := math.Float32frombits(binary.LittleEndian.Uint32(data[at:]))
					if a := math.Abs(float64(f)); a > 1000 && !math.IsInf(a, 0) {
						t.Fatalf("%s %v: others vanish beside %g in a sum", kind.name, v, f)
					}
				}
			}
			c := b.finish()
			if _, err := reference(c); err != nil {
				t.Errorf("%s %v: %v", kind.name, v, err)
				break
			}
			again := c.recipe.build()
			if again == nil || len(again.Inputs) != len(c.Inputs) {
				t.Errorf("%s %v: the recipe gives another case", kind.name, v)
				break
			}
			for k := range c.Inputs {
				require.Check(t, string(again.Inputs[k]) == string(c.Inputs[k]), "%s %v: the recipe gives other inputs", kind.name, v)
			}
		}
		require.Check(t, tries <= 3*drawn+20, "%s %v: %d legal cases, %d refused", kind.name, v, drawn, tries)
	}
}

// TestFloat: the reference in 8 bits and in float16 agrees with its float32
// results, and the comparison can fail.
func TestFloat(t *testing.T) {
	g := require.V(NewGenerator(8, nil))(t)
	compared := 0
	for i := range 1200 {
		c := require.V(g.Case(i, nil))(t)
		if equivalent(c) == nil {
			continue
		}
		want := require.V(reference(c))(t)
		float := require.V(golden(c, append([]refcpu.Tensor(nil), want...)))(t, c.Name)
		compared++
		got := make([][]byte, len(want))
		for k := range want {
			got[k] = want[k].Data
		}
		require.Report(t, differs(c, float, got, nil, rule(c.Class, false, true)), c.Name, c.Variants)
		for k, x := range c.Model.Main.Outputs {
			if !c.Model.Main.Operands[x].Type.IsQuant8() {
				continue
			}
			got[k] = append([]byte(nil), want[k].Data...)
			got[k][0] ^= 0x80
			require.Check(t, differs(c, float, got, nil, rule(c.Class, false, true)) != nil, "%s: %v: a wrong element passes", c.Name, c.Variants)
			got[k] = want[k].Data
		}
	}
	require.Check(t, compared >= 300, "only %d cases have a float32 equivalent", compared)
}

// TestExactInputs: SIN, which makes anything of the rounding of a large number, is not behind another operation.
func TestExactInputs(t *testing.T) {
	g := require.V(NewGenerator(77001, regexp.MustCompile("^(SIN|EXP|ADD)$")))(t)
	seen := 0
	for i := range 300 {
		c := require.V(g.Case(i, nil))(t)
		m := &c.Model.Main
		for _, op := range m.Operations {
			if op.Type != nn.OpSin {
				continue
			}
			seen++
			if l := m.Operands[op.Inputs[0]].Lifetime; l != nn.SubgraphInput && l != nn.ConstantCopy {
				t.Errorf("case %d: SIN of what is %v", i, l)
			}
		}
	}
	require.Check(t, seen >= 100, "%d times SIN", seen)
}
