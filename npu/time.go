package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// timer is the timing model of a run. Engines run beside each other; each has
// the cycle at which it is free. The MAC array (for elementwise operations the
// output unit) carries the account: every cycle up to cursor is charged.
type timer struct {
	spec  *Spec
	off   bool
	clock sim.Clock
	span  func(sim.Span)
	// profile is nil unless requested.
	profile *profiler
	// offChip is the off-chip traffic already charged to a region.
	offChip int64
	mems    []memory
	base    [NumRegions]uint64
	report  *sim.Report // the caller's, when the run has ended
	cur     int         // region being charged, index of report.Regions
	regions map[int]int // that index by ID
	cursor  int64       // cycles charged so far

	operation int // of the network, that kernels belong to

	// Command processor.
	cmd       int64                    // cycle at which it accepts the next command
	unread    int                      // bytes of commands that have been fetched
	stream    uint64                   // address of the next ones
	waitEnd   int64                    // end of its last wait
	waitFor   sim.Reason               // and its reason
	waitCur   int                      // index of the region of the command that waited
	waitWord  int                      // and where it is
	kernels   [3]kernel                // the last ones, newest first
	lanes     [len(kernelTracks)]int64 // ends of the last spans of kernelTracks
	copies    [16]int64                // completion of the last copies, newest first
	copyFree  int64                    // DMA engine
	weights   [2]float64               // cycle until when the reads of each core's weight stream are in flight
	fetchFree int64                    // order of input fetches
	scales    int64                    // completion of the last fetch of scale records
	jobs      [2]job                   // the last two block jobs, newest first
	pending   [4]write                 // output blocks whose write is still to be issued
	npending  int
	events    events
	charged   events // charged to regions so far
}

// kernel is the part of an operation that later commands depend on.
type kernel struct {
	end  int64
	last [4]int64 // completion of its last block jobs, newest first
	n    int      // of them
	cur  int      // region
	op   int      // operation of the network
	word int      // of the command, when there is a profile
}

// job is the engine times of one block.
type job struct{ macStart, macEnd, outEnd, written int64 }

// write is an output block on its way to memory.
type write struct {
	at     int64
	runs   run
	rows   int
	stride uint64 // between rows
	mem    *memory
}

// begin starts a run.
func (t *timer) begin(s *Spec, o *Options, levels []mem.Level, r *Regions) {
	mems, regions := t.mems, t.regions
	*t = timer{spec: s, off: o.Functional, report: &sim.Report{}}
	if t.off {
		return
	}
	t.clock = sim.Clock{Hz: s.Hz}
	t.span = o.Span
	if mems == nil {
		mems, regions = make([]memory, len(s.Memories)), map[int]int{}
	}
	t.mems, t.regions = mems, regions
	t.base, t.stream = placeRegions(s, t.mems, levels, r)
	t.profile = newProfiler(o.Profile, t.mems)
	clear(regions)
	regions[-1] = 0
	*t.report = sim.Report{Hz: s.Hz, Regions: []sim.RegionReport{{ID: -1}}}
	t.cmd = int64(s.LaunchCycles)
	t.waitEnd, t.waitFor, t.waitWord = t.cmd, sim.StallLaunch, t.word()
	t.charge(t.cmd, sim.StallLaunch)
}

// region makes a mark's region the one that costs belong to.
func (t *timer) region(m *Mark) {
	if t.off {
		return
	}
	t.operation = m.Operation
	t.chargeTraffic()
	id := m.ID
	if at, ok := t.regions[id]; ok {
		t.cur = at
		return
	}
	t.cur = len(t.report.Regions)
	t.regions[id] = t.cur
	t.report.Regions = append(t.report.Regions, sim.RegionReport{ID: id})
}

// chargeTraffic charges the off-chip bytes and the energy of attached memories
// since the last call to the current region.
func (t *timer) chargeTraffic() {
	t.chargeLocal()
	var total int64
	for i := range t.mems {
		m := &t.mems[i]
		if m.spec.OffChip {
			total += m.readBytes + m.writeBytes
		}
		if m.level != nil {
			pj, _ := mem.EnergyOf(m.level)
			t.report.Regions[t.cur].EnergyPJ += pj - m.charged // a profile charges it to commands
			m.charged = pj
		}
	}
	t.report.Regions[t.cur].DRAMBytes += total - t.offChip
	t.offChip = total
}

// charge charges the cycles from cursor to end to a reason.
func (t *timer) charge(end int64, why sim.Reason) { t.chargeTo(t.cur, t.word(), end, why) }

// word is where the command is that a profile charges costs to.
func (t *timer) word() int {
	if t.profile == nil {
		return noWord
	}
	return t.profile.word
}

// chargeTo charges them to a region, and to a command in it.
func (t *timer) chargeTo(region, word int, end int64, why sim.Reason) {
	if n := end - t.cursor; n > 0 {
		t.report.Regions[region].Stalls[why] += n
		t.cursor = end
		if t.profile != nil {
			t.profile.row(t.report.Regions[region].ID, word).Stalls[why] += n
		}
	}
}

// id is the region that costs belong to.
func (t *timer) id() int {
	if t.off {
		return -1
	}
	return t.report.Regions[t.cur].ID
}

// command times one command.
func (t *timer) command(at int, c ethosu.Command) {
	if t.off {
		return
	}
	t.profile.command(at, c, t.id())
	t.report.Instructions++
	t.fetchCommand(4 * c.Words())
	t.cmd += int64(t.spec.CommandCycles)
	t.energy(t.spec.Energy.Command)
}

