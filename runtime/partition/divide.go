package partition

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Divide replaces an operation of a model by one operation for each run of its results and a CONCATENATION of them, so
// that engines can compute the runs beside each other. The runs are rows of the output of a CONV_2D or DEPTHWISE_CONV_2D, for each of which
// a SLICE takes the rows of the input that it needs, those that two of them read included, and units of a FULLY_CONNECTED
// of one batch: what lies in one piece of memory, so that the runtime can do the SLICEs and the CONCATENATION without moving a byte (View).
// lengths says how long the runs are. Each output element is computed by the same arithmetic from the same values as before.
// The model is not changed.
func Divide(m *nn.Model, operation int, lengths []int) (*nn.Model, error) {
	if operation < 0 || operation >= len(m.Main.Operations) {
		return nil, fmt.Errorf("partition: divide operation %d of %d", operation, len(m.Main.Operations))
	}
	op := &m.Main.Operations[operation]
	fail := func(format string, args ...any) (*nn.Model, error) {
		return nil, fmt.Errorf("partition: divide operation %d (%s): %s", operation, op.Type, fmt.Sprintf(format, args...))
	}
	s, why := divisible(&m.Main, op)
	if why != "" {
		return fail("%s", why)
	}
	sum := 0
	for _, n := range lengths {
		if n < 1 {
			return fail("a run of %d %s", n, s.unit)
		}
		sum += n
	}
	if sum != s.length || len(lengths) < 2 {
		return fail("%d runs of %d %s in all, it has %d", len(lengths), sum, s.unit, s.length)
	}
	d := &divider{g: m.Main, op: op}
	d.g.Operands, d.g.Operations = slices.Clone(m.Main.Operands), slices.Clone(m.Main.Operations[:operation])
	if why := d.runs(s, lengths); why != "" {
		return fail("%s", why)
	}
	d.g.Operations = append(d.g.Operations, m.Main.Operations[operation+1:]...)
	x := *m
	x.Main = d.g
	return &x, nil
}

// separable is an operation that can be divided.
type separable struct {
	unit   string // what its runs consist of
	length int    // of them in all
	axis   int    // of the output
	conv   *opspec.Conv
	dense  *opspec.FullyConnected
}

// divisible returns how an operation is divided, or why it is not.
func divisible(g *nn.Subgraph, op *nn.Operation) (s separable, why string) {
	view := opspec.ModelView(g)
	switch op.Type {
	case nn.OpConv2D, nn.OpDepthwiseConv2D:
		c, err := opspec.Read[opspec.Conv](view, op)
		switch {
		case err != nil:
			return s, err.Error()
		case c.NCHW:
			return s, "its layout is NCHW"
		case c.N != 1:
			return s, fmt.Sprintf("%d images at a time, rows of one are divided", c.N)
		}
		s = separable{unit: "rows", length: c.OutH, axis: 1, conv: &c}
	case nn.OpFullyConnected:
		f, err := opspec.Read[opspec.FullyConnected](view, op)
		switch {
		case err != nil:
			return s, err.Error()
		case f.Batch != 1:
			return s, fmt.Sprintf("%d vectors at a time, units of one are divided", f.Batch)
		}
		for _, i := range []uint32{f.Weights, f.Bias} {
			if !g.Operands[i].IsConst() {
				return s, "its weights or bias are no constants"
			}
		}
		s = separable{unit: "units", length: f.Units, axis: len(g.Operands[f.Output].Dimensions) - 1, dense: &f}
	default:
		return s, "CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED are divided"
	}
	if out := &g.Operands[op.Outputs[0]]; !out.Known() || len(out.Dimensions) <= s.axis {
		return s, "the shape of its output is not known"
	}
	return s, ""
}

// divider builds the graph with a divided operation.
type divider struct {
	g  nn.Subgraph
	op *nn.Operation
}

// add adds an operand.
func (d *divider) add(o nn.Operand) uint32 {
	d.g.Operands = append(d.g.Operands, o)
	return uint32(len(d.g.Operands) - 1)
}

// integers adds a constant: a scalar without dimensions.
func (d *divider) integers(dims []uint32, values ...int) uint32 {
	o := nn.Operand{Type: nn.Int32, Dimensions: dims, Lifetime: nn.ConstantCopy}
	if dims != nil {
		o.Type = nn.TensorInt32
	}
	for _, v := range values {
		o.Data = binary.LittleEndian.AppendUint32(o.Data, uint32(int32(v)))
	}
	return d.add(o)
}

