package mlts

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/importer/tflite"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// Backends of the app.
const (
	BackendCPU   = "TFLite_CPU"   // the baseline
	BackendNNAPI = "TFLite_NNAPI" // with "_NAME" after it when an accelerator was chosen
	BackendGPU   = "TFLite_GPU"   // the GPU without NNAPI, in half precision
)

// SDKVersion is the Android version whose NNAPI the runtime has.
const SDKVersion = 30

// Benchmark measures the models of a list on the devices of a phone.
type Benchmark struct {
	List     *List
	Registry *registry.Registry
	Machine  *devices.Machine // that has the devices of the registry that are not remote
	Span     Span
	// Accelerators are the names of devices that TFLite_NNAPI runs on by choice.
	Accelerators []string
	// GPU is the device of TFLite_GPU; "" is none.
	GPU string
	// Progress is called with the present work; nil is silent.
	Progress func(format string, args ...any)
}

// Result is a model on a backend.
type Result struct {
	Model    string `json:"model"`
	Backend  string `json:"backend"`
	Device   string `json:"device"`
	Sequence int    `json:"sequences,omitempty"`
	// Skipped is why the row was not measured, Failed the error.
	Skipped string `json:"skip_reason,omitempty"`
	Failed  string `json:"error,omitempty"`

	Inference  *Latency `json:"inference,omitempty"`
	EndedEarly bool     `json:"ended_early,omitempty"` // the times repeated exactly
	Score      float64  `json:"score,omitempty"`       // baselineSec of the list / mean
	EnergyUJ   float64  `json:"energy_uj,omitempty"`   // mean of an inference
	// ClocksMHz are the clocks with governors of the engines that take part, at the end of the loop.
	ClocksMHz        map[string]float64 `json:"clocks_mhz,omitempty"`
	TestSetSize      int                `json:"test_set_size,omitempty"`
	Accelerated      int                `json:"accelerated_operations"`
	Operations       int                `json:"operation_count,omitempty"`
	MeanSquareError  float64            `json:"mean_square_error"`
	MaxSingleError   float64            `json:"max_single_error"`
	Values           []Value            `json:"evaluators,omitempty"`
	ValidationErrors []string           `json:"validation_errors,omitempty"`

	Compilation *Compilation `json:"compilation,omitempty"`
	HostSec     float64      `json:"host_s,omitempty"` // of the simulator
}

// Compilation are the three kinds of compiling.
type Compilation struct {
	WithoutCache *Latency `json:"without_cache,omitempty"`
	SaveToCache  *Latency `json:"save_to_cache,omitempty"`
	FromCache    *Latency `json:"prepare_from_cache,omitempty"`
	CacheBytes   int64    `json:"cache_bytes"`
}

// Run measures all models of the list on all backends, the baseline of each first. A pair that cannot be measured has a
// result with the reason.
func (b *Benchmark) Run() ([]*Result, error) {
	if len(b.List.Models) == 0 {
		return nil, errors.New("mlts: no models")
	}
	var all []*Result
	for i := range b.List.Models {
		all = append(all, b.model(&b.List.Models[i])...)
	}
	return all, nil
}

// backend is a way to run a model.
type backend struct {
	name, device string
	relaxed      bool
}

func (b *Benchmark) backends() []backend {
	list := []backend{{BackendCPU, b.Registry.CPU().Name(), false}, {BackendNNAPI, nnrt.ByStrategy, false}}
	for _, name := range b.Accelerators {
		list = append(list, backend{BackendNNAPI + "_" + name, name, false})
	}
	if b.GPU != "" {
		list = append(list, backend{BackendGPU, b.GPU, true})
	}
	return list
}

