package capability

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/partition/cost"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// MeasureSoC measures every device of a SoC but the CPU, at the clocks that a
// preference chooses.
func (x *Meter) MeasureSoC(c *soc.Config, p hal.Preference) ([]*Figures, error) {
	list, err := devices.Open(c, p, devices.Cold())
	if err != nil {
		return nil, err
	}
	var all []*Figures
	for _, d := range list[1:] {
		f, err := x.Measure(d, list[0])
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// Source measures a preset by the suite Reported and returns its entry in the generated file of
// package hal/devices.
func Source(preset string, progress func(format string, args ...any)) (string, error) {
	c, err := soc.Load(preset)
	if err != nil {
		return "", err
	}
	x := &Meter{Store: cost.NewStore("", preset), Options: hal.PrepareOptions{Preference: hal.FastSingleAnswer, Priority: hal.PriorityMedium}, Progress: progress}
	all, err := x.MeasureSoC(c, hal.FastSingleAnswer)
	if err != nil {
		return "", fmt.Errorf("capability: %s: %w", preset, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{%q, %q, []deviceFigures{\n", preset, devices.ContentHash(c))
	for _, f := range all {
		fmt.Fprintf(&b, "{\ndevice: %q,\n", f.Device)
		for _, row := range []struct {
			name string
			f    Figure
		}{{"relaxedScalar", f.RelaxedScalar}, {"relaxedTensor", f.RelaxedTensor}, {"ifs", f.If}, {"while", f.While}} {
			if row.f.ExecTime < math.MaxFloat32 {
				fmt.Fprintf(&b, "%s: [2]float32{%v, %v},\n", row.name, row.f.ExecTime, row.f.PowerUsage)
			}
		}
		b.WriteString("operand: []typeFigure{\n")
		for _, t := range slices.Sorted(maps.Keys(f.Operand)) {
			if x := f.Operand[t]; x.ExecTime < math.MaxFloat32 {
				fmt.Fprintf(&b, "{nn.%s, %v, %v},\n", goNames[t], x.ExecTime, x.PowerUsage)
			}
		}
		b.WriteString("},\n},\n")
	}
	b.WriteString("}},\n")
	return b.String(), nil
}

// goNames are the constants of package nn.
var goNames = map[nn.OperandType]string{
	nn.Float32: "Float32", nn.Int32: "Int32", nn.Uint32: "Uint32", nn.TensorFloat32: "TensorFloat32", nn.TensorInt32: "TensorInt32",
	nn.TensorQuant8Asymm: "TensorQuant8Asymm", nn.Bool: "Bool", nn.TensorQuant16Symm: "TensorQuant16Symm", nn.TensorFloat16: "TensorFloat16",
	nn.TensorBool8: "TensorBool8", nn.Float16: "Float16", nn.TensorQuant8SymmPerChannel: "TensorQuant8SymmPerChannel",
	nn.TensorQuant16Asymm: "TensorQuant16Asymm", nn.TensorQuant8Symm: "TensorQuant8Symm", nn.TensorQuant8AsymmSigned: "TensorQuant8AsymmSigned",
}
