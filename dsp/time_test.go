package dsp

import (
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestDeterminism runs the same jobs twice.
func TestDeterminism(t *testing.T) {
	c := testCore(t)
	var last *sim.Report
	for range 2 {
		g := newGEMM(t, 256, 32, 128, 3)
		for i := range g.jobs {
			g.jobs[i].Region = i % 3
		}
		rep := require.V(c.Run(g.prog, g.space, g.jobs, Options{}))(t)
		var sum sim.StallTable
		var cycles int64
		var pj float64
		for i := range rep.Regions {
			sum.Add(&rep.Regions[i].Stalls)
			cycles += rep.Regions[i].Cycles
			pj += rep.Regions[i].EnergyPJ
			if rep.Regions[i].Stalls.Total() != rep.Regions[i].Cycles {
				t.Errorf("region %d: %d stalls, %d cycles", i, rep.Regions[i].Stalls.Total(), rep.Regions[i].Cycles)
			}
		}
		if len(rep.Regions) != 3 || sum != rep.Stalls || cycles != rep.Cycles || pj != rep.EnergyPJ {
			t.Errorf("regions do not add up: %+v", rep)
		}
		if last != nil && fmt.Sprint(*last) != fmt.Sprint(*rep) {
			t.Errorf("second run differs:\n%+v\n%+v", *last, *rep)
		}
		last = rep
	}
}

// TestProfile checks that the packets of one thread add up to its cycles and
// that a stall is charged to the packet that waits.
func TestProfile(t *testing.T) {
	s := microSpec(t, "pixel4")
	s.JobStartCycles, s.VectorQueue = 500, 0 // a load that misses stalls its packet
	c := require.V(newCold(s))(t)
	p := assemble(t, codeBase, loopOf(10, "{ v0 = vmem(r0++#1) }\n{ v1.w += vrmpy(v0.ub,r1.b) }"))
	space := new(mem.Space)
	require.NoError(t, space.Map(mem.Segment{Name: "data", Base: 0x100000, Data: make([]byte, 1<<16)}))
	var prof Profile
	jobs := []Job{{Region: 7, Entry: codeBase, Threads: 1, Args: [][]uint32{{0x100000}}}, {Region: 3, Entry: codeBase, Threads: 1, Args: [][]uint32{{0x100000}}}}
	rep := require.V(c.Run(p, space, jobs, Options{Profile: &prof}))(t)
	sum := map[int]sim.StallTable{}
	for _, k := range prof.Packets {
		table := sum[k.Region]
		table.Add(&k.Stalls)
		sum[k.Region] = table
		if k.Addr == codeBase+16 && (k.Count != 10 || k.Stalls[sim.StallOperand] != 20 || k.Stalls[sim.StallDRAM] != 0) {
			t.Errorf("region %d: multiply: %+v", k.Region, k)
		}
		if k.Addr == codeBase+12 && k.Region == 7 && k.Stalls[sim.StallDRAM] != 10*flatCycles {
			t.Errorf("load: %+v", k)
		}
	}
	for _, g := range rep.Regions {
		want := g.Stalls
		want[sim.StallLaunch] = 0
		if sum[g.ID] != want {
			t.Errorf("region %d: packets %v, region %v", g.ID, sum[g.ID], want)
		}
	}
	// While a region is launched, only static power is drawn: at 1.19 GHz, 119 mW are 100 pJ per cycle.
	s.ClockHz, s.Energy.StaticMW = 1_190_000_000, 119
	all := new(sim.Profile)
	prof.AddTo(all, &s, p, rep, func(uint32) (string, uint32) { return "loop", codeBase })
	launches := 0
	for _, x := range all.Samples {
		if x.Program != sim.StallLaunch.String() {
			continue
		}
		launches++
		if want := 100 * float64(x.Stalls[sim.StallLaunch]); x.Stalls[sim.StallLaunch] < 500 || !(math.Abs(x.EnergyPJ-want) <= 1e-9) {
			t.Errorf("launch of region %d: %v pJ, want %v", x.Region, x.EnergyPJ, want)
		}
	}
	if launches != 1 {
		t.Errorf("%d launches, want that of the first region", launches)
	}
}

// TestDecodedOnce: a run that finds the decoded program of another has the same report as that one, on any core, timed
// or not, and sees code that has changed.
func TestDecodedOnce(t *testing.T) {
	pixel := testCore(t)
	spec := testSpec(t)
	spec.MispredictSlots += 3
	other := require.V(newCold(spec))(t)
	g := newGEMM(t, 256, 32, 128, 3)
	run := func(c *coldCore, p *Program, functional bool) string {
		var prof Profile
		rep := require.V(c.Run(p, g.space, g.jobs, Options{Functional: functional, Profile: &prof}))(t)
		return fmt.Sprint(rep, prof)
	}
	fresh := func(c *coldCore, functional bool) string {
		return run(c, &Program{Base: g.prog.Base, Code: g.prog.Code}, functional)
	}
	if fresh(pixel, false) == fresh(other, false) {
		t.Fatal("the cores do not differ")
	}
	for i, c := range []*coldCore{pixel, pixel, other, pixel, pixel} {
		for _, functional := range []bool{false, true, false} {
			if got, want := run(c, g.prog, functional), fresh(c, functional); got != want {
				t.Errorf("run %d, functional %v:\n%.300s\nfresh:\n%.300s", i, functional, got, want)
			}
		}
		if _, err := c.Run(g.prog, g.space, g.jobs, Options{}); err != nil { // leaves counts without a profile
			t.Fatal(err)
		}
	}
	if g.prog.decoded.Load() == nil {
		t.Error("nothing is kept")
	}
	jumpr := assemble(t, 0, "{ jumpr r31 }").Code
	copy(g.prog.Code, jumpr)
	if run(pixel, g.prog, false) != fresh(pixel, false) {
		t.Error("a run of changed code is one of the code before")
	}
}
