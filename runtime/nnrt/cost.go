package nnrt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// DeviceCost is what the parts of an execution on one device cost.
type DeviceCost struct {
	Device   string
	Parts    int // executions of the device
	ClockHz  int64
	Cycles   int64 // of this clock
	TimeFs   int64
	EnergyPJ float64
	Stalls   []hal.StallCycles // they add up to Cycles
	Memory   hal.MemoryStats   // the use of the memory that a machine's engines share
	Counters []hal.Counter     // events of all parts, each name once, in the device's order
}

// OperationCost is what one operation cost, wherever it ran. Cycles are of the
// clock of Device.
type OperationCost struct {
	Index     int // negative in Result.Overheads; see hal.LaunchIndex
	Type      nn.OperationType
	Within    string // "WHILE body 2": the place in a subgraph of control flow; "" in Result.Operations
	Device    string
	Cycles    int64
	TimeFs    int64
	EnergyPJ  float64
	MACs      int64 // of this execution: subgraphs of IF and WHILE count as often as they ran
	DRAMBytes int64
	BoundBy   string            // the largest stall; "none" when the operation has no cycles
	Stalls    []hal.StallCycles // they add up to Cycles
	Inputs    [][]uint32        // shapes of the operands, nil where unknown; empty for scalars
	Outputs   [][]uint32
	// Threads and Counters are from devices that have them; see hal.OperationStats.
	Threads  []hal.StallCycles
	Counters []hal.Counter
}

// Name is the operation's type, or the name of an overhead.
func (o *OperationCost) Name() string {
	switch o.Index {
	case hal.LaunchIndex:
		return "LAUNCH"
	case hal.TransferIndex:
		return "TRANSFER"
	}
	if o.Within != "" {
		return o.Within + " " + o.Type.String()
	}
	return o.Type.String()
}

// Clock is the one clock of an execution: ok is false when it used several
// devices, whose cycles cannot be added.
func (r *Result) Clock() (d DeviceCost, ok bool) {
	if len(r.Devices) != 1 {
		return DeviceCost{}, false
	}
	return r.Devices[0], true
}

// On is what the execution cost on a device; nothing when it did not run there.
func (r *Result) On(device string) DeviceCost {
	for _, d := range r.Devices {
		if d.Device == device {
			return d
		}
	}
	return DeviceCost{Device: device}
}

// add charges a part of a source.
func (r *Result) add(of *source, device hal.Device, operations []int, st *hal.Stats) {
	r.EnergyPJ += st.EnergyPJ
	r.Instructions += st.Instructions
	r.chain(st.Parts)
	r.Components = hal.AddComponents(r.Components, st.Components)
	r.device(device.Name()).add(st)
	for _, i := range operations {
		if of.caller < 0 {
			r.Operations[i].Device, r.Operations[i].MACs = device.Name(), of.macs[i]
			continue
		}
		r.row(of, device.Name(), i).MACs += of.macs[i]
	}
	for i := range st.Operations {
		op := &st.Operations[i]
		if op.Index >= len(operations) {
			continue
		}
		if op.Index < 0 {
			r.overhead(device.Name(), op.Index).add(op)
			continue
		}
		c := r.row(of, device.Name(), operations[op.Index])
		c.add(op)
		if of.caller < 0 {
			c.MACs = max(c.MACs, op.MACs)
		}
	}
}

// row is where operation i of a source is charged that ran on a device.
func (r *Result) row(of *source, device string, i int) *OperationCost {
	if of.caller < 0 {
		return &r.Operations[i]
	}
	within := fmt.Sprintf("%s %d", of.name, i)
	k := slices.IndexFunc(r.Inner, func(c OperationCost) bool { return c.Device == device && c.Index == of.caller && c.Within == within })
	if k < 0 {
		k = len(r.Inner)
		t := of.model.Main.Operations[i]
		r.Inner = append(r.Inner, OperationCost{Index: of.caller, Type: t.Type, Within: within, Device: device, BoundBy: "none"})
		r.Inner[k].Inputs, r.Inner[k].Outputs = shapes(&of.model.Main, &t)
	}
	return &r.Inner[k]
}

// chain adds the parts of an execution by name.
func (r *Result) chain(parts []hal.Part) {
	for _, p := range parts {
		i := slices.IndexFunc(r.Chain, func(x hal.Part) bool { return x.Name == p.Name })
		if i < 0 {
			r.Chain = append(r.Chain, p)
			continue
		}
		r.Chain[i].TimeFs += p.TimeFs
		r.Chain[i].EnergyPJ += p.EnergyPJ
	}
}

// device returns the costs of a device so far.
func (r *Result) device(name string) *DeviceCost {
	i := slices.IndexFunc(r.Devices, func(d DeviceCost) bool { return d.Device == name })
	if i < 0 {
		i = len(r.Devices)
		r.Devices = append(r.Devices, DeviceCost{Device: name})
	}
	return &r.Devices[i]
}

