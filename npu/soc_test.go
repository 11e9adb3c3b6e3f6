package npu

import (
	"testing"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// specOf is the NPU of a SoC file: pixel4, or one named like Arm's accelerators.
func specOf(t testing.TB, name string) Spec {
	t.Helper()
	c, err := soc.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := FromSoC(c, sim.FastSingleAnswer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The SoC named like an accelerator has memories of a fixed width and latency, as
// Vela's table of systems gives them, and as many multipliers as its name says.
func TestAccelerators(t *testing.T) {
	want := map[string]int{"ethos-u55-32": 32, "ethos-u55-64": 64, "ethos-u55-128": 128, "ethos-u55-256": 256, "ethos-u65-256": 256, "ethos-u65-512": 512}
	for _, name := range ethosu.Accelerators() {
		c, err := soc.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := LevelsFromSoC(c); err != nil || l[0] != nil || l[1] != nil {
			t.Errorf("%s: memories %v, %v", name, l, err)
		}
		s := specOf(t, name)
		if got := s.MACsPerCycle(); got != want[name] {
			t.Errorf("%s: %d multiply-accumulates per cycle, want %d", name, got, want[name])
		}
	}
}

// machineNames are the SoC files of the machines that tests run on.
func machineNames() []string { return append(ethosu.Accelerators(), "pixel4") }
