package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	htmlreport "github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/input"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/measure"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// runSchemaVersion counts incompatible changes of run's JSON object.
// 2: cycles of several devices apart, host time in two parts. 3: names as in docs/JSON.md.
const runSchemaVersion = 4

// runReport is the JSON object of run.
type runReport struct {
	SchemaVersion int `json:"schema_version"`
	cli.ModelReport
	Tensors *tensorEntry `json:"tensors,omitempty"`
	SoC     string       `json:"soc"`
	// Roofs are the peak rates of engines with elements of the network's type, by device.
	Roofs map[string]htmlreport.Roof `json:"roofs,omitempty"`
	Runs  []deviceEntry              `json:"runs"`
}

// deviceEntry is one run. A functional run has no costs.
type deviceEntry struct {
	Device    string   `json:"device"`
	Model     string   `json:"model,omitempty"` // when it is another form than the report's
	Status    string   `json:"status"`
	Error     string   `json:"error,omitempty"` // why it failed
	LatencyUS *float64 `json:"latency_us,omitempty"`
	// PredictedUS is the estimate of auto's plan before it ran.
	PredictedUS float64  `json:"predicted_latency_us,omitempty"`
	EnergyUJ    *float64 `json:"energy_uj,omitempty"`
	// LatencyParts are the microseconds of the chain that the run is, by name; they add
	// up to LatencyUS. EnergyParts are its energies, which add up to EnergyUJ.
	LatencyParts map[string]float64 `json:"latency_parts_us,omitempty"`
	EnergyParts  map[string]float64 `json:"energy_parts_uj,omitempty"`
	// EnergyComponents divide EnergyUJ by component of the phone.
	EnergyComponents map[string]float64 `json:"energy_components_uj,omitempty"`
	// FirstUse is absent from a functional run, and where a driver does not report its compilation time.
	FirstUse *firstUse `json:"first_use,omitempty"`
	// Invocations are those that LatencyUS is the mean of.
	Invocations *measure.Invocations `json:"invocations,omitempty"`
	// RowsOf is the last of them, with --duration the first: cycles, stalls, devices and operations
	// are its own, and add up to it.
	RowsOf *invocationEntry `json:"detailed_invocation,omitempty"`
	Host   *cli.HostTime    `json:"host_time,omitempty"`
	// TotalCycles and Stalls are those of the run's device when there is one only: cycles of different clocks do not add up.
	// They count the latency; EngineCycles leave out the host's part (launch).
	TotalCycles  *int64           `json:"total_cycles,omitempty"`
	EngineCycles *int64           `json:"engine_cycles,omitempty"`
	Stalls       map[string]int64 `json:"stall_cycles,omitempty"`
	// Devices are the parts of the run by device; their times and energies add
	// up to RowsOf.
	Devices []partEntry `json:"devices,omitempty"`
	// Outside is the engine of the SoC that the device replaces, for a driver of --driver. Its memory is its own:
	// contention with other engines and the system-level cache are missing from its time.
	Outside    string              `json:"replaced_engine,omitempty"`
	Fallback   int                 `json:"fallback_operations"`
	Fallbacks  []cli.FallbackEntry `json:"fallbacks,omitempty"`
	Operations []operationEntry    `json:"operations"`
	Outputs    []outputEntry       `json:"outputs"`
	Layers     *layerCheck         `json:"layers,omitempty"`  // with --check-layers
	Sampled    *devices.Sampling   `json:"sampled,omitempty"` // with --sampled
	Bounded    *devices.Bounded    `json:"bounded,omitempty"` // of auto
}

// invocationEntry is the cost of one invocation.
type invocationEntry struct {
	LatencyUS float64 `json:"latency_us"`
	EnergyUJ  float64 `json:"energy_uj"`
}

// costEntry is time on one device. The stalls add up to the cycles.
type costEntry struct {
	Cycles   int64            `json:"cycles"`
	TimeUS   float64          `json:"time_us"`
	EnergyUJ float64          `json:"energy_uj"`
	Stalls   map[string]int64 `json:"stall_cycles"`
}

type partEntry struct {
	Device     string  `json:"device"`
	Executions int     `json:"executions"`
	ClockMHz   float64 `json:"clock_mhz"`
	// EngineCycles are the cycles without the host's part.
	EngineCycles int64 `json:"engine_cycles"`
	// TotalCycles are the engine's cycles and the host's part, counted at the engine's clock.
	TotalCycles int64            `json:"total_cycles"`
	TimeUS      float64          `json:"time_us"`
	EnergyUJ    float64          `json:"energy_uj"`
	Stalls      map[string]int64 `json:"stall_cycles"`
	Memory      *memoryEntry     `json:"memory,omitempty"`
	// Counters are events of the device, of engines that count them.
	Counters map[string]int64 `json:"counters,omitempty"`
}

