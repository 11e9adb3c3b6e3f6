package power_test

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/power"
)

func TestMeter(t *testing.T) {
	m := require.V(power.NewMeter([]string{"mac", "read"}, map[string]float64{"read": 10, "mac": 0.5}, 0.8))(t)
	m.Add(0, 100)
	m.Add(1, 3)
	if got, want := m.PJ(), 80.0; got != want {
		t.Errorf("%v pJ, want %v", got, want)
	}
	m.SetVoltage(0.4) // a quarter from here on
	m.Add(0, 100)
	if got, want := m.PJ(), 92.5; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("%v pJ, want %v", got, want)
	}
	m.SetVoltage(0.8)
	m.Add(1, 1)
	if got, want := m.PJ(), 102.5; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("%v pJ, want %v", got, want)
	}
	c := m.Counters()
	if c[0] != (sim.Counter{Name: "mac", Value: 200}) || c[1] != (sim.Counter{Name: "read", Value: 4}) {
		t.Errorf("counters %v", c)
	}
	m.Reset()
	if m.PJ() != 0 || m.Counters()[0].Value != 0 {
		t.Error("not empty after Reset")
	}
	require.Same(t, 0, testing.AllocsPerRun(100, func() { m.Add(1, 5); m.SetVoltage(0.7); _ = m.PJ() }), "allocations")
}

func TestParseIsStrict(t *testing.T) {
	names := []string{"a", "b"}
	for _, k := range []struct {
		table map[string]float64
		want  []string
	}{
		{map[string]float64{"a": 1, "b": 2}, nil},
		{map[string]float64{"a": 1}, []string{"no energy for b"}},
		{map[string]float64{"a": 1, "b": 2, "d": 1, "c": 3}, []string{"unknown event c, d", "known: a, b"}},
		{map[string]float64{"a": -1, "b": math.NaN()}, []string{"not an energy: a = -1, b = NaN"}},
		{map[string]float64{"a": math.Inf(1), "b": 0}, []string{"a = +Inf"}},
		{nil, []string{"no energy for a, b"}},
	} {
		got, err := power.Parse(names, k.table)
		if k.want == nil {
			if err != nil || got[0] != 1 || got[1] != 2 {
				t.Errorf("%v: %v, %v", k.table, got, err)
			}
			continue
		}
		for _, w := range k.want {
			require.ErrorContains(t, err, w, k.table)
		}
	}
	require.Fails(t, require.Err(power.NewMeter(names, map[string]float64{"a": 1, "b": 2}, 0)), "0 V accepted")
}

func TestStatic(t *testing.T) {
	if got := power.StaticPJ(150, sim.Millisecond); !(math.Abs(got-150e6) <= 1) { // 150 mW x 1 ms = 150 uJ
		t.Errorf("%v pJ, want 150e6", got)
	}
}

func TestOfCounters(t *testing.T) {
	c := []sim.Counter{{Name: "dram_activate", Value: 2}, {Name: "dram_row_hit", Value: 9}}
	require.Same(t, 3000, require.V(power.OfCounters(c, map[string]float64{"dram_activate": 1500}))(t))
	require.ErrorContains(t, require.Err(power.OfCounters(c, map[string]float64{"dram_activate": 1, "z": 1, "y": 1})), "no counter for y, z")
}
