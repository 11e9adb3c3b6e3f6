package capability

import (
	"fmt"
	"maps"

	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/bench/mlts"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Names of the suites.
const (
	SuiteMLTS  = "mlts"  // networks of the benchmark app, other types as SuiteMicro
	SuiteMicro = "micro" // single operations
)

// Reported is the suite of what devices report, those of presets as those of changed machines and of files of one's own:
// two suites would make figures jump where a number of a machine changes.
const Reported = SuiteMicro

// networks are the models of the ML Test Suite's benchmark that Android's page for driver
// authors names for float32 (also relaxed) and for 8-bit quantized types: source.android.com,
// "Neural Networks API drivers", initialization. The benchmark has none of other types.
var networks = map[nn.OperandType][]string{
	nn.TensorFloat32:     {"mobilenet_v1_1.0_224_topk_aosp", "mobilenet_v2_1.0_224_topk_aosp", "asr_float", "tts_float"},
	nn.TensorQuant8Asymm: {"mobilenet_v1_1.0_224_quant_topk_aosp", "mobilenet_v2_1.0_224_quant_topk_aosp"},
}

// Ratio is the time of a network on a device, relative to the CPU.
type Ratio struct {
	Network              string
	ExecTime, PowerUsage float64
	Skipped              string // why it does not count: the device does not support all of it
}

// App measures with the networks of the benchmark app, on one phone.
type App struct {
	bench    *mlts.Benchmark
	baseline map[string]mlts.Inference
}

// NewApp returns a meter on the devices of a registry, those of machine among them.
func NewApp(r *registry.Registry, machine *devices.Machine, progress func(format string, args ...any)) *App {
	span := mlts.ShortSpan
	span.Steady = 0 // D-3001
	return &App{bench: &mlts.Benchmark{List: &mlts.List{}, Registry: r, Machine: machine, Span: span, Progress: progress}, baseline: map[string]mlts.Inference{}}
}

// Ratios compares a device with the CPU on networks: built-in models of the benchmark, or
// names of "nnsoc models" that it has inputs for. relaxed lets the device, not the CPU,
// compute float32 in half precision.
func (a *App) Ratios(device string, networks []string, relaxed bool) ([]Ratio, error) {
	l, err := mlts.Named(networks)
	if err != nil {
		return nil, err
	}
	var list []Ratio
	for i := range l.Models {
		m := &l.Models[i]
		a.logf("%s: %s", device, m.TestName)
		x, err := a.bench.Inference(m, device, relaxed)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", m.TestName, device, err)
		}
		r := Ratio{Network: m.TestName, Skipped: x.Skipped}
		if x.Skipped == "" {
			base, err := a.onCPU(m)
			if err != nil {
				return nil, fmt.Errorf("%s on the CPU: %w", m.TestName, err)
			}
			r.ExecTime, r.PowerUsage = x.MeanSec/base.MeanSec, x.EnergyUJ/base.EnergyUJ
		}
		list = append(list, r)
	}
	return list, nil
}

func (a *App) onCPU(m *mlts.Model) (mlts.Inference, error) {
	cpu := a.bench.Registry.CPU().Name()
	x, known := a.baseline[m.TestName]
	if known {
		return x, nil
	}
	a.logf("%s: %s", cpu, m.TestName)
	x, err := a.bench.Inference(m, cpu, false)
	if err == nil {
		a.baseline[m.TestName] = x
	}
	return x, err
}

func (a *App) logf(format string, args ...any) {
	if a.bench.Progress != nil {
		a.bench.Progress(format, args...)
	}
}

// Measure returns figures whose types that the benchmark has networks for are measured by the networks that the device
// supports whole: the geometric mean of their ratios. Where it supports none, and for other types, they are those of
// micro, by single operations.
func (a *App) Measure(micro *Figures) (*Figures, error) {
	f := *micro
	f.Operand = maps.Clone(micro.Operand)
	for operand, names := range networks {
		if err := a.replace(&f, operand, names); err != nil {
			return nil, fmt.Errorf("capability: %s: %w", f.Device, err)
		}
	}
	for t, other := range sameFigures {
		f.Operand[t] = f.Operand[other]
	}
	f.RelaxedScalar = f.RelaxedTensor
	return &f, nil
}

func (a *App) replace(f *Figures, operand nn.OperandType, names []string) error {
	ratios, err := a.Ratios(f.Device, names, false)
	if err != nil {
		return err
	}
	f.Operand[operand] = byNetworks(f.Operand[operand], ratios)
	if operand != nn.TensorFloat32 {
		return nil
	}
	if ratios, err = a.Ratios(f.Device, names, true); err != nil {
		return err
	}
	f.RelaxedTensor = byNetworks(f.RelaxedTensor, ratios)
	return nil
}

// byNetworks is a figure of networks, beside the one of single operations.
func byNetworks(micro Figure, ratios []Ratio) Figure {
	f := Figure{PerformanceInfo: micro.PerformanceInfo, MeasuredOn: micro.MeasuredOn, exact: micro.exact, Networks: ratios, Micro: micro.PerformanceInfo, Suite: SuiteMicro}
	var names []string
	var times, energies []float64
	for _, r := range ratios {
		if r.Skipped == "" {
			names, times, energies = append(names, r.Network), append(times, r.ExecTime), append(energies, r.PowerUsage)
		}
	}
	if len(names) > 0 {
		f.Suite, f.MeasuredOn = SuiteMLTS, names
		f.exact = sum{stat.GeometricMean(times, nil), stat.GeometricMean(energies, nil)}
		f.PerformanceInfo = f.exact.rounded()
	}
	return f
}
