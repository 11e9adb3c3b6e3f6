package npu

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
)

// checkReport checks the invariants of every report.
func checkReport(t testing.TB, r *sim.Report) {
	t.Helper()
	if r.Stalls.Total() != r.Cycles {
		t.Errorf("stalls add up to %d, cycles are %d", r.Stalls.Total(), r.Cycles)
	}
	var cycles int64
	var energy float64
	var sum sim.StallTable
	for i := range r.Regions {
		g := &r.Regions[i]
		if g.Stalls.Total() != g.Cycles {
			t.Errorf("region %d: stalls add up to %d, cycles are %d", g.ID, g.Stalls.Total(), g.Cycles)
		}
		for why, n := range g.Stalls {
			if n < 0 {
				t.Errorf("region %d: %d cycles of %s", g.ID, n, sim.Reason(why))
			}
		}
		cycles += g.Cycles
		energy += g.EnergyPJ
		sum.Add(&g.Stalls)
	}
	if cycles != r.Cycles || sum != r.Stalls {
		t.Errorf("regions add up to %d cycles %v, the run has %d %v", cycles, sum, r.Cycles, r.Stalls)
	}
	if d := energy - r.EnergyPJ; d > 1 || d < -1 {
		t.Errorf("regions add up to %v pJ, the run has %v", energy, r.EnergyPJ)
	}
}

// Two runs produce the same report and bytes; a functional run the same bytes.
func TestRepeatable(t *testing.T) {
	for _, preset := range machineNames() {
		c := mustCore(t, preset)
		m := newMachine(c.Spec(), 3)
		l := conv(20, 20, 24, 40, 3, 1)
		l.ofm = mapBytes(20, 20, 24, 1, false)
		m.emit(t, l)
		p := m.program(t)
		arena := make([]byte, l.ofm+mapBytes(20, 20, 40, 1, false))
		for i := range arena[:l.ofm] {
			arena[i] = byte(i * 31)
		}
		run := func(c *Core, o Options) (*sim.Report, []byte) {
			a := bytes.Clone(arena)
			rep := require.V(c.Run(p, &Regions{m.flash, a}, o))(t)
			return rep, a
		}
		r1, a1 := run(c, Options{})
		r2, a2 := run(c, Options{})
		r3, a3 := run(mustCore(t, preset), Options{})
		_, a4 := run(c, Options{Functional: true})
		for _, again := range []*sim.Report{r2, r3} {
			require.Equal(t, r1, again, preset, "reports differ")
		}
		if !bytes.Equal(a1, a2) || !bytes.Equal(a1, a3) || !bytes.Equal(a1, a4) {
			t.Errorf("%s: bytes differ", preset)
		}
		checkReport(t, r1)
		if r1.Regions[0].ID != -1 || r1.Regions[0].Stalls[sim.StallLaunch] != int64(c.Spec().LaunchCycles) {
			t.Errorf("%s: launch is not charged: %+v", preset, r1.Regions[0])
		}
	}
}

// copyProgram copies n bytes, count times, waiting after each.
func copyProgram(t *testing.T, p ethosu.Product, n, count int) *Program {
	b := ethosu.NewBuilder(p)
	b.Set(ethosu.SetDMA0SrcRegion, 0)
	b.Set(ethosu.SetDMA0DstRegion, 2)
	b.SetAddr(ethosu.SetDMA0Src, 0)
	b.SetAddr(ethosu.SetDMA0Dst, 0)
	b.SetAddr(ethosu.SetDMA0Len, uint64(n))
	for range count {
		b.Op(ethosu.OpDMAStart, 0)
		b.Op(ethosu.OpDMAWait, 0)
	}
	b.Op(ethosu.OpStop, 0)
	words := require.V(b.Words())(t)
	return &Program{Commands: words}
}

