package devices

import (
	"bytes"
	"slices"
	"sync/atomic"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/platform"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Load is the estimated costs of a program on its engine alone.
type Load struct {
	// At returns its parts in order at a clock of the engine and one of the DRAM; the clock is 0
	// for an engine with several clocks, the CPU.
	At func(hz, memoryHz int64) ([]Work, error)
}

// Work is a part of a program, within which clocks do not change.
type Work struct {
	Time      sim.Time
	Cycles    int64
	EnergyPJ  float64
	DRAMBytes int64
	Waits     float64 // the share of its time in which it waits for the DRAM and the system-level cache
}

// Outliner makes outlines of a SoC.
type Outliner struct {
	config *soc.Config
	cpu    *cpudriver.Pricer
}

// NewOutliner returns the outliner of a SoC.
func NewOutliner(c *soc.Config, p hal.Preference) (*Outliner, error) {
	cfg, err := cpuConfig(c, sim.Preference(p), &surroundings{host: func(soc.Engine) base.Host { return nil }, clock: hal.NewClock()})
	if err != nil {
		return nil, err
	}
	return &Outliner{c, cpudriver.NewPricer(cfg)}, nil
}

// New makes the machine of the SoC, cold, whose devices compute nothing: a prepared model
// occupies its engine for the load that estimate returns and leaves its outputs unchanged. On
// the CPU it costs what cpudriver.Pricer computes, unless that depends on values. Everything
// else, clocks, idle states, queues, heat and the host's software, is that of NewMachine.
// estimate is called once when a device prepares a model. With values, the reference
// computes the outputs, once for the same inputs: control flow needs them.
func (o *Outliner) New(estimate func(device string, m *nn.Model) (Load, error), values bool) (*Machine, error) {
	s, err := platform.NewMachine(o.config)
	if err != nil {
		return nil, err
	}
	m := &Machine{config: o.config, soc: s, SimulateAll: true, memo: map[any][]*remembered{}, programs: map[any]int{}}
	for e, b := range builders {
		if b.present(o.config) {
			m.devices = append(m.devices, &outlineDevice{host: &engineHost{m: m, engine: soc.Engine(e)}, estimate: estimate, outliner: o, values: values})
		}
	}
	return m, nil
}

// outlineDevice is a device of an outline.
type outlineDevice struct {
	hal.UnimplementedDevice
	host     *engineHost
	estimate func(device string, m *nn.Model) (Load, error)
	outliner *Outliner
	values   bool
	tokens   atomic.Uint32
}

// Name implements hal.Device.
func (d *outlineDevice) Name() string { return d.host.engine.String() }

// Description implements hal.Device.
func (d *outlineDevice) Description() string { return "outline of the " + d.Name() }

// Version implements hal.Device.
func (d *outlineDevice) Version() string { return "outline" }

// Type implements hal.Device.
func (d *outlineDevice) Type() hal.DeviceType {
	if d.host.engine == soc.EngineCPU {
		return hal.DeviceCPU
	}
	return hal.DeviceAccelerator
}

// SupportedOperations implements hal.Device: planners know beforehand what the devices support.
func (d *outlineDevice) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	return slices.Repeat([]hal.Support{{OK: true}}, len(m.Main.Operations)), nil
}

// PrepareModel implements hal.Device.
func (d *outlineDevice) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	l, err := d.estimate(d.Name(), m)
	if err != nil {
		return nil, err
	}
	p := &outlineModel{device: d, options: o, load: l}
	if d.values {
		p.model, p.outputs = m, map[string][][]byte{}
	}
	if d.host.engine == soc.EngineCPU {
		p.price, _ = d.outliner.cpu.Price(m) // else its load is used
	}
	return p, nil
}

// Allocate implements hal.Device: any value may stay on the device.
func (d *outlineDevice) Allocate(hal.BufferDesc, []hal.PreparedModel, []hal.BufferRole, []hal.BufferRole) (hal.Buffer, error) {
	return outlineBuffer(d.tokens.Add(1)), nil
}

// outlineBuffer is device memory that holds nothing: its token.
type outlineBuffer uint32

func (b outlineBuffer) Token() uint32                      { return uint32(b) }
func (outlineBuffer) Bytes() int                           { return 0 }
func (outlineBuffer) CopyTo(*hal.Memory) error             { return nil }
func (outlineBuffer) CopyFrom(*hal.Memory, []uint32) error { return nil }
func (outlineBuffer) Release()                             {}

// outlineModel is a prepared model of an outline.
type outlineModel struct {
	hal.UnimplementedPreparedModel
	device  *outlineDevice
	options hal.PrepareOptions
	load    Load
	price   *cpudriver.Price // on the CPU; nil: the load counts

	model   *nn.Model           // to compute; nil: outputs stay as they are
	outputs map[string][][]byte // by inputs
}

