package gpu

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/gpu/internal/footprint"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Each work-item adds to its element of y, in place, so many elements of x one after the other, 64 bytes apart.
const gatherSum = `
	s_load_dwordx4 s[4:7], s[0:1], 0x0
	s_load_dword s10, s[0:1], 0x10
	v_lshl_add_u32 v0, s2, 6, v0
	v_lshlrev_b32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
	global_load_dword v3, v1, s[6:7]
next:
	global_load_dword v2, v1, s[4:5]
	s_waitcnt vmcnt(0)
	v_add_f32 v3, v2, v3
	v_fma_f32 v3, v3, 0.5, 1.0
	s_add_u32 s4, s4, 0x40
	s_addc_u32 s5, s5, 0
	s_sub_i32 s10, s10, 1
	s_cmp_lg_u32 s10, 0
	s_cbranch_scc1 next
	global_store_dword v1, v3, s[6:7]
	s_endpgm`

const sampleItems = 128 * 1024

func sampledSpace(t *testing.T) (*mem.Space, []byte) {
	s, data := space(t, 16*sampleItems)
	for i := range 4 * sampleItems {
		setFloat(data, i, float32(i%101))
	}
	return s, data
}

// gatherSums are dispatches of the kernel, each with its number of iterations.
func gatherSums(t *testing.T, turns ...uint64) (list []Dispatch) {
	k := &Kernel{Name: "sum", Code: assemble(t, true, gatherSum), WaveSize: 64, VGPRs: 8}
	for i, n := range turns {
		list = append(list, Dispatch{Kernel: k, Grid: [3]int{sampleItems}, Workgroup: [3]int{64}, Region: i, Kernarg: args(dataBase, dataBase+8*sampleItems, n)})
	}
	return list
}

// TestSampled: a sampled run leaves the bytes and instructions of a full one and is within 2 % of its costs and
// traffic, within 5 % of those of each dispatch, though it simulates less than half in time.
func TestSampled(t *testing.T) {
	core := newCore(t, nil)
	list := gatherSums(t, 5, 12, 12, 5, 12, 12, 9, 12)
	fullSpace, fullData := sampledSpace(t)
	full := require.V(core.Run(fullSpace, list, Options{}))(t)
	var first *sim.Report
	for range 2 {
		s, data := sampledSpace(t)
		sampler := &Sampler{Sampled: &sim.Sampled{}}
		part := require.V(core.Run(s, list, Options{Sampler: sampler}))(t)
		if !bytes.Equal(data, fullData) {
			t.Error("the results are not those of a full run")
		}
		if part.Instructions != full.Instructions || sampler.Instructions != full.Instructions {
			t.Errorf("%d instructions, %d sampled; a full run executes %d", part.Instructions, sampler.Instructions, full.Instructions)
		}
		if 2*sampler.Simulated > sampler.Instructions || sampler.Compared == 0 || sampler.Complete == 0 {
			t.Errorf("%+v", *sampler.Sampled)
		}
		within := func(bound float64, what string, got, want float64) {
			if !(math.Abs(got-want) <= bound*want) {
				t.Errorf("%s: %g, want %g", what, got, want)
			}
		}
		near := func(what string, got, want float64) { within(0.02, what, got, want) }
		near("cycles", float64(part.Cycles), float64(full.Cycles))
		near("time", float64(part.Time), float64(full.Time))
		near("energy", part.EnergyPJ, full.EnergyPJ)
		within(0.05, "predicted cycles", float64(sampler.Predicted.Cycles), float64(sampler.Actual.Cycles))
		within(0.05, "predicted energy", sampler.Predicted.EnergyPJ, sampler.Actual.EnergyPJ)
		total := int64(0)
		for i := range full.Regions {
			within(0.05, "cycles of a region", float64(part.Regions[i].Cycles), float64(full.Regions[i].Cycles))
			within(0.05, "its energy", part.Regions[i].EnergyPJ, full.Regions[i].EnergyPJ)
			within(0.05, "its waves", float64(counter(part.Regions[i].Counters, "wave_cycles")), float64(counter(full.Regions[i].Counters, "wave_cycles")))
			if n := part.Regions[i].Stalls.Total(); n != part.Regions[i].Cycles {
				t.Errorf("region %d: stalls of %d cycles, it has %d", i, n, part.Regions[i].Cycles)
			}
			total += part.Regions[i].Cycles
		}
		if total != part.Cycles || part.Stalls.Total() != part.Cycles {
			t.Errorf("%d cycles, of regions %d, of stalls %d", part.Cycles, total, part.Stalls.Total())
		}
		for _, c := range full.Counters {
			if got := counter(part.Counters, c.Name); c.Value >= 10000 && slices.Contains([]string{"l0_bytes", "vector_lines", "scalar_bytes", "l2_read", "l2_write", "dram_bytes", "lane_instructions"}, c.Name) {
				near(c.Name, float64(got), float64(c.Value))
			}
		}
		if first == nil {
			first = part
		} else if part.Cycles != first.Cycles || part.EnergyPJ != first.EnergyPJ || !slices.Equal(part.Counters, first.Counters) {
			t.Error("two runs differ")
		}
	}
}

