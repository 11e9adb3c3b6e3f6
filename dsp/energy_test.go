package dsp

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/power"
)

// TestEnergy: energy is that of the packets, instructions and accesses that ran, and of time.
func TestEnergy(t *testing.T) {
	const n = 1000
	s := microSpec(t, "pixel4")
	e := s.Energy.PJ
	volts := (s.VoltageV / s.Energy.ReferenceV) * (s.VoltageV / s.Energy.ReferenceV)
	at := func(addr uint32) func(int, int) []uint32 {
		return func(int, int) []uint32 { return []uint32{addr, 1} }
	}
	// The loop's frame: setup, four empty packets, return.
	frame := 6*e["packet"] + 2*e["scalar"]
	for _, c := range []struct {
		m    micro
		pass float64 // pJ per pass of two packets
	}{
		{micro{name: "multiply", text: loopOf(n, "{ v0.w += vrmpy(v1.ub,r0.b) ; v2.w += vrmpy(v3.ub,r0.b) }\n{ nop }")}, 2 * e["vector_multiply"]},
		{micro{name: "shift and ALU", text: loopOf(n, "{ v0.w = vasr(v1.w,r0) ; v2.w = vadd(v3.w,v4.w) }\n{ nop }")}, e["permute"] + e["vector_alu"]},
		{micro{name: "vector from L2", args: at(dataAt), text: loopOf(n, "{ v0 = vmem(r0+#0) }\n{ nop }")}, e["vector_load"] + e["l2"]},
		{micro{name: "vector from VTCM", args: at(s.VTCMBase), text: loopOf(n, "{ v0 = vmem(r0+#0) }\n{ nop }")}, e["vector_load"] + e["vtcm"]},
		{micro{name: "vector to VTCM", args: at(s.VTCMBase), text: loopOf(n, "{ vmem(r0+#0) = v0 }\n{ nop }")}, e["vector_store"] + e["vtcm"]},
		{micro{name: "scalar from L1", args: at(dataAt), text: loopOf(n, "{ r2 = memw(r0+#0) }\n{ nop }")}, e["scalar"] + e["l1"]},
	} {
		got := c.m.run(t, s)
		want := (frame+n*(2*e["packet"]+c.pass))*volts + power.StaticPJ(s.Energy.StaticMW, sim.Clock{Hz: s.ClockHz}.At(got.Cycles))
		if math.Abs(got.EnergyPJ-want) > 1e-6*want {
			t.Errorf("%s: %.1f pJ, want %.1f", c.m.name, got.EnergyPJ, want)
		}
	}
}
