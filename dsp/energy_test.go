package dsp

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/power"
)

// TestEnergy: energy is that of the packets, instructions and accesses that ran, and static energy.
func TestEnergy(t *testing.T) {
	const n = 1000
	s := microSpec(t, "pixel4")
	e := s.Energy.PJ
	s.VoltageV = 0.9 * s.Energy.ReferenceV
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
		if !(math.Abs(got.EnergyPJ-want) <= 1e-6*want) {
			t.Errorf("%s: %.1f pJ, want %.1f", c.m.name, got.EnergyPJ, want)
		}
	}
}

// TestDRAMTraffic: a job moves the lines that it misses, a prefetch box those of its rows, DMA past L2 its bytes.
func TestDRAMTraffic(t *testing.T) {
	s := microSpec(t, "sd888")
	s.L2.Bytes = 128 << 10
	fresh := func(words ...uint32) func(int, int) []uint32 {
		return func(_, job int) []uint32 { return append([]uint32{dataAt + 0x10000 + uint32(job)*0x40000}, words...) }
	}
	// A box continues when something else is requested: here of L2, long behind.
	later := "\tr7 = ##0x100000\n{ loop0(1f,#1000) }\n1: { nop }\n{ nop } :endloop0\n{ v0 = vmem(r7+#0) }\n\tjumpr r31\n"
	box, word := "\tl2fetch(r0,r3:2)\n"+later, "\tl2fetch(r0,r4)\n"+later
	dma := "\tr5 = ##0x100000\n\tmemw(r5+#0) = r1\n\tmemw(r5+#4) = r2\n\tmemw(r5+#8) = %s\n\tmemw(r5+#12) = %s\n\tdmstart(r5)\n\tr6 = dmwait\n\tjumpr r31\n"
	in, out := fmt.Sprintf(dma, "r0", "r3"), fmt.Sprintf(dma, "r3", "r0")
	const bytes = 4096
	code := codeFetch(&s)
	lines := slices.IndexFunc(code, func(m micro) bool { return m.name == "whole lines, cold" })
	for _, c := range []struct {
		m    micro
		want int64
	}{
		{code[lines], 33 * 128}, // blocks, with the next line of L1I in the same line of L2
		{micro{name: "nothing", text: loopOf(10, "{ nop }\n{ nop }")}, 0},
		{micro{name: "vectors", args: fresh(), text: loopOf(8, "{ v0 = vmem(r0++#1) }\n{ nop }")}, 8 * 128},
		// More lines of a set than it has ways: each replaces one that the job before wrote.
		{micro{name: "written lines", args: fresh(uint32(s.L2.Bytes / s.L2.Ways)), text: loopOf(s.L2.Ways, "{ vmem(r0+#0) = v0 ; r0 = add(r0,r1) }\n{ nop }")}, int64(s.L2.Ways) * 128},
		{micro{name: "box", args: fresh(0, 512<<16|16, 512), text: box}, 16 * 512},
		{micro{name: "box without rows", args: fresh(0, 512<<16, 512), text: box}, 0},
		{micro{name: "box without width", args: fresh(0, 16, 512), text: box}, 0},
		{micro{name: "shape in a word", args: fresh(0, 0, 0, 128<<16|128<<8|64), text: word}, 64 * 128},
		{micro{name: "word without rows", args: fresh(0, 0, 0, 128<<16|128<<8), text: word}, 0},
		{micro{name: "word without width", args: fresh(0, 0, 0, 128<<16|64), text: word}, 0},
		{micro{name: "DMA through L2", args: fresh(0, bytes, s.VTCMBase), text: in}, bytes},
		{micro{name: "DMA past L2", args: fresh(0, dmaBypassSrc|bytes, s.VTCMBase), text: in}, bytes},
		{micro{name: "DMA into L2", args: fresh(0, bytes, s.VTCMBase), text: out}, 0}, // whole lines, which stay
		{micro{name: "DMA into DRAM", args: fresh(0, dmaBypassDst|bytes, s.VTCMBase), text: out}, bytes},
	} {
		require.Same(t, c.want, c.m.run(t, s).DRAMBytes, c.m.name, "bytes")
	}
}
