package partition

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/refcpu"
)

// layers are convolutions of several shapes and a fully connected layer in a format.
func layers(t *testing.T, f builder.Format) *nn.Model {
	b := builder.New(builder.Config{Format: f})
	x := b.Conv(b.Values("input", 1, 9, 5, 6), builder.Conv{Out: 21, Kernel: 3, Stride: 2, Pad: 1, Act: builder.ReLU6})
	x = b.Depthwise(x, builder.Conv{Kernel: 3, Pad: 1})
	x = b.Conv(x, builder.Conv{Out: 4, Kernel: 3, Valid: true})
	x = b.Dense(b.Reshape(x, 1, 12), 10, builder.ReLU)
	b.Output(x, "output")
	return require.V(b.Model("layers"))(t)
}

// computed are the bytes of a model's first output by the reference.
func computed(t *testing.T, m *nn.Model) []byte {
	o := &m.Main.Operands[m.Main.Inputs[0]]
	var in []byte
	for i := range int(o.Elements()) {
		if o.Type == nn.TensorFloat32 {
			in = binary.LittleEndian.AppendUint32(in, math.Float32bits(float32(i*37%61)/20-1.5))
		} else {
			in = append(in, byte(i*37))
		}
	}
	p := require.V(refcpu.Compile(m))(t)
	return require.V(p.Execute([]refcpu.Tensor{{Data: in}}, refcpu.Options{}))(t)[0].Data
}

// TestDivide: a divided operation has the results of the whole, to the byte, in every format and with runs of any length, and the runtime can join
// the runs without moving them.
func TestDivide(t *testing.T) {
	for _, f := range []builder.Format{builder.Float32, builder.Quant8, builder.Quant8Signed} {
		m := layers(t, f)
		want := computed(t, m)
		for i := range m.Main.Operations {
			runs := map[nn.OperationType][]int{nn.OpConv2D: {1, 2}, nn.OpDepthwiseConv2D: {2, 2, 1}, nn.OpFullyConnected: {7, 3}}[m.Main.Operations[i].Type]
			if i == 0 {
				runs = []int{1, 1, 2, 1}
			}
			if runs == nil {
				_, err := Divide(m, i, []int{1, 1})
				require.Check(t, err != nil && strings.Contains(err.Error(), "are divided"), "%v", err)
				continue
			}
			d := require.V(Divide(m, i, runs))(t)
			require.Check(t, bytes.Equal(want, computed(t, d)), "format %d, operation %d: other results", f, i)
			for k, op := range d.Main.Operations {
				if _, why := View(&d.Main, k); (op.Type == nn.OpSlice || op.Type == nn.OpConcatenation) && why != "" {
					t.Errorf("format %d, operation %d divided, %v %d: %s", f, i, op.Type, k, why)
				}
			}
			op := d.Main.Operations[i+len(d.Main.Operations)-len(m.Main.Operations)-1] // the last run
			last := &d.Main.Operands[op.Inputs[1]]
			last.Data = bytes.Repeat([]byte{63}, len(last.Data))
			require.Check(t, !bytes.Equal(want, computed(t, d)), "format %d, operation %d: other weights change nothing", f, i)
		}
		require.Check(t, bytes.Equal(want, computed(t, m)), "the model has changed")
	}
	m := layers(t, builder.Float32)
	for want, runs := range map[string][]int{"1 runs of 5 rows": {5}, "2 runs of 4 rows in all, it has 5": {2, 2}, "a run of 0": {5, 0}, "a run of -1": {6, -1}} {
		_, err := Divide(m, 0, runs)
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%v: %v", runs, err)
	}
	_, err := Divide(m, 9, []int{1, 1})
	require.Check(t, err != nil, "there is no operation 9")
}

// TestDivisions: devices end together, by their rates and calls, and an operation that is faster alone says why.
func TestDivisions(t *testing.T) {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Conv(b.Values("input", 1, 16, 4, 8), builder.Conv{Out: 64, Kernel: 1})
	b.Output(b.Conv(x, builder.Conv{Out: 8, Kernel: 1}), "output")
	m := require.V(b.Model("two"))(t)
	p := &Problem{Model: m, Graph: NewGraph(&m.Main)}
	us := func(list ...float64) (costs []Cost) {
		for _, x := range list {
			costs = append(costs, Cost{TimeFs: x * 1e9})
		}
		return costs
	}
	for range 3 {
		p.Devices = append(p.Devices, Device{Support: slices.Repeat([]hal.Support{{OK: true}}, len(m.Main.Operations))})
	}
	p.Devices[0].Name, p.Devices[1].Name, p.Devices[2].Name = "cpu", "gpu", "npu"
	p.Costs = Costs{Operation: [][]Cost{us(3200, 96), us(1600, 32), us(9600, 960)}, Fixed: us(0, 100, 900), PerByte: us(0, 0, 0)}
	list := Divisions(p, 5)
	require.Same(t, 2, len(list), "divisions")
	d := list[0]
	want := []Share{{1, 11, 1200e9}, {0, 5, 1000e9}}
	require.Check(t, d.Operation == 0 && d.Why == "" && slices.Equal(d.Runs, want) && d.AloneFs == 1600e9 && d.DividedFs == 1200e9 && d.AddedFs == 100e9, "%+v", d)
	d = list[1]
	require.Check(t, d.Operation == 1 && strings.Contains(d.Why, "would get one of 16 rows"), "%+v", d)

	divided, plan, err := DivideAll(p, Plan{Device: []int{1, 1}}, list)
	require.Check(t, err == nil, "%v", err)
	require.Check(t, slices.Equal(plan.Device, []int{3, 1, 3, 0, 3, 1}), "%v", plan.Device)
	q := *p
	q.Model, q.Graph = divided, NewGraph(&divided.Main)
	for k := range q.Devices {
		q.Devices[k].Support = slices.Repeat([]hal.Support{{OK: true}}, len(divided.Main.Operations))
	}
	q.Costs.Operation = [][]Cost{us(9, 9, 9, 1200, 9, 96), us(9, 1000, 9, 9, 9, 32), us(9, 9, 9, 9, 9, 9)}
	e := require.V(q.Evaluate(plan))(t)
	require.Check(t, e.LatencyFs == 1332e9, "%.0f fs: parts at once, then the rest", e.LatencyFs)
	plan.Device[1] = 3
	require.Check(t, q.CheckPlan(plan) != nil, "the runtime does no convolution")

	p.Costs.Fixed = us(600, 900, 0)
	d = Divisions(p, 1)[0]
	require.Check(t, strings.HasPrefix(d.Why, "divided it takes 1800 us, alone 1600"), "%+v", d)
	p.Devices[0].Support, p.Devices[2].Support = slices.Clone(p.Devices[0].Support), slices.Clone(p.Devices[2].Support)
	p.Devices[0].Support[0].OK, p.Devices[2].Support[0].OK = false, false
	require.Same(t, "one device runs it", Divisions(p, 1)[0].Why, "reason")
}