// transaction is the bytes of a read of commands: the longest burst that Arm's driver allows by
// default (MAX_BEATS of AXI_LIMIT).
const transaction = 64

// fetchCommand reads the stream ahead of the command processor, which does not wait for it. The stream is beside region
// 0: Arm's driver reads it through AXI1, where Vela places constants.
func (t *timer) fetchCommand(bytes int) {
	if t.unread -= bytes; t.unread >= 0 {
		return
	}
	t.unread += transaction
	m := &t.mems[t.spec.RegionMemory[0]]
	m.transfer(&t.clock, t.cmd, run{t.stream, transaction, transaction, 1}, mem.Read)
	t.energy(transaction * m.spec.ReadPJ)
	t.stream += transaction
}

// stall makes the command processor wait until cycle end.
func (t *timer) stall(end int64, why sim.Reason) {
	if end > t.cmd {
		t.cmd, t.waitEnd, t.waitFor, t.waitCur, t.waitWord = end, end, why, t.cur, t.word()
	}
}

// kernelWait waits until at most n kernels are outstanding.
func (t *timer) kernelWait(n int) {
	if !t.off && n < len(t.kernels) {
		t.stall(t.kernels[n].end, sim.StallBarrier)
	}
}

// dmaWait waits until at most k copies are outstanding.
func (t *timer) dmaWait(k int) {
	if !t.off {
		t.stall(t.copies[k], sim.StallDMA)
	}
}

// yield yields the machine to another program, if one waits, when kernels, copies and their writes have ended. SHRAM
// is as before afterwards.
func (t *timer) yield(p sim.Preemption) {
	if t.off || !p.Pending(t.clock.At(t.cmd)) {
		return
	}
	t.flush(1 << 62)
	t.stall(max(t.kernels[0].end, t.copies[0], t.fetchFree), sim.StallDrain)
	p.Yield(t.clock.At(t.cmd))
}

// dma starts a copy of n bytes.
func (t *timer) dma(r *state.Registers, n int) {
	if t.off {
		return
	}
	t.profile.starts(t.id(), "dma")
	// A full queue holds the command processor.
	t.stall(t.copies[t.spec.DMAChannels-1], sim.StallDMA)
	start := max(t.cmd, t.copyFree) + int64(t.spec.DMASetup)
	done := start
	if m, addr := t.side(r.U(ethosu.SetDMA0SrcRegion), r.Addr(ethosu.SetDMA0Src)); m != nil {
		done = m.transfer(&t.clock, start, run{addr, n, n, 1}, mem.Read)
		t.energy(float64(n) * m.spec.ReadPJ)
	}
	if m, addr := t.side(r.U(ethosu.SetDMA0DstRegion), r.Addr(ethosu.SetDMA0Dst)); m != nil {
		done = max(done, m.transfer(&t.clock, start, run{addr, n, n, 1}, mem.Write))
		t.energy(float64(n) * m.spec.WritePJ)
	} else {
		t.energy(float64(n) * t.spec.Energy.ShramByte)
	}
	t.copyFree = done
	copy(t.copies[1:], t.copies[:])
	// Copies finish in order.
	t.copies[0] = max(done, t.copies[1])
	t.events.dmaBytes += int64(n)
	if t.span != nil {
		t.emit("dma", fmt.Sprintf("copy %d", n), start, done)
	}
}

// emit reports an interval of an engine, in cycles.
func (t *timer) emit(track, name string, start, end int64) {
	t.span(sim.Span{
		Track: track, Name: name, Region: t.report.Regions[t.cur].ID, Start: t.clock.At(start), End: t.clock.At(end),
	})
}

// side is the memory of one end of a copy, nil for SHRAM.
func (t *timer) side(region, addr int) (*memory, uint64) {
	if region&ethosu.DMAInternal != 0 {
		return nil, 0
	}
	return t.at(region&7, addr)
}

// at is the memory of a region and an address in it.
func (t *timer) at(region, addr int) (*memory, uint64) {
	return &t.mems[t.spec.RegionMemory[region]], t.base[region] + uint64(addr)
}

// finish ends the run at NPU_OP_STOP.
func (t *timer) finish() *sim.Report {
	if t.off {
		return t.report
	}
	t.flush(1 << 62)
	if k := &t.kernels[0]; k.end > t.cursor {
		t.chargeTo(k.cur, k.word, k.end, sim.StallDrain)
	}
	t.charge(t.copies[0], sim.StallDMA)
	t.charge(t.cmd, sim.StallFetch)
	t.chargeTraffic()
	rep := t.report
	rep.Cycles = t.cursor
	rep.Time = t.clock.At(rep.Cycles)
	watts := t.spec.Energy.StaticW
	for i := range t.mems {
		if l := t.mems[i].level; l != nil {
			_, mw := mem.EnergyOf(l)
			watts += mw / 1e3
		}
	}
	static := watts / float64(t.spec.Hz) * 1e12 // pJ per cycle
	for i := range rep.Regions {
		g := &rep.Regions[i]
		g.Cycles = g.Stalls.Total()
		g.EnergyPJ += static * float64(g.Cycles)
		rep.Stalls.Add(&g.Stalls)
		rep.EnergyPJ += g.EnergyPJ
	}
	t.profile.memory(t.id(), t.mems)
	t.profile.finish(static)
	rep.Counters = t.counters()
	return rep
}
