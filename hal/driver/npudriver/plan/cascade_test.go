package plan

import (
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestBudgets: the stripes of a cascade do not depend on the budgets tried before, smaller budgets use no more
// bytes and no fewer cycles, and one too small for a row has no cascade.
func TestBudgets(t *testing.T) {
	config := require.V(soc.Load("ethos-u65-512"))(t)
	spec := require.V(npu.FromSoC(config, sim.FastSingleAnswer))(t)
	list := &step.List{Values: []layout.Value{{}, {}, {}, {}}}
	for i := range 3 {
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Depthwise, KH: 3, KW: 3, Top: 1, Left: 1, Right: 1, Bottom: 1}}
		k.Defaults()
		k.Weights = &kernel.Weights{Form: kernel.PerTap, Outputs: 16, Taps: 9, Channels: 16, Bits: 6}
		k.IFM = layout.Ref{Value: i, FeatureMap: layout.Dense(0, 64, 64, 16, 1, false)}
		k.OFM = layout.Ref{Value: i + 1, FeatureMap: layout.Dense(0, 64, 64, 16, 1, false)}
		list.Steps = append(list.Steps, step.Step{Kernel: k})
		list.Values[i+1].Bytes = 64 * 64 * 16
	}
	fresh := func() *cascades {
		return &cascades{t: Target{Spec: &spec}, list0: list, offChip: make([]bool, 4), lives: lives(list), packer: newPacker(&spec), tried: map[[2]int]*trials{}}
	}
	if got, want := fresh().trials(0, 2).otherBytes, 3*(16*9*6/8+16*ethosu.ScaleRecordSize); got != want {
		t.Errorf("%d bytes beside the maps between, want those of the weights: %d", got, want)
	}
	var rows []int // in quarters of an octave, but for two
	for n := 1; n <= 64; n++ {
		if bits.Len(uint(n))-bits.TrailingZeros(uint(n)) <= 3 && n != 7 && n != 56 {
			rows = append(rows, n)
		}
	}
	if !slices.Equal(rows, stripeRows[:]) {
		t.Errorf("stripes of %v rows, want %v", stripeRows, rows)
	}
	even := fresh()
	for i := range even.trials(0, 2).stripes {
		even.tried[[2]int{0, 2}].stripes[i] = trial{laid: true, costed: true, cycles: 5}
	}
	if got := even.cascade(0, 2, 1<<20); got.rows != stripeRows[0] {
		t.Errorf("%+v of stripes that all take as long", got)
	}
	// Stripes of a row keep three of each map between, of 64x16 bytes.
	row := fresh()
	for want, spare := range []int{-1, 0} {
		if got := row.cascade(0, 2, 3*(16*9*6/8+16*ethosu.ScaleRecordSize)+2*3*64*16+spare); got.rows != want || !(got.cycles > 0) {
			t.Errorf("%d bytes more than a row takes: %+v", spare, got)
		}
	}
	tiny := spec // no block fits
	tiny.ShramBytes = 4 << 10
	none := fresh()
	none.t.Spec, none.packer = &tiny, newPacker(&tiny)
	if got := none.cascade(0, 2, 1<<20); got.rows != 0 || !math.IsInf(got.cycles, 1) {
		t.Errorf("%+v of stripes without a block", got)
	}
	known := fresh()
	least := map[int]segment{}
	budgets := []int{3000, 14000, 200000, 30000, 12000, 60000}
	for _, budget := range append(budgets, budgets...) {
		got, want := known.cascade(0, 2, budget), fresh().cascade(0, 2, budget)
		if got != want {
			t.Errorf("%d bytes: %+v, without others before %+v", budget, got, want)
		}
		if none := math.IsInf(got.cycles, 1); none != (budget < 5000) || none != (got.rows == 0) {
			t.Errorf("%d bytes: %+v", budget, got)
		}
		least[budget] = got
	}
	if least[14000].rows == least[200000].rows {
		t.Errorf("%+v however many bytes", least[14000])
	}
	for small, x := range least {
		for large, y := range least {
			if small < large && x.cycles < y.cycles {
				t.Errorf("%d bytes take %g cycles, %d %g", small, x.cycles, large, y.cycles)
			}
		}
	}
}

