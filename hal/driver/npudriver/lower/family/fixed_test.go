package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// chained lowers an operation on 32-bit elements by a chain, to the first elements of its output.
type chained struct {
	of  func(c *chain, x layout.Ref) layout.Ref
	out *int // elements that the chain gives
}

func (chained) Identity() string { return "chained" }

func (chained) Check(opspec.View, *nn.Operation) error { return nil }

func (w chained) Lower(l *lower.Lowering, op *nn.Operation) error {
	in := l.Operand(op.Inputs[0]).Dimensions
	x := l.In(op.Inputs[0], 1, 1, 1)
	x.FeatureMap = layout.Dense(0, int(in[0]), 1, int(in[1]), 4, true)
	c := &chain{l: l}
	y := bytesOf(w.of(c, x))
	*w.out = y.C / 4
	l.Copy(y, l.Out(op.Outputs[0], y.H, y.W, y.C))
	return nil
}

// chainSteps are the steps of a chain on rows of so many channels, and how many elements it gives.
func chainSteps(t *testing.T, name string, rows, channels int, of func(c *chain, x layout.Ref) layout.Ref) (spec npu.Spec, list *step.List, n int) {
	t.Helper()
	machine := require.V(soc.Load(name))(t)
	spec = require.V(npu.FromSoC(machine, sim.FastSingleAnswer))(t)
	in := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(rows), uint32(channels)}, Lifetime: nn.SubgraphInput}
	out := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2, uint32(rows), uint32(channels)}, Lifetime: nn.SubgraphOutput}
	g := graph.FromSubgraph(&nn.Subgraph{Operands: []nn.Operand{in, out}, Operations: []nn.Operation{{Type: nn.OpAbs, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs: []uint32{0}, Outputs: []uint32{1}})
	list = require.V(lower.Graph(Table(), &spec, g, []lower.Operation{chained{of, &n}}, nil))(t)
	return spec, list, n
}

// runChain is what the kernels of a chain make of 32-bit elements, rows of so many channels.
func runChain(t *testing.T, in []int32, rows, channels int, of func(c *chain, x layout.Ref) layout.Ref) []int32 {
	t.Helper()
	spec, list, n := chainSteps(t, "ethos-u55-128", rows, channels, of)
	p := require.V(plan.New(plan.Own(&spec, 1<<28), list))(t)
	core := require.V(npu.New(spec))(t)
	var r npu.Regions
	r[0] = p.Consts
	for i := 1; i < len(r); i++ {
		r[i] = slices.Repeat([]byte{0}, p.Region(i))
	}
	copy(r[p.Inputs[0].Region][p.Inputs[0].Addr:], words(in))
	require.V(core.Run(&p.Code, &r, npu.Options{Functional: true}))(t)
	out := p.Outputs[0]
	return integers(r[out.Region][out.Addr:][:4*n])
}

// TestFunctions: LOGISTIC and TANH of every 16-bit value with every number of integer bits are the reference's,
// also several of them at once.
func TestFunctions(t *testing.T) {
	var all []int32
	for v := math.MinInt16; v <= math.MaxInt16; v++ {
		all = append(all, int32(v))
	}
	for _, list := range [][]function{
		{{integer: 0}, {integer: 1}, {integer: 2}, {integer: 3}, {integer: 4}, {integer: 5}},
		{{tanh: true, integer: 0}, {tanh: true, integer: 1}, {tanh: true, integer: 2}, {tanh: true, integer: 3}, {tanh: true, integer: 4}},
		{{integer: 3}, {tanh: true, integer: 3}},
		{{tanh: true, integer: 0}},
	} {
		t.Run(fmt.Sprint(list), func(t *testing.T) {
			got := runChain(t, slices.Repeat(all, len(list)), len(list), len(all), func(c *chain, x layout.Ref) layout.Ref { return c.functions(x, list) })
			for row, f := range list {
				of := fixedpoint.Q15.Logistic
				if f.tanh {
					of = fixedpoint.Q15.Tanh
				}
				wrong := 0
				for i, v := range all {
					if want := of(v, f.integer); got[row*len(all)+i] != want {
						if wrong++; wrong == 1 {
							t.Errorf("%+v of %d: %d, want %d", f, v, got[row*len(all)+i], want)
						}
					}
				}
				if wrong > 0 {
					t.Errorf("%+v: %d values differ", f, wrong)
				}
			}
		})
	}
}

// hard are integers around powers of two, and any.
func hard(most int32) (list []int32) {
	for n := range 31 {
		for d := int32(-2); d <= 2; d++ {
			if v := int64(1)<<n + int64(d); v <= int64(most) && v >= -int64(most) {
				list = append(list, int32(v), int32(-v))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 4096 {
		v := r.Int32N(most) >> r.IntN(20)
		list = append(list, v, -v)
	}
	return append(list, most, -most)
}

// TestQuotients: division by a constant, shifts down and parts of integers, negative ones too.
func TestQuotients(t *testing.T) {
	list := hard(1<<30 - 1)
	for _, n := range []int{1, 2, 3, 7, 9, 10, 33, 64, 1000, 4095, 1<<14 - 1, 1 << 14} {
		got := runChain(t, list, 1, len(list), func(c *chain, x layout.Ref) layout.Ref { return c.quotient(x, n) })
		for i, v := range list {
			if got[i] != v/int32(n) {
				t.Fatalf("%d / %d is %d, want %d", v, n, got[i], v/int32(n))
			}
		}
	}
	for _, n := range []int{1, 5, 10, 15, 29} {
		high := runChain(t, list, 1, len(list), func(c *chain, x layout.Ref) layout.Ref { h, _ := c.split(x, n); return h })
		low := runChain(t, list, 1, len(list), func(c *chain, x layout.Ref) layout.Ref { _, l := c.split(x, n); return l })
		for i, v := range list {
			if high[i] != v>>n || low[i] != v&(1<<n-1) {
				t.Fatalf("%d is %d * 2^%d + %d, want %d and %d", v, high[i], n, low[i], v>>n, v&(1<<n-1))
			}
		}
	}
}

// TestInverseSqrt: factor and shift equal the reference's, up to the largest sums.
func TestInverseSqrt(t *testing.T) {
	for _, most := range []int32{1<<29 - 1, math.MaxInt32} {
		list := slices.DeleteFunc(hard(most), func(v int32) bool { return v < 1 })
		part := func(of func(c *chain, root, left, right layout.Ref) layout.Ref) []int32 {
			return runChain(t, list, 1, len(list), func(c *chain, x layout.Ref) layout.Ref {
				root, left, right := c.inverseSqrt(x, int64(most))
				return of(c, root, left, right)
			})
		}
		factor := part(func(c *chain, root, left, _ layout.Ref) layout.Ref { return c.times(root, left) })
		shift := part(func(_ *chain, _, _, right layout.Ref) layout.Ref { return right })
		for i, v := range list {
			if want := fixedpoint.InverseSqrt(v); factor[i] != want.M || shift[i] != int32(-want.Shift) {
				t.Fatalf("of %d up to %d: %d >> %d, want %d >> %d", v, most, factor[i], shift[i], want.M, -want.Shift)
			}
		}
	}
}

// TestMoments: the mean and the variance of sums of gates, of extreme ones too, are what 64 bits give.
func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 5, 16, 100, 1000, 1 << 14} {
		var list []int32
		const rows = 6
		for row := range rows {
			for i := range n {
				v := int32(int16(r.Uint32())) >> (3 * row)
				switch {
				case row == 4:
					v = math.MinInt16
				case row == 5 && i&1 == 0:
					v = math.MinInt16
				case row == 5:
					v = math.MaxInt16
				}
				list = append(list, v)
			}
		}
		part := func(second bool) []int32 {
			return runChain(t, list, rows, n, func(c *chain, x layout.Ref) layout.Ref {
				cell := &fixedCell{chain: *c, batch: 1, units: n}
				mean, variance := cell.moments(x)
				*c = cell.chain
				if second {
					return variance
				}
				return mean
			})
		}
		means, variances := part(false), part(true)
		for row := range rows {
			var sum, square int64
			for _, v := range list[row*n:][:n] {
				sum += int64(v)
				square += int64(v) * int64(v)
			}
			mean := sum * 1024 / int64(n)
			variance := (square*(1<<20/int64(n)) - mean*mean) >> 20
			if int64(means[row]) != mean || int64(variances[row]) != variance {
				t.Errorf("%d values, row %d: mean %d, variance %d, want %d and %d", n, row, means[row], variances[row], mean, variance)
			}
		}
	}
}

// TestKernelsOfFunctions: the functions of three gates need as many kernels as in docs/RATIONALE.md.
func TestKernelsOfFunctions(t *testing.T) {
	_, list, _ := chainSteps(t, "pixel4", 3, 8, func(c *chain, x layout.Ref) layout.Ref {
		return c.functions(x, []function{{integer: 3}, {integer: 3}, {tanh: true, integer: 3}})
	})
	text := require.V(os.ReadFile("../../../../../docs/RATIONALE.md"))(t)
	if says := fmt.Sprintf("%d kernels for three gates at once", len(list.Steps)-3); !strings.Contains(string(text), says) { // without copies
		t.Errorf("RATIONALE.md does not say %q", says)
	}
}
