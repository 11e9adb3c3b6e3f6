package gpu

import (
	"cmp"
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/footprint"
	"github.com/nnsoc/nnsoc/gpu/internal/schedule"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/gpu/internal/undo"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// What a kernel computes depends on when its waves issue only if it reads the clock, or if a wave reads or overwrites
// what another has written. A dispatch free of both executes first, wave by wave, and records what its time depends on:
// jumps, addresses, conflicts of LDS. Its timing then replays the record, without registers or memory, so that
// dispatches execute on another core of the host, if there is one, while those before them are timed. A dispatch that
// cannot be recorded leaves memory unchanged and executes as it is timed.

// recording is a dispatch that has executed. The words of a wave are in the order of its instructions:
//
//	branch             the operation that it went to
//	scalar load        the two halves of its address
//	vector memory      access: lines, cycles of the port, lanes, upper half of the addresses; that in a separate word
//	                   if it is too long; then the lower half of each line as coalescer.lines has it
//	LDS                use: cycles, bytes
//	barrier            the index where the words of the wave continue
type recording struct {
	ok         bool // the dispatch has executed and can be replayed
	short      bool // its words were not kept
	words      []uint32
	waves      []uint32 // where the words of each wave begin
	groups     []uint32 // first wave of each work-group
	reads      []read
	lds        []epoch // of the waves of the work-group that is being recorded, none if it has one or no LDS
	executions []executions
	executed   int64
	touched    *[2]footprint.Set // lines of L2 by mem.Kind, nil: they are not noted
	log        *undo.Log
	limit      int  // of words
	borrowed   bool // the memory of the kept parts is not its own
	panicked   any
}

// read is one read of a wave: a scalar load or an access.
type read struct {
	at    uint32 // its first word
	wave  int32
	bytes int32 // of a scalar load, 0: it is an access
}

// maxRecord is the limit of a recording in words, 16 MiB of them. Sampled runs skip only recorded work, and gain more
// than the memory costs.
const maxRecord, maxSampledRecord = 1 << 22, 1 << 24

// Fields of the first word of an access, of at most 128 lines, 64 cycles and 64 lanes, and of a use of LDS.
const (
	portShift  = 8 // above lines
	lanesShift = 15
	highShift  = 22
	tooHigh    = 1<<(32-highShift) - 1
	bytesShift = 16 // above cycles
)

// recorder executes dispatches for recordings, ahead of who replays them by the recordings that it has.
type recorder struct {
	m     *executor
	log   undo.Log
	tapes [2]recording
	notes bool        // lines
	spare []recording // recordings of later dispatches, whose memory is reused

	// While a goroutine executes dispatches:
	free, done chan *recording // nil: none does
	halt       atomic.Bool
}

// recorded is the recorder of the run that begins, nil where nothing is recorded.
func (m *machine) recorded(space *mem.Space, ds []Dispatch) *recorder {
	o := &m.opt
	if o.Functional || o.executeTimed || o.Until > 0 {
		return nil
	}
	if m.recorder == nil {
		m.recorder = &recorder{m: &executor{}}
		m.recorder.m.build(m.spec)
	}
	for i := range ds {
		if k := ds[i].Kernel; k != nil {
			m.codeAt(k) // in the order of the run
		}
	}
	r := m.recorder
	r.m.begin(space, &Options{Functional: true, Unchecked: o.Unchecked, MaxInstructions: o.MaxInstructions})
	r.m.bases = append(r.m.bases, m.bases...)
	r.log.Reset()
	r.notes = o.Sampler != nil && !o.Sampler.prepare(len(ds))
	r.spare = nil
	if o.Recorded != nil {
		r.spare = o.Recorded.spare
	}
	limit := cmp.Or(o.maxRecord, maxRecord)
	if o.Sampler != nil {
		limit = cmp.Or(o.maxRecord, maxSampledRecord)
	}
	for i := range r.tapes {
		r.tapes[i].limit = limit
	}
	return r
}

// next is the recording of the first of some dispatches that follow each other alone, nil: it executes as it is timed.
// Those behind it may be executing when next returns.
func (r *recorder) next(ds []Dispatch, executed int64) *recording {
	if r.done != nil {
		if t, ok := <-r.done; ok {
			if !t.ok {
				r.stop()
			}
			return t.played()
		}
		r.stop() // it had no more
	}
	if !recordable(&ds[0], r.m.spec) {
		return nil
	}
	if len(ds) == 1 || runtime.GOMAXPROCS(0) == 1 {
		return r.record(&ds[0], &r.tapes[0], executed).played()
	}
	r.start(ds, executed)
	return r.next(ds, executed)
}

// played is a recording if it can be replayed.
func (t *recording) played() *recording {
	switch {
	case t.panicked != nil:
		panic(t.panicked)
	case t.ok:
		return t
	}
	return nil
}

// start lets dispatches execute, up to one that cannot be recorded.
func (r *recorder) start(ds []Dispatch, executed int64) {
	free, done := make(chan *recording, len(r.tapes)), make(chan *recording, len(r.tapes))
	r.free, r.done = free, done
	for i := range r.tapes {
		free <- &r.tapes[i]
	}
	go func() {
		defer close(done)
		for i := range ds {
			t := <-free
			if t == nil {
				return
			}
			r.guarded(&ds[i], t, executed)
			executed += t.executed
			done <- t
			if !t.ok {
				return
			}
		}
	}()
}

// guarded is record in a goroutine: a panic is passed on to the receiver of the recording.
func (r *recorder) guarded(d *Dispatch, t *recording, executed int64) {
	defer func() {
		if t.panicked = recover(); t.panicked != nil {
			t.ok = false
		}
	}()
	r.record(d, t, executed)
}

// recycle returns a recording to the free list.
func (r *recorder) recycle(t *recording) {
	if r.free != nil {
		r.free <- t
	}
}

// stop ends the goroutine, if there is one.
func (r *recorder) stop() {
	if r.done == nil {
		return
	}
	r.halt.Store(true)
	close(r.free)
	for range r.done {
	}
	r.free, r.done = nil, nil
	r.halt.Store(false)
}

// recordable reports whether a dispatch may be recorded: its results do not depend on the time.
func recordable(d *Dispatch, spec *Spec) bool {
	if d.Kernel == nil {
		return false
	}
	p, err := d.Kernel.program(spec)
	return err == nil && p.timeless
}

// isTimeless reports whether the results of the program depend neither on the time nor, as with scratch, on where its
// waves are placed.
func (p *program) isTimeless() bool {
	for i := range p.Ops {
		d := p.Ops[i].Details
		if d == nil {
			continue
		}
		if op := d.Access; d.Clock || op != nil && (op.Mode == state.AccessFlat || op.Mode == state.AccessScratch || op.Atomic != nil && !op.LDS) {
			return false
		}
	}
	return p.ScratchBytes == 0
}

// record executes a dispatch, executed being the instructions before it. If that cannot be replayed, it has not executed.
func (r *recorder) record(d *Dispatch, t *recording, executed int64) *recording {
	m := r.m
	t.ok, t.executed = false, 0
	if t.borrowed {
		t.copyKept(&recording{})
	}
	if t.borrowed = len(r.spare) > 0; t.borrowed {
		t.copyKept(&r.spare[0])
		r.spare = r.spare[1:]
	}
	t.words, t.waves, t.groups, t.reads = t.words[:0], t.waves[:0], t.groups[:0], t.reads[:0]
	m.grids = m.grids[:0]
	if !recordable(d, m.spec) || m.newGrid(d) != nil {
		return t
	}
	m.Err, m.Failed = nil, nil
	m.arguments()
	m.begun(m.grids[0])
	m.executed, m.tape = executed, t
	if t.touched = nil; r.notes {
		t.touched = &[2]footprint.Set{}
	}
	r.log.Begin()
	m.Keeper, t.log = &r.log, &r.log
	for t.ok = true; t.ok && m.next < m.total; {
		t.ok = !r.halt.Load() && m.runGroup() && t.fits(m.total)
	}
	m.Keeper = nil
	if t.ok = t.ok && r.sound(t); !t.ok {
		r.log.Undo()
		return t
	}
	t.executed = m.executed - executed
	t.executions = append(t.executions[:0], m.executions...)
	return t
}

// copyKept copies the parts of another recording that outlive its run.
func (t *recording) copyKept(o *recording) {
	t.words, t.waves, t.groups, t.executions, t.executed = o.words, o.waves, o.groups, o.executions, o.executed
}

// fits reports whether a recording of so many work-groups stays within its limit, extrapolated from the first.
func (t *recording) fits(groups int64) bool {
	n, limit := int64(len(t.words)+len(t.waves)), int64(t.limit)
	return n <= limit && (len(t.groups) > 1 || n*groups <= limit)
}

// sound reports whether no wave has read or overwritten what another wrote.
func (r *recorder) sound(t *recording) bool {
	if r.log.Ordered() {
		return false
	}
	line := r.m.spec.L0.Line
	met := func(x *read, at uint64, n int) bool {
		return !r.log.Outside(at, at+uint64(n-1)) && r.log.ByOthers(x.wave, at, n)
	}
	for i := range t.reads {
		x := &t.reads[i]
		if x.bytes > 0 {
			if met(x, t.address(int(x.at)), int(x.bytes)) {
				return false
			}
			continue
		}
		_, high, lines, _ := t.access(int(x.at))
		for _, low := range lines {
			if met(x, high|uint64(low)&^uint64(line-1), line) {
				return false
			}
		}
	}
	return true
}

var errRecord = errors.New("too long to be recorded")

// group begins the recording of a work-group.
func (t *recording) group(g *workgroup) {
	t.groups = append(t.groups, uint32(len(t.waves)))
	for range g.waves {
		t.waves = append(t.waves, 0)
	}
	t.lds = t.lds[:0]
	if len(g.LDS) == 0 || len(g.waves) == 1 {
		return
	}
	for range g.waves {
		n := len(t.lds)
		if n < cap(t.lds) {
			t.lds = t.lds[:n+1]
		} else {
			t.lds = append(t.lds, epoch{})
		}
		e, words := &t.lds[n], (len(g.LDS)+255)/256
		e.read, e.written = resized(e.read, words), resized(e.written, words)
	}
}

// epoch is the dwords of LDS that a wave has read and written since the last barrier, a bit each.
type epoch struct{ read, written []uint64 }

// touch notes that lanes have accessed LDS at addresses, each op.Size bytes.
func (e *epoch) touch(mask uint64, addr *[64]uint64, op *state.Access) {
	set := e.read
	if op.Store || op.Atomic != nil {
		set = e.written
	}
	for ; mask != 0; mask &= mask - 1 {
		a := addr[state.FirstLane(mask)]
		for at := a >> 2; at <= (a+uint64(op.Size)-1)>>2 && at>>6 < uint64(len(set)); at++ {
			set[at>>6] |= 1 << (at & 63)
		}
	}
}

// ldsRace reports whether a wave of a work-group has accessed a dword of LDS that another wrote since the last barrier; it
// is called when the next one has been reached.
func (t *recording) ldsRace() bool {
	if len(t.lds) < 2 {
		return false
	}
	met := uint64(0)
	for i := range t.lds[0].read {
		var read, written uint64
		for j := range t.lds {
			e := &t.lds[j]
			met |= e.written[i]&(read|written) | e.read[i]&written
			read |= e.read[i]
			written |= e.written[i]
			e.read[i], e.written[i] = 0, 0
		}
	}
	return met != 0
}

// wave is the number of a wave of the work-group that is being recorded.
func (t *recording) wave(w *wave) uint32 { return t.groups[len(t.groups)-1] + uint32(w.ID) }

// resume notes that a wave begins, or continues after a barrier.
func (t *recording) resume(w *wave) {
	if w.at > 0 {
		t.words[w.at-1] = uint32(len(t.words))
	} else {
		t.waves[t.wave(w)] = uint32(len(t.words))
	}
}

// add notes what the time of an executed instruction depends on, other than a vector one.
func (t *recording) add(w *wave, u *state.Op) {
	m := w.executor
	switch u.Unit {
	case state.UnitBranch:
		if t.words = append(t.words, uint32(w.PC)); len(t.words) > t.limit {
			w.Fail(errRecord)
		}
	case state.UnitSMEM:
		if t.touched != nil {
			m.lanes.lines = m.lanes.lines[:0]
			m.lanes.block(m.ScalarAddr, u.Details.Access.Size, m.lanes.lineShift)
			t.touch(m.spec, mem.Read, m.lanes.lines)
		}
		t.read(w, u.Details.Access.Size)
		t.words = append(t.words, uint32(m.ScalarAddr), uint32(m.ScalarAddr>>32))
	case state.UnitVMEM:
		op, mask := u.Details.Access, w.Exec()
		if mask == 0 {
			t.words = append(t.words, 0)
			return
		}
		port := m.lanes.touchLines(mask, op, w.Lanes)
		if op.Store {
			t.wrote(w, mask, op)
			t.touch(m.spec, mem.Write, m.lanes.lines)
		} else {
			t.read(w, 0)
			t.touch(m.spec, mem.Read, m.lanes.lines)
		}
		x, high := uint32(len(m.lanes.lines))|uint32(port)<<portShift|uint32(bits.OnesCount64(mask))<<lanesShift, m.lanes.lines[0]>>32
		words := append(t.words, x|uint32(min(high, tooHigh))<<highShift)
		if high >= tooHigh {
			words = append(words, uint32(high))
		}
		for _, l := range m.lanes.lines {
			if words = append(words, uint32(l)); l>>32 != high {
				w.Fail(errRecord)
			}
		}
		t.words = words
	case state.UnitLDS:
		op := u.Details.Access
		busy, n := m.lanes.ldsUse(w, op)
		t.words = append(t.words, uint32(busy)|uint32(n)<<bytesShift)
		if len(t.lds) > 1 && op.Mode == state.AccessPlain {
			t.lds[w.ID].touch(w.Exec(), &m.Addr, op)
			if op.Pair != 0 {
				t.lds[w.ID].touch(w.Exec(), &m.Addr2, op)
			}
		}
	case state.UnitControl:
		if u.Control == state.ControlBarrier {
			t.words = append(t.words, 0) // until it is known
			w.at = len(t.words)
		}
	}
}

// touch notes the lines of L2 that lines of L0 are in or, where those are longer, have.
func (t *recording) touch(s *Spec, k mem.Kind, lines []uint64) {
	if t.touched == nil {
		return
	}
	size, line := uint64(s.L0.Line), uint64(s.L2.Line)
	for _, l := range lines {
		l &^= size - 1
		for end := l + size; l < end; l += line {
			t.touched[k].Add(l / line)
		}
	}
}

// read notes a read of a wave, which the next words describe.
func (t *recording) read(w *wave, bytes int) {
	t.reads = append(t.reads, read{uint32(len(t.words)), int32(t.wave(w)), int32(bytes)})
}

// address is the one in two words.
func (t *recording) address(at int) uint64 { return uint64(t.words[at]) | uint64(t.words[at+1])<<32 }

// access is the first word of an access, the upper half of its addresses, the lower half of each and where the next word is.
func (t *recording) access(at int) (x uint32, high uint64, lines []uint32, next int) {
	x = t.words[at]
	at++
	if high = uint64(x >> highShift); high == tooHigh {
		high = uint64(t.words[at])
		at++
	}
	next = at + int(x&(1<<portShift-1))
	return x, high << 32, t.words[at:next], next
}

// wrote notes the bytes written by the lanes of mask.
func (t *recording) wrote(w *wave, mask uint64, op *state.Access) {
	m, n := w.executor, int32(t.wave(w))
	if m.Block > 0 {
		t.log.Wrote(n, m.Addr[0], m.Block)
		return
	}
	for ; mask != 0; mask &= mask - 1 {
		t.log.Wrote(n, m.Addr[state.FirstLane(mask)], op.Size)
	}
}

// replayVector is issueVector of a recorded access.
func (m *machine) replayVector(s *simd, w *wave, op *schedule.Op, t int64) {
	s.free[state.UnitVMEM] = t + halves(w)
	x, high, lines, next := m.tape.access(w.at)
	w.at = next
	done, from := t+1, sim.StallL1
	kind, q := toLoad, &w.vm
	if op.Counter == schedule.OnVS {
		kind, q = toStore, &w.vs
	}
	if len(lines) > 0 {
		port, lanes := x>>portShift&(1<<(lanesShift-portShift)-1), x>>lanesShift&(1<<(highShift-lanesShift)-1)
		d, f := vectorAccess(m.h, &s.cu.port, t, high, lines, kind, int(lanes)*int(op.Bytes), int64(port))
		if d > done {
			done, from = d, f
		}
	}
	if q.n == len(q.q) {
		w.pop(q, 1)
	}
	q.last = max(q.last, done)
	q.push(q.last, from, false, state.Span{})
}

// replays reports whether the dispatch has executed before it is timed.
func (m *executor) replays() bool { return m.tape != nil && !m.functional }

// word is the next one of a wave that is replayed.
func (w *wave) word() uint32 {
	x := w.executor.tape.words[w.at]
	w.at++
	return x
}

// Recorded keeps the recordings of a run's dispatches, so that further runs time them without executing them: see
// Options.Recorded. Such runs follow one another. The zero Recorded keeps nothing, as its Limit is 0.
type Recorded struct {
	Limit int // limit of Bytes

	dispatches []recording
	spare      []recording // of a run before
	bytes      int
	complete   bool // all dispatches of the run are there
	short      bool // some without their words
}

// Complete reports whether the last run has left its whole recording or, a sampled one, all that it executed and as much
// of the rest as fits.
func (r *Recorded) Complete() bool { return r.complete }

// Bytes is the memory that it occupies.
func (r *Recorded) Bytes() int { return r.bytes }

// Clear forgets the run.
func (r *Recorded) Clear() { *r = Recorded{Limit: r.Limit} }

// Renew forgets the run but keeps its memory for the next one.
func (r *Recorded) Renew() {
	if r.complete {
		r.spare, r.dispatches = r.dispatches, nil
	}
	*r = Recorded{Limit: r.Limit, spare: r.spare}
}

// times reports whether a run is one that was kept and, if it is sampled, known.
func (r *Recorded) times(ds []Dispatch, o *Options) (bool, error) {
	switch {
	case r == nil:
		return false, nil
	case o.Functional || o.Until > 0:
		return false, errors.New("gpu: run: recorded dispatches are timed, and to their end")
	case r.complete && len(r.dispatches) != len(ds):
		return false, errOthers
	}
	if o.Sampler == nil {
		return r.complete && !r.short, nil
	}
	return r.complete && o.Sampler.prepare(len(ds)), nil
}

var errOthers = errors.New("gpu: run: the recorded dispatches are others")

// add keeps the recording of the next dispatch, if those before it were kept.
func (r *Recorded) add(t *recording, sampled bool) {
	if r == nil {
		return
	}
	spared := 0 // for those that follow
	if sampled {
		spared = r.Limit / 8
	}
	x := recording{ok: true, executions: t.executions, executed: t.executed}
	r.bytes += len(t.executions) * int(unsafe.Sizeof(executions{}))
	n := len(t.words)*int(unsafe.Sizeof(t.words[0])) + (len(t.waves)+len(t.groups))*int(unsafe.Sizeof(t.waves[0]))
	switch {
	case r.bytes+n <= r.Limit-spared:
		x.copyKept(t)
	case sampled:
		x.short, r.short, n = true, true, 0
	}
	if r.bytes += n; r.bytes > r.Limit {
		r.dispatches = nil // and the run will not be whole
		return
	}
	if !t.borrowed {
		x.words, x.waves, x.groups, x.executions = slices.Clone(x.words), slices.Clone(x.waves), slices.Clone(x.groups), slices.Clone(x.executions)
	}
	r.dispatches = append(r.dispatches, x)
}

// filler executes again the recorded dispatches of a run, some of which have no words, up to the last of those that are
// timed.
type filler struct {
	*recorder
	ds []Dispatch
	at int // first that has not executed
}

// fill records the words again where they were not kept, and reports whether it has them.
func (m *machine) fill() bool {
	if m.replays() && m.tape.short {
		m.tape, m.Err = m.filler.record(m.number - 1)
	}
	return m.Err == nil
}

// record is the recording of a dispatch by its number.
func (r *filler) record(i int) (*recording, error) {
	for ; r.at < i; r.at++ {
		r.m.tape = nil
		if err := r.m.run(&r.ds[r.at]); err != nil {
			return nil, err
		}
	}
	r.at++
	if t := r.recorder.record(&r.ds[i], &r.tapes[0], r.m.executed); t.ok {
		return t, nil
	}
	return nil, errOthers
}

// end ends a run of so many dispatches.
func (r *Recorded) end(n int) {
	if r == nil || r.complete {
		return
	}
	if r.spare, r.complete = nil, len(r.dispatches) == n; !r.complete {
		r.Clear()
	}
}
