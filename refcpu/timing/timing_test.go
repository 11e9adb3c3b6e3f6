package timing

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// gold is a Cortex-A76 at 2.42 GHz: rates after LLVM's Neoverse N1 model, power
// after Linux's dynamic-power-coefficient.
func gold(threads int) *CPUSpec {
	s := &CPUSpec{Name: "gold", ThreadDispatchCycles: 20000, DRAMPerSecond: 15e9, DRAMSeconds: 110e-9, DRAMLineSeconds: 10e-9,
		StaticWatts: 0.1, CacheBytePJ: 1.75, DRAMReadBytePJ: 40, DRAMWriteBytePJ: 40,
		L3: CacheSpec{Bytes: 2 << 20, LineBytes: 64, Ways: 16, HitCycles: 31, BytesPerCycle: 32, MSHRs: 128}}
	s.Cores = []CoreSpec{{Name: "gold", Threads: threads, ClockHz: 2419e6, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32,
		PowerUW: 369,
		L1:      CacheSpec{Bytes: 64 << 10, LineBytes: 64, Ways: 4, HitCycles: 4, BytesPerCycle: 32, MSHRs: 20},
		L2:      CacheSpec{Bytes: 256 << 10, LineBytes: 64, Ways: 8, HitCycles: 9, BytesPerCycle: 32, MSHRs: 46},
		Kernels: KernelSpec{GroupedCycles: 2.5, PatchBytes: 2, ScalarCycles: 3, OperationCycles: 10000}}}
	k := &s.Cores[0].Kernels
	for p := range numPrecisions {
		k.Efficiency[opspec.KernelConv][p] = 0.75
		k.Efficiency[opspec.KernelDepthwise][p] = 0.15
		k.Efficiency[opspec.KernelDense][p] = 0.75
		k.Efficiency[opspec.KernelNone][p] = 0.5
	}
	return s
}

// primeAndGold adds a faster core in front, which has one of the threads.
func primeAndGold(threads int) *CPUSpec {
	s := gold(threads - 1)
	prime := s.Cores[0]
	prime.Name, prime.Threads, prime.ClockHz = "prime", 1, 2841e6
	s.Cores = []CoreSpec{prime, s.Cores[0]}
	return s
}

func timing(t *testing.T, s *CPUSpec, m *nn.Model) *Timing {
	t.Helper()
	r := require.V(s.Estimate(nil, m))(t)
	var sum int64
	var reasons [NumReasons]int64
	for i := range r.Operations {
		var own int64
		for k, c := range r.Operations[i].Reasons {
			if c < 0 {
				t.Errorf("operation %d: %d cycles of %s", i, c, Reason(k))
			}
			own += c
			reasons[k] += c
		}
		require.Check(t, own == r.Operations[i].Cycles, "operation %d: reasons add up to %d of %d cycles", i, own, r.Operations[i].Cycles)
		sum += own
	}
	require.Check(t, sum == r.Cycles && reasons == r.Reasons, "operations add up to %d of %d cycles", sum, r.Cycles)
	return r
}