// TestRegrouped: an elementwise kernel on dense maps gets the shape of what it reads, any other one stays as it is.
func TestRegrouped(t *testing.T) {
	as := layout.Ref{Value: 7, FeatureMap: layout.Dense(0, 4, 6, 8, 1, false)}
	for _, c := range []struct {
		what   string
		change func(k *kernel.Kernel)
		want   bool
	}{
		{"dense", func(*kernel.Kernel) {}, true},
		{"of a second input", func(k *kernel.Kernel) { k.IFM.Value, k.IFM2.Value = 5, 7 }, true},
		{"a convolution", func(k *kernel.Kernel) { k.Kind = kernel.Conv }, false},
		{"broadcast", func(k *kernel.Kernel) { k.Broadcast = 1 }, false},
		{"of other values", func(k *kernel.Kernel) { k.IFM.Value = 5 }, false},
		{"fewer elements", func(k *kernel.Kernel) { k.OFM.C-- }, false},
		{"bricks", func(k *kernel.Kernel) { k.OFM.FeatureMap = k.OFM.Bricks() }, false},
		{"gaps between columns", func(k *kernel.Kernel) { k.IFM2.StrideX++ }, false},
		{"gaps between rows", func(k *kernel.Kernel) { k.OFM.StrideY++ }, false},
	} {
		flat := layout.Dense(32, 1, 24, 8, 1, true)
		flat.Region, flat.OffChip, flat.Zero = 3, true, 5
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: ethosu.EltAdd}}
		k.IFM, k.OFM = layout.Ref{Value: 7, FeatureMap: flat}, layout.Ref{Value: 9, FeatureMap: flat}
		k.IFM2 = &layout.Ref{Value: 6, FeatureMap: flat}
		c.change(&k)
		before := *k.IFM2
		got, ok := regrouped(&k, &as)
		if ok != c.want || *k.IFM2 != before {
			t.Errorf("%s: %v", c.what, ok)
		}
		want := layout.Dense(32, 4, 6, 8, 1, true)
		want.Region, want.OffChip, want.Zero = 3, true, 5
		for _, r := range got.Maps() {
			if ok && r.FeatureMap != want {
				t.Errorf("%s: %+v, want %+v", c.what, r.FeatureMap, want)
			}
		}
	}
	placed := as
	placed.Value = layout.Placed
	k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise}, IFM: placed, OFM: as}
	if _, ok := regrouped(&k, &placed); ok {
		t.Error("a map that has its place")
	}
}

// TestPassing: bytes on chip beside steps 3 to 5 are those of values alive at one of them and at another, but for
// those passed only between these steps, those off chip, those with a place and unused ones.
func TestPassing(t *testing.T) {
	for _, c := range []struct {
		what        string
		first, last int
		far, fixed  bool
		counts      bool
	}{
		{"before", 1, 2, false, false, false},
		{"until the first", 1, 3, false, false, true},
		{"until the last", 2, 5, false, false, true},
		{"all along", 0, 9, false, false, true},
		{"from the first", 3, 6, false, false, true},
		{"from the last", 5, 6, false, false, true},
		{"behind", 6, 7, false, false, false},
		{"between first and last", 3, 5, false, false, false},
		{"of one step", 4, 4, false, false, false},
		{"of the last", 5, 5, false, false, false},
		{"far", 0, 9, true, false, false},
		{"fixed", 0, 9, false, true, false},
		{"unused", -1, 4, false, false, false},
	} {
		const before = 100 // of a value that counts
		k := &cascades{
			offChip: []bool{false, c.far},
			lives:   []layout.Value{{Bytes: before, First: 0, Last: 9}, {Bytes: 1000, First: c.first, Last: c.last, Fixed: c.fixed}},
		}
		want := layout.Align(before)
		if c.counts {
			want += layout.Align(1000)
		}
		require.Same(t, want, k.passing(3, 5), c.what, "bytes")
	}
}

