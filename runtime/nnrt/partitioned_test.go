package nnrt_test

import (
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// partitioned is a device whose models run in parts: on a random subset of the
// devices of a SoC, some types of operations kept away from some, as a random
// strategy with random costs divides them.
type partitioned struct {
	hal.UnimplementedDevice
	devices []hal.Device
	machine hal.Machine  // of the devices: parts run beside each other; nil: nothing takes time
	inner   atomic.Int64 // parts of subgraphs that have been prepared for a device
}

func (d *partitioned) Name() string         { return "partitioned" }
func (d *partitioned) Description() string  { return "" }
func (d *partitioned) Version() string      { return "1" }
func (d *partitioned) Type() hal.DeviceType { return hal.DeviceOther }

func (d *partitioned) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	return d.devices[0].SupportedOperations(m)
}

func (d *partitioned) PrepareModel(m *nn.Model, _ hal.PrepareOptions) (hal.PreparedModel, error) {
	h := fnv.New64() // a model gets the same division every time
	for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
		for _, op := range g.Operations {
			h.Write([]byte(op.Type.String()))
		}
	}
	c, err := divide(rand.New(rand.NewPCG(h.Sum64(), 1)), d.devices, d.machine, m)
	if err != nil {
		return nil, err
	}
	d.count(c)
	return &partitionedModel{m: m, c: c, timed: d.machine != nil}, nil
}

func (d *partitioned) count(c *nnrt.Compilation) {
	for i := range c.Steps() {
		if s := c.Step(i); s.Subgraph != "" && s.Device != d.devices[0].Name() {
			d.inner.Add(1)
		}
	}
}

// divide compiles a model for random devices with a random strategy.
func divide(r *rand.Rand, all []hal.Device, on hal.Machine, m *nn.Model) (*nnrt.Compilation, error) {
	var some []hal.Device
	for _, x := range all[1:] {
		if r.IntN(4) > 0 {
			some = append(some, x)
		}
	}
	registry, err := registry.New(all[0], some...)
	if err != nil {
		return nil, err
	}
	registry.SetMachine(on)
	for _, op := range m.Main.Operations {
		if len(some) > 0 && r.IntN(6) == 0 {
			if err := registry.ForceUnsupported(op.Type.String() + ":" + some[r.IntN(len(some))].Name()); err != nil {
				return nil, err
			}
		}
	}
	p, err := randomCosts(r, registry, m)
	if err != nil {
		return nil, err
	}
	p.Objective = partition.Objective(r.IntN(4))
	names := partition.Names(p.Devices)
	return planned(registry, p, names[r.IntN(len(names))])
}

// randomCosts states the problem of a model with costs that scatter its operations
// over the devices.
func randomCosts(r *rand.Rand, registry *registry.Registry, m *nn.Model) (*partition.Problem, error) {
	p, err := nnrt.NewProblem(registry, m, options())
	if err != nil {
		return nil, err
	}
	p.Costs = scattered(r, p)
	return p, nil
}

// scattered are random costs of a problem and of its subgraphs.
func scattered(r *rand.Rand, p *partition.Problem) (c partition.Costs) {
	cost := func(most float64) partition.Cost {
		return partition.Cost{TimeFs: r.Float64() * most, EnergyPJ: r.Float64() * most}
	}
	for range p.Devices {
		row := make([]partition.Cost, len(p.Graph.Operations))
		for i := range row {
			row[i] = cost(100)
		}
		for _, x := range p.Control {
			row[x.Operation] = cost(1000) // the sum of several operations
		}
		c.Operation = append(c.Operation, row)
		c.Fixed, c.PerByte = append(c.Fixed, cost(30)), append(c.PerByte, cost(0.01))
	}
	c.Subgraphs = map[uint32]partition.Costs{}
	for _, k := range slices.Sorted(maps.Keys(p.Subgraphs)) {
		c.Subgraphs[k] = scattered(r, p.Subgraphs[k])
	}
	return c
}

// options returns the options of all compilations here.
func options() nnrt.CompileOptions { return nnrt.CompileOptions{} }

// planned compiles a model as the strategy of a name divides it.
func planned(registry *registry.Registry, p *partition.Problem, strategy string) (*nnrt.Compilation, error) {
	s, err := partition.Parse(strategy, p.Devices)
	if err != nil {
		return nil, err
	}
	plan, err := partition.Make(p, s)
	if err != nil {
		return nil, err
	}
	return nnrt.CompilePlan(registry, p, plan, options())
}

type partitionedModel struct {
	hal.UnimplementedPreparedModel
	m     *nn.Model
	c     *nnrt.Compilation
	timed bool
}

func (p *partitionedModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	inputs, outputs, err := r.Buffers()
	if err != nil {
		return nil, err
	}
	x := nnrt.ExecuteOptions{Functional: !p.timed}
	for i := range r.Inputs {
		x.InputDimensions = append(x.InputDimensions, r.Inputs[i].Dimensions)
	}
	res, err := p.c.Execute(inputs, x)
	if err != nil {
		return nil, err
	}
	result := &hal.Result{OutputDimensions: res.Dimensions}
	for i, b := range res.Outputs {
		if len(outputs[i]) < len(b) {
			result.Insufficient = make([]bool, len(outputs))
			result.Insufficient[i] = true
			return result, hal.Errorf(hal.OutputInsufficientSize, "output %d needs %d bytes", i, len(b))
		}
		copy(outputs[i], b)
	}
	return result, nil
}