func counter(list []sim.Counter, name string) int64 {
	if i := slices.IndexFunc(list, func(c sim.Counter) bool { return c.Name == name }); i >= 0 {
		return list[i].Value
	}
	return 0
}

// TestSampledAgain: later runs reuse the costs of the first, and compare one instruction in compareOne again.
func TestSampledAgain(t *testing.T) {
	core := newCore(t, nil)
	list := gatherSums(t, 8, 11, 14)
	sampler := &Sampler{Sampled: &sim.Sampled{}}
	run := func() sim.Sampled {
		before := *sampler.Sampled
		s, _ := sampledSpace(t)
		if _, err := core.Run(s, list, Options{Sampler: sampler}); err != nil {
			t.Fatal(err)
		}
		x := *sampler.Sampled
		return sim.Sampled{Instructions: x.Instructions - before.Instructions, Simulated: x.Simulated - before.Simulated}
	}
	first := run()
	var later sim.Sampled
	for range 8 {
		x := run()
		later.Instructions += x.Instructions
		later.Simulated += x.Simulated
	}
	if later.Simulated*compareOne > 2*later.Instructions || later.Simulated == 0 || first.Simulated*4 < first.Instructions {
		t.Errorf("first %+v, later %+v", first, later)
	}
	// At another clock of the memory nothing is known.
	sampler.Memory = func() int64 { return 1 }
	if x := run(); x.Simulated*4 < x.Instructions {
		t.Errorf("another memory: %+v", x)
	}
	// The costs of a dispatch in which the clock changes are not reused.
	hz := int64(1)
	sampler.Memory = func() int64 { hz++; return hz }
	known := len(sampler.outcomes)
	if run(); len(sampler.outcomes) != known {
		t.Errorf("%d outcomes, %d without a clock that changes", len(sampler.outcomes), known)
	}
}

// TestSampledWhole: dispatches that cannot be sampled run in full: the report is that of a run without a Sampler.
func TestSampledWhole(t *testing.T) {
	core := newCore(t, nil)
	for name, text := range map[string]string{
		"atomics": base + `
	v_mov_b32 v1, 0
	v_mov_b32 v2, 1
	s_waitcnt lgkmcnt(0)
	global_atomic_add v1, v2, s[4:5]
	s_endpgm`,
		"a clock": base + `
	s_memtime s[10:11]
	s_waitcnt lgkmcnt(0)
	s_endpgm`,
		"caches": base + `
	s_waitcnt lgkmcnt(0)
	buffer_gl0_inv
	s_endpgm`,
	} {
		list := []Dispatch{{Kernel: kernelOf(t, 64, text), Grid: [3]int{sampleItems}, Workgroup: [3]int{64}, Kernarg: args(dataBase, dataBase)}}
		s, _ := space(t, 4096)
		full := require.V(core.Run(s, list, Options{}))(t)
		sampler := &Sampler{Sampled: &sim.Sampled{}}
		got := require.V(core.Run(s, list, Options{Sampler: sampler}))(t)
		if got.Cycles != full.Cycles || got.EnergyPJ != full.EnergyPJ || sampler.Instructions != 0 {
			t.Errorf("%s: %d cycles, want %d; %+v", name, got.Cycles, full.Cycles, *sampler.Sampled)
		}
	}
	// Nor is a run that is bounded or traced.
	list := gatherSums(t, 4)
	for name, o := range map[string]Options{"a bound": {Until: sim.Never - 1}, "spans": {Span: func(sim.Span) {}}, "a profile": {Profile: &sim.Profile{}}} {
		s, _ := sampledSpace(t)
		o.Sampler = &Sampler{Sampled: &sim.Sampled{}}
		if _, err := core.Run(s, list, o); err != nil || o.Sampler.Instructions != 0 {
			t.Errorf("%s: %+v, %v", name, *o.Sampler.Sampled, err)
		}
	}
}

// TestInStreams: streams alternate, burstLines of each in a row, and every index occurs once.
func TestInStreams(t *testing.T) {
	for _, n := range []int64{1, 7, 64, 100, 1000} {
		seen := map[int64]bool{}
		for i := range n {
			seen[inStreams(i, n, 4)] = true
		}
		if int64(len(seen)) != n {
			t.Errorf("%d places of %d", len(seen), n)
		}
	}
	for turn, want := range map[int64]int64{0: 0, 7: 7, 8: 248, 16: 496, 24: 744, 32: 8, 999: 999} {
		if got := inStreams(turn, 1000, 4); got != want {
			t.Errorf("turn %d: place %d, want %d", turn, got, want)
		}
	}
}

