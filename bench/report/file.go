package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// SchemaVersion is the version of run's JSON object.
const SchemaVersion = 4

// maxFile bounds a file.
const maxFile = 256 << 20

// File is the result of a run: a network on devices of one SoC.
type File struct {
	SchemaVersion  int             `json:"schema_version"`
	Model          string          `json:"model"`
	OperationCount int             `json:"operation_count"`
	MACs           int64           `json:"macs"`
	SoC            string          `json:"soc"`
	Roofs          map[string]Roof `json:"roofs,omitempty"` // by device
	Runs           []Run           `json:"runs"`
}

// Roof is the peak of an engine.
type Roof struct {
	MACsPerS  float64 `json:"macs_per_s"`
	BytesPerS float64 `json:"bytes_per_s"` // of DRAM
	// Levels are the memories that the engine has, the nearest first and DRAM last.
	Levels []Level `json:"levels,omitempty"`
}

// Level is what a memory can deliver to an engine.
type Level struct {
	Name      string  `json:"name"` // as in the names of counters: "l2" for l2_bytes
	BytesPerS float64 `json:"bytes_per_s"`
}

// Run is a run on a device. Without costs it was a functional one.
type Run struct {
	Device       string             `json:"device"`
	Model        string             `json:"model,omitempty"` // when it is another form than the file's
	Status       string             `json:"status"`
	LatencyUS    *float64           `json:"latency_us,omitempty"`
	PredictedUS  float64            `json:"predicted_latency_us,omitempty"` // of the plan of auto
	EnergyUJ     *float64           `json:"energy_uj,omitempty"`
	LatencyParts map[string]float64 `json:"latency_parts_us,omitempty"`
	EnergyParts  map[string]float64 `json:"energy_parts_uj,omitempty"`
	Invocations  *struct {
		Count   int     `json:"count"`
		FirstUS float64 `json:"first_us"`
		MeanUS  float64 `json:"mean_us"`
		MinUS   float64 `json:"min_us"`
		MaxUS   float64 `json:"max_us"`
		StdUS   float64 `json:"std_us"`
	} `json:"invocations,omitempty"`
	FirstUse *struct {
		CompileUS float64 `json:"compile_us"`
		FirstUS   float64 `json:"first_us"` // on a phone that has been idle
		WarmUS    float64 `json:"warm_us"`
	} `json:"first_use,omitempty"`
	// TotalCycles are EngineCycles and the host's part, at the clock of the engine.
	TotalCycles  *int64           `json:"total_cycles,omitempty"`
	EngineCycles *int64           `json:"engine_cycles,omitempty"`
	Stalls       map[string]int64 `json:"stall_cycles,omitempty"`
	Devices      []Part           `json:"devices,omitempty"`
	Fallback     int              `json:"fallback_operations"`
	Fallbacks    []Fallback       `json:"fallbacks,omitempty"`
	Operations   []Operation      `json:"operations"`
	Outputs      []Output         `json:"outputs"`
}

// Part is a device's part of a run.
type Part struct {
	Device       string           `json:"device"`
	ClockMHz     float64          `json:"clock_mhz"`
	TotalCycles  int64            `json:"total_cycles"`
	EngineCycles int64            `json:"engine_cycles"`
	TimeUS       float64          `json:"time_us"`
	EnergyUJ     float64          `json:"energy_uj"`
	Stalls       map[string]int64 `json:"stall_cycles"`
	Memory       *Memory          `json:"memory,omitempty"`
	Counters     map[string]int64 `json:"counters,omitempty"` // events of the device
}

// Memory is the use of the memory that all engines share.
type Memory struct {
	ReadBytes   int64   `json:"read_bytes"`
	WriteBytes  int64   `json:"write_bytes"`
	Bursts      int64   `json:"bursts"`
	RowHits     int64   `json:"row_hits"`
	WaitNS      float64 `json:"wait_ns"`
	SystemCache *struct {
		Hits       int64 `json:"hits"`
		Misses     int64 `json:"misses"`
		WriteBacks int64 `json:"write_backs"`
	} `json:"system_cache,omitempty"`
}

