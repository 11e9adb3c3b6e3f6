package dsp

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Core is a DSP. It is immutable: every run uses its own state, so several goroutines may run programs at once.
type Core struct {
	spec Spec
	asm  *asm.Handlers // nil: portable

	single bool // no block runs several rounds at once; tests compare
}

// New checks the machine description.
func New(spec Spec) (*Core, error) {
	if err := spec.validate(); err != nil {
		return nil, err
	}
	return &Core{spec: spec, asm: asm.Host()}, nil
}

// Spec is the machine description.
func (c *Core) Spec() Spec { return c.spec }

// run is the state of one call of Run.
type run struct {
	spec  *Spec
	prog  *Program
	space *mem.Space
	opt   Options
	*decoded
	threads []*thread
	ran     []*block // in the current job
	packets int64    // left until the run counts as runaway
	job     *Job
	timing  *timing       // nil in functional mode
	dma     *copiers      // nil without user DMA
	count   energy.Events // of the current job
	insts   int64
	halt    uint32 // address that ends a thread
}

// DefaultMaxPackets is far beyond any network: minutes of host time.
const DefaultMaxPackets = 1 << 34

func (c *Core) newRun(p *Program, space *mem.Space, o Options, stop uint32) (*run, error) {
	d, err := c.decode(p, stop)
	if err != nil {
		return nil, err
	}
	r := &run{spec: &c.spec, prog: p, space: space, opt: o, decoded: d, packets: o.MaxPackets, halt: ReturnAddress}
	if r.packets <= 0 {
		r.packets = DefaultMaxPackets
	}
	if !o.Functional {
		m, err := c.memoryOf(&o)
		if err != nil {
			return nil, err
		}
		r.timing = newTiming(&c.spec, m, &d.states)
		if o.Until > 0 {
			r.timing.until, r.timing.cut = o.Until, m.clock.Cycle(o.Until)
		}
	}
	if c.spec.DMA != nil {
		if r.dma, err = newCopiers(r); err != nil {
			return nil, err
		}
		if r.timing != nil {
			r.timing.mem.dma = r.dma
		}
	}
	return r, nil
}

// Run executes the jobs one after another. Times count from 0 at the start of the run. Instructions are fetched from p,
// which also serves data loads in its range; every other address is served by space, VTCM included (map a segment at
// Spec.VTCMBase). The error names the packet and the rule it broke.
//
// The report has one region per distinct Job.Region, in order of first use.
func (c *Core) Run(p *Program, space *mem.Space, jobs []Job, o Options) (*sim.Report, error) {
	r, err := c.newRun(p, space, o, 0)
	if err != nil {
		return nil, err
	}
	rep := newReporter(&c.spec)
	for i := range jobs {
		j := &jobs[i]
		if err := r.checkJob(j); err != nil {
			return nil, err
		}
		r.start(j)
		cost, err := r.execute()
		last := i == len(jobs)-1
		if err == nil && last && r.timing != nil {
			err = r.timing.drain(r, &cost)
		}
		if err != nil {
			return nil, err
		}
		if !last && o.Preemption != nil && r.timing != nil {
			r.timing.yield(r, o.Preemption, &cost)
		}
		rep.add(j.Region, r, cost)
	}
	done := rep.finish(r)
	p.decoded.Store(r.decoded)
	return done, nil
}

// RunThread runs one thread from st.PC with the state in st until the program
// counter equals halt (or it returns or traps) and leaves the final state in
// st.
func (c *Core) RunThread(p *Program, space *mem.Space, st *Registers, halt uint32, o Options) (*sim.Report, error) {
	r, err := c.newRun(p, space, o, halt)
	if err != nil {
		return nil, err
	}
	r.halt = halt
	r.job = &Job{Threads: 1, Entry: st.PC}
	t := r.thread(0)
	t.Load(st)
	t.vector = true
	r.threads = r.threads[:1]
	rep, err := r.once()
	t.Store(st)
	return rep, err
}

// once executes the threads of a run that is a single job.
func (r *run) once() (*sim.Report, error) {
	rep := newReporter(r.spec)
	cost, err := r.execute()
	if err == nil && r.timing != nil {
		err = r.timing.drain(r, &cost)
	}
	if err != nil {
		return nil, err
	}
	rep.add(0, r, cost)
	return rep.finish(r), nil
}

