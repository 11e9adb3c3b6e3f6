package cpudriver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/statistics"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
	"github.com/nnsoc/nnsoc/refcpu/timing"
	"github.com/nnsoc/nnsoc/sim"
)

// Config is the device behind the driver.
type Config struct {
	// Spec prices an execution; the zero Spec allows only functional ones.
	Spec timing.CPUSpec
	// SpecAt returns the Spec with the clusters of cores at operating points; nil: Spec holds at
	// all points.
	SpecAt func(clusters []sim.OPP) (*timing.CPUSpec, error)
	// Host models the path between clients and the device.
	Host        base.Host
	Clock       *hal.Clock // of the machine; nil: a private one
	Description string
	// Operations that models may have; nil is hostop.Table.
	Operations *refcpu.Table
}

// New returns the device.
func New(cfg Config) hal.Device {
	c := newCompiler(cfg)
	c.device = base.New(base.Config{
		Name: "cpu", Description: cfg.Description, Version: "1.0", Type: hal.DeviceCPU, Capabilities: capabilities(),
		Operations: c.cfg.Operations.Spec(), Host: cfg.Host, Clock: cfg.Clock,
	}, c)
	return c.device
}

// NewCompiler returns the device's compiler, for a driver that computes on the CPU under
// a name and with limits of its own.
func NewCompiler(cfg Config) base.Compiler { return newCompiler(cfg) }

func newCompiler(cfg Config) *compiler {
	if cfg.Operations == nil {
		cfg.Operations = hostop.Table()
	}
	c := &compiler{cfg: cfg}
	c.specs = &specs{base: &c.cfg.Spec, at: cfg.SpecAt}
	return c
}

// capabilities are 1 throughout: figures of other devices are relative to this one.
func capabilities() hal.Capabilities {
	one := hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}
	all := hal.Capabilities{RelaxedScalar: one, RelaxedTensor: one, If: one, While: one, Operand: map[nn.OperandType]hal.PerformanceInfo{}}
	for t := nn.OperandType(0); t.Valid(); t++ {
		if t != nn.SubgraphRef {
			all.Operand[t] = one
		}
	}
	return all
}

// compiler prepares models for the reference kernels.
type compiler struct {
	cfg    Config
	specs  *specs
	device *base.Device // nil behind a device of another driver
}

// Supports implements base.Compiler.
func (c *compiler) Supports(m *nn.Model) ([]hal.Support, error) {
	s := make([]hal.Support, len(m.Main.Operations))
	for i, err := range c.cfg.Operations.Check(m) {
		if s[i].OK = err == nil; err != nil {
			s[i].Reason = "the reference CPU: " + err.Error()
		}
	}
	return s, nil
}

// Compile implements base.Compiler.
func (c *compiler) Compile(m *nn.Model, _ hal.PrepareOptions) (base.Program, error) {
	p, err := refcpu.CompileConfig(m, refcpu.Config{Operations: c.cfg.Operations})
	if err != nil {
		return nil, err
	}
	return &prepared{cfg: c.cfg, specs: c.specs, prog: p, device: c.device}, nil
}

// TemporaryBytes implements base.Temporaries: the reference keeps every tensor to the end of an execution, copies of
// the arguments among them.
func (c *compiler) TemporaryBytes(g *nn.Subgraph) (n int64) {
	for i := range g.Operands {
		if o := &g.Operands[i]; !o.IsConst() {
			n += max(o.Bytes(), 0)
		}
	}
	return n
}

type prepared struct {
	cfg    Config
	specs  *specs
	prog   *refcpu.Program
	device *base.Device
}

// Bytes is how much memory the program keeps: copies of the constants.
func (p *prepared) Bytes() int { return int(p.prog.ConstantBytes()) }

// Execute implements base.Program.
func (p *prepared) Execute(r *hal.Buffers, at base.Place) (*hal.Result, error) {
	var meter *timing.Meter
	var o refcpu.Options
	var shared *stream
	var failed error // of a change of the clocks
	if !r.Functional {
		var err error
		if meter, err = p.cfg.Spec.NewMeter(len(p.prog.Model().Main.Operations)); err == nil {
			err = p.specs.clocks(meter, at.Points)
		}
		if err != nil {
			return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
		}
		o.Work, o.Elapsed = meter.Add, meter.Elapsed
		if at.Memory != nil {
			shared = newStream(at.Memory, &p.cfg.Spec)
		}
	}
	o.LoopTimeout, o.Account = r.LoopLimit(), r.Account
	if meter != nil && at.Until > 0 {
		o.LoopTimeout = min(o.LoopTimeout, time.Duration(at.Until/sim.Nanosecond)+1)
	}
	logs, turn := p.device != nil && p.device.Logs(vlog.CPU), at.Preemption
	if logs || shared != nil || turn != nil && meter != nil {
		operations := p.prog.Model().Main.Operations
		o.Observe = func(op int, outputs [][]byte) {
			if logs {
				p.device.Log(vlog.CPU, "operation %d (%s): %d outputs", op, operations[op].Type, len(outputs))
			}
			if shared != nil {
				shared.contend(meter, op)
			}
			if turn != nil && meter != nil && op < len(operations)-1 {
				if now := sim.Time(meter.Timing().TimeFs); turn.Pending(now) {
					failed = errors.Join(failed, p.specs.clocks(meter, turn.Yield(now)))
				}
			}
		}
	}
	dims, err := p.run(r, o)
	res := &hal.Result{OutputDimensions: dims}
	if hal.StatusOf(err) == hal.OutputInsufficientSize {
		return res, err
	}
	if errors.Is(err, refcpu.ErrLoop) {
		if meter != nil {
			late := &sim.Late{At: sim.Time(meter.Timing().TimeFs)}
			if at.Until > 0 && late.At >= at.Until {
				return nil, &sim.Late{At: at.Until}
			}
			err = fmt.Errorf("%w: %w", err, late)
		}
		return nil, hal.Errorf(hal.MissedDeadlineTransient, "%w", err)
	}
	if err != nil {
		return nil, err
	}
	if failed != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", failed)
	}
	if meter != nil {
		res.Stats = p.cfg.stats(meter.Timing())
		p.cfg.spans(r.Trace, p.prog.Model(), meter.Timing())
	}
	return res, nil
}

