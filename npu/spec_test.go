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