// maxArgs leaves r28 to r31 alone.
const maxArgs = 28

func (r *run) checkJob(j *Job) error {
	if j.Threads < 1 || j.Threads > r.spec.Threads {
		return fmt.Errorf("dsp: job %s: %d threads, the core has %d", j.Name, j.Threads, r.spec.Threads)
	}
	if len(j.Args) > j.Threads {
		return fmt.Errorf("dsp: job %s: arguments for %d threads, it has %d", j.Name, len(j.Args), j.Threads)
	}
	for i, a := range j.Args {
		if len(a) > maxArgs {
			return fmt.Errorf("dsp: job %s: %d arguments of thread %d, at most %d", j.Name, len(a), i, maxArgs)
		}
	}
	return nil
}

// thread is the i-th hardware thread, made when first used.
func (r *run) thread(i int) *thread {
	for len(r.threads) <= i {
		if cap(r.threads) == 0 {
			r.threads = make([]*thread, 0, max(r.spec.Threads, 1))
		}
		r.threads = r.threads[:len(r.threads)+1]
		if t := r.threads[len(r.threads)-1]; t == nil {
			r.threads[len(r.threads)-1] = r.newThread(len(r.threads) - 1)
		}
	}
	return r.threads[i]
}

func (r *run) newThread(id int) *thread {
	t := &thread{run: r, client: client{id: id}}
	t.Memory = state.Memory{Base: r.prog.Base, Code: r.prog.Code, Space: r.space, Scratch: r.spec.VTCMBase, ScratchBytes: r.spec.VTCMBytes}
	return t
}

// start sets the registers of a job's threads. Vectors and predicates keep the contents that the job before left in
// them.
func (r *run) start(j *Job) {
	r.job = j
	r.threads = r.threads[:0]
	for i := range j.Threads {
		t := r.thread(i)
		t.GR = [state.NumR + state.TempR]uint32{31: ReturnAddress}
		if i < len(j.Args) {
			copy(t.GR[:maxArgs], j.Args[i])
		}
		t.C = [32]uint32{}
		t.Next, t.Halt, t.Fault = j.Entry, 0, state.Fault{}
		t.vector = i < r.spec.Contexts
	}
}

// execute runs the threads of a job to their ends.
func (r *run) execute() (jobCost, error) {
	r.count, r.insts = energy.Events{}, 0
	var cost jobCost
	var err error
	if r.timing != nil {
		cost, err = r.timing.execute(r)
	} else {
		for _, t := range r.threads {
			if err = r.functional(t); err != nil {
				break
			}
		}
	}
	if r.timing != nil && r.opt.Profile != nil && err == nil {
		r.opt.Profile.collect(r)
	}
	for _, b := range r.ran {
		r.count.Add(&b.Events, b.runs)
		r.insts += b.Insts * b.runs
		b.runs = 0
	}
	r.ran = r.ran[:0]
	return cost, err
}

// blockAt is the block that begins at addr.
func (r *run) blockAt(addr uint32) (*block, error) {
	i := (addr - r.prog.Base) / 4
	if addr&3 == 0 && int64(i) < int64(len(r.blocks)) && r.blocks[i] != nil {
		return r.blocks[i], nil
	}
	b := new(block)
	if err := r.dec.Block(addr, &b.Block); err != nil {
		return nil, err
	}
	if b.Conditional {
		b.counter = r.counterOf(b.last())
	}
	r.blocks[i] = b
	return b, nil
}

// functional runs a thread to its end without the timing model.
func (r *run) functional(t *thread) error {
	var b *block
	for !t.ended(r) {
		var err error
		if b, err = r.after(t, b); err != nil {
			return err
		}
		if err := r.step(t, b, r.roundsOf(t, b)); err != nil {
			return err
		}
	}
	return nil
}

// after is the block at t.Next after block b, nil at first.
func (r *run) after(t *thread, b *block) (*block, error) {
	if b != nil {
		for _, l := range b.link {
			if l != nil && l.Addr == t.Next && (t.vector || !l.Vector) {
				return l, nil
			}
		}
	}
	next, err := r.fetch(t, b)
	if b != nil && err == nil {
		b.link[0], b.link[1] = next, b.link[0]
	}
	return next, err
}