// An unloaded copy costs latency, a long one bandwidth: the closed forms of the slower memory of the two.
func TestCopyTiming(t *testing.T) {
	for _, preset := range []string{"ethos-u55-128", "ethos-u65-512", "pixel4"} {
		c := mustCore(t, preset)
		s := c.Spec()
		m := s.Memories[s.RegionMemory[0]]
		for _, n := range []int{16, 1 << 16, 1 << 20} {
			p := copyProgram(t, s.Product, n, 1)
			rep := require.V(c.Run(p, &Regions{make([]byte, n), nil, make([]byte, n)}, Options{}))(t)
			checkReport(t, rep)
			commands := 6 // before the copy and with it, one cycle each
			// The commands themselves are fetched through the same port first.
			start := max(float64(commands*s.CommandCycles+s.DMASetup), transaction/m.BytesPerCycle)
			want := int64(float64(s.LaunchCycles+m.ReadLatency) + start + float64(n)/m.BytesPerCycle + 0.999)
			if d := rep.Cycles - want; d < -2 || d > 2 {
				t.Errorf("%s: copy of %d bytes takes %d cycles, want %d", preset, n, rep.Cycles, want)
			}
			if wait := rep.Stalls[sim.StallDMA]; wait < want-int64(s.LaunchCycles)-10 {
				t.Errorf("%s: %d cycles are charged to the copy of %d", preset, wait, want)
			}
		}
	}
}

// A wait for a copy belongs to the region of the command that waits, and a run that enters a program behind it has none.
func TestWaitRegion(t *testing.T) {
	for _, preset := range []string{"ethos-u55-128", "ethos-u65-512", "pixel4"} {
		spec := specOf(t, preset)
		c := mustCore(t, preset)
		m := newMachine(&spec, 1)
		l := conv(6, 6, 16, 16, 3, 1)
		l.ofm = 4096
		m.emit(t, l)
		kernel := m.program(t).Commands
		const n = 1 << 16
		words := copyProgram(t, spec.Product, n, 1).Commands
		words = words[:len(words)-1] // without NPU_OP_STOP
		enter := len(words)
		p := &Program{Commands: append(words, kernel...), Marks: []Mark{{ID: 7}, {Word: enter, ID: 8}}}
		r := &Regions{make([]byte, n), make([]byte, 1<<15), make([]byte, n)}
		copy(r[0], m.flash)
		cycles := map[bool]map[int]int64{}
		for _, behind := range []bool{false, true} {
			o := Options{}
			if behind {
				o.Enter = enter
			}
			rep := require.V(c.Run(p, r, o))(t, preset)
			checkReport(t, rep)
			cycles[behind] = map[int]int64{}
			for _, g := range rep.Regions {
				cycles[behind][g.ID] += g.Cycles
			}
		}
		least := int64(n / spec.Memories[spec.RegionMemory[0]].BytesPerCycle)
		if got := cycles[false][7]; got < least {
			t.Errorf("%s: %d cycles of the copy's region, it takes %d", preset, got, least)
		}
		if _, there := cycles[true][7]; there {
			t.Errorf("%s: a run behind the copy has its region", preset)
		}
		if a, b := cycles[false][8], cycles[true][8]; a == 0 || a > b+b/4 {
			t.Errorf("%s: %d cycles of the kernel behind the copy, %d alone", preset, a, b)
		}
		require.Fails(t, require.Err(c.Run(p, r, Options{Enter: len(p.Commands) + 1})), preset, "a run began behind the program")
	}
}

// With a DRAM attached a copy runs at its bandwidth and the wait shows.
func TestAttachedLevel(t *testing.T) {
	cfg := dram.Config{Name: "test", Channels: 2, Banks: 8, RowBytes: 2048, BusBits: 16, BurstLength: 16, TransfersPerSec: 4e9,
		InterleaveBytes: 256, ReadLatency: 17 * sim.Nanosecond, WriteLatency: 8 * sim.Nanosecond, TRCD: 18 * sim.Nanosecond,
		TRPpb: 18 * sim.Nanosecond, TRPab: 21 * sim.Nanosecond, TRAS: 42 * sim.Nanosecond, TRC: 60 * sim.Nanosecond,
		TRRD: 10 * sim.Nanosecond, TFAW: 40 * sim.Nanosecond, TWR: 18 * sim.Nanosecond, TWTR: 10 * sim.Nanosecond, TRTP: 8 * sim.Nanosecond}
	d := require.V(dram.New(cfg))(t)
	c := mustCore(t, "pixel4")
	const n = 1 << 20
	run := func() *sim.Report {
		d.Reset()
		rep := require.V(c.Run(copyProgram(t, ethosu.U65, n, 1), &Regions{make([]byte, n), nil, make([]byte, n)}, Options{Memories: []mem.Level{nil, d}}))(t)
		checkReport(t, rep)
		return rep
	}
	rep := run()
	seconds := float64(rep.Cycles-int64(c.Spec().LaunchCycles)) / float64(rep.Hz)
	if bw := n / seconds; bw > cfg.PeakBytesPerSecond() || bw < 0.8*cfg.PeakBytesPerSecond() {
		t.Errorf("copy at %.2f GB/s, the pins have %.2f", bw/1e9, cfg.PeakBytesPerSecond()/1e9)
	}
	if again := run(); again.Cycles != rep.Cycles {
		t.Errorf("%d cycles, then %d", rep.Cycles, again.Cycles)
	}
	if _, err := c.Run(copyProgram(t, ethosu.U65, 16, 1), &Regions{make([]byte, 16), nil, make([]byte, 16)}, Options{Memories: make([]mem.Level, 3)}); err == nil {
		t.Error("more levels than memories accepted")
	}
}

