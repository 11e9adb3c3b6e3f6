package npu

import (
	"fmt"
	"hash/maphash"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// NumRegions is the number of base pointers.
const NumRegions = 8

// Mark says that from word Word of the commands on, costs belong to region ID.
type Mark struct {
	Word int
	ID   int
}

// Program is a command stream and, for the report, which part of it was made
// from what. Marks are in rising order of Word; words before the first belong
// to ID -1.
type Program struct {
	Commands []uint32
	Marks    []Mark
}

// Regions are the bytes behind the base pointers. The NPU writes into them.
type Regions [NumRegions][]byte

// Options of a run.
type Options struct {
	// Functional skips the timing model: same bytes, an empty report.
	Functional bool
	// ConvSingle makes OP_CONV round once, half up, where the hardware's mode
	// 0 rounds twice. TensorFlow Lite's int8 kernels do that.
	ConvSingle bool
	// Levels take the place of the Spec's memories, by index; nil entries and
	// missing ones keep the Spec's bandwidth and latency. They are not reset.
	Levels []mem.Level
	// Span, when set, is told what each engine did: track is "kernel" or "dma".
	Span func(sim.Span)
	// MaxWork bounds the multiply-accumulates and elements a run may take; 0
	// means DefaultMaxWork. A run beyond it ends with an error.
	MaxWork int64
}

// DefaultMaxWork is 69 G multiply-accumulates: ample for a network of a phone.
const DefaultMaxWork = 1 << 36

// Core is one NPU. It keeps decoded weights from run to run and is not safe
// for concurrent use.
type Core struct {
	spec       Spec
	shram      []byte
	tablesLost bool // on machines where accumulators lie over the tables
	convSingle bool
	only       arithForm // tests: not the fastest form
	regs       regFile
	hz         hazards
	op         op
	q          quantizer
	s          scratch
	cache      weightCache
}

// arithForm is a form of the convolution loops.
type arithForm uint8

const (
	formFastest arithForm = iota
	formWords             // 16-bit products, as on machines without byte products
	formExact             // 64-bit sums
)

// New builds a core; the error says what is wrong with the spec.
func New(spec Spec) (*Core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	spec.Memories = append([]MemorySpec(nil), spec.Memories...)
	return &Core{
		spec:  spec,
		shram: make([]byte, spec.ShramBytes),
		cache: weightCache{seed: maphash.MakeSeed(), sets: map[weightKey]*weightSet{}},
	}, nil
}

// Spec is the machine the core was built with.
func (c *Core) Spec() *Spec { return &c.spec }

// Run executes a program from its first word to NPU_OP_STOP. Errors are a
// *CommandError where a command is to blame; the regions then hold what
// earlier commands wrote.
func (c *Core) Run(p *Program, r *Regions, o Options) (*sim.Report, error) {
	if err := c.checkProgram(p, r, o); err != nil {
		return nil, err
	}
	c.regs = regFile{wide: c.spec.Product == ethosu.U65}
	clear(c.shram)
	c.tablesLost, c.convSingle = false, o.ConvSingle
	c.hz = newHazards(&c.spec, r)
	t := newTimer(&c.spec, o, r)
	work := o.MaxWork
	if work <= 0 {
		work = DefaultMaxWork
	}
	mark, index := 0, 0
	for at := 0; at < len(p.Commands); index++ {
		cmd, err := ethosu.Next(p.Commands, at)
		if err != nil {
			return nil, fmt.Errorf("npu: command %d: %w", index, err)
		}
		for mark < len(p.Marks) && p.Marks[mark].Word <= at {
			t.region(p.Marks[mark].ID)
			mark++
		}
		t.command(cmd)
		stop, err := c.step(index, cmd, r, t, &work)
		if err != nil {
			return nil, &CommandError{Index: index, Word: at, Code: cmd.Code, Err: err}
		}
		if stop {
			return t.finish(), nil
		}
		at += cmd.Words()
	}
	return nil, fmt.Errorf("npu: command stream of %d words ends without NPU_OP_STOP", len(p.Commands))
}

func (c *Core) checkProgram(p *Program, r *Regions, o Options) error {
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
	if len(o.Levels) > len(c.spec.Memories) {
		return fmt.Errorf("npu: %d levels for %d memories", len(o.Levels), len(c.spec.Memories))
	}
	return nil
}

// step executes one command; stop says that it ended the stream.
func (c *Core) step(index int, cmd ethosu.Command, r *Regions, t *timer, work *int64) (stop bool, err error) {
	form := ethosu.Lookup(cmd.Code)
	if form.U65Only && c.spec.Product != ethosu.U65 {
		return false, fmt.Errorf("register does not exist on %s", c.spec.Name)
	}
	switch cmd.Code {
	case ethosu.OpStop:
		return true, nil
	case ethosu.OpIRQ, ethosu.OpPMUMask: // interrupts and counters are the host's
	case ethosu.OpConv, ethosu.OpDepthwise, ethosu.OpPool, ethosu.OpElementwise:
		o, err := c.decodeOp(&c.regs, cmd, r)
		if err != nil {
			return false, err
		}
		if *work -= o.work(); *work < 0 {
			return false, fmt.Errorf("the run takes more work than its limit")
		}
		if err := c.hz.kernel(o, &c.spec, index); err != nil {
			return false, err
		}
		if err := c.execute(o); err != nil {
			return false, err
		}
		t.op(o)
	case ethosu.OpDMAStart:
		if cmd.Param != 0 {
			return false, fmt.Errorf("DMA channel and mode %#x", cmd.Param)
		}
		n, err := c.dma(&c.regs, r)
		if err != nil {
			return false, err
		}
		if err := c.hz.dma(&c.regs, index, n); err != nil {
			return false, err
		}
		if *work -= int64(n); *work < 0 {
			return false, fmt.Errorf("the run takes more work than its limit")
		}
		t.dma(&c.regs, n)
	case ethosu.OpDMAWait:
		c.hz.copies.wait(int(cmd.Param & 15))
		t.dmaWait(int(cmd.Param & 15))
	case ethosu.OpKernelWait:
		c.hz.kernels.wait(int(cmd.Param & 3))
		t.kernelWait(int(cmd.Param & 3))
	default:
		c.regs.set(cmd)
	}
	return false, nil
}

// work is about the multiply-accumulates of an operation, or its elements
// where it has none.
func (o *op) work() int64 {
	const perBlock = 64 // the timing model's own work
	n := int64(o.ofm.h)*int64(o.ofm.w)*int64(o.ofm.c) + perBlock*o.blockCount()
	if o.kind == opElementwise {
		return n
	}
	n *= int64(o.k.h) * int64(o.k.w)
	if o.kind == opConv || o.kind == opPool && o.mode == ethosu.PoolReduceSum {
		n *= int64(o.ifm.c)
	}
	return n + int64(o.ifm.h)*int64(o.ifm.w)*int64(o.ifm.c)
}
