package session

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/bench/report"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// SchemaVersion counts incompatible changes of run's JSON object.
// 2: cycles of several devices apart, host time in two parts. 3: names as in docs/JSON.md.
const SchemaVersion = 4

// Report is the JSON object of run.
type Report struct {
	SchemaVersion int `json:"schema_version"`
	ModelReport
	Tensors *TensorMemory `json:"tensors,omitempty"`
	SoC     string        `json:"soc"`
	// Roofs are the peak rates of engines with elements of the network's type, by device.
	Roofs map[string]report.Roof `json:"roofs,omitempty"`
	Runs  []Run                  `json:"runs"`
	// Answer is the summary in sentences, once all runs are added.
	Answer []string `json:"answer,omitempty"`
}

// Run is one run. A functional run has no costs.
type Run struct {
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
	FirstUse *FirstUse `json:"first_use,omitempty"`
	// Invocations are those that LatencyUS is the mean of.
	Invocations *Invocations `json:"invocations,omitempty"`
	// RowsOf is the last of them, with --duration the first: cycles, stalls, devices and operations
	// are its own, and add up to it.
	RowsOf *InvocationCost `json:"detailed_invocation,omitempty"`
	Host   *RunTime        `json:"host_time,omitempty"`
	// TotalCycles and Stalls belong to the run's device, and are there when it has one only: cycles of different clocks do not add up.
	// They count the latency; EngineCycles leave out the host's part (launch).
	TotalCycles  *int64           `json:"total_cycles,omitempty"`
	EngineCycles *int64           `json:"engine_cycles,omitempty"`
	Stalls       map[string]int64 `json:"stall_cycles,omitempty"`
	// Devices are the parts of the run by device; their times and energies add
	// up to RowsOf.
	Devices []DevicePart `json:"devices,omitempty"`
	// Outside is the engine of the SoC that the device replaces, for a driver of --driver. Its memory is its own:
	// contention with other engines and the system-level cache are missing from its time.
	Outside    string            `json:"replaced_engine,omitempty"`
	Fallback   int               `json:"fallback_operations"`
	Fallbacks  []FallbackEntry   `json:"fallbacks,omitempty"`
	Operations []Operation       `json:"operations"`
	Types      []TypeSum         `json:"type_sums,omitempty"` // sums of Operations, the most time first
	Outputs    []Output          `json:"outputs"`
	Layers     *LayerCheck       `json:"layers,omitempty"`  // with --check-layers
	Sampled    *devices.Sampling `json:"sampled,omitempty"` // with --sampled
	Bounded    *devices.Bounded  `json:"bounded,omitempty"` // of auto
	// Repeated counts the executions that repeat one of three that were alike, without --exact.
	Repeated *devices.Repeated `json:"repeated,omitempty"`

	Compilation *nnrt.Compilation `json:"-"` // nil: its driver has failed
	Result      *nnrt.Result      `json:"-"` // of the last invocation; nil: the device runs none of the network
	burst       bool              // it ran through burst objects
}

// InvocationCost is the cost of one invocation.
type InvocationCost struct {
	LatencyUS float64 `json:"latency_us"`
	EnergyUJ  float64 `json:"energy_uj"`
}

// Cost is time on one device. The stalls add up to the cycles.
type Cost struct {
	Cycles   int64            `json:"cycles"`
	TimeUS   float64          `json:"time_us"`
	EnergyUJ float64          `json:"energy_uj"`
	Stalls   map[string]int64 `json:"stall_cycles"`
}

type DevicePart struct {
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
	Memory      *Memory          `json:"memory,omitempty"`
	// Counters are events of the device, of engines that count them.
	Counters map[string]int64 `json:"counters,omitempty"`
}

// Operation is an operation of the model or, with an index below 0, a cost
// of a device that belongs to no operation: LAUNCH and TRANSFER. The rows of a
// device add up to its part of the run.
type Operation struct {
	Index   int        `json:"index"`
	Type    string     `json:"type"`
	Device  string     `json:"device"`
	MACs    int64      `json:"macs"`
	From    []int      `json:"from,omitempty"`         // operations whose outputs it reads
	Inputs  [][]uint32 `json:"input_shapes,omitempty"` // shapes; null where unknown
	Outputs [][]uint32 `json:"output_shapes,omitempty"`
	// Arguments are the inputs, one for each shape, of operations of NNAPI.
	Arguments []Argument `json:"arguments,omitempty"`
	Names
	*OperationCost
}

type OperationCost struct {
	Cost
	DRAMBytes int64  `json:"dram_bytes"`
	BoundBy   string `json:"bound_by"`
	// Counters are events of the operation, of engines that count them.
	Counters map[string]int64 `json:"counters,omitempty"`
}

