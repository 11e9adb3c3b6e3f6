package partition

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

//go:embed problem.schema.json
var problemSchema []byte

// Exported is a problem as data: ExternalProblem, with shapes and capabilities.
type Exported struct {
	ExternalProblem
	Model        string               `json:"model"`
	SoC          string               `json:"soc"`
	Tensors      []ExportedTensor     `json:"tensors"`      // by value
	Capabilities []ExportedCapability `json:"capabilities"` // what drivers promise, by device and operand type
	Points       []ExportedPoint      `json:"points"`       // operations on their engines at operating points; none without measured costs
	Contention   []ExportedContention `json:"contention"`   // of devices beside each other; none without measured costs
}

// ExportedPoint is what an operation costs its engine at an operating point, when the device runs all that it supports: without the software
// around a program.
type ExportedPoint struct {
	Device    string  `json:"device"`
	Operation *int    `json:"operation"` // nil: beginning and ending a program
	ClockMHz  float64 `json:"clock_mhz"` // of the engine
	MemoryMHz float64 `json:"memory_clock_mhz"`
	EngineUS  float64 `json:"engine_us"`
	EnergyUJ  float64 `json:"energy_uj"`
	DRAMBytes float64 `json:"dram_bytes"`
	Waits     float64 `json:"waits"` // share of the time that waits for the DRAM and the system-level cache
}

// ExportedContention is how many times as long operations of a device take beside those of another, by the model: waits for the DRAM are
// 1 / (1 - u) times as long while another uses a share u of its bandwidth.
type ExportedContention struct {
	Device   string  `json:"device"`
	Beside   string  `json:"beside"`
	Slowdown float64 `json:"slowdown"`
}

// ExportedTensor is the type and shape of a value.
type ExportedTensor struct {
	Type       string   `json:"type"`
	Dimensions []uint32 `json:"dimensions"` // 0 is not known before an execution
}

// ExportedCapability is a row of getCapabilities: time and energy as multiples of the CPU's.
type ExportedCapability struct {
	Device string  `json:"device"`
	Type   string  `json:"type"`
	Time   float64 `json:"exec_time"`
	Energy float64 `json:"power_usage"`
}

// Export is the problem as data.
func (p *Problem) Export(soc string) *Exported {
	x := &Exported{ExternalProblem: *p.external(), Model: p.Model.Name, SoC: soc, Tensors: []ExportedTensor{}, Capabilities: []ExportedCapability{}, Points: []ExportedPoint{}, Contention: []ExportedContention{}}
	for i := range p.Graph.Values {
		o := &p.Model.Main.Operands[p.Graph.Values[i].Operand]
		x.Tensors = append(x.Tensors, ExportedTensor{o.Type.String(), append([]uint32{}, o.Dimensions...)})
	}
	for d := range p.Devices {
		for _, c := range p.Devices[d].Capabilities.OperandPerformance() {
			x.Capabilities = append(x.Capabilities, ExportedCapability{p.Devices[d].Name, c.Type.String(), float64(c.Info.ExecTime), float64(c.Info.PowerUsage)})
		}
	}
	return x
}