// clocks sets the operating points of the CPU's clusters from now on; none: they stay.
func (s *specs) clocks(meter *timing.Meter, points []sim.Change) error {
	if len(points) == 0 {
		return nil
	}
	course, err := s.changes(points)
	if err != nil {
		return err
	}
	return meter.Plan(course)
}

// run executes the program and returns the shapes of its outputs.
func (p *prepared) run(r *hal.Buffers, o refcpu.Options) (dims [][]uint32, err error) {
	dims = p.prog.OutputDims()
	if !slices.ContainsFunc(dims, func(d []uint32) bool { return d == nil }) {
		if err := p.fits(r, dims); err != nil {
			return dims, err
		}
		return dims, p.prog.Run(r.Inputs, r.Outputs, o)
	}
	in := make([]refcpu.Tensor, len(r.Inputs))
	for i := range in {
		in[i].Data = r.Inputs[i]
	}
	out, err := p.prog.Execute(in, o)
	if err != nil {
		return nil, err
	}
	for i := range out {
		dims[i] = out[i].Dimensions
	}
	if err := p.fits(r, dims); err != nil {
		return dims, err
	}
	for i := range out {
		copy(r.Outputs[i], out[i].Data)
	}
	return dims, nil
}

// fits compares output buffers with what outputs of these shapes need.
func (p *prepared) fits(r *hal.Buffers, dims [][]uint32) error {
	g := &p.prog.Model().Main
	for i, d := range dims {
		n := nn.Elements(d) * int64(g.Operands[g.Outputs[i]].Type.ElementBytes())
		if int64(len(r.Outputs[i])) < n {
			return hal.Errorf(hal.OutputInsufficientSize, "output %d of shape %v has %d bytes, needs %d", i, d, len(r.Outputs[i]), n)
		}
	}
	return nil
}

// stats converts a timing to the HAL's terms, the fixed cost included.
func (c Config) stats(t *timing.Timing) hal.Stats {
	s := hal.Stats{
		Cycles: t.Cycles, LatencyFs: t.TimeFs, ClockHz: t.ClockHz, EnergyPJ: t.EnergyPJ,
		Counters: []hal.Counter{{Name: "dram_bytes", Value: t.DRAMBytes}},
	}
	s.Stalls = stalls(&t.Reasons)
	for i := range t.Operations {
		o := &t.Operations[i]
		s.Operations = append(s.Operations, hal.OperationStats{
			Index: o.Index, Cycles: o.Cycles, TimeFs: o.TimeFs, EnergyPJ: o.EnergyPJ, MACs: o.MACs,
			Stalls: stalls(&o.Reasons), BoundBy: o.BoundBy().String(), DRAMBytes: o.DRAMBytes,
		})
	}
	return s
}

// stalls lists the reasons with cycles.
func stalls(reasons *[timing.NumReasons]int64) []hal.StallCycles {
	var l []hal.StallCycles
	for reason, n := range reasons {
		if n != 0 {
			l = append(l, hal.StallCycles{Reason: timing.Reason(reason).String(), Cycles: n})
		}
	}
	return l
}

// spans draws the operations one after the other.
func (c Config) spans(to hal.Tracer, m *nn.Model, t *timing.Timing) {
	span := statistics.Trace(to, 0, 0)
	if span == nil {
		return
	}
	var start sim.Time
	for i := range t.Operations {
		end := start + sim.Time(t.Operations[i].TimeFs)
		span(sim.Span{Track: "threads", Name: m.Main.Operations[i].Type.String(), Region: i, Start: start, End: end})
		start = end
	}
}

// WriteListing implements base.Program. The CPU has no instruction
// stream; its program is the list of kernels with their predicted cycles.
func (p *prepared) WriteListing(w io.Writer) error {
	t, err := p.cfg.Spec.Estimate(p.cfg.Operations.Spec(), p.prog.Model())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	g := &p.prog.Model().Main
	for i := range t.Operations {
		o := &t.Operations[i]
		op := &g.Operations[i]
		fmt.Fprintf(out, "operation %d  %v %v  ", i, op.Type, g.Operands[op.Outputs[0]].Dimensions)
		switch {
		case o.Unknown:
			fmt.Fprintln(out, "cycles are known when it has executed")
		case opspec.Calls(op.Type):
			fmt.Fprintf(out, "%d cycles and those of its subgraphs\n", o.Cycles)
		default:
			fmt.Fprintf(out, "%d cycles, bound by %v\n", o.Cycles, o.BoundBy())
		}
	}
	return out.Flush()
}

// WriteProgram implements base.Program: the kernels in order with their
// operands and the constants.
func (p *prepared) WriteProgram(w io.Writer) error {
	g := &p.prog.Model().Main
	for i := range g.Operations {
		op := &g.Operations[i]
		if _, err := fmt.Fprintln(w, op.Type, op.Inputs, op.Outputs); err != nil {
			return err
		}
	}
	for i := range g.Operands {
		o := &g.Operands[i]
		if _, err := fmt.Fprintf(w, "%v %v %v %v %+v %x %x\n", o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Channel, o.Extension, o.Data); err != nil {
			return err
		}
	}
	return nil
}