// fetch is the block at t.Next after another block, nil at first.
func (r *run) fetch(t *thread, from *block) (*block, error) {
	b, err := r.blockAt(t.Next)
	if err != nil {
		return nil, r.blame(t, from, err)
	}
	if b.Vector && !t.vector {
		return nil, &Error{Kind: FaultIllegal, Packet: b.Addr, Thread: t.id, Job: r.job.Name,
			Rule: fmt.Sprintf("vector instructions, but the %d vector contexts belong to other threads", r.spec.Contexts)}
	}
	return b, nil
}

// roundsOf is how many rounds of a block can run at once: hardware loop 0 is at its beginning, no other thread accesses
// memory meanwhile, and the packets are within the limit.
func (r *run) roundsOf(t *thread, b *block) uint32 {
	if b.Rounds == 1 || t.C[state.SA0] != b.Addr || t.C[state.USR]&state.LPCFG != 0 {
		return 1
	}
	n := min(int64(t.C[state.LC0]), int64(b.Rounds), r.packets/int64(len(b.Packets)))
	return uint32(max(n, 1))
}

// step executes a block functionally, a number of times, and moves t.Next on.
func (r *run) step(t *thread, b *block, rounds uint32) error {
	if r.packets -= int64(rounds) * int64(len(b.Packets)); r.packets < 0 {
		return &Error{Kind: FaultLimit, Packet: b.Addr, Thread: t.id, Job: r.job.Name, Rule: "packet limit reached, the program does not end"}
	}
	if b.Counts {
		r.setCounters(t)
	}
	t.Taken = 0
	if rounds = asm.Run(&t.Thread, &b.Code, rounds); rounds > 1 {
		t.C[state.LC0] -= rounds - 1
	}
	t.packets += int64(rounds) * int64(len(b.Packets))
	if b.runs == 0 {
		r.ran = append(r.ran, b)
	}
	b.runs += int64(rounds)
	if t.Taken == 0 {
		t.Next = b.End
	}
	if t.Fault.Violation != state.NoViolation || t.Halt != 0 || t.DMA.Command != state.DMANone {
		if err := r.serve(t, b); err != nil {
			return err
		}
	}
	if b.Loop0 || b.Loop1 {
		t.EndLoop(&b.Code)
	}
	return r.besideZ(t, b, rounds)
}

// besideZ checks that the loads beside those of the Z window have read VTCM: hardware does not survive others.
func (r *run) besideZ(t *thread, b *block, rounds uint32) error {
	for _, x := range b.Beside {
		for k := range int(rounds) {
			at := t.Addr[:]
			if rounds > 1 {
				at = t.Addr[state.MaxMemOps+k*len(b.Mem):]
			}
			ea := at[x.Load]
			if ea == state.Skipped || at[x.Z] == state.Skipped || ea-r.spec.VTCMBase < r.spec.VTCMBytes {
				continue
			}
			return &Error{Kind: FaultMemory, Packet: b.Packets[b.Mem[x.Load].Packet].Addr, Thread: t.id, Job: r.job.Name,
				Rule: fmt.Sprintf("load of %#x beside a load of the Z window: only VTCM can be read there", ea)}
		}
	}
	return nil
}

// serve handles the requests of a block that has run: faults, system calls, DMA.
func (r *run) serve(t *thread, b *block) error {
	if t.Fault.Violation != state.NoViolation { // halt may report that the block traps, too
		return &Error{Kind: t.Fault.Kind(), Packet: t.Fault.PC, Thread: t.id, Job: r.job.Name, Rule: t.Fault.Rule()}
	}
	if t.Halt == 1 && t.guest != nil {
		if err := r.trap(t, b); err != nil {
			return err
		}
	}
	if t.DMA.Command != state.DMANone && r.timing == nil {
		if _, err := r.dma.serve(t, 0); err != nil {
			return err
		}
	}
	return nil
}

// blame adds to a decoder's error who ran into it.
func (r *run) blame(t *thread, from *block, err error) error {
	var e *Error
	if errors.As(err, &e) {
		if from != nil {
			e.LeadBy(false, from.Packets[len(from.Packets)-1].Addr, from.End)
		} else {
			e.LeadBy(true, 0, 0)
		}
		e.Job, e.Thread = r.job.Name, t.id
	}
	return err
}