// operationEntry is an operation of the model or, with an index below 0, a cost
// of a device that belongs to no operation: LAUNCH and TRANSFER. The rows of a
// device add up to its part of the run.
type operationEntry struct {
	Index   int        `json:"index"`
	Type    string     `json:"type"`
	Device  string     `json:"device"`
	MACs    int64      `json:"macs"`
	From    []int      `json:"from,omitempty"`         // operations whose outputs it reads
	Inputs  [][]uint32 `json:"input_shapes,omitempty"` // shapes; null where unknown
	Outputs [][]uint32 `json:"output_shapes,omitempty"`
	*operationCost
}

type operationCost struct {
	costEntry
	DRAMBytes int64  `json:"dram_bytes"`
	BoundBy   string `json:"bound_by"`
	// Counters are events of the operation, of engines that count them.
	Counters map[string]int64 `json:"counters,omitempty"`
}

type outputEntry struct {
	Name       string       `json:"name"`
	Shape      []uint32     `json:"shape"`
	Elements   int          `json:"elements"`
	Mismatches int          `json:"mismatches"`
	MaxAbsDiff float64      `json:"max_abs_diff"`
	Top1       int          `json:"top1"`
	Difference string       `json:"first_mismatch,omitempty"`
	Label      string       `json:"label,omitempty"` // of top1, with --labels
	Top5       []classEntry `json:"top5,omitempty"`  // of outputs that are one vector
}

// Statuses of a run.
const (
	StatusOK          = "ok"
	StatusMismatch    = "mismatch"
	StatusUnsupported = "unsupported"
	StatusFailed      = "failed" // the device's driver is gone, or one from outside failed
)

// report collects the runs of a command.
type report struct {
	machine *machine.Machine
	data    runReport
	runs    []*deviceRun
	all     bool                 // print every operation
	drawn   *htmlreport.Recorder // with --html
}

func newReport(m *machine.Machine, f *input.Form) *report {
	return &report{machine: m, data: runReport{
		SchemaVersion: runSchemaVersion, SoC: m.Config.SoC.Name, Runs: []deviceEntry{},
		ModelReport: cli.NewModelReport(f.Model),
		Tensors:     tensorMemory(f.Model), Roofs: engineRoofs(m.Config, quantized(f.Model)),
	}}
}

func (r *report) object() any { return r.data }

// addFailure keeps a row for a device whose driver ended or failed while it ran the network.
func (r *report) addFailure(device string, cause error) {
	r.runs = append(r.runs, &deviceRun{device: device})
	r.data.Runs = append(r.data.Runs, deviceEntry{
		Device: device, Status: StatusFailed, Error: cause.Error(),
		Operations: []operationEntry{}, Outputs: []outputEntry{},
	})
}

func (r *report) add(d *deviceRun, f *input.Form, labels []string) {
	e := deviceEntry{
		Device: d.device, Status: StatusOK, PredictedUS: d.predictedUS, FirstUse: d.first,
		Operations: []operationEntry{}, Outputs: []outputEntry{},
	}
	if f.Model.Name != r.data.Model {
		e.Model = f.Model.Name
	}
	gone := false
	if dev, err := r.machine.Registry.Find(d.device); err == nil {
		if at, ok := devices.Outside(dev); ok {
			e.Outside = at.String()
		}
		gone = dev.Status() == hal.DeviceOffline
	}
	moved := d.compilation.Fallbacks
	if d.result != nil {
		moved = append(moved[:len(moved):len(moved)], d.result.Fallbacks...)
	}
	if d.result == nil && gone && len(moved) > 0 { // before it accepted anything
		r.addFailure(d.device, errors.New(moved[0].Reason))
		return
	}
	e.Fallback, e.Fallbacks = len(moved), cli.FallbackEntries(f.Model, moved)
	r.runs = append(r.runs, d)
	if d.result == nil {
		e.Status = StatusUnsupported
		r.data.Runs = append(r.data.Runs, e)
		return
	}
	res := d.result
	e.Sampled, e.Bounded = d.sampling, d.bounded
	if e.Layers = d.layers; e.Layers != nil && e.Layers.First != nil {
		e.Status = StatusMismatch
	}
	e.Host = &cli.HostTime{Prepare: d.prepareUser.Seconds(), Execute: d.executeUser.Seconds()}
	e.costs(res, producers(f.Model))
	if x := d.invocations; x != nil {
		e.RowsOf = &invocationEntry{*e.LatencyUS, *e.EnergyUJ}
		e.LatencyUS, e.EnergyUJ, e.LatencyParts, e.EnergyParts, e.Invocations = &x.MeanUS, &x.Energy, x.Parts, x.Energies, x
		e.EnergyComponents = x.Components
		if e.FirstUse != nil {
			e.FirstUse.WarmUS = x.MeanUS
		}
	}
	outputs := cli.OutputsOf(f.Model)
	for i, c := range f.Compare(res) {
		out := outputEntry{Elements: c.Elements, Mismatches: c.Mismatches, MaxAbsDiff: c.MaxAbsDiff, Top1: c.Top1}
		if i < len(outputs) && i < len(res.Outputs) {
			out.of(outputs[i], i, outputs[i].Unmerge(res.Dimensions[i]), res.Outputs[i], labels)
		}
		if c.First != nil {
			e.Status, out.Difference = StatusMismatch, c.First.Error()
		}
		e.Outputs = append(e.Outputs, out)
	}
	r.data.Runs = append(r.data.Runs, e)
}