// TestSampledRecordings: sampled runs of recorded dispatches have the costs of those that execute, and do not execute once their
// sampler knows all of them.
func TestSampledRecordings(t *testing.T) {
	core := newCore(t, nil)
	list := gatherSums(t, 5, 12, 12, 5)
	kept := &Recorded{Limit: 16 << 20}
	run := func(sampler *Sampler, r *Recorded, mhz int64) (report string, wrote bool) {
		s, data := sampledSpace(t)
		before := bytes.Clone(data)
		x, err := core.Run(s, list, Options{Sampler: sampler, Recorded: r, Points: []sim.Change{{OPP: sim.OPP{Hz: mhz * 1e6, Volts: 0.7}}}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%+v %+v", *x, *sampler.Sampled), !bytes.Equal(data, before)
	}
	executes, times := &Sampler{Sampled: &sim.Sampled{}}, &Sampler{Sampled: &sim.Sampled{}}
	for i, mhz := range []int64{300, 300, 500, 300, 500} {
		want, _ := run(executes, nil, mhz)
		if got, wrote := run(times, kept, mhz); got != want || wrote != (i == 0) || !kept.Complete() {
			t.Errorf("run %d: wrote %v, kept %v:\n%s\nwant\n%s", i, wrote, kept.Complete(), got, want)
		}
	}
	for i := range 2 {
		if _, wrote := run(times, kept, 300); wrote {
			t.Errorf("run %d of what is known executes", i)
		}
	}
	if _, wrote := run(&Sampler{Sampled: &sim.Sampled{}}, kept, 300); !wrote {
		t.Error("a run of a sampler that knows nothing does not execute")
	}
}

// TestSampledShort: of dispatches whose recordings were not kept, those that have to be timed execute again, after
// those before them; where none has to, nothing executes. Costs are within 2 % of those of full runs.
func TestSampledShort(t *testing.T) {
	core := newCore(t, nil)
	list := gatherSums(t, 5, 12, 12, 5)
	sampler, kept := &Sampler{Sampled: &sim.Sampled{}}, &Recorded{Limit: 1 << 20}
	for i, x := range []struct {
		mhz   int64
		wrote bool
	}{{300, true}, {500, true}, {500, false}, {300, false}} {
		s, data := sampledSpace(t)
		before := bytes.Clone(data)
		points := []sim.Change{{OPP: sim.OPP{Hz: x.mhz * 1e6, Volts: 0.7}}}
		full := require.V(core.Run(s, list, Options{Points: points}))(t)
		copy(data, before)
		got := require.V(core.Run(s, list, Options{Points: points, Sampler: sampler, Recorded: kept}))(t)
		if wrote := !bytes.Equal(data, before); wrote != x.wrote || !kept.Complete() || !kept.short || kept.Bytes() > kept.Limit {
			t.Errorf("run %d: wrote %v, kept %v, some without words %v, %d bytes", i, wrote, kept.Complete(), kept.short, kept.Bytes())
		}
		cycles, energy := float64(got.Cycles)/float64(full.Cycles), got.EnergyPJ/full.EnergyPJ
		if !(math.Abs(cycles-1) <= 0.02) || !(math.Abs(energy-1) <= 0.02) || got.Instructions != full.Instructions {
			t.Errorf("run %d: %.3f of the cycles, %.3f of the energy, %d of %d instructions", i, cycles, energy, got.Instructions, full.Instructions)
		}
	}
	// One that is profiled times all of them.
	s, data := sampledSpace(t)
	before := bytes.Clone(data)
	full := require.V(core.Run(s, list, Options{}))(t)
	copy(data, before)
	got := require.V(core.Run(s, list, Options{Sampler: sampler, Recorded: kept, Profile: &sim.Profile{}}))(t)
	if got.Cycles != full.Cycles || bytes.Equal(data, before) {
		t.Errorf("a profile: %d cycles, %d in full", got.Cycles, full.Cycles)
	}
	// A full run has no use for dispatches without words, and keeps nothing beyond the limit.
	copy(data, before)
	require.V(core.Run(s, list, Options{Recorded: kept}))(t)
	if bytes.Equal(data, before) || kept.Complete() {
		t.Errorf("a full run: kept %v", kept.Complete())
	}
}

// TestSampledRecordLimit: a recording of a sampled run may be longer.
func TestSampledRecordLimit(t *testing.T) {
	core := newCore(t, nil)
	s, _ := space(t, 64)
	for want, o := range map[int]Options{
		maxRecord: {}, maxSampledRecord: {Sampler: &Sampler{Sampled: &sim.Sampled{}}},
		7: {maxRecord: 7, Sampler: &Sampler{Sampled: &sim.Sampled{}}},
	} {
		m := require.V(core.NewState(nil))(t).m
		m.begin(s, Options{Functional: true})
		m.opt = o
		if got := m.recorded(s, nil).tapes[0].limit; got != want {
			t.Errorf("%d words, want %d", got, want)
		}
	}
}

// TestTouch: the lines of L2 that lines of L0, 64 bytes long, touch.
func TestTouch(t *testing.T) {
	for line, want := range map[int][]uint64{32: {2, 3, 6, 7}, 64: {1, 3}, 128: {0, 1}} {
		x := recording{touched: &[2]footprint.Set{}}
		x.touch(&Spec{L0: CacheSpec{Line: 64}, L2: CacheSpec{Line: line}}, mem.Write, []uint64{64 + 3, 192})
		if got := x.touched[mem.Write].Lines(); !slices.Equal(got, want) || len(x.touched[mem.Read].Lines()) > 0 {
			t.Errorf("lines of %d bytes: %v, want %v", line, got, want)
		}
	}
}
