package gpu

import (
	"cmp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// TestValidate: every number of a machine is accepted at its bounds and refused beyond them, by name.
func TestValidate(t *testing.T) {
	type bounds struct {
		name     string
		set      func(s *Spec, v int)
		lo, hi   int    // accepted
		mentions string // in the message; "" for the name
	}
	var list []bounds
	most := func(name string, n int, at func(s *Spec) *int) {
		list = append(list, bounds{name, func(s *Spec, v int) { *at(s) = v }, 1, n, ""})
	}
	const simds = 1 << 14
	most("clusters", simds/12, func(s *Spec) *int { return &s.Clusters })
	most("cus per cluster", simds/8, func(s *Spec) *int { return &s.CUsPerCluster })
	most("simds per cu", simds/6, func(s *Spec) *int { return &s.SIMDsPerCU })
	count := func(name string, at func(s *Spec) *int) { most(name, 1<<20, at) }
	count("vgpr rows", func(s *Spec) *int { return &s.VGPRRows })
	count("vgpr granule", func(s *Spec) *int { return &s.VGPRGranule })
	count("max workgroup", func(s *Spec) *int { return &s.MaxWorkgroup })
	count("workgroups max", func(s *Spec) *int { return &s.WorkgroupsMax })
	delay := func(at func(s *Spec) *int) {
		list = append(list, bounds{"a size or latency", func(s *Spec, v int) { *at(s) = v }, 0, 1 << 24, ""})
	}
	delay(func(s *Spec) *int { return &s.LDSBytes })
	delay(func(s *Spec) *int { return &s.LDSLatency })
	delay(func(s *Spec) *int { return &s.SALULatency })
	delay(func(s *Spec) *int { return &s.BranchCycles })
	delay(func(s *Spec) *int { return &s.BarrierCycles })
	delay(func(s *Spec) *int { return &s.LaunchCycles })
	delay(func(s *Spec) *int { return &s.WaveLaunch })
	delay(func(s *Spec) *int { return &s.Prefetch })
	list = append(list,
		bounds{"waves per simd", func(s *Spec, v int) { s.WavesPerSIMD = v }, 1, 32, "waves per"},
		bounds{"max outstanding", func(s *Spec, v int) { s.MaxOutstanding = v }, 1, 63, "outstanding"},
		bounds{"clock", func(s *Spec, v int) { s.Hz = int64(v) }, 1, 1 << 40, ""},
		bounds{"memory path", func(s *Spec, v int) { s.MemoryNs = float64(v) }, 0, 1e6, ""},
		bounds{"lds banks", func(s *Spec, v int) { s.LDSBanks = v }, 1, 64, "banks"},
		bounds{"issue", func(s *Spec, v int) { s.Vector[ClassF64].Issue = v }, 1, 1 << 20, ""},
		bounds{"result", func(s *Spec, v int) { s.Vector[ClassF64].Result = v }, 0, 1 << 20, ""},
		bounds{"line", func(s *Spec, v int) { s.L0 = CacheSpec{1 << 20, v, 4, 1, 1, 1} }, 16, 4096, "l0"},
		bounds{"ways", func(s *Spec, v int) { s.Scalar = CacheSpec{1 << 10, 64, v, 1, 1, 1} }, 1, 16, "scalar"},
		bounds{"bytes per cycle", func(s *Spec, v int) { s.ICache = CacheSpec{1 << 10, 64, 4, 1, v, 1} }, 1, 1 << 20, "icache"},
		bounds{"in flight", func(s *Spec, v int) { s.GL1 = CacheSpec{1 << 10, 64, 4, 1, 1, v} }, 1, 1 << 20, "gl1"},
		bounds{"latency", func(s *Spec, v int) { s.L2 = CacheSpec{1 << 10, 64, 4, v, 1, 1} }, 0, 1 << 20, "l2"},
		bounds{"bytes", func(s *Spec, v int) { s.L2 = CacheSpec{v, 64, 4, 1, 1, 1} }, 0, 1 << 28, "l2"},
	)
	// Above their bounds these have no limit.
	open := map[string]bool{"clock": true, "issue": true, "result": true, "bytes per cycle": true, "in flight": true, "latency": true}
	for _, b := range list {
		for _, v := range []int{b.lo, b.hi} {
			s := DefaultSpec()
			if b.set(&s, v); s.Validate() != nil {
				t.Errorf("%s %d: %v", b.name, v, s.Validate())
			}
		}
		for _, v := range []int{b.lo - 1, 2*b.hi + 1, b.hi + 1} {
			if v > b.hi && open[b.name] {
				continue
			}
			s := DefaultSpec()
			b.set(&s, v)
			mentions := b.mentions
			mentions = cmp.Or(mentions, b.name)
			if err := s.Validate(); err == nil || !strings.Contains(err.Error(), mentions) {
				t.Errorf("%s %d: %v", b.name, v, err)
			}
		}
	}
	for name, edit := range map[string]func(s *Spec){
		"48 lanes":            func(s *Spec) { s.Lanes = 48 },
		"24 LDS banks":        func(s *Spec) { s.LDSBanks = 24 },
		"3 sets":              func(s *Spec) { s.L2 = CacheSpec{3 << 10, 64, 16, 1, 1, 1} },
		"0 sets":              func(s *Spec) { s.L2 = CacheSpec{1 << 10, 64, 32, 1, 1, 1} },
		"512 bytes, line 96":  func(s *Spec) { s.L2 = CacheSpec{512, 96, 1, 1, 1, 1} },
		"memory path of -0.5": func(s *Spec) { s.MemoryNs = -0.5 },
	} {
		s := DefaultSpec()
		if edit(&s); s.Validate() == nil || !strings.Contains(s.Validate().Error(), name) {
			t.Errorf("%s: %v", name, s.Validate())
		}
	}
}

// TestRDNA2: the timing of vector classes equals the instruction set's table, which has it from the compilers.
func TestRDNA2(t *testing.T) {
	for sched := rdna2.SchedSALU; sched <= rdna2.SchedF64; sched++ {
		class := state.ClassOf(sched)
		if got, want := RDNA2()[class], sched.Cost(); got.Result != want.Latency || got.Issue != want.Issue {
			t.Errorf("class %d: %+v, the table has %+v", class, got, want)
		}
	}
	for sched := rdna2.NoSched + 1; sched < rdna2.NumScheds; sched++ {
		if state.ClassOf(sched) == state.ClassNone {
			t.Errorf("scheduling class %d of the instruction set has no class of the machine", sched)
		}
	}
}
