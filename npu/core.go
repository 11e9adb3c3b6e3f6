package npu

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/decode"
	"github.com/nnsoc/nnsoc/npu/internal/exec"
	"github.com/nnsoc/nnsoc/npu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// NumRegions is the number of base pointers.
const NumRegions = state.NumRegions

// Mark assigns the costs from word Word of the commands on to region ID, and kernels to an operation of the network: a
// machine may need time to begin another one.
type Mark struct {
	Word      int
	ID        int
	Operation int
}

// Program is a command stream and, for the report, the origin of its parts. Marks are in rising order of Word; words
// before the first belong to ID -1. A program must not be copied, and Commands must not change once it has run.
type Program struct {
	Commands []uint32
	Marks    []Mark

	weights exec.WeightCache // decoded by earlier runs
}

// Regions are the bytes behind the base pointers. The NPU writes into them.
type Regions [NumRegions][]byte

// Options of a run.
type Options struct {
	// Enter is the word at which the run begins, as a driver may start a stream elsewhere (QBASE).
	Enter int
	// Functional skips the timing model: same bytes, an empty report.
	Functional bool
	// TimingOnly skips the arithmetic of kernels and the data of copies: the same report. The bytes of regions are
	// neither read nor written.
	TimingOnly bool
	// ConvSingle makes OP_CONV round once, half up, where the hardware's mode
	// 0 rounds twice. TensorFlow Lite's int8 kernels do that.
	ConvSingle bool
	// Memories replace the Spec's, by index; nil entries and missing ones
	// keep the Spec's bandwidth and latency. The run does not reset them. State, when
	// set, brings its own.
	Memories []mem.Level
	State    *State
	// Until ends a timed run that has not ended then, at the next command, with a *sim.Late; 0: nothing does.
	Until sim.Time
	// Preemption, when set, reports, where costs begin to belong to another region, whether another program may run.
	Preemption sim.Preemption
	// Span, when set, is called with the work of each engine: track is "dma", or "kernel" with a number where several
	// run at a time.
	Span func(sim.Span)
	// Profile, when set, receives the cost of each command of a timed run.
	Profile *sim.Profile
	// MaxWork bounds the multiply-accumulates and elements of a run; 0 means DefaultMaxWork. A run beyond it ends with
	// an error.
	MaxWork int64
}

// DefaultMaxWork is 69 G multiply-accumulates: ample for a network of a phone.
const DefaultMaxWork = 1 << 36

// Core is one NPU. It is immutable: every run uses its own State, so several goroutines may run programs at once.
type Core struct{ spec Spec }

// New builds a core; the error names the invalid part of the spec.
func New(spec Spec) (*Core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	spec.Memories = append([]MemorySpec(nil), spec.Memories...)
	return &Core{spec: spec}, nil
}

// Spec is the machine the core was built with. It must not be changed.
func (c *Core) Spec() *Spec { return &c.spec }

// Run executes a program from its first word, or from that to enter at, to NPU_OP_STOP. Errors are a *CommandError
// where a command is to blame; the regions then hold what earlier commands wrote. Times count from 0 at the start of
// the run.
func (c *Core) Run(p *Program, r *Regions, o Options) (*sim.Report, error) {
	if err := c.checkProgram(p, r, o); err != nil {
		return nil, err
	}
	if o.TimingOnly && o.Functional {
		return nil, errors.New("npu: run: functional and timing only leave nothing to do")
	}
	st := o.State
	switch {
	case st == nil:
		var err error
		if st, err = c.NewState(o.Memories); err != nil {
			return nil, err
		}
	case st.core != c:
		return nil, errors.New("npu: run: the state is one of another core")
	case o.Memories != nil:
		return nil, errors.New("npu: run: the state has its own memories: set one of the two")
	}
	st.begin(p, r, o)
	rep, err := st.run(r, o)
	st.end()
	return rep, err
}