func (p *partitionedModel) WriteListing(io.Writer) error { return nil }
func (p *partitionedModel) WriteProgram(io.Writer) error { return nil }

// fast is a device that promises to be faster than the CPU at everything and keeps
// away from some types of operations, IF and WHILE among them.
type fast struct {
	hal.Device
	declines map[nn.OperationType]bool
}

func (d *fast) Capabilities() hal.Capabilities {
	var c hal.Capabilities
	for typ := nn.OperandType(0); typ.Valid(); typ++ {
		c.Update(typ, hal.PerformanceInfo{ExecTime: 0.5, PowerUsage: 0.5})
	}
	return c
}

func (d *fast) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s, err := d.Device.SupportedOperations(m)
	for i := range s {
		if d.declines[m.Main.Operations[i].Type] {
			s[i] = hal.Support{Reason: "declined"}
		}
	}
	return s, err
}

// interpreted is a device whose models run by AOSP's rule: their control flow is
// interpreted, and each type of operation has a random device that supports it.
type interpreted struct{ partitioned }

func (d *interpreted) PrepareModel(m *nn.Model, _ hal.PrepareOptions) (hal.PreparedModel, error) {
	r := rand.New(rand.NewPCG(uint64(len(m.Main.Operands)), uint64(len(m.Main.Operations))))
	var some []hal.Device
	for _, x := range d.devices[1:] {
		f := &fast{x, map[nn.OperationType]bool{nn.OpIf: true, nn.OpWhile: true}}
		for _, op := range nn.Operations() {
			f.declines[op] = f.declines[op] || r.IntN(3) == 0
		}
		some = append(some, f)
	}
	registry, err := registry.New(d.devices[0], some...)
	if err != nil {
		return nil, err
	}
	c, err := nnrt.Compile(registry, m, nnrt.ByStrategy, options())
	if err != nil {
		return nil, err
	}
	d.count(c)
	return &partitionedModel{m: m, c: c}, nil
}

// TestControlFlowInParts: the corpus' models with IF and WHILE and random graphs with
// them, their subgraphs divided among devices by AOSP's rule and by random strategies,
// equal the reference.
func TestControlFlowInParts(t *testing.T) {
	d := &interpreted{partitioned: partitioned{devices: pixel4(t)}}
	controls := func(c *vectors.Case) bool {
		return !testvectors.Uses(c, func(op nn.OperationType) bool { return op != nn.OpIf && op != nn.OpWhile })
	}
	if s := testvectors.Run(t, d, controls); s.Passed < 40 || d.inner.Load() < 20 {
		t.Errorf("%d cases passed, %d parts of subgraphs on devices", s.Passed, d.inner.Load())
	}
	d.inner.Store(0)
	count := 60
	if os.Getenv("NNSOC_SWEEP") != "" {
		count = 500
	}
	any := &partitioned{devices: d.devices}
	for _, x := range []struct {
		device hal.Device
		inner  *atomic.Int64
	}{{d, &d.inner}, {any, &any.inner}} {
		r, err := randgraph.Run(x.device, randgraph.Options{Seed: 3, Count: count, Functional: true, Workers: 1, Operations: regexp.MustCompile("^(IF|WHILE|ADD|MUL|RELU|CONV_2D|LOGISTIC)$")})
		require.NoError(t, err)
		for _, f := range r.Failures {
			t.Errorf("%s %v: %v", f.Name, f.Variants, f.Err)
		}
		if r.Passed < count/2 || int(x.inner.Load()) < count/4 {
			t.Errorf("%d of %d passed, %d parts of subgraphs on devices", r.Passed, r.Cases, x.inner.Load())
		}
	}
}

func pixel4(t *testing.T) []hal.Device {
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Cold()))(t)
	return list
}

// TestRandomGraphsInParts: random graphs divided at random equal the reference;
// make sweep runs a thousand.
func TestRandomGraphsInParts(t *testing.T) {
	count := 60
	if os.Getenv("NNSOC_SWEEP") != "" {
		count = 1000
	}
	r := require.V(randgraph.Run(&partitioned{devices: pixel4(t)}, randgraph.Options{Seed: 16, Count: count, Functional: true}))(t)
	for _, f := range r.Failures {
		t.Errorf("%s %v: %v", f.Name, f.Variants, f.Err)
	}
	require.Check(t, r.Passed >= count/2, "only %d of %d passed, %d unsupported", r.Passed, r.Cases, r.Unsupported)
}

// TestRandomGraphsOverlap: so do graphs whose parts run beside each other on one machine.
func TestRandomGraphsOverlap(t *testing.T) {
	count := 30
	if os.Getenv("NNSOC_SWEEP") != "" {
		count = 500
	}
	c := require.V(soc.Load("pixel4"))(t)
	m := require.V(devices.NewMachine(c, hal.FastSingleAnswer))(t)
	r := require.V(randgraph.Run(&partitioned{devices: m.Devices(), machine: m}, randgraph.Options{Seed: 17, Count: count}))(t)
	for _, f := range r.Failures {
		t.Errorf("%s %v: %v", f.Name, f.Variants, f.Err)
	}
	require.Check(t, r.Passed >= count/2, "only %d of %d passed, %d unsupported", r.Passed, r.Cases, r.Unsupported)
}