// model measures a model on all backends.
func (b *Benchmark) model(m *Model) (list []*Result) {
	w, err := b.List.open(m)
	skipped := ""
	switch {
	case err != nil:
		skipped = err.Error()
	case m.MinSDKVersion > SDKVersion:
		skipped = fmt.Sprintf("needs Android's SDK %d, this is %d", m.MinSDKVersion, SDKVersion)
	default:
		if err = w.expect(b.Registry); err != nil {
			skipped = err.Error()
		}
	}
	for _, x := range b.backends() {
		r := &Result{Model: m.TestName, Backend: x.name, Device: x.device, Skipped: skipped}
		list = append(list, r)
		if skipped != "" {
			continue
		}
		if b.Progress != nil {
			b.Progress("%s: %s", m.TestName, x.name)
		}
		start := time.Now()
		if err := b.measure(w, x, r); err != nil {
			r.Failed, r.Inference = err.Error(), nil
		}
		r.HostSec = time.Since(start).Seconds()
		if r.Inference != nil && m.BaselineSec > 0 {
			r.Score = m.BaselineSec / r.Inference.MeanSec
		}
	}
	return list
}

// work is a model with its test set.
type work struct {
	net      *nn.Model
	set      *TestSet
	expected [][][][]byte // by sequence, step, output: of the reference; nil: the test set has its own
}

// open reads a model and opens its test set.
func (l *List) open(m *Model) (_ *work, err error) {
	defer try.Catch(&err)
	if missing := l.Missing(m); len(missing) > 0 {
		return nil, fmt.Errorf("missing: %v", missing)
	}
	net := try.V(l.network(m))
	try.E(nnrt.Validate(net))
	set := try.V(l.testSet(m, net))
	return &work{net: net, set: set}, nil
}

func (l *List) network(m *Model) (*nn.Model, error) {
	if m.source != nil {
		return m.source.network()
	}
	b, err := l.read(m.ModelFile + ".tflite")
	if err != nil {
		return nil, err
	}
	net, err := tflite.Import(b, nil)
	if err != nil {
		return nil, fmt.Errorf("%s.tflite: %w", m.ModelFile, err)
	}
	net.Name = m.ModelFile
	return net, nil
}

// expect computes the expected outputs of a synthetic test set: those of the reference CPU.
func (w *work) expect(r *registry.Registry) error {
	first, err := w.set.sequence(0)
	if err != nil || len(first) == 0 || first[0].Expected != nil || first[0].Class >= 0 {
		return err
	}
	c, err := nnrt.Compile(r, w.net, r.CPU().Name(), nnrt.CompileOptions{})
	if err != nil {
		return err
	}
	w.expected = make([][][][]byte, w.set.Sequences())
	return w.pass(func(i, _ int, inputs [][]byte, _ *Input) ([][]byte, error) {
		res, err := c.Execute(inputs, nnrt.ExecuteOptions{Functional: true})
		if err != nil {
			return nil, err
		}
		w.expected[i] = append(w.expected[i], results(w.net, res.Outputs))
		return res.Outputs, nil
	})
}

// results are the outputs that are no states.
func results(net *nn.Model, outputs [][]byte) (list [][]byte) {
	for _, i := range nnrt.Results(net) {
		list = append(list, outputs[i])
	}
	return list
}

// pass iterates once over the test set. States are carried from step to step and are reset between sequences.
func (w *work) pass(infer func(sequence, step int, inputs [][]byte, x *Input) ([][]byte, error)) (err error) {
	defer try.Catch(&err)
	states := nnrt.NewStates(w.net)
	for i := range w.set.Sequences() {
		states.Reset()
		list := try.V(w.set.sequence(i))
		for k := range list {
			inputs := try.V(states.Inputs([][]byte{list[k].Data}))
			outputs := try.V(infer(i, k, inputs, &list[k]))
			states.Update(outputs)
		}
	}
	return nil
}

// maxTimed bounds the alternating inputs of the timed loop (assumed, D-980): each has to be simulated until its times
// are steady.
const maxTimed = 2