// Files are the files of an export by name: the problem, its JSON schema, and tables of the costs of operations and
// segments for other tools.
func (x *Exported) Files() (map[string][]byte, error) {
	problem, err := json.MarshalIndent(x, "", " ")
	if err != nil {
		return nil, err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rounded := func(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) } // what is read again is written as the same
	operations := [][]string{{"operation", "type", "macs", "device", "time_us", "engine_us", "energy_uj"}}
	for i, o := range x.Operations {
		for d, c := range o.Costs {
			if c != nil {
				operations = append(operations, []string{strconv.Itoa(i), o.Type, strconv.FormatInt(o.MACs, 10), x.Devices[d].Name, rounded(c.TimeUS), rounded(c.EngineUS), rounded(c.EnergyUJ)})
			}
		}
	}
	for _, d := range x.Devices { // the rest of a file of costs
		for _, c := range []struct {
			kind string
			cost externalCost
		}{{"segment", d.Segment}, {"kilobyte", d.Kilobyte}} {
			operations = append(operations, []string{"", c.kind, "", d.Name, rounded(c.cost.TimeUS), rounded(c.cost.EngineUS), rounded(c.cost.EnergyUJ)})
		}
	}
	segments := [][]string{{"device", "first_operation", "operations", "time_us", "engine_us", "energy_uj"}}
	for _, s := range x.Segments {
		segments = append(segments, []string{s.Device, strconv.Itoa(slices.Min(s.Operations)), strconv.Itoa(len(s.Operations)), number(s.TimeUS), number(s.EngineUS), number(s.EnergyUJ)})
	}
	points := [][]string{{"device", "operation", "clock_mhz", "memory_clock_mhz", "engine_us", "energy_uj", "dram_bytes", "waits"}}
	for _, a := range x.Points {
		operation := ""
		if a.Operation != nil {
			operation = strconv.Itoa(*a.Operation)
		}
		points = append(points, []string{a.Device, operation, number(a.ClockMHz), number(a.MemoryMHz), number(a.EngineUS), number(a.EnergyUJ), number(a.DRAMBytes), number(a.Waits)})
	}
	contention := [][]string{{"device", "beside", "slowdown"}}
	for _, c := range x.Contention {
		contention = append(contention, []string{c.Device, c.Beside, number(c.Slowdown)})
	}
	files := map[string][]byte{"problem.json": append(problem, '\n'), "problem.schema.json": problemSchema}
	for name, rows := range map[string][][]string{"operations.csv": operations, "segments.csv": segments, "points.csv": points, "contention.csv": contention} {
		var b bytes.Buffer
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			return nil, err
		}
		files[name] = b.Bytes()
	}
	return files, nil
}

// decodePlan reads one ExternalPlan and nothing behind it.
func decodePlan(r io.Reader) (x ExternalPlan, err error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&x); errors.Is(err, io.EOF) {
		return x, errors.New("no plan in it")
	} else if err != nil {
		return x, fmt.Errorf("byte %d: %w", d.InputOffset(), err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return x, fmt.Errorf("byte %d: more than one JSON object", d.InputOffset())
	}
	return x, nil
}

// Fixed is a plan that somebody has made: a strategy that returns it.
type Fixed struct {
	name string
	plan ExternalPlan
}

// ReadPlan reads a plan, {"devices": [...]}: the name of a device per operation, and "parts" where branches are to overlap. name is what the strategy is called. The plan
// is checked against a problem by Plan.
func ReadPlan(name string, data []byte) (*Fixed, error) {
	if len(data) > maxPlanBytes {
		return nil, fmt.Errorf("partition: %s: a plan of more than %d bytes", name, maxPlanBytes)
	}
	x, err := decodePlan(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("partition: %s: %w", name, err)
	}
	return &Fixed{name, x}, nil
}

// Named is a strategy that returns a plan of a problem.
func (p *Problem) Named(name string, plan Plan) *Fixed {
	f := &Fixed{name: name, plan: ExternalPlan{Parts: plan.Part}}
	for _, d := range plan.Device {
		f.plan.Devices = append(f.plan.Devices, p.DeviceName(d))
	}
	return f
}

// Name implements Strategy.
func (f *Fixed) Name() string { return f.name }

// Fits says why the plan is none of so many operations on devices, before they have costs.
func (f *Fixed) Fits(operations int, devices []Device) error {
	if _, err := f.plan.indices(operations, devices); err != nil {
		return fmt.Errorf("partition: %s: %w", f.name, err)
	}
	return nil
}

// Plan implements Strategy. A plan for another number of operations, or with a device that does not support its
// operation, is an error that names it.
func (f *Fixed) Plan(p *Problem) (Plan, error) {
	plan, err := p.named(f.plan)
	if err != nil {
		return Plan{}, fmt.Errorf("partition: %s: %w", f.name, err)
	}
	return plan, nil
}
