package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// specOf is the NPU of a SoC file: pixel4, or one named like Arm's accelerators.
func specOf(t testing.TB, name string) Spec {
	t.Helper()
	c := require.V(soc.Load(name))(t)
	s := require.V(FromSoC(c, sim.FastSingleAnswer))(t)
	return s
}

// The SoC named like an accelerator has memories of a fixed width and latency, as in Vela's table of systems, and as
// many multipliers as its name states.
func TestAccelerators(t *testing.T) {
	want := map[string]int{"ethos-u55-32": 32, "ethos-u55-64": 64, "ethos-u55-128": 128, "ethos-u55-256": 256, "ethos-u65-256": 256, "ethos-u65-512": 512}
	for _, name := range ethosu.Accelerators() {
		c := require.V(soc.Load(name))(t)
		if l, err := LevelsFromSoC(c); err != nil || l[0] != nil || l[1] != nil {
			t.Errorf("%s: memories %v, %v", name, l, err)
		}
		s := specOf(t, name)
		if got := s.MACsPerCycle(); got != want[name] {
			t.Errorf("%s: %d multiply-accumulates per cycle, want %d", name, got, want[name])
		}
	}
}

// TestUnknownRegion: a base pointer whose memory the NPU does not have is refused, whichever it is.
func TestUnknownRegion(t *testing.T) {
	for i := range NumRegions {
		c := require.V(soc.Load("ethos-u55-128"))(t)
		c.NPU.Regions[i] = "nowhere"
		require.Fails(t, require.Err(FromSoC(c, sim.FastSingleAnswer)), "region", i, "lies nowhere")
	}
}

// TestPoints: energies scale with the square of the voltage; the bandwidth and the latency of the DRAM's port do not
// depend on the clock.
func TestPoints(t *testing.T) {
	c := require.V(soc.Load("pixel4"))(t)
	c.Interconnect.BytesPerCycle, c.Interconnect.MHz, c.Interconnect.LatencyCycles = 16, 1000, 11
	at := func(v float64, hz int64) Spec {
		s := require.V(FromSoCAt(c, sim.OPP{Hz: hz, Volts: v * c.NPU.Energy.VRef}))(t)
		return s
	}
	one, two := at(1, 500e6), at(2, 250e6)
	pj := c.NPU.Energy.PJ
	for name, x := range map[string][2]float64{
		"mac": {one.Energy.MAC, two.Energy.MAC}, "output": {one.Energy.Output, two.Energy.Output}, "elementwise": {one.Energy.Elementwise, two.Energy.Elementwise},
		"shram_byte": {one.Energy.ShramByte, two.Energy.ShramByte}, "weight_byte": {one.Energy.WeightByte, two.Energy.WeightByte}, "command": {one.Energy.Command, two.Energy.Command},
	} {
		if x[0] != pj[name] || x[1] != 4*x[0] || x[0] == 0 {
			t.Errorf("%s: %g pJ, at twice the voltage %g, want %g and four times that", name, x[0], x[1], pj[name])
		}
	}
	if w := c.NPU.Energy.StaticMW / 1e3; one.Energy.StaticW != w || two.Energy.StaticW != w {
		t.Errorf("static %g and %g W, want %g", one.Energy.StaticW, two.Energy.StaticW, w)
	}
	for k := range c.NPU.Memories {
		if a, b := one.Memories[k], two.Memories[k]; c.NPU.Memories[k].IsDRAM() &&
			(a.BytesPerCycle != 32 || b.BytesPerCycle != 64 || a.WriteLatency != 6 || b.WriteLatency != 3) {
			t.Errorf("DRAM: %+v and %+v", a, b)
		}
	}
	levels := require.V(LevelsFromSoC(c))(t)
	shared := ShareFromSoC(c, levels[len(levels)-1])
	for k := range c.NPU.Memories {
		if dram := c.NPU.Memories[k].IsDRAM(); dram != (levels[k] != nil) || dram != (shared[k] != nil) {
			t.Errorf("%s: levels %v and %v", c.NPU.Memories[k].Name, levels[k], shared[k])
		}
	}
	// The path to a shared DRAM adds its time.
	c.NPU.MemoryNs = 30
	for _, l := range ShareFromSoC(c, fixed(50*sim.Nanosecond)) {
		if l == nil {
			continue
		}
		if done, _ := l.Access(sim.Microsecond, 0, 64, mem.Read); done != sim.Microsecond+80*sim.Nanosecond {
			t.Errorf("a read behind 30 ns is done after %v", done-sim.Microsecond)
		}
	}
	c.NPU.Product = "ethos-u85"
	require.ErrorContains(t, require.Err(FromSoCAt(c, sim.OPP{Hz: 1, Volts: 1})), `"ethos-u85"`, "another product")
}

// fixed is a memory with a fixed latency.
type fixed sim.Time

func (f fixed) Access(t sim.Time, _ uint64, _ int, _ mem.Kind) (sim.Time, sim.Reason) {
	return t + sim.Time(f), sim.StallDRAM
}

func (fixed) Reset() {}

// machineNames are the SoC files of the machines that tests run on.
func machineNames() []string { return append(ethosu.Accelerators(), "pixel4") }