// spender is a memory with an energy per access.
type spender struct {
	mem.Level
	pj float64
}

func (s *spender) Access(t sim.Time, addr uint64, n int, kind mem.Kind) (sim.Time, sim.Reason) {
	s.pj += float64(n)
	return t + sim.Nanosecond, sim.StallDRAM
}

func (s *spender) Energy() (dynamicPJ, backgroundMW float64) { return s.pj, 0 }

// TestProfileOfMemory: the energy of a memory is charged to the command that runs, in a profile as in the report,
// without the energy spent before.
func TestProfileOfMemory(t *testing.T) {
	c := mustCore(t, "pixel4")
	m := &spender{}
	const n = 1 << 12
	for range 2 {
		before, p := m.pj, &sim.Profile{}
		rep, err := c.Run(copyProgram(t, ethosu.U65, n, 1), &Regions{make([]byte, n), nil, make([]byte, n)}, Options{Memories: []mem.Level{nil, m}, Profile: p})
		require.NoError(t, err)
		sum, most := 0.0, sim.Sample{}
		for _, s := range p.Samples {
			if sum += s.EnergyPJ; s.EnergyPJ > most.EnergyPJ && s.At != sim.NoInstruction { // the launch costs static energy
				most = s
			}
		}
		if spent := m.pj - before; spent < n || most.EnergyPJ < spent/2 {
			t.Errorf("%v pJ of the memory, the command of the most %+v", spent, most)
		}
		if d := sum - rep.EnergyPJ; d > 1e-6*sum || d < -1e-6*sum {
			t.Errorf("commands take %v pJ, the run %v", sum, rep.EnergyPJ)
		}
	}
}

// runLayer runs one layer and returns its report.
func runLayer(t *testing.T, s Spec, l layer) *sim.Report {
	c := require.V(New(s))(t)
	m := newMachine(c.Spec(), 5)
	l.ofm = mapBytes(l.ih, l.iw, l.ic, 1, l.b16in)
	m.emit(t, l)
	rep := require.V(c.Run(m.program(t), &Regions{m.flash, make([]byte, l.ofm+mapBytes(l.oh, l.ow, l.oc, l.out, l.b16))}, Options{}))(t)
	checkReport(t, rep)
	return rep
}

// runMarked runs a small layer for each of a list of operations.
func runMarked(t *testing.T, s Spec, operations []int) *sim.Report {
	c := require.V(New(s))(t)
	m := newMachine(c.Spec(), 5)
	l := conv(8, 8, 16, 16, 1, 1)
	l.ofm = mapBytes(8, 8, 16, 1, false)
	for i, op := range operations {
		m.emit(t, l)
		m.marks[i].Operation = op
	}
	rep := require.V(c.Run(m.program(t), &Regions{m.flash, make([]byte, 2*l.ofm)}, Options{}))(t)
	checkReport(t, rep)
	return rep
}