// TestTimingClosedForm holds a compute-bound and a memory-bound operation to
// the formulas.
func TestTimingClosedForm(t *testing.T) {
	m := floatConv(1, 56, 56, 64, 64, 3)
	r := timing(t, gold(1), m)
	const macs, patches, outputs = 56. * 56 * 64 * 64 * 9, 56. * 56 * 64 * 9 * 4, 56. * 56 * 64
	product := macs/(8*0.75) + outputs*2*4/(32*0.5)
	if want := int64(math.Ceil(product + patches/2)); r.Reasons[ReasonIssue] != want || r.Operations[0].BoundBy() != ReasonIssue {
		t.Errorf("3x3 convolution: %d issue cycles, want %d", r.Reasons[ReasonIssue], want)
	}
	require.Check(t, r.Reasons[ReasonBarrier] == 0 && r.Reasons[ReasonLaunch] == 10000, "one thread: %+v", r.Reasons)
	// Threads share the product, not the patches; each further one is called.
	four := timing(t, gold(4), m)
	if want := int64(math.Ceil(product/4 + patches/2)); four.Reasons[ReasonIssue] != want || four.Reasons[ReasonBarrier] != 0 {
		t.Errorf("four threads: %+v, want %d issue cycles", four.Reasons, want)
	}
	if want := int64(10000 + 3*20000); four.Reasons[ReasonLaunch] != want {
		t.Errorf("four threads: %d launch cycles, want %d", four.Reasons[ReasonLaunch], want)
	}
	// Parts are equal, so that the slower core sets the pace: half the product at its clock.
	two := timing(t, primeAndGold(2), m)
	pace := product / 2 * 2841 / 2419
	both := product / (1 + 2419./2841)
	if got := two.Reasons[ReasonIssue] + two.Reasons[ReasonBarrier]; got != int64(math.Ceil(pace+patches/2)) {
		t.Errorf("two unlike threads: %+v, want %.0f", two.Reasons, pace+patches/2)
	}
	if got := two.Reasons[ReasonIssue]; got != int64(math.Ceil(both+patches/2)) {
		t.Errorf("two unlike threads: %+v, want %.0f issue cycles", two.Reasons, both+patches/2)
	}
	// A matrix times a vector reads every weight once.
	m = floatConv(1, 1, 1, 2048, 2048, 1)
	r = timing(t, gold(4), m)
	bytes := 4. * (2048*2048 + 2048)
	want := math.Ceil(bytes / 15e9 * 2419e6)
	busy := float64(r.Reasons[ReasonIssue] + r.Reasons[ReasonBarrier] + r.Reasons[ReasonL2] + r.Reasons[ReasonDRAM])
	if r.Operations[0].BoundBy() != ReasonDRAM || busy != want {
		t.Errorf("matrix times vector: %v cycles, DRAM needs %v; %+v", busy, want, r.Reasons)
	}
	// Power of a busy core: 369 uW/MHz/V^2 at 2419 MHz and 1 V, 842 mW measured.
	one := timing(t, gold(1), floatConv(1, 56, 56, 64, 64, 3))
	if w := one.EnergyPJ * 1e-12 / (float64(one.TimeFs) * 1e-15); w < 0.85 || w > 1.15 {
		t.Errorf("one busy core with its share of the cluster draws %v W", w)
	}
	require.Equal(t, one, timing(t, gold(1), floatConv(1, 56, 56, 64, 64, 3)), "two predictions differ")
}

// TestMeterPlan: an operation during which the clock rises is done when the shares of its work at each clock add up to
// 1; no counts are lost between the parts.
func TestMeterPlan(t *testing.T) {
	m := floatConv(1, 56, 56, 64, 64, 3)
	slow, middle, fast := gold(4), gold(4), gold(4)
	slow.Cores[0].ClockHz, middle.Cores[0].ClockHz = 800e6, 1600e6
	whole := timing(t, slow, m)
	meter := require.V(slow.NewMeter(1))(t)
	first, second := whole.TimeFs/3, whole.TimeFs/2
	require.NoError(t, meter.Plan([]Change{{0, slow}, {first, middle}, {second, fast}}))
	v := (*opspec.Table)(nil).ModelView(&m.Main)
	w := require.V(v.Work(&m.Main.Operations[0]))(t)
	meter.Add(0, &w)
	got := meter.Timing()
	left := 1 - float64(first)/float64(whole.TimeFs) - float64(second-first)/float64(timing(t, middle, m).TimeFs)
	want := float64(second) + left*float64(timing(t, fast, m).TimeFs)
	if r := float64(got.TimeFs) / want; !(math.Abs(r-1) <= 1e-5) {
		t.Errorf("%d fs, want %.0f", got.TimeFs, want)
	}
	o, all := &got.Operations[0], &whole.Operations[0]
	var sum int64
	for r, c := range o.Reasons {
		if sum += c; (c > 0) != (all.Reasons[r] > 0) || c < 0 {
			t.Errorf("%d cycles of %v, %d at one clock", c, Reason(r), all.Reasons[r])
		}
	}
	if sum != o.Cycles || o.Cycles != got.Cycles || o.TimeFs != got.TimeFs || got.ClockHz != fast.Cores[0].ClockHz {
		t.Errorf("reasons of %d cycles, %+v of %+v", sum, o, got)
	}
	if o.MACs != all.MACs || o.CacheBytes != all.CacheBytes || o.DRAMBytes != all.DRAMBytes || o.DRAMWriteBytes != all.DRAMWriteBytes {
		t.Errorf("counts %+v, at one clock %+v", o, all)
	}
	if !(got.EnergyPJ > 0.3*whole.EnergyPJ && got.EnergyPJ < 3*whole.EnergyPJ) {
		t.Errorf("%.0f pJ, %.0f at one clock", got.EnergyPJ, whole.EnergyPJ)
	}
	meter.Wait(0, 10e9)
	if d := meter.Timing().TimeFs - int64(want); d < 10e9-1e8 || d > 10e9+1e8 {
		t.Errorf("a wait of 10 us takes %d fs", d)
	}
	broken := gold(1)
	broken.Cores = nil
	require.Fails(t, meter.Plan([]Change{{0, broken}}), "a machine without cores is accepted")
}