// Execute implements hal.PreparedModel.
func (p *outlineModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	b := &hal.Buffers{ExecuteOptions: o}
	b.Inputs, b.DeviceInputs = arguments(r, r.Inputs)
	b.Outputs, b.DeviceOutputs = arguments(r, r.Outputs)
	if err := p.compute(b); err != nil {
		return nil, err
	}
	call := &base.Call{Options: p.options, Buffers: b, Program: p}
	return p.device.host.Execute(call, func(_ hal.Tracer, at base.Place) (*hal.Result, error) {
		stats, err := p.stats(at)
		return &hal.Result{Stats: stats}, err
	})
}

// stats are what the engine reports.
func (p *outlineModel) stats(at base.Place) (s hal.Stats, err error) {
	h := p.device.host
	if p.price == nil {
		s, err = p.load.on(h, at)
	} else if s, err = p.price.At(at.Points); err == nil && !h.m.soc.Exclusive() {
		w := Work{Time: sim.Time(s.LatencyFs), DRAMBytes: outcomeOf(&s).DRAMBytes, Waits: waits(&s)}
		s.LatencyFs = int64(h.occupied(0, &w, at.Preemption))
	}
	if err != nil {
		err = hal.Errorf(hal.GeneralFailure, "%w", err)
	}
	return s, err
}

// compute fills the outputs.
func (p *outlineModel) compute(b *hal.Buffers) error {
	if p.model == nil {
		return nil
	}
	key := string(bytes.Join(b.Inputs, nil)) // their lengths are those of the model
	outputs, known := p.outputs[key]
	if !known {
		tensors, err := cpudriver.ReferenceTensors(p.model, b.Inputs)
		if err != nil {
			return hal.Errorf(hal.GeneralFailure, "%w", err)
		}
		for _, x := range tensors {
			outputs = append(outputs, x.Data)
		}
		p.outputs[key] = outputs
	}
	for i := range outputs {
		copy(b.Outputs[i], outputs[i])
	}
	return nil
}

// arguments are the buffers of a request, and which of them lie on the device.
func arguments(r *hal.Request, list []hal.RequestArgument) (data [][]byte, onDevice []bool) {
	data, onDevice = make([][]byte, len(list)), make([]bool, len(list))
	for i, a := range list {
		if a.HasNoValue {
			continue
		}
		l := a.Location
		if uint64(l.PoolIndex) >= uint64(len(r.Pools)) {
			continue // the driver refuses it
		}
		if m := r.Pools[l.PoolIndex].Memory; m == nil {
			onDevice[i] = true
		} else if uint64(l.Offset)+uint64(l.Length) <= uint64(len(m.Data)) {
			data[i] = m.Data[l.Offset:][:l.Length]
		}
	}
	return data, onDevice
}

// on returns the costs of the load at the points of an engine's clock, and records its traffic.
// A GPU applies a point at its next dispatch, others keep the first.
func (l *Load) on(h *engineHost, at base.Place) (s hal.Stats, err error) {
	points := at.Points
	if len(points) == 0 {
		points = []sim.Change{{}}
	}
	if h.engine != soc.EngineGPU {
		points = points[:1]
	}
	clocks := func() (hz, memory int64) { return points[0].OPP.Hz, h.m.soc.MemoryHz() }
	if h.engine == soc.EngineCPU {
		clocks = func() (hz, memory int64) { return 0, 0 }
	}
	h.moved(0, 0, 0) // the DRAM has the clock that the engine requests
	hz, memory := clocks()
	list, err := l.At(hz, memory)
	waits := 0.0 // in cycles
	for i := 0; i < len(list) && err == nil; i++ {
		w := &list[i]
		took := h.occupied(sim.Time(s.LatencyFs), w, at.Preemption)
		more := 0.0 // cycles of waiting for what others move
		if w.Time > 0 {
			more = float64(w.Cycles) * (float64(took)/float64(w.Time) - 1)
		}
		s.LatencyFs += int64(took)
		s.Cycles += w.Cycles + int64(more)
		waits += w.Waits*float64(w.Cycles) + more
		s.EnergyPJ += w.EnergyPJ
		for len(points) > 1 && int64(points[1].At) <= s.LatencyFs {
			points = points[1:]
		}
		if k, m := clocks(); i+1 < len(list) && (k != hz || m != memory) {
			hz, memory = k, m
			list, err = l.At(hz, memory)
		}
	}
	// A warm-up gives it other clocks by these, as it does with executions that run.
	s.Stalls = []hal.StallCycles{{Reason: sim.StallIssue.String(), Cycles: s.Cycles - int64(waits)}, {Reason: sim.StallDRAM.String(), Cycles: int64(waits)}}
	return s, err
}

// moved is time in which an execution moves bytes. The memory does not see those of the CPU when
// it is alone.
func (h *engineHost) moved(from, to sim.Time, bytes int64) {
	if h.engine != soc.EngineCPU || !h.m.soc.Exclusive() {
		h.m.soc.Moved(h.engine, from, to, bytes)
	}
}