// The bottleneck of a layer is the one in the account, and changing it changes the cycles in the expected direction.
func TestBottlenecks(t *testing.T) {
	base := specOf(t, "ethos-u55-128")
	// Weights are read again for every block of pixels: from a memory that keeps up.
	base.Memories = append([]MemorySpec(nil), base.Memories...)
	base.Memories[1].BytesPerCycle = 8
	base.Memories[1].Reads = 0
	l := conv(32, 32, 64, 64, 3, 1)
	l.blk = [3]int{8, 16, 32}
	full := runLayer(t, base, l)
	if full.Stalls.Largest() != sim.StallIssue {
		t.Errorf("3x3 convolution is bound by %v", full.Stalls.Largest())
	}
	// The array works no faster than its multipliers.
	macs := int64(32 * 32 * 64 * 64 * 9)
	if least := macs / int64(base.MACsPerCycle()); full.Stalls[sim.StallIssue] < least {
		t.Errorf("%d cycles of work, %d MACs take at least %d", full.Stalls[sim.StallIssue], macs, least)
	} else if full.Cycles > 2*least {
		t.Errorf("%d cycles, %d would do", full.Cycles, least)
	}
	// Slow flash: weights bind, charged to off-chip memory.
	slow := base
	slow.Memories = append([]MemorySpec(nil), base.Memories...)
	slow.Memories[1].BytesPerCycle = 0.01
	if r := runLayer(t, slow, l); r.Stalls.Largest() != sim.StallDRAM || r.Cycles < 2*full.Cycles {
		t.Errorf("slow flash: %d cycles, bound by %v; fast %d", r.Cycles, r.Stalls.Largest(), full.Cycles)
	}
	// Slow SRAM binds through the input.
	slow.Memories[1], slow.Memories[0].BytesPerCycle = base.Memories[1], 0.05
	if r := runLayer(t, slow, l); r.Stalls.Largest() != sim.StallScratchpad || r.Cycles < 2*full.Cycles {
		t.Errorf("slow SRAM: %d cycles, bound by %v; fast %d", r.Cycles, r.Stalls.Largest(), full.Cycles)
	}
	// A slow output unit blocks the accumulators.
	slow = base
	slow.OutputCycles[OutOther] = 100
	if r := runLayer(t, slow, l); r.Stalls.Largest() != sim.StallUnit {
		t.Errorf("slow output unit: bound by %v", r.Stalls.Largest())
	}
	// More multipliers, fewer cycles; edge blocks cost less than full ones.
	big := specOf(t, "ethos-u55-256")
	big.Memories = base.Memories
	if r := runLayer(t, big, l); r.Cycles >= full.Cycles {
		t.Errorf("256 MACs take %d cycles, 128 take %d", r.Cycles, full.Cycles)
	}
	edge := conv(33, 32, 64, 64, 3, 1)
	edge.blk = l.blk
	if r := runLayer(t, base, edge); r.Cycles >= full.Cycles*10/8 {
		t.Errorf("one more row takes %d cycles instead of %d", r.Cycles, full.Cycles)
	}
}

// The cycles of the weight-stationary array equal the closed form: tiles times the larger of pixels and the load of a
// tile, which is the decoder's time beyond the pixels.
func TestArrayCycles(t *testing.T) {
	s := specOf(t, "pixel4")
	s.UBlock, s.WeightsPerCycle, s.OperationCycles = UBlock{H: 1, W: 1, D: 64, IFM: 64}, 64, 0
	for _, c := range []struct {
		l    layer
		want int64
	}{
		{conv(16, 16, 128, 128, 1, 1), 2 * 2 * 256},
		{conv(4, 4, 128, 128, 1, 1), 2 * 2 * 64},   // 16 pixels, loading a tile costs 64 cycles
		{conv(16, 16, 3, 64, 3, 1), 256},           // 9 taps of 3 channels are 27 rows
		{conv(16, 16, 8, 64, 3, 1), 2 * 256},       // of 8 they are 72
		{conv(16, 16, 32, 32, 3, 1).dw(), 5 * 256}, // 32 times 9 taps
		{conv(16, 16, 8, 8, 9, 1).dw(), 11 * 256},  // 8 times 81 taps
		{conv(4, 4, 64, 64, 1, 1).dw(), 64},        // one tap: all channels at once
	} {
		c.l.blk = [3]int{16, 16, 128}
		r := runLayer(t, s, c.l)
		if got := r.Stalls[sim.StallIssue] + r.Stalls[sim.StallWeightDecode]; got != c.want {
			t.Errorf("%dx%dx%d: %d cycles of work, want %d", c.l.oh, c.l.ow, c.l.oc, got, c.want)
		}
		pixels, load := int64(c.l.oh*c.l.ow), int64(64)
		if got, want := r.Stalls[sim.StallWeightDecode], c.want/max(pixels, load)*max(load-pixels, 0); got != want {
			t.Errorf("%dx%dx%d: %d cycles for weights, want %d", c.l.oh, c.l.ow, c.l.oc, got, want)
		}
	}
}

