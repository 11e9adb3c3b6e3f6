package npu

import (
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
	// Span, when set, is told what each engine did: track is "mac", "output",
	// "dma" or "command".
	Span func(track, name string, start, end sim.Time)
	// MaxWork bounds the multiply-accumulates and elements a run may take; 0
	// means DefaultMaxWork. A run beyond it ends with an error.
	MaxWork int64
}

// DefaultMaxWork is ample for any network of a phone.
const DefaultMaxWork = 1 << 38

// Core is one NPU. It keeps decoded weights from run to run and is not safe
// for concurrent use.
type Core struct {
	spec Spec
}

// New builds a core; the error says what is wrong with the spec.
func New(spec Spec) (*Core, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return &Core{spec: spec}, nil
}

// Spec is the machine the core was built with.
func (c *Core) Spec() *Spec { return &c.spec }

// Run executes a program from its first word to NPU_OP_STOP. Errors name the
// command: its index, name and what is wrong with it; the regions then hold
// what earlier commands wrote.
func (c *Core) Run(p *Program, r *Regions, o Options) (*sim.Report, error) {
	return nil, nil
}