type Output struct {
	Name       string   `json:"name"`
	Shape      []uint32 `json:"shape"`
	Elements   int      `json:"elements"`
	Mismatches int      `json:"mismatches"`
	MaxAbsDiff float64  `json:"max_abs_diff"`
	Top1       int      `json:"top1"`
	Difference string   `json:"first_mismatch,omitempty"`
	Label      string   `json:"label,omitempty"` // of top1, with --labels
	Top5       []Class  `json:"top5,omitempty"`  // of outputs that are one vector
}

// NewReport is the report of a network on a phone, without runs.
func NewReport(p *Phone, m *nn.Model) *Report {
	return &Report{
		SchemaVersion: SchemaVersion, SoC: p.Config.SoC.Name, Runs: []Run{}, ModelReport: NewModelReport(m),
		Tensors: tensorMemory(m), Roofs: Roofs(p.Config, quantized(m)),
	}
}

// Add adds a run, of the report's network or of another form of it.
func (r *Report) Add(x *Run) {
	if x.Compilation != nil && x.Compilation.Model.Name != r.Model {
		x.Model = x.Compilation.Model.Name
	}
	r.Runs = append(r.Runs, *x)
}

// of describes output i: shape, data and the labels of its largest elements.
func (e *Output) of(o *nn.Operand, i int, shape []uint32, data []byte, labels []string) {
	e.Name, e.Shape = outputName(o, i), shape
	if !IsScores(o, shape) {
		return
	}
	e.Top5 = topClasses(o, data, labels)
	e.Label = e.Top5[0].Label
}

// costs fills in the costs of the run, and their places. Without a timing model there are no costs, only places.
func (r *Run) costs(m *nn.Model) {
	timed := r.Result.LatencyFs > 0
	if timed {
		r.total()
	}
	r.operations(m, producers(m), timed)
	r.Types = sumTypes(r.Operations)
	x := r.Invocations
	if x == nil {
		return
	}
	r.RowsOf = &InvocationCost{*r.LatencyUS, *r.EnergyUJ}
	r.LatencyUS, r.EnergyUJ, r.LatencyParts, r.EnergyParts = &x.MeanUS, &x.Energy, x.Parts, x.Energies
	r.EnergyComponents = x.Components
	if r.FirstUse != nil {
		r.FirstUse.WarmUS = x.MeanUS
	}
}

// total fills in the costs of the run and of each of its devices.
func (r *Run) total() {
	res := r.Result
	latency, energy := microseconds(res.LatencyFs), res.EnergyPJ/1e6
	r.LatencyUS, r.EnergyUJ = &latency, &energy
	for i := range res.Devices {
		d := &res.Devices[i]
		r.Devices = append(r.Devices, DevicePart{
			Device: d.Device, Executions: d.Parts, ClockMHz: float64(d.ClockHz) / 1e6, EngineCycles: EngineCycles(d.Stalls),
			TotalCycles: d.Cycles, TimeUS: microseconds(d.TimeFs), EnergyUJ: d.EnergyPJ / 1e6, Stalls: stallMap(d.Stalls),
			Memory: newMemory(&d.Memory), Counters: Counted(d.Counters),
		})
	}
	if d, ok := res.Clock(); ok {
		engine := EngineCycles(d.Stalls)
		r.TotalCycles, r.EngineCycles, r.Stalls = &d.Cycles, &engine, stallMap(d.Stalls)
	}
}

// operations fills in the rows of operations, with their costs where there are some.
func (r *Run) operations(m *nn.Model, from [][]int, timed bool) {
	res, named := r.Result, arguments(m)
	for k, rows := range [3][]nnrt.OperationCost{res.Operations, res.Inner, res.Overheads} {
		for i := range rows {
			o := &rows[i]
			row := Operation{Index: o.Index, Type: o.Name(), Device: o.Device, MACs: o.MACs, Inputs: o.Inputs, Outputs: o.Outputs}
			if k == 0 {
				row.From, row.Names, row.Arguments = from[o.Index], NamesOf(&m.Main, o.Index), named[o.Index]
			}
			if timed {
				row.OperationCost = &OperationCost{
					Cost:      Cost{o.Cycles, microseconds(o.TimeFs), o.EnergyPJ / 1e6, stallMap(o.Stalls)},
					DRAMBytes: o.DRAMBytes, BoundBy: o.BoundBy, Counters: Counted(o.Counters),
				}
			}
			r.Operations = append(r.Operations, row)
		}
	}
}

// EngineCycles are the cycles of stalls without the host's part, which is counted in cycles of the engine too.
func EngineCycles(stalls []hal.StallCycles) (n int64) {
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