// measure measures a model on a backend.
func (b *Benchmark) measure(w *work, x backend, r *Result) (err error) {
	defer try.Catch(&err)
	net, c := try.V2(b.compile(w, x))
	cpu := b.Registry.CPU().Name()
	r.Accelerated, r.Operations = c.Accelerated(cpu), len(net.Main.Operations)
	if x.device != cpu && x.device != nnrt.ByStrategy && r.Accelerated == 0 {
		r.Skipped = fmt.Sprintf("%s supports none of the %d operations%s", x.device, r.Operations, firstReason(c))
		return nil
	}
	var turns []func() (iteration, error)
	judged := newJudge(w)
	try.E(w.pass(func(i, k int, inputs [][]byte, in *Input) ([][]byte, error) {
		if len(turns) == maxTimed {
			res, err := c.Execute(inputs, nnrt.ExecuteOptions{Functional: true})
			if err != nil {
				return nil, err
			}
			return res.Outputs, judged.add(i, k, res.Outputs, in)
		}
		res, next, err := b.first(c, inputs)
		if err != nil {
			return nil, err
		}
		turns = append(turns, next)
		return res.Outputs, judged.add(i, k, res.Outputs, in)
	}))
	r.TestSetSize, r.Sequence = w.set.Steps, w.set.Sequences()
	try.E(judged.verdict(r))
	if r.Inference, r.EnergyUJ, r.EndedEarly, err = b.loop(turns); err != nil {
		return err
	}
	r.ClocksMHz = b.clocks(c.Devices())
	r.Compilation, err = b.compilations(net, x.device)
	return err
}

// compile makes the machine cold and compiles a model for a backend.
func (b *Benchmark) compile(w *work, x backend) (*nn.Model, *nnrt.Compilation, error) {
	net := w.net
	if x.relaxed {
		relaxed := *net
		relaxed.Relaxed = true
		net = &relaxed
	}
	b.Machine.Reset()
	c, err := nnrt.Compile(b.Registry, net, x.device, nnrt.CompileOptions{})
	return net, c, err
}

// firstReason is why a device leaves the first operation to the CPU, for a message.
func firstReason(c *nnrt.Compilation) string {
	if len(c.Fallbacks) == 0 {
		return ""
	}
	return ": " + c.Fallbacks[0].Reason
}

// clocks are those with governors of some devices, in MHz.
func (b *Benchmark) clocks(devices []string) map[string]float64 {
	var m map[string]float64
	for e := range soc.NumEngines {
		if slices.Contains(devices, e.String()) && b.Machine.Governed(e) {
			if m == nil {
				m = map[string]float64{}
			}
			m[e.String()] = float64(b.Machine.SoC().Hz(e)) / 1e6
		}
	}
	return m
}

// loop alternates inferences for the span of the benchmark. The energy is the mean of the last iteration of each.
func (b *Benchmark) loop(iterations []func() (iteration, error)) (l *Latency, energyUJ float64, early bool, err error) {
	n := 0
	energy := make([]float64, len(iterations))
	l, early, err = b.Span.repeat(len(iterations), func() (sim.Time, error) {
		i := n % len(iterations)
		n++
		x, err := iterations[i]()
		energy[i] = x.energyPJ
		return x.duration, err
	})
	for _, pj := range energy {
		energyUJ += pj / 1e6 / float64(len(iterations))
	}
	return l, energyUJ, early, err
}

// iteration is the result of an inference of a loop.
type iteration struct {
	duration sim.Time
	energyPJ float64
}

// first executes a compilation on inputs, and returns a function that repeats it: without the software around it, where
// the devices are those of the machine.
func (b *Benchmark) first(c *nnrt.Compilation, inputs [][]byte) (res *nnrt.Result, next func() (iteration, error), err error) {
	execute := func() (err error) {
		res, err = c.Execute(inputs, nnrt.ExecuteOptions{})
		return err
	}
	loop, once, err := b.Machine.Loop(execute)
	if err != nil {
		return nil, nil, err
	}
	if int64(once.Latency) == res.LatencyFs {
		return res, func() (iteration, error) {
			x, err := loop.Next()
			return iteration{x.Latency, x.EnergyPJ}, err
		}, nil
	}
	result := res
	return result, func() (iteration, error) { // a driver of another process has another clock
		if err := execute(); err != nil {
			return iteration{}, err
		}
		return iteration{sim.Time(res.LatencyFs), res.EnergyPJ}, nil
	}, nil
}

