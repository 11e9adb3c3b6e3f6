package cost

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/runtime/partition"
)

// Linear predicts by linear functions: the cost of an operation on a device is a
// constant plus a slope per multiply-accumulate and per byte of its operands,
// separate for each type of operation and of its result. No slope is
// negative.
type Linear struct {
	lines   map[lineKey]line
	fixed   map[string]partition.Cost // by device
	perByte map[string]partition.Cost
}

type lineKey struct{ device, operation string }

type line struct{ time, engine, energy [3]float64 }

// sample is one measured operation.
type sample struct {
	features [3]float64 // 1, multiply-accumulates, bytes
	cost     partition.Cost
}

// Fit measures networks and fits the lines. Operations that a device measures
// as free belong to a fused neighbour and count as they are.
func (m *Measurer) Fit(networks []*partition.Problem) (*Linear, error) {
	l := &Linear{lines: map[lineKey]line{}, fixed: map[string]partition.Cost{}, perByte: map[string]partition.Cost{}}
	samples := map[lineKey][]sample{}
	for _, p := range networks {
		own := *m
		own.Inputs = nil
		c, err := own.Measured(p)
		if err != nil {
			return nil, err
		}
		for d := range p.Devices {
			name := p.Devices[d].Name
			if old, ok := l.fixed[name]; !ok || old.TimeFs == 0 {
				l.fixed[name], l.perByte[name] = c.Fixed[d], c.PerByte[d]
			}
			for i := range p.Graph.Operations {
				if !p.Devices[d].Support[i].OK || c.Operation[d][i] == partition.Never {
					continue
				}
				s := sample{features(&p.Graph.Operations[i]), c.Operation[d][i]}
				for _, k := range []lineKey{{name, kind(p, i)}, {name, ""}} {
					samples[k] = append(samples[k], s)
				}
			}
		}
	}
	for k, list := range samples {
		var f line
		f.time = fit(list, func(c partition.Cost) float64 { return c.TimeFs })
		f.engine = fit(list, func(c partition.Cost) float64 { return c.EngineFs })
		f.energy = fit(list, func(c partition.Cost) float64 { return c.EnergyPJ })
		l.lines[k] = f
	}
	return l, nil
}

func features(o *partition.Operation) [3]float64 {
	return [3]float64{1, float64(o.MACs), float64(o.Bytes)}
}

// kind is the line that operation i belongs to: its type and that of its result.
func kind(p *partition.Problem, i int) string {
	op := &p.Model.Main.Operations[i]
	return op.Type.String() + " " + p.Model.Main.Operands[op.Outputs[0]].Type.String()
}

// Costs predicts the costs of a problem. A type of operation without samples on
// a device uses the line of all its operations there.
func (l *Linear) Costs(p *partition.Problem) partition.Costs {
	var c partition.Costs
	for d := range p.Devices {
		name := p.Devices[d].Name
		row := make([]partition.Cost, len(p.Graph.Operations))
		for i := range row {
			f, ok := l.lines[lineKey{name, kind(p, i)}]
			if !ok {
				f, ok = l.lines[lineKey{name, ""}]
			}
			row[i] = partition.Never
			if ok {
				x := features(&p.Graph.Operations[i])
				row[i] = partition.Cost{TimeFs: dot(f.time, x), EngineFs: dot(f.engine, x), EnergyPJ: dot(f.energy, x)}
			}
		}
		c.Operation = append(c.Operation, row)
		c.Fixed, c.PerByte = append(c.Fixed, l.fixed[name]), append(c.PerByte, l.perByte[name])
	}
	for k, sub := range p.Subgraphs {
		setSubgraph(&c, k, l.Costs(sub))
	}
	predictControl(p, &c)
	return c
}

// DeviceError is how far predictions of operations are from measurements.
type DeviceError struct {
	Device     string
	Operations int     // with a time above 0
	Median     float64 // of the relative errors of time, 0.1 is 10 %
	Total      float64 // relative error of the sum of all operations
}

// Error compares predicted costs with measured ones, per device.
func Error(p *partition.Problem, predicted, measured *partition.Costs) []DeviceError {
	var l []DeviceError
	for d := range p.Devices {
		e := DeviceError{Device: p.Devices[d].Name}
		var errors []float64
		var want, got float64
		for i := range p.Graph.Operations {
			m := measured.Operation[d][i]
			if !p.Devices[d].Support[i].OK || m == partition.Never || m.TimeFs <= 0 {
				continue
			}
			x := predicted.Operation[d][i].TimeFs
			errors = append(errors, math.Abs(x/m.TimeFs-1))
			want, got = want+m.TimeFs, got+x
		}
		if e.Operations = len(errors); e.Operations == 0 {
			continue
		}
		slices.SortFunc(errors, cmp.Compare)
		e.Median, e.Total = stat.Quantile(0.5, stat.Empirical, errors, nil), got/want-1
		l = append(l, e)
	}
	return l
}

func dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// fit is the least-squares solution without negative coefficients. Samples
// are weighted by their inverse, so that the relative error counts. It is the best
// solution of all subsets of features whose coefficients are all positive.
func fit(samples []sample, value func(partition.Cost) float64) (best [3]float64) {
	least := math.Inf(1)
	for set := 1; set < 8; set++ {
		x, ok := solve(samples, value, set)
		if !ok || slices.Min(x[:]) < 0 {
			continue
		}
		sum := 0.0
		for _, s := range samples {
			e := (dot(x, s.features) - value(s.cost)) * weight(value(s.cost))
			sum += e * e
		}
		if sum < least {
			best, least = x, sum
		}
	}
	return best
}

// weight says how much a sample's error counts; what is measured as free counts like a
// nanosecond, or a nanojoule.
func weight(v float64) float64 { return 1 / max(v, 1e6) }

// solve fits the features of a set to the weighted samples by least squares; ok is
// false where the samples do not determine them.
func solve(samples []sample, value func(partition.Cost) float64, set int) (x [3]float64, ok bool) {
	columns := make([]int, 0, 3)
	for k := range 3 {
		if set>>k&1 != 0 {
			columns = append(columns, k)
		}
	}
	if len(samples) < len(columns) {
		return x, false
	}
	a, b := mat.NewDense(len(samples), len(columns), nil), mat.NewVecDense(len(samples), nil)
	for i, s := range samples {
		w := weight(value(s.cost))
		for j, k := range columns {
			a.Set(i, j, w*s.features[k])
		}
		b.SetVec(i, w*value(s.cost))
	}
	var fitted mat.VecDense
	if err := fitted.SolveVec(a, b); err != nil {
		return x, false
	}
	for j, k := range columns {
		x[k] = fitted.AtVec(j)
	}
	return x, true
}
