package timing

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// gold is a Cortex-A76 at 2.42 GHz: rates after LLVM's Neoverse N1 model, power
// after Linux's dynamic-power-coefficient.
func gold(threads int) *CPUSpec {
	s := &CPUSpec{Name: "gold", Threads: threads, ParallelEfficiency: 0.9, DRAMPerSecond: 15e9, DRAMSeconds: 110e-9, DRAMLineSeconds: 10e-9,
		OperationSeconds: 3e-6, StaticWatts: 0.1, CacheBytePJ: 1.75, DRAMReadBytePJ: 40, DRAMWriteBytePJ: 40,
		L3: CacheSpec{Bytes: 2 << 20, LineBytes: 64, Ways: 16, HitCycles: 31, BytesPerCycle: 32, MSHRs: 128}}
	s.Cores = []CoreSpec{{Name: "gold", Cores: 4, ClockHz: 2419e6, Volts: 1, MACF32: 8, MACF16: 16, MACI8: 32, SIMDBytes: 32,
		PowerUW: 369,
		L1:      CacheSpec{Bytes: 64 << 10, LineBytes: 64, Ways: 4, HitCycles: 4, BytesPerCycle: 32, MSHRs: 20},
		L2:      CacheSpec{Bytes: 256 << 10, LineBytes: 64, Ways: 8, HitCycles: 9, BytesPerCycle: 32, MSHRs: 46}}}
	for p := range numPrecisions {
		s.Efficiency[opspec.KernelConv][p] = 0.46
		s.Efficiency[opspec.KernelDepthwise][p] = 0.15
		s.Efficiency[opspec.KernelDense][p] = 0.40
		s.Efficiency[opspec.KernelElementwise][p] = 0.5
	}
	return s
}

func timing(t *testing.T, s *CPUSpec, m *nn.Model) *Timing {
	t.Helper()
	r, err := s.Estimate(nil, m)
	if err != nil {
		t.Fatal(err)
	}
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
		if own != r.Operations[i].Cycles {
			t.Errorf("operation %d: reasons add up to %d of %d cycles", i, own, r.Operations[i].Cycles)
		}
		sum += own
	}
	if sum != r.Cycles || reasons != r.Reasons {
		t.Errorf("operations add up to %d of %d cycles", sum, r.Cycles)
	}
	return r
}

// TestTimingClosedForm holds a compute-bound and a memory-bound operation to
// the formulas.
func TestTimingClosedForm(t *testing.T) {
	m := floatConv(1, 56, 56, 64, 64, 3)
	r := timing(t, gold(1), m)
	macs := 56. * 56 * 64 * 64 * 9
	if want := int64(math.Ceil(macs / (8 * 0.46))); r.Reasons[ReasonIssue] != want || r.Operations[0].BoundBy() != ReasonIssue {
		t.Errorf("3x3 convolution: %d issue cycles, want %d", r.Reasons[ReasonIssue], want)
	}
	if four := timing(t, gold(4), m); math.Abs(float64(r.Reasons[ReasonIssue])/float64(four.Reasons[ReasonIssue])-4) > 0.01 ||
		four.Reasons[ReasonBarrier] == 0 {
		t.Errorf("four threads: %+v, one thread %+v", four.Reasons, r.Reasons)
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
	if diff := cmp.Diff(one, timing(t, gold(1), floatConv(1, 56, 56, 64, 64, 3))); diff != "" {
		t.Errorf("two predictions differ:\n%s", diff)
	}
}

// TestMeterPlan: an operation during which the clock rises is done when the shares of its work
// at each clock add up to 1; nothing of what is counted is lost between the parts.
func TestMeterPlan(t *testing.T) {
	m := floatConv(1, 56, 56, 64, 64, 3)
	slow, middle, fast := gold(4), gold(4), gold(4)
	slow.Cores[0].ClockHz, middle.Cores[0].ClockHz = 800e6, 1600e6
	whole := timing(t, slow, m)
	meter, err := slow.NewMeter(1)
	if err != nil {
		t.Fatal(err)
	}
	first, second := whole.TimeFs/3, whole.TimeFs/2
	if err := meter.Plan([]Change{{0, slow}, {first, middle}, {second, fast}}); err != nil {
		t.Fatal(err)
	}
	v := (*opspec.Table)(nil).ModelView(&m.Main)
	w, err := v.Work(&m.Main.Operations[0])
	if err != nil {
		t.Fatal(err)
	}
	meter.Add(0, &w)
	got := meter.Timing()
	left := 1 - float64(first)/float64(whole.TimeFs) - float64(second-first)/float64(timing(t, middle, m).TimeFs)
	want := float64(second) + left*float64(timing(t, fast, m).TimeFs)
	if r := float64(got.TimeFs) / want; math.Abs(r-1) > 1e-5 {
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
	if err := meter.Plan([]Change{{0, broken}}); err == nil {
		t.Error("a machine without cores is accepted")
	}
}

func TestTimingSpecErrors(t *testing.T) {
	m := floatConv(1, 4, 4, 4, 4, 1)
	for want, breakIt := range map[string]func(*CPUSpec){
		"no cores":            func(s *CPUSpec) { s.Cores = nil },
		"rate that is not":    func(s *CPUSpec) { s.Cores[0].MACI8 = 0 },
		"kernel 2":            func(s *CPUSpec) { s.Efficiency[opspec.KernelDepthwise][PrecisionF16] = 0 },
		"parallel efficiency": func(s *CPUSpec) { s.Threads, s.ParallelEfficiency = 2, 0 },
	} {
		s := gold(1)
		breakIt(s)
		if _, err := s.Estimate(nil, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
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
