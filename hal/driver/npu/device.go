package npu

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Config is the device behind the driver.
type Config struct {
	Spec core.Spec
	// OnChipBytes is the memory for activations and weight buffers.
	OnChipBytes int
	// NewLevels makes the timed memories of a run, cold; nil keeps the Spec's
	// bandwidths and latencies.
	NewLevels func() ([]mem.Level, error)
	// Launch is the fixed cost of an execution outside the device.
	Launch       sim.Time
	Capabilities hal.Capabilities
	Description  string
}

// Device is the NPU as the runtime sees it.
type Device struct {
	*base.Device
	cfg  Config
	core *core.Core
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	c, err := core.New(cfg.Spec)
	if err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg, core: c}
	d.Device = base.New(base.Config{
		Name: "npu", Description: cfg.Description, Version: "1.0-" + cfg.Spec.Name, Type: hal.DeviceAccelerator, Capabilities: cfg.Capabilities,
		Identity: fmt.Sprintf("%+v %d", cfg.Spec, cfg.OnChipBytes),
	}, base.NewCompiler(middleEnd{d}))
	return d, nil
}

// middleEnd lowers canonical graphs for a device.
type middleEnd struct{ *Device }

// passes make a model canonical for the NPU.
var passes = graph.NewPipeline(graph.ResolveShapes, graph.FoldConstants, graph.ConvertNCHW, graph.CancelTransposes,
	graph.ExplicitPadding, graph.FuseActivations, graph.RemoveDeadOperations)

// Passes implements base.Lowering.
func (middleEnd) Passes() graph.Pipeline { return passes }

// Check implements base.Lowering.
func (d middleEnd) Check(g *graph.Graph) base.Checker {
	l := newLowering(&d.cfg.Spec, g)
	for i := range g.Operands { // where a tensor comes from does not matter here
		if o := &g.Operands[i]; o.Type.IsQuant8() && o.Known() && !o.IsConst() {
			l.value[i] = l.temporary(0)
		}
	}
	return checker{l}
}

// Lower implements base.Lowering.
func (d middleEnd) Lower(g *graph.Graph, _ hal.PrepareOptions) (base.Executable, error) {
	p, err := compile(&d.cfg.Spec, d.cfg.OnChipBytes, g)
	if err != nil {
		return nil, err
	}
	return &executable{dev: d.Device, graph: g, prog: p}, nil
}

// checker implements base.Checker: an operation is supported when it lowers.
type checker struct{ l *lowering }

// Types implements base.Checker.
func (c checker) Types(i int) error {
	if op := &c.l.graph.Operations[i]; lowerers[op.Type] == nil {
		return fmt.Errorf("%v is not lowered to this NPU", op.Type)
	}
	// The accumulators saturate where the reference wraps.
	return c.l.view.SumsFit(&c.l.graph.Operations[i])
}

// Defers implements base.Checker: registers and kernels depend on every parameter.
func (c checker) Defers(i int) error {
	return fmt.Errorf("%v: parameters and shapes must be known when the model is prepared", c.l.graph.Operations[i].Type)
}

// Lowers implements base.Checker.
func (c checker) Lowers(i int) error { return c.l.operation(i) }

// executable is a lowered graph. It implements base.Executable.
type executable struct {
	dev   *Device
	graph *graph.Graph
	prog  *program
	idle  sync.Pool // *machine
}

// machine is what an execution works on; executions do not share one.
type machine struct {
	memories []mem.Level
	state    *core.State
	regions  core.Regions
}

// cold makes the memories cold.
func (m *machine) cold() {
	for _, l := range m.memories {
		if l != nil {
			l.Reset()
		}
	}
}

func (p *executable) machine() (*machine, error) {
	if m, ok := p.idle.Get().(*machine); ok {
		m.cold()
		return m, nil
	}
	m := &machine{}
	var err error
	if p.dev.cfg.NewLevels != nil {
		if m.memories, err = p.dev.cfg.NewLevels(); err != nil {
			return nil, err
		}
	}
	if m.state, err = p.dev.core.NewState(m.memories); err != nil {
		return nil, err
	}
	m.regions[regionConst] = p.prog.consts
	m.regions[regionArena] = make([]byte, p.prog.arena)
	m.regions[regionWeights] = make([]byte, p.prog.weights)
	m.regions[regionIO] = make([]byte, p.prog.io)
	m.regions[regionSpill] = make([]byte, p.prog.spill)
	return m, nil
}

// run is a finished execution. It implements base.Run.
type run struct {
	*executable
	machine *machine
	stats   hal.Stats
}

// Run implements base.Executable.
func (p *executable) Run(inputs [][]byte, r base.RunOptions) (base.Run, error) {
	m, err := p.machine()
	if err != nil {
		return nil, err
	}
	io := m.regions[regionIO]
	for i, b := range p.prog.inputs {
		if b.bytes > 0 && len(inputs[i]) != b.bytes {
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(inputs[i]), b.bytes)
		}
		copy(io[b.addr:b.addr+b.bytes], inputs[i])
	}
	o := core.Options{State: m.state, Functional: r.Functional, Span: lower.Trace(r.Trace, r.StartFs, p.dev.cfg.Launch, 0)}
	report, err := p.dev.core.Run(&p.prog.code, &m.regions, o)
	if err != nil {
		return nil, err // the machine is dropped
	}
	return &run{p, m, lower.Stats(report, p.dev.cfg.Launch)}, nil
}

// Output implements base.Run.
func (r *run) Output(i int) ([]byte, []uint32) {
	b := r.prog.outputs[i]
	return r.machine.regions[regionIO][b.addr : b.addr+b.bytes], r.graph.Operands[r.graph.Outputs[i]].Dimensions
}

// Stats implements base.Run.
func (r *run) Stats() hal.Stats { return r.stats }

// Release implements base.Run.
func (r *run) Release() { r.idle.Put(r.machine) }

// Bytes implements base.Executable.
func (p *executable) Bytes() int { return 4*len(p.prog.code.Commands) + len(p.prog.consts) }

// WriteListing implements base.Executable: the command stream with the
// operation each part was made from and its cycles, from a run on zeros (they
// do not depend on data).
func (p *executable) WriteListing(w io.Writer) error {
	m, err := p.machine()
	if err != nil {
		return err
	}
	defer p.idle.Put(m)
	clear(m.regions[regionIO])
	report, err := p.dev.core.Run(&p.prog.code, &m.regions, core.Options{State: m.state})
	if err != nil {
		return err
	}
	cycles := map[int]int64{}
	for _, r := range report.Regions {
		cycles[r.ID] = r.Cycles
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "; %s: %d command words, %d bytes of constants, %d on chip, %d spilled, %d cycles\n",
		p.dev.cfg.Spec.Name, len(p.prog.code.Commands), len(p.prog.consts), p.prog.arena+p.prog.weights, p.prog.spill, report.Cycles)
	words, mark := p.prog.code.Commands, 0
	for at := 0; at < len(words); {
		for mark < len(p.prog.code.Marks) && p.prog.code.Marks[mark].Word <= at {
			id := p.prog.code.Marks[mark].ID
			if id < 0 {
				fmt.Fprintf(out, "; inputs and outputs: %d cycles\n", cycles[id])
			} else {
				fmt.Fprintf(out, "; operation %d %s: %d cycles in all\n", id, p.graph.NameOf(id), cycles[id])
			}
			mark++
		}
		c, err := ethosu.Next(words, at)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, c.Text(4*at))
		at += c.Words()
	}
	return out.Flush()
}