// run executes the commands.
func (st *State) run(r *Regions, o Options) (*sim.Report, error) {
	p, t := st.program, &st.timer
	left := o.MaxWork
	if left <= 0 {
		left = DefaultMaxWork
	}
	first, index := 0, 0
	for first+1 < len(p.Marks) && p.Marks[first+1].Word <= o.Enter {
		first++
	}
	mark := first
	for at := o.Enter; at < len(p.Commands); index++ {
		cmd, err := ethosu.Next(p.Commands, at)
		if err != nil {
			return nil, fmt.Errorf("npu: command %d: %w", index, err)
		}
		for mark < len(p.Marks) && p.Marks[mark].Word <= at {
			if o.Preemption != nil && mark > first {
				t.yield(o.Preemption)
			}
			t.region(&p.Marks[mark])
			mark++
		}
		if o.Until > 0 && !t.off && t.clock.At(t.cmd) > o.Until {
			return nil, &sim.Late{At: o.Until}
		}
		t.command(at, cmd)
		stop, err := st.step(index, cmd, r, t, &left)
		if err != nil {
			return nil, &CommandError{Index: index, Word: at, Code: cmd.Code, Err: err}
		}
		t.profile.memory(t.id(), t.mems)
		if stop {
			return t.finish(), nil
		}
		at += cmd.Words()
	}
	return nil, fmt.Errorf("npu: command stream of %d words ends without NPU_OP_STOP", len(p.Commands))
}

func (c *Core) checkProgram(p *Program, r *Regions, o Options) error {
	if o.Enter < 0 || o.Enter > len(p.Commands) {
		return fmt.Errorf("npu: a run that begins at word %d of %d", o.Enter, len(p.Commands))
	}
	for i := 1; i < len(p.Marks); i++ {
		if p.Marks[i].Word < p.Marks[i-1].Word {
			return fmt.Errorf("npu: mark %d at word %d precedes mark %d", i, p.Marks[i].Word, i-1)
		}
	}
	for i, m := range r {
		if int64(len(m)) > 1<<40 {
			return fmt.Errorf("npu: region %d is larger than the address range", i)
		}
	}
	return nil
}

// step executes one command; stop means that it ended the stream.
func (st *State) step(index int, cmd ethosu.Command, r *Regions, t *timer, left *int64) (stop bool, err error) {
	form := ethosu.Lookup(cmd.Code)
	if form.U65Only && st.spec.Product != ethosu.U65 {
		return false, fmt.Errorf("register does not exist on %s", st.spec.Name)
	}
	switch cmd.Code {
	case ethosu.OpStop:
		return true, nil
	case ethosu.OpIRQ, ethosu.OpPMUMask: // interrupts and counters are the host's
	case ethosu.OpConv, ethosu.OpDepthwise, ethosu.OpPool, ethosu.OpElementwise:
		o, err := st.decode(cmd, r)
		if err != nil {
			return false, err
		}
		if *left -= work(o); *left < 0 {
			return false, fmt.Errorf("the run exceeds its limit of work")
		}
		if err := st.hz.kernel(o, st.spec, index); err != nil {
			return false, err
		}
		if !st.engine.TimingOnly {
			if err := st.engine.Execute(o); err != nil {
				return false, err
			}
		}
		t.op(o)
	case ethosu.OpDMAStart:
		if cmd.Param != 0 {
			return false, fmt.Errorf("DMA channel and mode %#x", cmd.Param)
		}
		n, err := st.engine.Copy((*state.Regions)(r))
		if err != nil {
			return false, err
		}
		if err := st.hz.dma(&st.machine.Registers, index, n); err != nil {
			return false, err
		}
		if *left -= int64(n); *left < 0 {
			return false, fmt.Errorf("the run exceeds its limit of work")
		}
		t.dma(&st.machine.Registers, n)
	case ethosu.OpDMAWait:
		st.hz.copies.wait(int(cmd.Param & 15))
		t.dmaWait(int(cmd.Param & 15))
	case ethosu.OpKernelWait:
		st.hz.kernels.wait(int(cmd.Param & 3))
		t.kernelWait(int(cmd.Param & 3))
	default:
		st.machine.Registers.Set(cmd)
	}
	return false, nil
}

// decode reads the operation of a command and makes sure that its buffers fit.
func (st *State) decode(cmd ethosu.Command, r *Regions) (*state.Op, error) {
	if err := decode.Op(&st.op, &st.machine, cmd, (*state.Regions)(r), st.spec.Cores); err != nil {
		return nil, err
	}
	return &st.op, st.spec.checkShram(&st.op)
}

// work is about the multiply-accumulates of an operation, or its elements
// where it has none.
func work(o *state.Op) int64 {
	const perBlock = 64 // the timing model's own work
	n := int64(o.OFM.H)*int64(o.OFM.W)*int64(o.OFM.C) + perBlock*blockCount(o)
	if o.Kind == state.Elementwise {
		return n
	}
	n *= int64(o.Window.H) * int64(o.Window.W)
	if o.Kind == state.Conv || o.Kind == state.Pool && o.Mode == ethosu.PoolReduceSum {
		n *= int64(o.IFM.C)
	}
	return n + int64(o.IFM.H)*int64(o.IFM.W)*int64(o.IFM.C)
}