// of describes output i: shape, data and the labels of its largest elements.
func (e *outputEntry) of(o *nn.Operand, i int, shape []uint32, data []byte, labels []string) {
	e.Name, e.Shape = outputName(o, i), shape
	if !input.IsScores(o, shape) {
		return
	}
	e.Top5 = topClasses(o, data, labels)
	e.Label = e.Top5[0].Label
}

// costs fills in the costs of the run, and their places. Without a timing model there are no costs, only places.
func (e *deviceEntry) costs(res *nnrt.Result, from [][]int) {
	timed := res.LatencyFs > 0
	if timed {
		latency, energy := cli.Microseconds(res.LatencyFs), res.EnergyPJ/1e6
		e.LatencyUS, e.EnergyUJ = &latency, &energy
		for i := range res.Devices {
			d := &res.Devices[i]
			e.Devices = append(e.Devices, partEntry{
				Device: d.Device, Executions: d.Parts, ClockMHz: float64(d.ClockHz) / 1e6, EngineCycles: engineCycles(d.Stalls),
				TotalCycles: d.Cycles, TimeUS: cli.Microseconds(d.TimeFs), EnergyUJ: d.EnergyPJ / 1e6, Stalls: cli.StallMap(d.Stalls),
				Memory: newMemoryEntry(&d.Memory), Counters: counted(d.Counters),
			})
		}
		if d, ok := res.Clock(); ok {
			engine := engineCycles(d.Stalls)
			e.TotalCycles, e.EngineCycles, e.Stalls = &d.Cycles, &engine, cli.StallMap(d.Stalls)
		}
	}
	for k, rows := range [3][]nnrt.OperationCost{res.Operations, res.Inner, res.Overheads} {
		for i := range rows {
			o := &rows[i]
			row := operationEntry{Index: o.Index, Type: o.Name(), Device: o.Device, MACs: o.MACs, Inputs: o.Inputs, Outputs: o.Outputs}
			if k == 0 {
				row.From = from[o.Index]
			}
			if timed {
				row.operationCost = &operationCost{
					costEntry: costEntry{o.Cycles, cli.Microseconds(o.TimeFs), o.EnergyPJ / 1e6, cli.StallMap(o.Stalls)},
					DRAMBytes: o.DRAMBytes, BoundBy: o.BoundBy, Counters: counted(o.Counters),
				}
			}
			e.Operations = append(e.Operations, row)
		}
	}
}

// engineCycles are the cycles of stalls without the host's part, which is counted in cycles of the engine too.
func engineCycles(stalls []hal.StallCycles) (n int64) {
	for _, s := range stalls {
		if s.Reason != "launch" {
			n += s.Cycles
		}
	}
	return n
}

// producers are, for each operation, those whose outputs it reads, each once.
func producers(m *nn.Model) [][]int {
	of := map[uint32]int{}
	from := make([][]int, len(m.Main.Operations))
	for i := range m.Main.Operations {
		for _, x := range m.Main.Operations[i].Outputs {
			of[x] = i
		}
	}
	for i := range m.Main.Operations {
		for _, x := range m.Main.Operations[i].Inputs {
			if p, ok := of[x]; ok && !slices.Contains(from[i], p) {
				from[i] = append(from[i], p)
			}
		}
	}
	return from
}

func outputName(o *nn.Operand, i int) string {
	if o.Name != "" {
		return o.Name
	}
	return fmt.Sprintf("output%d", i)
}

// verdict is an error when a result differs from the reference, or a device has none.
func (r *report) verdict() error {
	var bad []string
	var failed []error
	for _, e := range r.data.Runs {
		switch e.Status {
		case StatusMismatch:
			bad = append(bad, e.Device)
		case StatusFailed:
			failed = append(failed, fmt.Errorf("%s: %s", e.Device, e.Error))
		}
	}
	none := len(r.data.Runs) > 0
	for _, e := range r.data.Runs {
		none = none && e.Status == StatusUnsupported
	}
	if none {
		return &cli.ExitError{Code: cli.ExitMismatch, Err: errors.New("no requested device supports any operation of the network")}
	}
	if len(bad) > 0 {
		failed = append(failed, fmt.Errorf("results of %s differ from the reference", strings.Join(bad, ", ")))
	}
	if len(failed) == 0 {
		return nil
	}
	return &cli.ExitError{Code: cli.ExitMismatch, Err: errors.Join(failed...)}
}
