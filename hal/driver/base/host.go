package base

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"math"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Host carries executions from a client to a device and back: the software in
// between, the clocks and idle states of the machine.
type Host interface {
	// Execute calls run once, when the device starts, unless it fails before. The
	// result has the costs of the whole way. Executions may come at once.
	Execute(c *Call, run func(hal.Tracer, Place) (*hal.Result, error)) (*hal.Result, error)
}

// Call is an execution on its way.
type Call struct {
	Options hal.PrepareOptions // of the prepared model
	Buffers *hal.Buffers
	// Program is the same for executions of one program.
	Program any
	// CostKey is the same for programs of models that differ in the values of tensors alone, which cost the same on an engine
	// in the same state; "" where costs depend on values.
	CostKey string
}

// Place is the state of the engine at the start of an execution. The zero Place is an engine at the
// point of its Spec in front of a cold private memory.
type Place struct {
	// Points are the operating points of the engine's clock, the first from the start
	// of the execution on; the instants of the others are on the same clock as its. A
	// CPU begins with a point for each of its clusters.
	Points []sim.Change
	// Memory is shared with other engines and keeps the contents of its caches between
	// executions: it must not be reset. Times count from the start of the execution. A CPU,
	// whose costs assume a private memory, has none while no other client runs.
	Memory mem.Level
	// Caches are what the engine's own caches in front of Memory are left in. Not nil when
	// Memory is not, but for a CPU.
	Caches *Caches
	// Begin notifies the machine that one of several runs begins at an instant of the
	// execution; nil without a machine.
	Begin func(at sim.Time)
	// PointRead notifies the machine that the engine reads its operating point at an instant of the
	// execution. An execution that calls it depends on no other points. nil without a machine.
	PointRead func(at sim.Time)
	// Preemption is what cores check between operations; nil when no other client may need the
	// engine.
	Preemption sim.Preemption
	// Until is the instant of the execution at which its engine stops; 0: when it has ended. What has not ended then is
	// nobody's result: the error is, or wraps, a *sim.Late, as that of a loop which does not end in its time.
	Until sim.Time
	// Sampled, when set, lets an engine that can simulate a part of its work in time and extrapolate the costs of the
	// rest. It adds to it what it did.
	Sampled *sim.Sampled
	// Rehearsal: the execution is one that warms the engine up, of which the client's profile
	// has nothing.
	Rehearsal bool
}

// From is the place as a run finds it that begins later than the execution.
func (p Place) From(at sim.Time) Place {
	if at == 0 {
		return p
	}
	if p.Begin != nil {
		p.Begin(at)
	}
	if p.Until != 0 {
		p.Until = max(1, p.Until-at)
	}
	if read := p.PointRead; read != nil {
		p.PointRead = func(t sim.Time) { read(at + t) }
	}
	var first, later []sim.Change
	for _, c := range p.Points {
		switch same := func(x sim.Change) bool { return x.Cluster == c.Cluster }; {
		case c.At > at:
			later = append(later, sim.Change{At: c.At - at, OPP: c.OPP, Cluster: c.Cluster})
		case slices.ContainsFunc(first, same):
			first[slices.IndexFunc(first, same)].OPP = c.OPP
		default:
			first = append(first, sim.Change{OPP: c.OPP, Cluster: c.Cluster})
		}
	}
	p.Points = append(first, later...)
	return p
}

// maxCores bounds the cores that are kept: a client that sets the clock may set any value.
const maxCores = 64

// Cores are the cores C of an engine, one for each operating point that executions have found it at.
type Cores[S, C any] struct {
	Own    *C                       // at the point of the Spec
	SpecAt func(sim.OPP) (S, error) // the Spec at another; nil: there is none
	New    func(spec S) (*C, error)

	mu   sync.Mutex
	made map[sim.OPP]*C
}