// temporary adds an operand like another whose dimension on an axis is n.
func (d *divider) temporary(like uint32, axis, from, n int) uint32 {
	o := d.g.Operands[like]
	o.Dimensions = slices.Clone(o.Dimensions)
	o.Dimensions[axis] = uint32(n)
	o.Lifetime, o.Unmerged, o.Data, o.Name = nn.TemporaryVariable, nil, nil, fmt.Sprintf("%s[%d:%d]", o.Name, from, from+n)
	return d.add(o)
}

// runs adds the operations of the runs and their concatenation.
func (d *divider) runs(s separable, lengths []int) (why string) {
	var results []uint32
	at := 0
	for _, n := range lengths {
		var inputs []uint32
		if s.conv != nil {
			if inputs, why = d.rows(s.conv, at, n); why != "" {
				return why
			}
		} else {
			for _, x := range d.op.Inputs {
				if x == s.dense.Weights || x == s.dense.Bias {
					x = d.add(slice(&d.g.Operands[x], at, n))
				}
				inputs = append(inputs, x)
			}
		}
		out := d.temporary(d.op.Outputs[0], s.axis, at, n)
		d.g.Operations = append(d.g.Operations, nn.Operation{Type: d.op.Type, Inputs: inputs, Outputs: []uint32{out}})
		results = append(results, out)
		at += n
	}
	d.g.Operations = append(d.g.Operations, nn.Operation{Type: nn.OpConcatenation, Inputs: append(results, d.integers(nil, s.axis)), Outputs: d.op.Outputs})
	return ""
}

// rows adds the SLICE of the input rows that n output rows of a convolution need, and returns the inputs of the convolution of these.
func (d *divider) rows(c *opspec.Conv, at, n int) (inputs []uint32, why string) {
	first := at*c.StrideH - c.Top
	end := first + (n-1)*c.StrideH + (c.KH-1)*c.DilationH + 1
	from, to := max(first, 0), min(end, c.H)
	if from >= to {
		return nil, fmt.Sprintf("rows %d to %d read padding alone", at, at+n-1)
	}
	dims := d.g.Operands[c.Input].Dimensions
	part := d.temporary(c.Input, 1, from, to-from)
	begin := d.integers([]uint32{4}, 0, from, 0, 0)
	size := d.integers([]uint32{4}, 1, to-from, int(dims[2]), int(dims[3]))
	d.g.Operations = append(d.g.Operations, nn.Operation{Type: nn.OpSlice, Inputs: []uint32{c.Input, begin, size}, Outputs: []uint32{part}})
	inputs = []uint32{part, c.Filter, c.Bias}
	list := []int{c.Left, c.Right, from - first, end - to, c.StrideW, c.StrideH}
	if c.Depthwise {
		list = append(list, c.Multiplier)
	}
	for _, v := range append(list, int(c.Act)) {
		inputs = append(inputs, d.integers(nil, v))
	}
	if c.DilationW != 1 || c.DilationH != 1 {
		inputs = append(inputs, d.add(nn.Operand{Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{0}}), d.integers(nil, c.DilationW), d.integers(nil, c.DilationH))
	}
	return inputs, ""
}

// slice is a run of a constant along its first dimension.
func slice(o *nn.Operand, at, n int) nn.Operand {
	x := *o
	x.Dimensions = slices.Clone(o.Dimensions)
	x.Dimensions[0] = uint32(n)
	row := len(o.Data) / int(o.Dimensions[0])
	x.Data = o.Data[at*row : (at+n)*row]
	if q := o.Channel; q != nil && q.Dim == 0 {
		x.Channel = &nn.ChannelQuant{Dim: 0, Scales: q.Scales[at : at+n]}
	}
	return x
}

// DivideAll divides the operations that choices divide. The plan of the divided model has them where they were chosen to be and all
// else where the plan of the model has it. Without divisions the model is the same.
func DivideAll(p *Problem, plan Plan, choices []Division) (*nn.Model, Plan, error) {
	m := p.Model
	plan = Plan{Device: slices.Clone(plan.Device)}
	for _, d := range slices.SortedFunc(slices.Values(choices), func(a, b Division) int { return cmp.Compare(b.Operation, a.Operation) }) { // indexes before stay
		if d.Why != "" {
			continue
		}
		var lengths []int
		for _, r := range d.Runs {
			lengths = append(lengths, r.Length)
		}
		divided, err := Divide(m, d.Operation, lengths)
		if err != nil {
			return nil, plan, err
		}
		n := len(divided.Main.Operations) - len(m.Main.Operations) + 1 // operations in place of one
		devices := slices.Repeat([]int{p.drivers()}, n)                // what joins and takes runs is the runtime's
		for k, r := range d.Runs {
			devices[(k+1)*(n-1)/len(d.Runs)-1] = r.Device
		}
		plan.Device = slices.Replace(plan.Device, d.Operation, d.Operation+1, devices...)
		m = divided
	}
	return m, plan, nil
}