// judge collects the outputs of a pass.
type judge struct {
	work      *work
	operands  []*nn.Operand
	sequences [][]step
	squares   float64
	largest   float64
}

func newJudge(w *work) *judge {
	return &judge{work: w, operands: outputsOf(w.net), sequences: make([][]step, w.set.Sequences())}
}

// add adds the outputs of a step.
func (j *judge) add(sequence, at int, outputs [][]byte, in *Input) error {
	expected := in.Expected
	if j.work.expected != nil {
		expected = j.work.expected[sequence][at]
	}
	s := step{class: in.Class}
	for i, b := range results(j.work.net, outputs) {
		if i > 0 && i >= len(expected) {
			break
		}
		actual, err := numbers(j.operands[i], b)
		if err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
		var want []float64
		if i < len(expected) {
			if want, err = numbers(j.operands[i], expected[i]); err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
			mean, largest, err := differences(actual, want)
			if err != nil {
				return fmt.Errorf("output %d: %w", i, err)
			}
			j.squares += mean
			j.largest = max(j.largest, largest)
		}
		if i == 0 {
			s.actual, s.expected = actual, want
		}
	}
	j.sequences[sequence] = append(j.sequences[sequence], s)
	return nil
}

// verdict fills in the evaluation of the outputs.
func (j *judge) verdict(r *Result) (err error) {
	r.MeanSquareError, r.MaxSingleError = j.squares/float64(r.TestSetSize), j.largest
	if e := j.work.set.evaluator; e != nil {
		r.Values, r.ValidationErrors, err = e.evaluate(j.sequences)
	}
	return err
}

// Entry describes a model of a list without running it.
type Entry struct {
	Name       string         `json:"model"`
	File       string         `json:"file"`
	TestSet    int            `json:"test_set_size"`
	Sequences  int            `json:"sequences"`
	Evaluator  string         `json:"evaluator,omitempty"`
	Operations int            `json:"operation_count"`
	Missing    []string       `json:"missing,omitempty"`
	Problem    string         `json:"problem,omitempty"` // why none of its rows can be measured
	Devices    []EntrySupport `json:"devices,omitempty"`
	Baseline   float64        `json:"baseline_s,omitempty"`
}

// EntrySupport is how much of a model a device supports.
type EntrySupport struct {
	Device    string `json:"device"`
	Supported int    `json:"supported_operations"`
	Reason    string `json:"reason,omitempty"` // of the first unsupported operation
}

// Describe describes the models of a list: missing files, and the part of them that each accelerator supports.
func (l *List) Describe(accelerators []hal.Device) (list []Entry) {
	for i := range l.Models {
		m := &l.Models[i]
		e := Entry{Name: m.TestName, File: m.ModelFile, Baseline: m.BaselineSec, Missing: l.Missing(m)}
		if m.Evaluator != nil {
			e.Evaluator = m.Evaluator.ClassName
		}
		if w, err := l.open(m); err != nil {
			e.Problem = err.Error()
		} else {
			e.TestSet, e.Sequences, e.Operations = w.set.Steps, w.set.Sequences(), len(w.net.Main.Operations)
			if m.MinSDKVersion > SDKVersion {
				e.Problem = fmt.Sprintf("needs Android's SDK %d, this is %d", m.MinSDKVersion, SDKVersion)
			}
			for _, d := range accelerators {
				e.Devices = append(e.Devices, supportOf(d, w.net))
			}
		}
		list = append(list, e)
	}
	return list
}

func supportOf(d hal.Device, m *nn.Model) EntrySupport {
	s := EntrySupport{Device: d.Name()}
	list, err := d.SupportedOperations(m)
	if err != nil {
		s.Reason = err.Error()
		return s
	}
	for _, x := range list {
		if x.OK {
			s.Supported++
		}
	}
	if i := slices.IndexFunc(list, func(x hal.Support) bool { return !x.OK }); i >= 0 {
		s.Reason = fmt.Sprintf("operation %d: %s", i, list[i].Reason)
	}
	return s
}
