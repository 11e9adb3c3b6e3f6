package npu

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// TestValidate: the numbers of a machine are accepted at their bounds and refused beyond them, by name.
func TestValidate(t *testing.T) {
	base := specOf(t, "ethos-u65-512")
	for _, c := range []struct {
		name        string
		set         func(s *Spec, v int)
		lo, hi      int
		unboundedUp bool
	}{
		{name: "clock", set: func(s *Spec, v int) { s.Hz = int64(v) }, lo: 1e6, hi: 1e10},
		{name: "number of cores", set: func(s *Spec, v int) { s.Cores = v }, lo: 1, hi: 2},
		{name: "micro-block", set: func(s *Spec, v int) { s.UBlock.H = v }, lo: 1, hi: 64},
		{name: "micro-block", set: func(s *Spec, v int) { s.UBlock.W = v }, lo: 1, hi: 64},
		{name: "micro-block", set: func(s *Spec, v int) { s.UBlock.D = v }, lo: 1, hi: 256},
		{name: "micro-block", set: func(s *Spec, v int) { s.UBlock.IFM = v }, lo: 1, hi: 256},
		{name: "weights per cycle", set: func(s *Spec, v int) { s.WeightsPerCycle = v }, lo: 1, hi: 1 << 16},
		{name: "depthwise taps", set: func(s *Spec, v int) { s.DepthwiseTaps = v }, lo: 1, hi: 1 << 20, unboundedUp: true},
		{name: "SHRAM size", set: func(s *Spec, v int) { s.ShramBytes = v }, lo: 2 * state.LUTBytes, hi: 1 << 24},
		{name: "SHRAM size", set: func(s *Spec, v int) { s.ShramBank = v }, lo: 1, hi: base.ShramBytes},
		{name: "weight reads in flight", set: func(s *Spec, v int) { s.WeightReads = v }, lo: 0, hi: 1024},
		{name: "DMA channels", set: func(s *Spec, v int) { s.DMAChannels = v }, lo: 1, hi: 15},
		{name: "kernels", set: func(s *Spec, v int) { s.Kernels = v }, lo: 1, hi: 3},
		{name: "a delay", set: func(s *Spec, v int) { s.LaunchCycles = v }, lo: 0, hi: maxDelay},
		{name: "a delay", set: func(s *Spec, v int) { s.CommandCycles = v }, lo: 0, hi: maxDelay},
		{name: "a delay", set: func(s *Spec, v int) { s.DMASetup = v }, lo: 0, hi: maxDelay},
		{name: "a delay", set: func(s *Spec, v int) { s.PipelineDelay = v }, lo: 0, hi: maxDelay},
		{name: "a delay", set: func(s *Spec, v int) { s.PipelineDelay40 = v }, lo: 0, hi: maxDelay},
		{name: "memory", set: func(s *Spec, v int) { s.Memories[0].BytesPerCycle = float64(v) }, lo: 1, hi: 1e6},
		{name: "memory", set: func(s *Spec, v int) { s.Memories[0].BurstBytes = v }, lo: 1, hi: 1 << 16},
		{name: "memory", set: func(s *Spec, v int) { s.Memories[0].ReadLatency = v }, lo: 0, hi: maxDelay},
		{name: "memory", set: func(s *Spec, v int) { s.Memories[0].WriteLatency = v }, lo: 0, hi: maxDelay},
		{name: "memory of region 7", set: func(s *Spec, v int) { s.RegionMemory[7] = v }, lo: 0, hi: len(base.Memories) - 1},
		{name: "output cycles 2", set: func(s *Spec, v int) { s.OutputCycles[2] = float64(v) }, lo: 1, hi: 999},
		{name: "table cycles", set: func(s *Spec, v int) { s.TableCycles = float64(v) }, lo: 1, hi: 999},
	} {
		with := func(v int) error {
			s := base
			s.Memories = append([]MemorySpec(nil), base.Memories...)
			c.set(&s, v)
			return s.Validate()
		}
		for _, v := range []int{c.lo, c.hi} {
			if err := with(v); err != nil {
				t.Errorf("%s %d: %v", c.name, v, err)
			}
		}
		for _, v := range []int{c.lo - 1, c.hi + 1} {
			if v > c.hi && c.unboundedUp {
				continue
			}
			if err := with(v); err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%s %d: %v", c.name, v, err)
			}
		}
	}
	for name, edit := range map[string]func(s *Spec){
		"number of cores is 2":                  func(s *Spec) { s.Product = ethosu.U55 },
		"product":                               func(s *Spec) { s.Product = 99 },
		"micro-block of the weight stream is 6": func(s *Spec) { s.UBlockStream = 6 },
		"number of memories":                    func(s *Spec) { s.Memories = nil },
	} {
		s := base
		if edit(&s); s.Validate() == nil || !strings.Contains(s.Validate().Error(), name) {
			t.Errorf("%s: %v", name, s.Validate())
		}
	}
}

// TestBuffers: two input blocks fit between the output's banks and IB_END, two blocks of accumulators of 4 bytes or 5 between
// AB_START and the tables, and they do not overlap. A block of 8x16x8 has 1 KiB of input and 4 or 5 KiB of accumulators.
func TestBuffers(t *testing.T) {
	for _, c := range []struct {
		machine     string
		acc40       bool
		ibEnd, from int
		want        string
	}{
		{"ethos-u55-128", false, 4, 14, ""}, {"ethos-u55-128", false, 4, 15, "accumulators of a 8x16x8 block need 8 banks, from AB_START 15 there are 7"},
		{"ethos-u55-128", true, 4, 12, ""}, {"ethos-u55-128", true, 4, 13, "accumulators of a 8x16x8 block need 10 banks, from AB_START 13 there are 9"},
		{"ethos-u55-128", false, 3, 14, "input of a 8x16x8 block needs 2 banks, up to IB_END 3 there are 1"},
		{"ethos-u55-128", false, 12, 12, ""}, {"ethos-u55-128", false, 12, 11, "IB_END 12 is beyond AB_START 11"},
		{"ethos-u55-64", false, 4, 8, ""}, {"ethos-u55-64", false, 4, 9, "accumulators of a 8x16x8 block need 8 banks, from AB_START 9 there are 7"},
	} {
		s := specOf(t, c.machine)
		o := state.Op{Kind: state.Depthwise, OFM: state.FeatureMap{H: 32, W: 32, C: 32}, IFM: state.FeatureMap{H: 32, W: 32, C: 32, ElemSize: 1},
			Window: state.Window{H: 1, W: 1, ExtentH: 1, ExtentW: 1, StrideY: 1, StrideX: 1}, BlockH: 8, BlockW: 16, BlockD: 8, Acc40: c.acc40, IBEnd: c.ibEnd, ABStart: c.from}
		got := ""
		if err := s.checkShram(&o); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s, %+v: %q", c.machine, c, got)
		}
		if o.Kind = state.Elementwise; s.checkShram(&o) != nil {
			t.Error("an elementwise operation needs buffers")
		}
	}
}