// Division is a choice to divide an operation among devices, or not.
type Division struct {
	Operation int // index in the model
	Unit      string
	Runs      []Share // the fastest device first; at most one where it is not divided
	AloneFs   float64 // on the fastest device, in the middle of a part
	DividedFs float64 // predicted, with all that dividing adds; 0: nobody to divide with
	AddedFs   float64 // of it the calls of the devices and what they read and write
	Why       string  // it is not divided; "" where it is
}

// Share is a run of a divided operation.
type Share struct {
	Device int
	Length int
	TimeFs float64 // predicted, with the call of the device and what it reads and writes
}

// Divisions chooses how to divide the operations that take the longest, at most most of them: among the devices with which it is predicted
// to end first, each with as many rows or units as make them end together (muLayer's rule: by their rates). An operation is divided if
// that takes less than the fastest device alone. Those that are not divided say why.
func Divisions(p *Problem, most int) (list []Division) {
	g := &p.Model.Main
	for i := range g.Operations {
		if slices.Contains([]nn.OperationType{nn.OpConv2D, nn.OpDepthwiseConv2D, nn.OpFullyConnected}, g.Operations[i].Type) {
			list = append(list, p.division(i))
		}
	}
	slices.SortStableFunc(list, func(a, b Division) int { return cmp.Compare(b.AloneFs, a.AloneFs) })
	return list[:min(most, len(list))]
}

// division chooses for one operation.
func (p *Problem) division(i int) Division {
	op := &p.Model.Main.Operations[i]
	s, why := divisible(&p.Model.Main, op)
	d := Division{Operation: i, Unit: s.unit, Why: why}
	cost := func(device int) float64 { return p.Costs.Operation[device][i].TimeFs }
	var devices []int // the fastest first
	for device := range p.drivers() {
		if p.supports(device, i) && !p.Costs.Operation[device][i].never() {
			devices = append(devices, device)
		}
	}
	slices.SortStableFunc(devices, func(a, b int) int { return cmp.Compare(cost(a), cost(b)) })
	if len(devices) == 0 {
		d.Why = cmp.Or(why, "no device has a cost for it")
		return d
	}
	d.AloneFs = cost(devices[0])
	if why != "" {
		return d
	}
	if len(devices) < 2 {
		d.Why = "one device runs it"
		return d
	}
	for n := 2; n <= min(len(devices), s.length); n++ {
		runs, ok := p.share(i, s.length, devices[:n])
		if took := last(runs); ok && (d.DividedFs == 0 || took < d.DividedFs) {
			d.Runs, d.DividedFs = runs, took
		}
	}
	if d.DividedFs == 0 {
		d.Why = fmt.Sprintf("no other device, with its call, would get one of %d %s", s.length, s.unit)
		return d
	}
	r := &d.Runs[0]
	d.AddedFs = r.TimeFs - cost(r.Device)*float64(r.Length)/float64(s.length)
	if d.DividedFs >= d.AloneFs {
		d.Why = fmt.Sprintf("divided it takes %.0f us, alone %.0f", d.DividedFs/1e9, d.AloneFs/1e9)
	}
	return d
}

// last is when the last of the runs ends.
func last(runs []Share) (fs float64) {
	for _, r := range runs {
		fs = max(fs, r.TimeFs)
	}
	return fs
}

// share gives each of the rows or units of an operation to the device that would end first with it, so that the last device ends as early
// as possible. ok is false if one of the devices gets none.
func (p *Problem) share(i, length int, devices []int) (runs []Share, ok bool) {
	var in, out float64 // bytes
	for _, v := range p.Graph.Operations[i].Inputs {
		in += float64(p.Graph.Values[v].Bytes)
	}
	for _, v := range p.Graph.Operations[i].Outputs {
		out += float64(p.Graph.Values[v].Bytes)
	}
	all := 0.0 // bytes that each run reads: units read all of the input, rows their own, but for the halo
	if p.Model.Main.Operations[i].Type == nn.OpFullyConnected {
		all, in = in, 0
	}
	one := make([]float64, len(devices)) // time of one row or unit
	for k, d := range devices {
		runs = append(runs, Share{Device: d, TimeFs: p.Costs.Fixed[d].TimeFs + all*p.Costs.PerByte[d].TimeFs})
		one[k] = (p.Costs.Operation[d][i].TimeFs + (in+out)*p.Costs.PerByte[d].TimeFs) / float64(length)
	}
	for range length {
		first := 0
		for k := range runs {
			if runs[k].TimeFs+one[k] < runs[first].TimeFs+one[first] {
				first = k
			}
		}
		runs[first].Length++
		runs[first].TimeFs += one[first]
	}
	return runs, !slices.ContainsFunc(runs, func(r Share) bool { return r.Length == 0 })
}
