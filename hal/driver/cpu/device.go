package cpu

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/lower"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/sim"
)

// Config is the device behind the driver.
type Config struct {
	// Spec prices an execution; the zero Spec allows only functional ones.
	Spec refcpu.CPUSpec
	// Launch is the fixed cost of an execution.
	Launch      sim.Time
	Description string
}

// Device is the reference CPU as the runtime sees it.
type Device struct{ cfg Config }

// New returns the device.
func New(cfg Config) *Device { return &Device{cfg} }

// Name implements hal.Device.
func (d *Device) Name() string { return "cpu" }

// Description implements hal.Device.
func (d *Device) Description() string { return d.cfg.Description }

// Version implements hal.Device.
func (d *Device) Version() string { return "1.0" }

// Type implements hal.Device.
func (d *Device) Type() hal.DeviceType { return hal.DeviceCPU }

// Capabilities implements hal.Device: the CPU is the unit of comparison.
func (d *Device) Capabilities() hal.Capabilities {
	one := hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}
	all := hal.Capabilities{RelaxedScalar: one, RelaxedTensor: one, If: one, While: one, Operand: map[nn.OperandType]hal.PerformanceInfo{}}
	for t := nn.OperandType(0); t.Valid(); t++ {
		if t != nn.SubgraphRef {
			all.Operand[t] = one
		}
	}
	return all
}

// SupportedOperations implements hal.Device.
func (d *Device) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s := make([]hal.Support, len(m.Main.Operations))
	for i := range s {
		t := m.Main.Operations[i].Type
		if s[i].OK = refcpu.Supported(t); !s[i].OK {
			s[i].Reason = fmt.Sprintf("the reference CPU lacks %v", t)
		}
	}
	return s, nil
}

// PrepareModel implements hal.Device.
func (d *Device) PrepareModel(m *nn.Model, _ hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := refcpu.Compile(m)
	if err != nil {
		return nil, hal.Errorf(hal.InvalidArgument, "%w", err)
	}
	return &prepared{dev: d, prog: p}, nil
}

type prepared struct {
	dev  *Device
	prog *refcpu.Program
}