// overhead returns the row of a device with an index below 0, nil for others.
func (r *Result) overhead(device string, index int) *OperationCost {
	if index >= 0 {
		return nil
	}
	i := slices.IndexFunc(r.Overheads, func(c OperationCost) bool { return c.Device == device && c.Index == index })
	if i < 0 {
		i = len(r.Overheads)
		r.Overheads = append(r.Overheads, OperationCost{Device: device, Index: index})
	}
	return &r.Overheads[i]
}

func (d *DeviceCost) add(st *hal.Stats) {
	d.Parts++
	d.ClockHz = max(d.ClockHz, st.ClockHz)
	d.Cycles += st.Cycles
	d.TimeFs += st.LatencyFs
	d.EnergyPJ += st.EnergyPJ
	d.Stalls = sumStalls(d.Stalls, st.Stalls)
	d.Memory.Add(&st.Memory)
	if d.Counters == nil {
		d.Counters = make([]hal.Counter, 0, len(st.Counters))
	}
	for _, c := range st.Counters {
		if i := slices.IndexFunc(d.Counters, func(x hal.Counter) bool { return x.Name == c.Name }); i >= 0 {
			d.Counters[i].Value += c.Value
		} else {
			d.Counters = append(d.Counters, c)
		}
	}
}

func (c *OperationCost) add(op *hal.OperationStats) {
	c.Cycles += op.Cycles
	c.TimeFs += op.TimeFs
	c.EnergyPJ += op.EnergyPJ
	c.DRAMBytes += op.DRAMBytes
	c.Stalls = sumStalls(c.Stalls, op.Stalls)
	c.BoundBy, c.Threads, c.Counters = op.BoundBy, op.Threads, op.Counters
}

// sumStalls adds two lists of cycles by reason. The sum is ordered by cycles,
// then by name; reasons with 0 cycles are left out. It may be one of the lists.
func sumStalls(a, b []hal.StallCycles) []hal.StallCycles {
	if len(a) == 0 && !slices.ContainsFunc(b, func(x hal.StallCycles) bool { return x.Cycles == 0 }) && slices.IsSortedFunc(b, byCycles) {
		return b
	}
	var sum []hal.StallCycles
	for _, list := range [2][]hal.StallCycles{a, b} {
		for _, x := range list {
			i := slices.IndexFunc(sum, func(y hal.StallCycles) bool { return y.Reason == x.Reason })
			if i >= 0 {
				sum[i].Cycles += x.Cycles
			} else if x.Cycles != 0 {
				sum = append(sum, x)
			}
		}
	}
	slices.SortFunc(sum, byCycles)
	return sum
}

// byCycles orders the longest stall first.
func byCycles(x, y hal.StallCycles) int {
	return cmp.Or(cmp.Compare(y.Cycles, x.Cycles), cmp.Compare(x.Reason, y.Reason))
}

// operationShapes are the shapes of the operands of an operation.
type operationShapes struct{ inputs, outputs [][]uint32 }

// knownShapes are the shapes of a model's operands, as far as they follow from the model,
// and those of its operations.
type knownShapes struct {
	operands   [][]uint32
	operations []operationShapes
}

// shapesOf works out the shapes of a subgraph.
func shapesOf(g *nn.Subgraph) *knownShapes {
	if known, err := opspec.Resolve(g); err == nil {
		g = known
	}
	k := &knownShapes{}
	for i := range g.Operands {
		k.operands = append(k.operands, g.Operands[i].Dimensions)
	}
	for i := range g.Operations {
		var s operationShapes
		s.inputs, s.outputs = shapes(g, &g.Operations[i])
		k.operations = append(k.operations, s)
	}
	return k
}

// shapes fills the shapes that the execution has found out.
func (e *execution) shapes() {
	found := false
	for i, v := range e.frames[0] {
		found = found || v.dims != nil && !slices.Equal(v.dims, e.known.operands[i])
	}
	if !found {
		return
	}
	g := e.Model.Main
	g.Operands = slices.Clone(g.Operands)
	for i, v := range e.frames[0] {
		if v.dims != nil {
			g.Operands[i].Dimensions = v.dims
		}
	}
	known := shapesOf(&g)
	for i := range e.result.Operations {
		o := &e.result.Operations[i]
		o.Inputs, o.Outputs = known.operations[i].inputs, known.operations[i].outputs
	}
}

// shapes returns the shapes of an operation's operands: nil where unknown.
func shapes(g *nn.Subgraph, op *nn.Operation) (inputs, outputs [][]uint32) {
	list := func(operands []uint32) [][]uint32 {
		var l [][]uint32
		for _, x := range operands {
			switch o := &g.Operands[x]; {
			case o.Type.IsScalar():
				l = append(l, []uint32{})
			case o.Lifetime == nn.NoValue || !o.Known():
				l = append(l, nil)
			default:
				l = append(l, o.Dimensions)
			}
		}
		return l
	}
	return list(op.Inputs), list(op.Outputs)
}