// At returns the core of a place: that of the point at which its engine begins.
func (k *Cores[S, C]) At(p *Place) (*C, error) {
	if len(p.Points) == 0 {
		return k.Own, nil
	}
	point := p.Points[0].OPP
	if p.PointRead != nil {
		p.PointRead(0)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.made[point]; c != nil {
		return c, nil
	}
	if k.SpecAt == nil {
		return nil, fmt.Errorf("one operating point only, not %d Hz", point.Hz)
	}
	s, err := k.SpecAt(point)
	if err != nil {
		return nil, err
	}
	c, err := k.New(s)
	if err != nil {
		return nil, err
	}
	if k.made == nil || len(k.made) >= maxCores {
		k.made = map[sim.OPP]*C{}
	}
	k.made[point] = c
	return c, nil
}

// Bounds of the clocks that a client may set, far beyond those of machines.
const (
	maxClockPoints = 1 << 12
	maxClockHz     = 1e12
	maxVolts       = 10
	maxClusters    = 16
)

// engineOnly is the place of an execution whose client models the machine and supplies the clocks. The engine starts at an
// instant of the device's clock and stops at the deadline.
func engineOnly(b *hal.Buffers, startFs int64) (at Place, err error) {
	if d := b.Deadline; d != nil {
		at.Until = sim.Time(max(1, int64(min(*d, math.MaxInt64/1_000_000))*1_000_000-startFs))
	}
	if len(b.Clock) > maxClockPoints {
		return at, hal.Errorf(hal.InvalidArgument, "%d points of the engine's clock, at most %d", len(b.Clock), maxClockPoints)
	}
	for i, c := range b.Clock {
		switch {
		case c.AtFs < 0 || i == 0 && c.AtFs > 0 || i > 0 && c.AtFs < b.Clock[i-1].AtFs,
			c.Hz <= 0, c.Hz > maxClockHz, !(c.Volts >= 0 && c.Volts <= maxVolts), c.Cluster < 0, c.Cluster >= maxClusters:
			return at, hal.Errorf(hal.InvalidArgument, "point %d of the engine's clock cannot be: %+v", i, c)
		}
		at.Points = append(at.Points, sim.Change{At: sim.Time(c.AtFs), OPP: sim.OPP{Hz: c.Hz, Volts: c.Volts}, Cluster: c.Cluster})
	}
	return at, nil
}

// through executes a program on the device's host; a functional execution, or a device
// without one, has no way to go.
func (p *prepared) through(b *hal.Buffers, startFs int64) (*hal.Result, error) {
	host, program := p.device.cfg.Host, p.programFor(b)
	if host == nil || b.Functional || b.EngineOnly {
		at, err := engineOnly(b, startFs)
		if err != nil {
			return nil, err
		}
		return program.Execute(b, at)
	}
	return host.Execute(&Call{p.options, b, p, p.hashCostKey()}, func(t hal.Tracer, at Place) (*hal.Result, error) {
		inner := *b
		inner.Trace = t
		if at.Rehearsal {
			inner.Profile = nil
		}
		return program.Execute(&inner, at)
	})
}

// hashCostKey is Call.CostKey: a hash of all but the values of constant tensors of numbers. A model with control flow is
// like no other.
func (p *prepared) hashCostKey() string {
	if p.device.cfg.CostDependsOnValues || len(p.original.Referenced) > 0 {
		return ""
	}
	p.hashed.Do(func() {
		h := sha256.New()
		fmt.Fprintln(h, p.device.cfg.Name, p.options.Preference, p.options.Priority, p.options.Candidates, p.original.Relaxed)
		hashShape(h, &p.original.Main)
		p.costKey = string(h.Sum(nil))
	})
	return p.costKey
}

// hashShape hashes a graph without the values of constants that no shape and no kernel follows from.
func hashShape(h hash.Hash, g *nn.Subgraph) {
	for i := range g.Operands {
		o := &g.Operands[i]
		fmt.Fprintln(h, o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Lifetime, len(o.Data), len(o.Extension))
		if c := o.Channel; c != nil {
			fmt.Fprintln(h, c.Dim, c.Scales)
		}
		if !plainNumbers(o) {
			h.Write(o.Data)
			h.Write(o.Extension)
		}
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		fmt.Fprintln(h, op.Type, op.Inputs, op.Outputs)
	}
	fmt.Fprintln(h, g.Inputs, g.Outputs)
}

// plainNumbers reports whether an operand is a tensor of values that are computed with, not one of sizes or axes: of
// floats, of quantized numbers, or a bias.
func plainNumbers(o *nn.Operand) bool {
	switch o.Type {
	case nn.TensorFloat32, nn.TensorFloat16, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm,
		nn.TensorQuant8SymmPerChannel, nn.TensorQuant16Asymm, nn.TensorQuant16Symm:
		return true
	case nn.TensorInt32:
		return o.Scale != 0
	}
	return false
}
