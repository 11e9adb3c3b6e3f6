package cliffs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// Limits of what is no cliff.
const (
	// MaxStep is the growth of the time of an operation over that of its work.
	MaxStep = 1.3
	// MaxRoof is the time of an operation over that of its roof, beyond a launch.
	MaxRoof = 4
)

// Sample is an operation measured.
type Sample struct {
	Point  Point
	MACs   int64
	Bytes  int64   // of its inputs, constants and outputs
	TimeUS float64 // of the operation on the device, without the launch of the program
	RoofUS float64 // at least what the engine and the memory need; 0 unknown
}

// Kind is what a cliff is.
type Kind string

// Kinds.
const (
	Step Kind = "step" // from one value of a parameter to the next
	Slow Kind = "slow" // far from the roof
)

// Cliff is where a device is slower than the work explains.
type Cliff struct {
	Device    string
	Format    Format
	Family    string // of a network's operation its type
	Network   string // of which it is an operation; "" of a family
	Operation int    // of the network
	Kind      Kind
	Parameter string // of a step
	From, At  Sample // From of a step
	Ratio     float64
}

// Walker measures operations on a device.
type Walker struct {
	Device hal.Device
	Roof   map[Format]report.Roof
	Store  *cost.Store
	// Progress, when set, is called before each measurement.
	Progress func(format string, args ...any)

	launchUS map[Format]float64 // of the smallest operation
}

// errRefused is of an operation that the device does not support.
var errRefused = errors.New("not supported")

// sample measures a model's operations.
func (w *Walker) sample(m *nn.Model, p Point, format Format) (Sample, error) {
	support, err := w.Device.SupportedOperations(m)
	if err != nil {
		return Sample{}, err
	}
	if slices.ContainsFunc(support, func(s hal.Support) bool { return !s.OK }) {
		return Sample{}, errRefused
	}
	var inputs [][]byte
	for _, x := range m.Main.Inputs {
		inputs = append(inputs, cost.Noise(&m.Main.Operands[x]))
	}
	r, err := w.Store.Measure(w.Device, m, hal.PrepareOptions{}, inputs, func() {
		if w.Progress != nil {
			w.Progress("%s: %s", w.Device.Name(), m.Name)
		}
	})
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Point: p, MACs: opspec.MACs(m), TimeUS: float64(r.Transfer.TimeFs) / 1e9}
	for _, o := range r.Operations {
		s.TimeUS += float64(o.TimeFs) / 1e9
	}
	for i := range m.Main.Operands {
		s.Bytes += max(m.Main.Operands[i].Bytes(), 0)
	}
	if roof, ok := w.Roof[format]; ok && roof.MACsPerS > 0 {
		s.RoofUS = 1e6 * max(float64(s.MACs)/roof.MACsPerS, float64(s.Bytes)/roof.BytesPerS)
	}
	return s, nil
}

// launch is the time of an operation on one element, 0 where the device does not support that.
func (w *Walker) launch(format Format) (float64, error) {
	if us, ok := w.launchUS[format]; ok {
		return us, nil
	}
	f := Family{Name: "RELU", build: unary(nn.OpRelu, builder.Quant{})}
	p := Point{"plane": 1, "channels": 1, "batch": 1}
	m, err := f.Model(p, format)
	if err != nil {
		return 0, err
	}
	s, err := w.sample(m, p, format)
	if err != nil && !errors.Is(err, errRefused) {
		return 0, err
	}
	if w.launchUS == nil {
		w.launchUS = map[Format]float64{}
	}
	w.launchUS[format] = s.TimeUS
	return s.TimeUS, nil
}

// Walk measures a family along all its axes: the cliffs, and how many operations were measured.
func (w *Walker) Walk(f *Family, format Format) (list []Cliff, samples int, err error) {
	launch, err := w.launch(format)
	if err != nil {
		return nil, 0, err
	}
	slow := map[string]bool{}
	for _, a := range f.Axes {
		var before *Sample
		for _, v := range a.Values {
			p := with(f.From, Point{a.Parameter: v})
			m, err := f.Model(p, format)
			if err != nil {
				return nil, samples, err
			}
			s, err := w.sample(m, p, format)
			if errors.Is(err, errRefused) {
				before = nil
				continue
			}
			if err != nil {
				return nil, samples, err
			}
			samples++
			c := Cliff{Device: w.Device.Name(), Format: format, Family: f.Name, Parameter: a.Parameter, At: s}
			if before != nil {
				if r := s.TimeUS / before.TimeUS / growth(before, &s); r > MaxStep {
					c.Kind, c.From, c.Ratio = Step, *before, r
					list = append(list, c)
				}
			}
			if far := c.far(launch); far && !slow[p.String()] {
				slow[p.String()] = true
				list = append(list, c)
			}
			before = &s
		}
	}
	return list, samples, nil
}

// far makes a cliff one of an operation far from its roof, and reports whether it is that.
func (c *Cliff) far(launch float64) bool {
	c.Kind, c.From, c.Ratio = Slow, Sample{}, (c.At.TimeUS-launch)/c.At.RoofUS
	return c.At.RoofUS > 0 && c.Ratio > MaxRoof
}

// Network measures each operation of a network alone, once those that are equal: those far from their roofs, in their
// order, and how many operations the device has.
func (w *Walker) Network(m *nn.Model, format Format) (list []Cliff, samples int, err error) {
	launch, err := w.launch(format)
	if err != nil {
		return nil, 0, err
	}
	for i := range m.Main.Operations {
		part := partition.Extract(m, []int{i})
		op := &m.Main.Operations[i]
		if part.Unread || !known(&part.Model.Main) {
			continue
		}
		part.Model.Name = fmt.Sprintf("operation %d of %s", i, m.Name)
		s, err := w.sample(part.Model, nil, format)
		if errors.Is(err, errRefused) {
			continue
		}
		if err != nil {
			return nil, samples, fmt.Errorf("%s: operation %d: %w", m.Name, i, err)
		}
		samples++
		c := Cliff{Device: w.Device.Name(), Format: format, Family: op.Type.String(), Network: m.Name, Operation: i, At: s}
		if c.far(launch) {
			list = append(list, c)
		}
	}
	return list, samples, nil
}

// known reports whether all shapes of a graph are known.
func known(g *nn.Subgraph) bool {
	return !slices.ContainsFunc(g.Operands, func(o nn.Operand) bool {
		return (o.Lifetime == nn.SubgraphInput || o.Lifetime == nn.SubgraphOutput) && !o.Type.IsScalar() && !o.Known()
	})
}

// growth is how many times as much work the next sample has, at least 1.
func growth(a, b *Sample) float64 {
	g := max(1, float64(b.Bytes)/float64(a.Bytes))
	if a.MACs > 0 {
		g = max(g, float64(b.MACs)/float64(a.MACs))
	}
	return g
}
