// Package capability measures the figures that devices report through getCapabilities: time and energy relative to the
// CPU of the same SoC, by type of operand.
//
// Suite "mlts" is Android's requirement for driver authors: networks of the benchmark app of the ML Test Suite through
// its loops (networks.go), for float32, relaxed float32 and 8-bit types. A figure is the geometric mean over the
// networks that a device supports whole.
//
// Suite "micro" is the layers of MobileNet v1 1.0 224 by kind, weighted as they occur there,
// for float32, float16 and 8-bit types, and one to three elementwise operations for the
// others (suite.go). A figure is
//
//	(launch + sum of weight x operation on the device) / (the same on the CPU)
//
// over the workloads that the device supports. A launch counts once, as a network has one. Devices report these figures
// (Reported), and "mlts" has them where the benchmark has no network of a type, or a device supports none whole.
//
// Figures are rounded to two digits as vendors do. A type without a supported operation
// has figures that AOSP's planner never chooses.
package capability

import (
	"math"
	"slices"
	"strconv"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
)

// Figure is a measured PerformanceInfo.
type Figure struct {
	hal.PerformanceInfo
	// MeasuredOn are the workloads or networks that the device supports; none when it
	// refuses the type.
	MeasuredOn []string
	Suite      string              // that MeasuredOn is of: SuiteMLTS or SuiteMicro
	Networks   []Ratio             // all networks of the type, where suite "mlts" was requested
	Micro      hal.PerformanceInfo // by single operations, where suite "mlts" was requested

	exact sum // without rounding
}

// refused is the figure for unsupported operations: as slow as can be.
var refused = hal.PerformanceInfo{ExecTime: math.MaxFloat32, PowerUsage: math.MaxFloat32}

// Figures are the capabilities measured of a device.
type Figures struct {
	Device        string
	Operand       map[nn.OperandType]Figure
	If, While     Figure
	RelaxedScalar Figure
	RelaxedTensor Figure
}

// Capabilities are the figures in the HAL's form.
func (f *Figures) Capabilities() hal.Capabilities {
	c := hal.Capabilities{If: f.If.PerformanceInfo, While: f.While.PerformanceInfo,
		RelaxedScalar: f.RelaxedScalar.PerformanceInfo, RelaxedTensor: f.RelaxedTensor.PerformanceInfo, Operand: map[nn.OperandType]hal.PerformanceInfo{}}
	for t, x := range f.Operand {
		c.Operand[t] = x.PerformanceInfo
	}
	return c
}

// Meter measures.
type Meter struct {
	Store    *cost.Store
	Options  hal.PrepareOptions
	Progress func(format string, args ...any) // nil is silent
}

// Measure measures a device against the CPU.
func (x *Meter) Measure(d, cpu hal.Device) (*Figures, error) {
	f := &Figures{Device: d.Name(), Operand: map[nn.OperandType]Figure{}}
	measure := func(operand nn.OperandType, relaxed bool) (Figure, error) {
		list, err := workloads(operand, relaxed)
		if err != nil {
			return Figure{}, err
		}
		return x.figure(d, cpu, list)
	}
	var err error
	for _, s := range suites {
		if f.Operand[s.operand], err = measure(s.operand, false); err != nil {
			return nil, err
		}
	}
	for t, other := range sameFigures {
		f.Operand[t] = f.Operand[other]
	}
	if f.RelaxedTensor, err = measure(nn.TensorFloat32, true); err != nil {
		return nil, err
	}
	f.RelaxedScalar = f.RelaxedTensor
	if f.If, err = x.control(d, cpu, nn.OpIf); err != nil {
		return nil, err
	}
	f.While, err = x.control(d, cpu, nn.OpWhile)
	return f, err
}

// sum is time and energy.
type sum struct{ time, energy float64 }

func (s *sum) add(r cost.Row, weight float64) {
	s.time += weight * float64(r.TimeFs)
	s.energy += weight * r.EnergyPJ
}

// figure compares two devices on the workloads that the first supports.
func (x *Meter) figure(d, cpu hal.Device, list []Workload) (Figure, error) {
	f := Figure{PerformanceInfo: refused, Suite: SuiteMicro}
	var mine, base sum
	var launch [2]cost.Row
	for i := range list {
		w := &list[i]
		a, ok, err := x.run(d, w.Model)
		if err != nil {
			return f, err
		}
		if !ok {
			continue
		}
		b, ok, err := x.run(cpu, w.Model)
		if err != nil {
			return f, err
		}
		if !ok {
			continue
		}
		f.MeasuredOn = append(f.MeasuredOn, w.Name)
		launch[0], launch[1] = a.Launch, b.Launch
		for _, row := range append(slices.Clone(a.Operations), a.Transfer) {
			mine.add(row, w.Weight)
		}
		for _, row := range append(slices.Clone(b.Operations), b.Transfer) {
			base.add(row, w.Weight)
		}
	}
	if len(f.MeasuredOn) == 0 {
		return f, nil
	}
	mine.add(launch[0], 1)
	base.add(launch[1], 1)
	f.exact = sum{mine.time / base.time, mine.energy / base.energy}
	f.PerformanceInfo = f.exact.rounded()
	return f, nil
}

// control is the cost of IF or WHILE itself: less its body.
func (x *Meter) control(d, cpu hal.Device, op nn.OperationType) (Figure, error) {
	f := Figure{PerformanceInfo: refused, Suite: SuiteMicro}
	whole, body := control(op)
	var cost [2]sum
	for i, device := range []hal.Device{d, cpu} {
		for _, part := range []struct {
			m      *nn.Model
			weight float64
		}{{whole, 1}, {body, -1}} {
			r, ok, err := x.run(device, part.m)
			if err != nil || !ok {
				return f, err
			}
			cost[i].add(r.Row, part.weight)
		}
	}
	f.exact = sum{cost[0].time / cost[1].time, cost[0].energy / cost[1].energy}
	f.PerformanceInfo, f.MeasuredOn = f.exact.rounded(), []string{op.String() + " around ADD 28x28x64"}
	return f, nil
}

// rounded is a ratio in the HAL's form.
func (s sum) rounded() hal.PerformanceInfo {
	return hal.PerformanceInfo{ExecTime: round(s.time), PowerUsage: round(s.energy)}
}

// round keeps two digits; a figure is above 0.
func round(x float64) float32 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.MaxFloat32
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 1, 64), 32)
	if err != nil {
		return math.MaxFloat32
	}
	return float32(y)
}

// run executes a model on a device that supports it.
func (x *Meter) run(d hal.Device, m *nn.Model) (r cost.Record, ok bool, err error) {
	support, err := d.SupportedOperations(m)
	if err != nil || slices.ContainsFunc(support, func(s hal.Support) bool { return !s.OK }) {
		return r, false, err
	}
	inputs := make([][]byte, len(m.Main.Inputs))
	for i, k := range m.Main.Inputs {
		inputs[i] = cost.Noise(&m.Main.Operands[k])
		if m.Main.Operands[k].Type == nn.TensorBool8 {
			for j := range inputs[i] {
				inputs[i][j] = 1
			}
		}
	}
	r, err = x.Store.Measure(d, m, x.Options, inputs, func() {
		if x.Progress != nil {
			x.Progress("%s: %s", d.Name(), m.Name)
		}
	})
	if err != nil && d.Type() != hal.DeviceCPU { // declared and yet not run: it counts as refused
		return r, false, nil
	}
	return r, err == nil && !r.Failed, err
}