func TestTimingSpecErrors(t *testing.T) {
	m := floatConv(1, 4, 4, 4, 4, 1)
	for want, breakIt := range map[string]func(*CPUSpec){
		"no cores":         func(s *CPUSpec) { s.Cores = nil },
		"rate that is not": func(s *CPUSpec) { s.Cores[0].MACI8 = 0 },
		"kernel 2":         func(s *CPUSpec) { s.Cores[0].Kernels.Efficiency[opspec.KernelDepthwise][PrecisionF16] = 0 },
		"have no cost":     func(s *CPUSpec) { s.Cores[0].Kernels.PatchBytes = 0 },
		"threads":          func(s *CPUSpec) { s.Cores[0].Threads = 0 },
	} {
		s := gold(1)
		breakIt(s)
		require.ErrorContains(t, require.Err(s.Estimate(nil, m)), want)
	}
}

// floatConv is a CONV_2D with SAME padding and stride 1 and zero weights.
func floatConv(n, h, w, c, k, size uint32) *nn.Model {
	const f32 = nn.TensorFloat32
	zeros := func(dims ...uint32) nn.Operand {
		o := nn.Operand{Type: f32, Lifetime: nn.ConstantCopy, Dimensions: dims}
		o.Data = make([]byte, o.Bytes())
		return o
	}
	one := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
	}
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{{Type: f32, Lifetime: nn.SubgraphInput, Dimensions: []uint32{n, h, w, c}}, zeros(k, size, size, c), zeros(k),
			one(nn.PaddingSame), one(1), one(1), one(0), {Type: f32, Lifetime: nn.SubgraphOutput, Dimensions: []uint32{n, h, w, k}}},
		Operations: []nn.Operation{{Type: nn.OpConv2D, Inputs: []uint32{0, 1, 2, 3, 4, 5, 6}, Outputs: []uint32{7}}},
		Inputs:     []uint32{0}, Outputs: []uint32{7},
	}}
}

// TestOneThread: single-threaded work of libraries costs the same on any number, and an element that is handled by
// itself costs the value of the key.
func TestOneThread(t *testing.T) {
	work := func(w opspec.Work, s *CPUSpec) *Timing {
		m := require.V(s.NewMeter(1))(t)
		m.Add(0, &w)
		return m.Timing()
	}
	const n = 1 << 20
	for name, c := range map[string]struct {
		w    opspec.Work
		want int64
	}{
		"grouped":     {opspec.Work{Kernel: opspec.KernelGrouped, Type: nn.TensorFloat32, MACs: n}, 2.5 * n},
		"elementwise": {opspec.Work{Type: nn.TensorFloat32, Steps: n}, n / 4},
		"scalar":      {opspec.Work{Type: nn.TensorQuant8AsymmSigned, Scalars: n}, 3 * n},
		"patches":     {opspec.Work{Kernel: opspec.KernelConv, Type: nn.TensorFloat32, Patches: n}, n / 2},
	} {
		one, four := work(c.w, gold(1)), work(c.w, gold(4))
		if one.Reasons[ReasonIssue] != c.want || four.Reasons[ReasonIssue] != c.want || four.Reasons[ReasonBarrier] != 0 {
			t.Errorf("%s: %+v, on four threads %+v, want %d", name, one.Reasons, four.Reasons, c.want)
		}
		if c.w.Kernel != opspec.KernelConv && one.Cycles != four.Cycles {
			t.Errorf("%s: %d cycles, on four threads %d", name, one.Cycles, four.Cycles)
		}
		// Three threads wait: they spin, or sleep once they have spun for long enough.
		spun := gold(4)
		spun.SpinSeconds, spun.SpinShare, spun.IdleWatts = 100e-6, 0.4, 0.08
		seconds, busy := float64(four.Cycles)/2419e6, 369e-6*2419
		want := sum(busy*seconds, 3*sum(busy*0.4*100e-6, 0.08*(seconds-100e-6)))
		if got := work(c.w, spun).EnergyPJ*1e-12 - seconds*0.1; !(math.Abs(got/want-1) <= 1e-9) {
			t.Errorf("%s: %v J of four cores, want %v", name, got, want)
		}
	}
	// Patches beyond the caches are written to DRAM and read back.
	w := opspec.Work{Kernel: opspec.KernelConv, Type: nn.TensorFloat32, Patches: 16 << 20}
	s := gold(1)
	beyond := int64(float64(w.Patches) - s.Cores[0].L2.effectiveBytes() - s.L3.effectiveBytes())
	if o := work(w, s).Operations[0]; o.DRAMBytes-2*beyond > 1 || o.DRAMBytes < 2*beyond || o.DRAMWriteBytes != beyond {
		t.Errorf("%d bytes of DRAM, %d written, want twice %d", o.DRAMBytes, o.DRAMWriteBytes, beyond)
	}
}