// Execute implements hal.PreparedModel.
func (p *prepared) Execute(r *hal.Request) (*hal.Result, error) {
	dims, shapes, err := p.run(r)
	res := &hal.Result{OutputDimensions: dims}
	if hal.StatusOf(err) == hal.OutputInsufficientSize {
		return res, err
	}
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	if r.Functional {
		return res, nil
	}
	t, err := p.dev.cfg.Spec.Time(withShapes(p.prog.Model(), shapes))
	if err != nil {
		return nil, hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	res.Stats = p.dev.stats(t)
	p.dev.spans(r.Trace, p.prog.Model(), t)
	return res, nil
}

// run executes the program and returns the shapes of its outputs, and of all
// operands if only an execution knows some.
func (p *prepared) run(r *hal.Request) (dims, shapes [][]uint32, err error) {
	dims = p.prog.OutputDims()
	if !slices.ContainsFunc(dims, func(d []uint32) bool { return d == nil }) {
		return dims, nil, p.prog.Run(r.Inputs, r.Outputs, refcpu.Options{})
	}
	in := make([]refcpu.Tensor, len(r.Inputs))
	for i := range in {
		in[i].Data = r.Inputs[i]
	}
	out, err := p.prog.Execute(in, refcpu.Options{Shapes: &shapes})
	if err != nil {
		return nil, nil, err
	}
	if len(r.Outputs) != len(out) {
		return nil, nil, fmt.Errorf("cpu driver: %d output buffers given, the model has %d", len(r.Outputs), len(out))
	}
	for i := range out {
		dims[i] = out[i].Dimensions
		if len(r.Outputs[i]) < len(out[i].Data) && err == nil {
			err = hal.Errorf(hal.OutputInsufficientSize, "cpu driver: output %d of shape %v has %d bytes, needs %d", i, dims[i], len(r.Outputs[i]), len(out[i].Data))
		}
	}
	for i := range out {
		if err == nil {
			copy(r.Outputs[i], out[i].Data)
		}
	}
	return dims, shapes, err
}

// withShapes is a model whose operands have these shapes, for its timing: an
// empty one, which a model cannot state, costs as much as one element.
func withShapes(m *nn.Model, shapes [][]uint32) *nn.Model {
	c := *m
	c.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
	for i, d := range shapes {
		if o := &c.Main.Operands[i]; !o.Known() {
			o.Dimensions = append([]uint32(nil), d...)
			for k, d := range o.Dimensions {
				o.Dimensions[k] = max(d, 1)
			}
		}
	}
	return &c
}

// stats turns a timing into the HAL's terms, the fixed cost included.
func (d *Device) stats(t *refcpu.Timing) hal.Stats {
	clock := sim.Clock{Hz: t.ClockHz}
	launch := clock.Cycle(d.cfg.Launch)
	s := hal.Stats{
		Cycles: t.Cycles + launch, LatencyFs: int64(clock.At(t.Cycles) + d.cfg.Launch), ClockHz: t.ClockHz, EnergyPJ: t.EnergyPJ,
		Counters: []hal.Counter{{Name: "dram_bytes", Value: t.DRAMBytes}},
	}
	all := t.Reasons
	all[refcpu.ReasonLaunch] += launch
	s.Stalls = stalls(&all)
	var cycles int64
	for i := range t.Operations {
		o := &t.Operations[i]
		start := clock.At(cycles)
		cycles += o.Cycles
		s.Operations = append(s.Operations, hal.OperationStats{
			Index: o.Index, Cycles: o.Cycles, TimeFs: int64(clock.At(cycles) - start), EnergyPJ: o.EnergyPJ, MACs: o.MACs,
			Stalls: stalls(&o.Reasons), BoundBy: o.BoundBy().String(), DRAMBytes: o.DRAMBytes,
		})
	}
	s.Operations = append(s.Operations, lower.Launch(launch, d.cfg.Launch))
	return s
}

// stalls lists the reasons that took cycles.
func stalls(reasons *[refcpu.NumReasons]int64) []hal.StallCycles {
	var l []hal.StallCycles
	for reason, n := range reasons {
		if n != 0 {
			l = append(l, hal.StallCycles{Reason: refcpu.Reason(reason).String(), Cycles: n})
		}
	}
	return l
}

// spans draws the operations one after the other.
func (d *Device) spans(to hal.Tracer, m *nn.Model, t *refcpu.Timing) {
	span := lower.Trace(to, 0, d.cfg.Launch, 0)
	if span == nil {
		return
	}
	clock := sim.Clock{Hz: t.ClockHz}
	var cycles int64
	for i := range t.Operations {
		start := clock.At(cycles)
		cycles += t.Operations[i].Cycles
		span(sim.Span{Track: "threads", Name: m.Main.Operations[i].Type.String(), Region: i, Start: start, End: clock.At(cycles)})
	}
}

// WriteListing implements hal.PreparedModel. The CPU has no instruction
// stream; its program is the list of kernels with their predicted cycles.
func (p *prepared) WriteListing(w io.Writer) error {
	t, err := p.dev.cfg.Spec.Time(p.prog.Model())
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	g := &p.prog.Model().Main
	for i := range t.Operations {
		o := &t.Operations[i]
		op := &g.Operations[i]
		fmt.Fprintf(out, "operation %d  %v %v  %d cycles, bound by %v\n", i, op.Type, g.Operands[op.Outputs[0]].Dimensions, o.Cycles, o.BoundBy())
	}
	return out.Flush()
}

// WriteProgram implements hal.PreparedModel: the kernels in order with their
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
		if _, err := fmt.Fprintf(w, "%v %v %v %v %+v %x\n", o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Channel, o.Data); err != nil {
			return err
		}
	}
	return nil
}