// Fallback is an operation that ran on the CPU, with the device's reason.
type Fallback struct {
	Index  int    `json:"index"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}

// Operation is an operation of the network or, with an index below 0, a cost of a device
// that belongs to none.
type Operation struct {
	Index     int              `json:"index"`
	Type      string           `json:"type"`
	Device    string           `json:"device"`
	MACs      int64            `json:"macs"`
	From      []int            `json:"from,omitempty"`
	Node      string           `json:"node,omitempty"`
	Tensor    string           `json:"tensor,omitempty"`
	Host      string           `json:"outside_nnapi,omitempty"` // of operations that NNAPI lacks
	Inputs    [][]uint32       `json:"input_shapes,omitempty"`
	Outputs   [][]uint32       `json:"output_shapes,omitempty"`
	Cycles    int64            `json:"cycles"`
	TimeUS    float64          `json:"time_us"`
	EnergyUJ  float64          `json:"energy_uj"`
	Stalls    map[string]int64 `json:"stall_cycles"`
	DRAMBytes int64            `json:"dram_bytes"`
	BoundBy   string           `json:"bound_by"`
	Counters  map[string]int64 `json:"counters,omitempty"` // events of the operation
}

// Output is a result, compared with the reference.
type Output struct {
	Name       string   `json:"name"`
	Shape      []uint32 `json:"shape"`
	Elements   int      `json:"elements"`
	Mismatches int      `json:"mismatches"`
	MaxAbsDiff Number   `json:"max_abs_diff"`
	Difference string   `json:"first_mismatch,omitempty"`
}

// Number is a JSON number, or "NaN", "+Inf" or "-Inf".
type Number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*n = Number(math.NaN())
		return nil
	case `"+Inf"`:
		*n = Number(math.Inf(1))
		return nil
	case `"-Inf"`:
		*n = Number(math.Inf(-1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// MarshalJSON implements json.Marshaler: as the numbers were read.
func (n Number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsNaN(x):
		return []byte(`"NaN"`), nil
	case math.IsInf(x, 0):
		return fmt.Appendf(nil, `"%+v"`, x), nil
	default:
		return json.Marshal(x)
	}
}

// Read reads the output of "nnsoc run --json"; name is used in errors.
func Read(name string, r io.Reader) (*File, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d MiB", name, maxFile>>20)
	}
	var f File
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: no output of \"nnsoc run --json\": %w", name, err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &f, nil
}

func (f *File) check() error {
	switch {
	case f.Runs == nil:
		return errors.New(`not an object of "nnsoc run --json": it has no runs`)
	case f.SchemaVersion != SchemaVersion:
		return fmt.Errorf("schema version %d, want %d", f.SchemaVersion, SchemaVersion)
	}
	seen := map[string]bool{}
	for i := range f.Runs {
		r := &f.Runs[i]
		if seen[r.Device] {
			return fmt.Errorf("two runs on %s", r.Device)
		}
		seen[r.Device] = true
		for _, x := range [2]*float64{r.LatencyUS, r.EnergyUJ} {
			if x != nil && *x < 0 {
				return fmt.Errorf("%s: a cost of %v", r.Device, *x)
			}
		}
	}
	return nil
}

// timed reports whether a run has costs.
func (r *Run) timed() bool { return r.LatencyUS != nil && r.EnergyUJ != nil }

// Find is the run on a device; nil without one.
func (f *File) Find(device string) *Run {
	for i := range f.Runs {
		if f.Runs[i].Device == device {
			return &f.Runs[i]
		}
	}
	return nil
}

// clock returns the clock of a device of the run in MHz, 0 where it is not known.
func (r *Run) clock(device string) float64 {
	for i := range r.Devices {
		if r.Devices[i].Device == device {
			return r.Devices[i].ClockMHz
		}
	}
	return 0
}