// A grid of 4 x 4 arrays of 4 rows and 64 columns divides the pixels, each array with all channels; a pool uses the
// inputs of a depthwise kernel and no weights.
func TestTileCycles(t *testing.T) {
	s := specOf(t, "pixel4")
	kernel := func(kind state.Kind, channels, side int) *state.Op {
		o := &state.Op{Kind: kind, Mode: ethosu.PoolMax, Cores: 1, Window: state.Window{H: side, W: side}}
		o.IFM.C, o.IFM.ElemSize = channels, 1
		return o
	}
	for name, c := range map[string]struct {
		o       *state.Op
		h, w, d int
		want    int64
	}{
		"whole tiles":          {kernel(state.Conv, 128, 1), 16, 16, 128, 16 * 2 * 32},
		"14 of 16 rows":        {kernel(state.Conv, 128, 1), 14, 14, 128, 16 * 2 * 32},
		"a row too many":       {kernel(state.Conv, 128, 1), 17, 16, 128, 20 * 2 * 32},
		"27 inputs of 3 by 3":  {kernel(state.Conv, 3, 3), 16, 16, 64, 16 * 7},
		"depthwise 3x3":        {kernel(state.Depthwise, 32, 3), 14, 14, 32, 16 * 9 * 8},
		"depthwise 5x5":        {kernel(state.Depthwise, 32, 5), 14, 14, 32, 16 * 25 * 8},
		"depthwise, 1 channel": {kernel(state.Depthwise, 1, 3), 14, 14, 1, 16 * 3},
		"depthwise, 1 tap":     {kernel(state.Depthwise, 128, 1), 4, 4, 128, 32},
		"pool":                 {kernel(state.Pool, 32, 3), 14, 14, 32, 16 * 9 * 8},
	} {
		if got, products := s.macCycles(c.o, c.h, c.w, c.d); got != c.want || products != c.want {
			t.Errorf("%s: %d cycles of work, %d of products, want %d", name, got, products, c.want)
		}
	}
}

// The first kernel of an operation begins so much later, whatever kernels are between, with its own stall reason.
func TestOperationCycles(t *testing.T) {
	const each = 5000
	s := specOf(t, "ethos-u55-128")
	of := func(operations []int) *sim.Report {
		s.OperationCycles = each
		return runMarked(t, s, operations)
	}
	one, three := of([]int{4, 4, 4}), of([]int{4, 5, 4})
	s.OperationCycles = 0
	none := runMarked(t, s, []int{4, 5, 4})
	// Input and weights of the first block are fetched meanwhile; those of others the kernel before no longer hides.
	if d := one.Cycles - none.Cycles; d > each || d < each*9/10 {
		t.Errorf("an operation begins in %d cycles, want %d", d, each)
	}
	if d, fetch := three.Cycles-one.Cycles, three.Stalls[sim.StallFetch]-one.Stalls[sim.StallFetch]; d < 2*each || d > 2*each*11/10 || fetch != 2*each {
		t.Errorf("two more operations take %d cycles more, %d of them for their begin, want %d", d, fetch, 2*each)
	}
}

