package npu

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// The SoC named like an accelerator holds the machine of the preset, but for
// names and energy.
func TestPresetsAreThoseOfTheSoCs(t *testing.T) {
	for _, name := range ethosu.Accelerators() {
		c, err := soc.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := FromSoC(c, sim.FastSingleAnswer)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []*Spec{&got, &want} {
			s.Name, s.Energy = "", EnergySpec{}
			for i := range s.Memories {
				m := &s.Memories[i]
				m.Name, m.ReadPJ, m.WritePJ = "", 0, 0
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if l, err := LevelsFromSoC(c); err != nil || l[0] != nil || l[1] != nil {
			t.Errorf("%s: memories %v, %v", name, l, err)
		}
	}
}
