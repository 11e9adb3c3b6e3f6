package npu

import (
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// op times an operation: its blocks flow through input fetch, MAC array,
// output unit and write-back, depth fastest, then columns, then rows.
func (t *timer) op(o *state.Op) {
	if t.off {
		return
	}
	s := t.spec
	// A full queue of kernels holds the command processor.
	t.stall(t.kernels[s.Kernels-1].end, sim.StallQueue)
	prev := t.kernels[0]
	if s.OperationCycles > 0 && (prev.n == 0 || prev.op != t.operation) {
		if prev.end > t.cmd {
			t.charge(prev.end, sim.StallBarrier)
		}
		t.chargeTo(t.waitCur, t.waitWord, min(t.waitEnd, t.cmd), t.waitFor)
		t.stall(max(t.cmd, prev.end)+int64(s.OperationCycles), sim.StallFetch)
	}
	k := kernel{cur: t.cur, op: t.operation}
	if t.profile != nil {
		k.word = t.profile.word
		t.profile.starts(t.id(), o.Name())
	}
	b := block{o: o, issue: t.cmd}
	first, last := int64(-1), int64(0)
	for y := 0; y < o.OFM.H; y += o.BlockH {
		b.y0, b.y1 = y, min(y+o.BlockH, o.OFM.H)
		for x := 0; x < o.OFM.W; x += o.BlockW {
			b.x0, b.x1 = x, min(x+o.BlockW, o.OFM.W)
			for z := 0; z < o.OFM.C; z += o.BlockD {
				b.z0, b.z1 = z, min(z+o.BlockD, o.OFM.C)
				j := t.block(&b, &prev)
				if first < 0 {
					first = j.macStart
				}
				last = j.outEnd
				copy(k.last[1:], k.last[:])
				k.last[0] = j.written
				k.n++
				b.index++
			}
		}
	}
	k.end = max(k.last[0], prev.end)
	copy(t.kernels[1:], t.kernels[:])
	t.kernels[0] = k
	t.opEvents(o)
	if t.span != nil {
		t.emit(t.lane(first, last), o.Name(), first, last)
	}
}

// kernelTracks are the tracks of concurrent kernels, as many as a timer keeps.
var kernelTracks = [...]string{"kernel", "kernel 1", "kernel 2"}

// lane is the track of a kernel: the first that is free when it starts, since a kernel's input is
// fetched while the one before it is written.
func (t *timer) lane(first, last int64) string {
	i := 0
	for i < len(t.lanes)-1 && t.lanes[i] > first {
		i++
	}
	t.lanes[i] = last
	return kernelTracks[i]
}

// block is one block job and where it is in its operation.
type block struct {
	o                      *state.Op
	issue                  int64 // when the command was issued
	index                  int
	y0, y1, x0, x1, z0, z1 int
}

// dependency is when the previous kernel lets this block start. BLOCKDEP jobs
// may be in flight across the boundary.
func (b *block) dependency(prev *kernel) int64 {
	behind := b.o.BlockDep - 1 - b.index
	if behind <= 0 || prev.n == 0 {
		return prev.end
	}
	return prev.last[min(behind, min(prev.n, len(prev.last))-1)]
}

// block times one block job and charges the cycles it adds.
func (t *timer) block(b *block, prev *kernel) job {
	o, s := b.o, t.spec
	before, older := &t.jobs[0], &t.jobs[1]

	// Input fetch: two buffers, in order, after the previous kernel.
	dep := b.dependency(prev)
	start := max(b.issue, dep, older.macEnd, t.fetchFree)
	t.flush(start)
	firstIn, allIn, inMem := t.fetchInputs(b, start)
	t.fetchFree = start

	// Weights have two buffers, too: those of the next block are fetched while
	// the array works on this one, or waits for it.
	firstW, allW, wMem := start, start, inMem
	if o.Kind <= state.Depthwise {
		at := max(b.issue, older.macEnd)
		firstW, allW, wMem = t.fetchWeights(b, at)
		t.scales = max(at, t.scales) + s.scaleCycles(o, b.z1-b.z0)
	}

	// MAC array; elementwise operations use only the output unit.
	elements := (b.y1 - b.y0) * (b.x1 - b.x0) * (b.z1 - b.z0)
	out := s.outputCycles(o, elements)
	t.events.outputActive += out
	var j job
	accFree := older.outEnd
	if o.Kind == state.Elementwise {
		accFree = max(before.outEnd, older.written)
	}
	ready := max(firstIn, firstW)
	j.macStart = max(ready, before.macEnd, accFree)
	work, products := out, int64(0)
	if o.Kind != state.Elementwise {
		work, products = s.macCycles(o, b.y1-b.y0, b.x1-b.x0, b.z1-b.z0)
		t.events.macActive += work
		if b.index == 0 {
			j.macStart += s.fill()
		}
	}
	j.macEnd = max(j.macStart+work, allIn, allW)

	// Output unit: two blocks may wait for memory.
	outStart := max(j.macEnd, before.outEnd, older.written)
	j.outEnd = outStart + out
	if o.Kind <= state.Depthwise {
		j.outEnd = max(j.outEnd, t.scales)
	}
	if o.Kind == state.Elementwise {
		outStart, j.outEnd = j.macStart, j.macEnd
	}
	j.written = t.writeOutput(b, outStart, j.outEnd)

	t.account(b, prev, &accounts{start: start, dep: dep, firstIn: firstIn, firstW: firstW, accFree: accFree,
		allIn: allIn, allW: allW, work: work, products: products, in: inMem.reason, w: wMem.reason}, &j)
	t.jobs[1], t.jobs[0] = t.jobs[0], j
	t.events.blocks++
	return j
}

// accounts holds the waits of a block.
type accounts struct {
	start, dep, firstIn, firstW, accFree, allIn, allW int64
	work, products                                    int64 // of the array, or of the output unit; of its multipliers
	in, w                                             sim.Reason
}

// account charges the cycles up to the end of a block's work.
func (t *timer) account(b *block, prev *kernel, a *accounts, j *job) {
	// Until the fetch could start: the command processor, the previous kernel,
	// or the array still holding both input buffers.
	if a.start == a.dep && a.dep > b.issue {
		t.charge(a.dep, sim.StallBarrier)
	}
	if a.start == b.issue {
		t.chargeTo(t.waitCur, t.waitWord, min(t.waitEnd, a.start), t.waitFor)
		t.charge(a.start, sim.StallFetch)
	}
	// Until the array could start: data, or a free accumulator.
	why, at := a.in, a.firstIn
	if a.firstW > at {
		why, at = a.w, a.firstW
	}
	t.charge(min(at, j.macStart), why)
	if a.accFree > at {
		t.charge(min(a.accFree, j.macStart), sim.StallUnit)
	}
	t.charge(j.macStart, sim.StallDrain)
	// While it works: the cycles at its own rate, then the wait for late data.
	t.charge(min(j.macStart+a.products, j.macEnd), sim.StallIssue)
	if b.o.Kind == state.Elementwise {
		t.charge(min(j.macStart+a.work, j.macEnd), sim.StallUnit)
	}
	t.charge(min(j.macStart+a.work, j.macEnd), sim.StallWeightDecode)
	why = a.in
	if a.allW > a.allIn {
		why = a.w
	}
	t.charge(j.macEnd, why)
}

// fetchInputs reads the input of a block: first is when the first part has arrived, all when everything has.
func (t *timer) fetchInputs(b *block, start int64) (first, all int64, m *memory) {
	o := b.o
	f := &o.IFM
	var y0, y1, x0, x1 int
	if o.Kind == state.Elementwise {
		y0, y1, x0, x1 = b.y0, b.y1, b.x0, b.x1
	} else {
		y0, y1 = extent(b.y0, b.y1, o.Window.StrideY, o.Window.ExtentH, o.Window.Top, o.Window.InH, o.Window.Upscale)
		x0, x1 = extent(b.x0, b.x1, o.Window.StrideX, o.Window.ExtentW, o.Window.Left, o.Window.InW, o.Window.Upscale)
	}
	z0, z1, part := b.z0, b.z1, b.z1-b.z0
	if o.Reduces() {
		z0, z1, part = 0, f.C, min(t.spec.ifmBlockDepth(o), f.C)
	}
	first, m = t.fetch(f, y0, y1, x0, x1, z0, min(z0+part, z1), start)
	all = first
	if z0+part < z1 {
		all, _ = t.fetch(f, y0, y1, x0, x1, z0+part, z1, start)
	}
	if o.HasIFM2 {
		g := &o.IFM2
		clip := func(lo, hi, n int) (int, int) {
			if n == 1 {
				return 0, 1
			}
			return lo, hi
		}
		y0, y1 = clip(b.y0, b.y1, g.H)
		x0, x1 = clip(b.x0, b.x1, g.W)
		z0, z1 = clip(b.z0, b.z1, g.C)
		done, m2 := t.fetch(g, y0, y1, x0, x1, z0, z1, start)
		if done > all {
			m = m2
		}
		first, all = max(first, done), max(all, done)
	}
	return first, all, m
}

// fetch reads a box of a feature map.
func (t *timer) fetch(f *state.FeatureMap, y0, y1, x0, x1, z0, z1 int, at int64) (int64, *memory) {
	m, base := t.at(f.Region, f.Base[0])
	done := at
	r, rows, stride := box(f, y0, y1, x0, x1, z0, z1)
	n := 0
	if m.level == nil {
		r.count *= rows
		n, rows = r.count*r.bytes, 1
	} else {
		n = r.count * r.bytes * rows
	}
	for i := range rows {
		q := r
		q.addr += base + uint64(i)*stride
		done = max(done, m.transfer(&t.clock, at, q, mem.Read))
	}
	t.energy(float64(n) * (m.spec.ReadPJ + t.spec.Energy.ShramByte))
	return done, m
}

// box describes a box of a map as runs per row: addresses lie in tile 0, which also approximate rolling buffers
// and edge tiles closely enough for timing.
func box(f *state.FeatureMap, y0, y1, x0, x1, z0, z1 int) (r run, rows int, stride uint64) {
	rows = y1 - y0
	if rows <= 0 || x1 <= x0 || z1 <= z0 {
		return run{}, 0, 0
	}
	addr := y0 * f.StrideY
	switch {
	case f.NHCWB16:
		bricks := ceilDiv(z1, 16) - z0/16
		r = run{uint64(addr + z0/16*f.StrideC + x0*16*f.ElemSize), (x1 - x0) * 16 * f.ElemSize, f.StrideC, bricks}
	case z0 == 0 && z1 == f.C && f.StrideX == f.C*f.ElemSize:
		n := (x1 - x0) * f.StrideX
		r = run{uint64(addr + x0*f.StrideX), n, n, 1}
		if n == f.StrideY { // rows touch
			r.stride, r.count = n, rows
			rows = 1
		}
	default:
		r = run{uint64(addr + x0*f.StrideX + z0*f.ElemSize), (z1 - z0) * f.ElemSize, f.StrideX, x1 - x0}
	}
	return r, rows, uint64(f.StrideY)
}

// fetchWeights reads the weights and scales of a block: its share of each
// core's stream, again for every block of pixels.
func (t *timer) fetchWeights(b *block, at int64) (first, all int64, m *memory) {
	o := b.o
	for i := range o.Cores {
		w := &o.Weights[i]
		mw, base := t.at(o.WeightRegion, w.Base)
		lo, hi := w.Length*b.z0/o.OFM.C, w.Length*b.z1/o.OFM.C
		n := hi - lo
		head := min(n, mw.spec.BurstBytes)
		done := mw.transfer(&t.clock, at, run{base + uint64(lo), head, head, 1}, mem.Read)
		first = max(first, done)
		if n > head {
			done = mw.transfer(&t.clock, at, run{base + uint64(lo+head), n - head, n - head, 1}, mem.Read)
		}
		done = max(done, t.streamed(i, at, n, mw.spec))
		all = max(all, done)
		m = mw
		t.events.weightBytes += int64(n)
		t.energy(float64(n) * (mw.spec.ReadPJ + t.spec.Energy.WeightByte))
	}
	// Scale records are needed by the output unit, not to start.
	scales := (b.z1 - b.z0) * ethosu.ScaleRecordSize
	ms, base := t.at(o.ScaleRegion, o.Scales[0].Base+b.z0/o.Cores*ethosu.ScaleRecordSize)
	done := ms.transfer(&t.clock, at, run{base, scales, scales, 1}, mem.Read)
	t.energy(float64(scales) * ms.spec.ReadPJ)
	return first, max(all, done), m
}

// streamed is when n bytes of a core's weight stream are there that its own reads in flight bring, whatever its memory
// lets through: as many transactions at a time, one latency after the other.
func (t *timer) streamed(core int, at int64, n int, m *MemorySpec) int64 {
	if t.spec.WeightReads == 0 {
		return at
	}
	free := &t.weights[core]
	*free = max(*free, float64(at)) + float64(n)/m.limited(t.spec.WeightReads, m.ReadLatency, t.spec.BeatBytes())
	return int64(math.Ceil(*free)) + int64(m.ReadLatency)
}

// writeOutput queues the write of a block and returns when it is done, as far as is known without later traffic.
func (t *timer) writeOutput(b *block, start, end int64) int64 {
	f := &b.o.OFM
	m, base := t.at(f.Region, f.Base[0])
	r, rows, stride := box(f, b.y0, b.y1, b.x0, b.x1, b.z0, b.z1)
	n := r.count * r.bytes * rows
	if m.level == nil {
		r.count, rows = r.count*rows, 1
	}
	t.energy(float64(n) * (m.spec.WritePJ + t.spec.Energy.ShramByte))
	r.addr += base
	if t.npending == len(t.pending) {
		t.issueWrite()
	}
	w := write{at: start, runs: r, rows: rows, stride: stride, mem: m}
	t.pending[t.npending] = w
	t.npending++
	// The write streams behind the output unit.
	return max(int64(m.busy(start, r, rows, mem.Write))+1, end) + int64(m.spec.WriteLatency)
}

// flush issues the writes that start no later than a cycle, so that a memory
// sees its accesses in the order of time.
func (t *timer) flush(until int64) {
	for t.npending > 0 && t.pending[0].at <= until {
		t.issueWrite()
	}
}

func (t *timer) issueWrite() {
	w := t.pending[0]
	for i := range w.rows {
		q := w.runs
		q.addr += uint64(i) * w.stride
		w.mem.transfer(&t.clock, w.at, q, mem.Write)
	}
	copy(t.pending[:], t.pending[1:t.npending])
	t.npending--
}