// Each entry of the energy table is charged per event counted.
func TestEnergy(t *testing.T) {
	base := specOf(t, "ethos-u55-256")
	base.Energy = EnergySpec{}
	base.Memories = append([]MemorySpec(nil), base.Memories...)
	for i := range base.Memories {
		base.Memories[i].ReadPJ, base.Memories[i].WritePJ = 0, 0
	}
	l := conv(16, 16, 32, 32, 3, 1)
	count := func(r *sim.Report, name string) float64 {
		for _, c := range r.Counters {
			if c.Name == name {
				return float64(c.Value)
			}
		}
		t.Fatalf("no counter %s", name)
		return 0
	}
	for _, c := range []struct {
		name string
		set  func(s *Spec)
		want func(r *sim.Report) float64
	}{
		{"nothing", func(*Spec) {}, func(*sim.Report) float64 { return 0 }},
		{"mac", func(s *Spec) { s.Energy.MAC = 1 }, func(r *sim.Report) float64 { return count(r, "macs") }},
		{"output", func(s *Spec) { s.Energy.Output = 1 }, func(r *sim.Report) float64 { return count(r, "output_elements") }},
		{"weights", func(s *Spec) { s.Energy.WeightByte = 1 }, func(r *sim.Report) float64 { return count(r, "weight_bytes") }},
		{"commands", func(s *Spec) { s.Energy.Command = 1 }, func(r *sim.Report) float64 { return float64(r.Instructions) }},
		{"sram writes", func(s *Spec) { s.Memories[0].WritePJ = 1 }, func(r *sim.Report) float64 { return count(r, "sram_write_bytes") }},
		{"sram reads", func(s *Spec) { s.Memories[0].ReadPJ = 1 }, func(r *sim.Report) float64 { return count(r, "sram_read_bytes") }},
		{"flash reads", func(s *Spec) { s.Memories[1].ReadPJ = 1 }, func(r *sim.Report) float64 { return count(r, "flash_read_bytes") }},
		{"static", func(s *Spec) { s.Energy.StaticW = 2 }, func(r *sim.Report) float64 { return 2e12 * float64(r.Cycles) / float64(r.Hz) }},
	} {
		s := base
		s.Memories = append([]MemorySpec(nil), base.Memories...)
		c.set(&s)
		r := runLayer(t, s, l)
		want := c.want(r)
		if d := r.EnergyPJ - want; d > want*1e-9+1e-6 || d < -want*1e-9-1e-6 {
			t.Errorf("%s: %v pJ, want %v", c.name, r.EnergyPJ, want)
		}
		if c.name == "mac" && want != 16*16*32*32*9 {
			t.Errorf("%v multiply-accumulates counted", want)
		}
	}
}

// TestTimingOnly: without arithmetic the report is the same, and nothing is written.
func TestTimingOnly(t *testing.T) {
	for _, preset := range []string{"ethos-u55-128", "ethos-u65-512", "pixel4"} {
		c := mustCore(t, preset)
		for i, l := range []layer{conv(16, 16, 24, 40, 3, 1), conv(9, 9, 32, 32, 3, 2).dw(), conv(1, 1, 64, 100, 1, 1)} {
			m := newMachine(c.Spec(), uint64(i))
			l.ofm = mapBytes(l.ih, l.iw, l.ic, 1, l.b16in)
			m.emit(t, l)
			p := m.program(t)
			var reports [2]*sim.Report
			var arena [2][]byte
			for k, only := range []bool{false, true} {
				arena[k] = make([]byte, l.ofm+mapBytes(l.oh, l.ow, l.oc, l.out, l.b16))
				var err error
				if reports[k], err = c.Run(p, &Regions{m.flash, arena[k]}, Options{TimingOnly: only}); err != nil {
					t.Fatal(err)
				}
			}
			require.Equal(t, reports[0], reports[1], preset, "layer", i)
			if bytes.Equal(arena[0], arena[1]) || !bytes.Equal(arena[1], make([]byte, len(arena[1]))) {
				t.Errorf("%s, layer %d: the arithmetic was not left out", preset, i)
			}
		}
	}
	if _, err := mustCore(t, "pixel4").Run(&Program{}, &Regions{}, Options{TimingOnly: true, Functional: true}); err == nil {
		t.Error("a run of nothing")
	}
}

// TestRegionCounters: bytes of memories and cycles of units of the regions add up to those of
// the run.
func TestRegionCounters(t *testing.T) {
	s := specOf(t, "ethos-u55-128")
	r := runLayer(t, s, conv(16, 16, 24, 40, 3, 1))
	sums := map[string]int64{}
	for _, g := range r.Regions {
		for _, c := range g.Counters {
			sums[c.Name] += c.Value
		}
	}
	if len(sums) != 2+2*len(s.Memories) {
		t.Errorf("regions count %v", sums)
	}
	for _, c := range r.Counters {
		if n, ok := sums[c.Name]; ok && n != c.Value || ok && c.Value == 0 && c.Name != "flash_write_bytes" {
			t.Errorf("%s: %d of the regions, %d of the run", c.Name, n, c.Value)
		}
	}
}