// TestLinked: steps may be in one cascade when the second alone reads all of what the first writes, and both are computed
// by rows.
func TestLinked(t *testing.T) {
	type two struct {
		*cascades
		a, b *kernel.Kernel
	}
	for _, c := range []struct {
		what   string
		change func(x two)
		want   bool
	}{
		{"as they are", func(two) {}, true},
		{"a second input of all rows", func(x two) { x.b.IFM2 = &layout.Ref{Value: 3, FeatureMap: x.b.OFM.FeatureMap} }, true},
		{"as the second input", func(x two) { second := x.b.IFM; x.b.IFM2, x.b.IFM.Value = &second, 3 }, true},
		{"read signed with another zero", func(x two) { x.b.IFM.Signed, x.b.IFM.Zero = true, 4 }, true},
		{"the first by no rows", func(x two) { x.a.Kind, x.a.Mode = kernel.Pool, ethosu.PoolReduceSum }, false},
		{"the second by no rows", func(x two) { x.b.Kind = kernel.Copy }, false},
		{"in a place", func(x two) { x.a.OFM.Value, x.b.IFM.Value = layout.Placed, layout.Placed }, false},
		{"both inputs", func(x two) { second := x.b.IFM; x.b.IFM2 = &second }, false},
		{"another value", func(x two) { x.b.IFM.Value = 3 }, false},
		{"written before", func(x two) { x.lives[1].First = -1 }, false},
		{"read later", func(x two) { x.lives[1].Last = 2 }, false},
		{"of a client", func(x two) { x.lives[1].Client = true }, false},
		{"fixed", func(x two) { x.lives[1].Fixed = true }, false},
		{"a part", func(x two) { x.b.IFM.H-- }, false},
		{"behind the first row", func(x two) { x.a.OFM.Addr, x.b.IFM.Addr = 64, 64 }, false},
		{"one row", func(x two) { x.a.OFM.H, x.b.IFM.H = 1, 1 }, false},
	} {
		l := &step.List{Steps: make([]step.Step, 2)}
		k := &cascades{list0: l, lives: []layout.Value{{Last: 1}, {Last: 1}, {First: 1, Last: 1}, {}}}
		for i := range l.Steps {
			x := &l.Steps[i].Kernel
			x.Kind, x.IFM, x.OFM = kernel.Elementwise, layout.Ref{Value: i}, layout.Ref{Value: i + 1}
			x.IFM.FeatureMap = layout.Dense(0, 8, 8, 16, 1, false)
			x.OFM.FeatureMap = x.IFM.FeatureMap
		}
		c.change(two{k, &l.Steps[0].Kernel, &l.Steps[1].Kernel})
		require.Same(t, c.want, k.linked(0), c.what)
	}
	for _, c := range []struct {
		kind kernel.Kind
		mode int
		in   int
		want bool
	}{
		{kernel.Conv, 0, 3, true}, {kernel.Depthwise, 0, 3, true}, {kernel.Pool, ethosu.PoolMax, 3, true}, {kernel.Pool, ethosu.PoolAverage, 3, true},
		{kernel.Pool, ethosu.PoolReduceSum, 3, false}, {kernel.Elementwise, 0, 8, true}, {kernel.Elementwise, 0, 3, false}, {kernel.Copy, 0, 8, false},
	} {
		k := kernel.Kernel{Shape: kernel.Shape{Kind: c.kind, Mode: c.mode}}
		k.IFM.H, k.OFM.H = c.in, 8
		if got := striped(&k); got != c.want {
			t.Errorf("%s %d: %v", c.kind, c.mode, got)
		}
	}
}
