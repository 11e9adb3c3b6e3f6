package npu

import (
	"bufio"
	"fmt"
	"io"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/lower"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
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
	cfg Config
}

// New checks the configuration.
func New(cfg Config) (*Device, error) {
	if _, err := core.New(cfg.Spec); err != nil {
		return nil, err
	}
	d := &Device{cfg: cfg}
	d.Device = base.New(base.Config{
		Name: "npu", Description: cfg.Description, Version: "1.0-" + cfg.Spec.Name, Type: hal.DeviceAccelerator, Capabilities: cfg.Capabilities,
	}, compiler{d})
	return d, nil
}

// compiler lowers models for a device.
type compiler struct{ *Device }

// Supports implements base.Compiler: an operation is supported when it lowers.
func (c compiler) Supports(m *nn.Model) ([]hal.Support, error) {
	l := newLowering(&c.cfg.Spec, m)
	for i := range l.graph.Operands { // where a tensor comes from does not matter here
		if o := &l.graph.Operands[i]; o.Type.IsQuant8() && o.Known() && !o.IsConst() {
			l.value[i] = l.temporary(0)
		}
	}
	answers := make([]hal.Support, len(l.graph.Operations))
	for i := range answers {
		if err := l.operation(i); err != nil {
			answers[i].Reason = err.Error()
			continue
		}
		answers[i].OK = true
	}
	l.pairQuantize(answers)
	return answers, nil
}

// pairQuantize withdraws a DEQUANTIZE whose consumer is not supported: the two
// are lowered together.
func (l *lowering) pairQuantize(answers []hal.Support) {
	for i := range answers {
		op := &l.graph.Operations[i]
		if op.Type != nn.OpDequantize || !answers[i].OK {
			continue
		}
		for j := range answers {
			user := &l.graph.Operations[j]
			if user.Type == nn.OpQuantize && user.Inputs[0] == op.Outputs[0] && !answers[j].OK {
				answers[i] = hal.Support{Reason: "its QUANTIZE is not supported: " + answers[j].Reason}
			}
		}
	}
}

// Compile implements base.Compiler.
func (c compiler) Compile(m *nn.Model, _ hal.PrepareOptions) (base.Program, error) {
	p, err := compile(&c.cfg.Spec, c.cfg.OnChipBytes, m)
	if err != nil {
		return nil, err
	}
	return &prepared{dev: c.Device, model: m, prog: p}, nil
}

// prepared is a compiled model.
type prepared struct {
	dev   *Device
	model *nn.Model
	prog  *program
	idle  sync.Pool // *machine
}

// machine is a core with its memory; executions do not share one.
type machine struct {
	core    *core.Core
	regions core.Regions
}

func (p *prepared) machine() (*machine, error) {
	if m, ok := p.idle.Get().(*machine); ok {
		return m, nil
	}
	c, err := core.New(p.dev.cfg.Spec)
	if err != nil {
		return nil, err
	}
	m := &machine{core: c}
	m.regions[regionConst] = p.prog.consts
	m.regions[regionArena] = make([]byte, p.prog.arena)
	m.regions[regionWeights] = make([]byte, p.prog.weights)
	m.regions[regionIO] = make([]byte, p.prog.io)
	m.regions[regionSpill] = make([]byte, p.prog.spill)
	return m, nil
}

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request) (*hal.Result, error) {
	g := &p.model.Main
	m, err := p.machine()
	if err != nil {
		return nil, err
	}
	io := m.regions[regionIO]
	for i, b := range p.prog.inputs {
		if len(r.Inputs[i]) != b.bytes {
			return nil, hal.Errorf(hal.InvalidArgument, "input %d has %d bytes, want %d", i, len(r.Inputs[i]), b.bytes)
		}
		copy(io[b.addr:], r.Inputs[i])
	}
	o := core.Options{Functional: r.Functional, Span: lower.Trace(r.Trace, 0, p.dev.cfg.Launch, 0)}
	if p.dev.cfg.NewLevels != nil && !r.Functional {
		if o.Levels, err = p.dev.cfg.NewLevels(); err != nil {
			return nil, err
		}
	}
	report, err := m.core.Run(&p.prog.code, &m.regions, o)
	if err != nil {
		return nil, err // the machine is dropped
	}
	defer p.idle.Put(m)
	res := &hal.Result{Stats: lower.Stats(report, p.dev.cfg.Launch)}
	view := opspec.ModelView(g)
	for i := range res.Stats.Operations {
		if s := &res.Stats.Operations[i]; s.Index >= 0 {
			s.MACs = view.MACs(&g.Operations[s.Index])
		}
	}
	for i, b := range p.prog.outputs {
		if len(r.Outputs[i]) < b.bytes {
			return nil, hal.Errorf(hal.OutputInsufficientSize, "output %d has %d bytes, needs %d", i, len(r.Outputs[i]), b.bytes)
		}
		copy(r.Outputs[i], io[b.addr:b.addr+b.bytes])
		res.OutputDimensions = append(res.OutputDimensions, g.Operands[g.Outputs[i]].Dimensions)
	}
	return res, nil
}

// WriteListing implements hal.PreparedModel: the command stream with the
// operation each part was made from and its cycles, from a run on zeros (they
// do not depend on data).
func (p *prepared) WriteListing(w io.Writer) error {
	m, err := p.machine()
	if err != nil {
		return err
	}
	defer p.idle.Put(m)
	clear(m.regions[regionIO])
	o := core.Options{}
	if p.dev.cfg.NewLevels != nil {
		if o.Levels, err = p.dev.cfg.NewLevels(); err != nil {
			return err
		}
	}
	report, err := m.core.Run(&p.prog.code, &m.regions, o)
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
				fmt.Fprintf(out, "; operation %d %v: %d cycles in all\n", id, p.model.Main.Operations[id].Type, cycles[id])
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
