package capability

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
)

// Prediction is the prediction of a network's time from the reported figure of a device, and the measured time, both
// relative to the CPU.
type Prediction struct {
	Network, Device string
	Operand         nn.OperandType // of the network's first input, by which the figure is chosen
	Reported        hal.PerformanceInfo
	Ratio           Ratio
}

// Comparable reports whether the device supports the network whole and has a figure.
func (p *Prediction) Comparable() bool {
	return p.Ratio.Skipped == "" && p.Reported.ExecTime < math.MaxFloat32
}

// Off is measured over reported time.
func (p *Prediction) Off() float64 { return p.Ratio.ExecTime / float64(p.Reported.ExecTime) }

// Predict compares networks of "nnsoc models" with the reported figures of each device but the CPU.
func (a *App) Predict(networks []string) (list []Prediction, err error) {
	for _, name := range networks {
		net, err := zoo.Build(name)
		if err != nil {
			return nil, err
		}
		t := net.Main.Operands[net.Main.Inputs[0]].Type
		for _, d := range a.bench.Registry.Devices()[1:] {
			r, err := a.Ratios(d.Name(), []string{name}, false)
			if err != nil {
				return nil, err
			}
			list = append(list, Prediction{name, d.Name(), t, d.Capabilities().Operand[t], r[0]})
		}
	}
	return list, nil
}

// GeometricError is how far measured times are from reported ones on the average:
// exp(mean |ln(measured / reported)|) - 1 of those that can be compared, and their number.
func GeometricError(list []Prediction) (off float64, n int) {
	var errors []float64
	for i := range list {
		if list[i].Comparable() {
			errors = append(errors, math.Abs(math.Log(list[i].Off())))
		}
	}
	if len(errors) == 0 {
		return 0, 0
	}
	return math.Exp(stat.Mean(errors, nil)) - 1, len(errors)
}
