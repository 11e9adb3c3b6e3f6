package model

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// OperationRuleChecks vary one parameter of a right operation at a time.
func OperationChecks() []check.Check {
	return []check.Check{
		{Name: "parameters of operations one beyond", Rows: []string{"I1-13", "I1-14", "I1-16", "I1-20", "I2-4", "I2-5", "I2-14"}, Run: parametersBeyond},
		{Name: "ranges of activations and positions of samples", Rows: []string{"I2-8", "I1-12"}, Run: rangesAndPositions},
		{Name: "the output's scale beside that of products", Rows: []string{"I2-6"}, Run: productScales},
		{Name: "operations and capabilities of each sample driver", Rows: []string{"H1-7"}, Run: sampleDrivers},
		{Name: "calls that fail leave a client's quota", Rows: []string{"A8-9"}, Run: failuresAreFree},
		{Name: "a memory reuses the slot of another", Rows: []string{"A6-14", "A6-16"}, Run: slotsOfOthers, EachDevice: true},
	}
}

// oneOperation is a model of an operation whose last operand is its output.
func oneOperation(op nn.OperationType, operands ...nn.Operand) *nn.Model {
	n := uint32(len(operands) - 1)
	g := nn.Subgraph{Operands: operands, Outputs: []uint32{n}}
	x := nn.Operation{Type: op, Outputs: []uint32{n}}
	for i := range n {
		x.Inputs = append(x.Inputs, i)
		if operands[i].Lifetime == nn.SubgraphInput {
			g.Inputs = append(g.Inputs, i)
		}
	}
	g.Operations = []nn.Operation{x}
	return &nn.Model{Main: g}
}

func integers(v ...int32) nn.Operand {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return check.Constant(nn.TensorInt32, b, uint32(len(v)))
}

func parametersBeyond(t *check.T) {
	f := func(l nn.Lifetime, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: l}
	}
	in, out := nn.SubgraphInput, nn.SubgraphOutput
	rule := func(what string, m *nn.Model, ok bool) {
		if err := validate.Model(m); ok {
			t.OK(what, err)
		} else {
			t.Status(what, err, hal.InvalidArgument)
		}
	}
	for _, c := range []struct {
		h, w  uint32
		block int32
		ok    bool
	}{{2, 4, 2, true}, {3, 4, 2, false}, {2, 3, 2, false}, {2, 4, 0, false}, {2, 4, -2, false}} {
		rule(fmt.Sprintf("SPACE_TO_DEPTH of %dx%d by %d", c.h, c.w, c.block), oneOperation(nn.OpSpaceToDepth, f(in, 1, c.h, c.w, 1), check.Int32Scalar(c.block), f(out, 0, 0, 0, 0)), c.ok)
	}
	slice := func(begin, end, stride [2]int32, shrink int32, want ...uint32) *nn.Model {
		return oneOperation(nn.OpStridedSlice, f(in, 4, 4), integers(begin[:]...), integers(end[:]...), integers(stride[:]...), check.Int32Scalar(0), check.Int32Scalar(0), check.Int32Scalar(shrink), f(out, want...))
	}
	rule("STRIDED_SLICE", slice([2]int32{0, 0}, [2]int32{2, 4}, [2]int32{1, 2}, 0, 2, 2), true)
	for dim := range 2 {
		zero := [2]int32{1, 1}
		zero[dim] = 0
		rule(fmt.Sprint("STRIDED_SLICE with stride 0 in dimension ", dim), slice([2]int32{0, 0}, [2]int32{2, 2}, zero, 0, 0, 0), false)
		for n, ok := range map[int32]bool{0: false, 1: true, 2: false} {
			end := [2]int32{2, 2}
			end[dim] = n
			rule(fmt.Sprintf("STRIDED_SLICE that removes dimension %d of %d elements", dim, n), slice([2]int32{0, 0}, end, [2]int32{1, 1}, 1<<dim, 0), ok)
		}
		back, begin, end := [2]int32{1, 1}, [2]int32{0, 0}, [2]int32{2, 2}
		back[dim], begin[dim], end[dim] = -1, 1, 0
		rule(fmt.Sprint("STRIDED_SLICE that removes dimension ", dim, " backwards"), slice(begin, end, back, 1<<dim, 0), false)
	}
	all := func(want ...uint32) *nn.Model {
		return slice([2]int32{1, 1}, [2]int32{2, 2}, [2]int32{1, 1}, 3, want...)
	}
	rule("STRIDED_SLICE that removes both dimensions, to [1]", all(1), true)
	rule("STRIDED_SLICE that removes both dimensions, to [2]", all(2), false)
	for _, c := range []struct {
		perm []int32
		ok   bool
	}{{[]int32{1, 0}, true}, {[]int32{0, 0}, false}, {[]int32{1, 1}, false}, {[]int32{2, 0}, false}, {[]int32{-1, 0}, false}, {[]int32{0}, false}} {
		rule(fmt.Sprint("TRANSPOSE by ", c.perm), oneOperation(nn.OpTranspose, f(in, 2, 2), integers(c.perm...), f(out, 2, 2)), c.ok)
	}
	for _, c := range []struct {
		a, b []uint32
		ok   bool
	}{{[]uint32{2, 3}, []uint32{3}, true}, {[]uint32{2, 3}, []uint32{2}, false}, {[]uint32{2}, []uint32{3}, false}, {[]uint32{3}, []uint32{2}, false}, {[]uint32{1, 3}, []uint32{2, 1}, true},
		{[]uint32{1, 1, 1, 2}, []uint32{2}, true}, {[]uint32{1, 1, 1, 1, 2}, []uint32{2}, false}, {[]uint32{2}, []uint32{1, 1, 1, 1, 2}, false}} {
		rule(fmt.Sprint("ADD of ", c.a, " and ", c.b), oneOperation(nn.OpAdd, f(in, c.a...), f(in, c.b...), check.Int32Scalar(0), f(out)), c.ok)
	}
	quant := func(typ nn.OperandType, l nn.Lifetime, scale float32, dims ...uint32) nn.Operand {
		return nn.Operand{Type: typ, Dimensions: dims, Lifetime: l, Scale: scale}
	}
	conv := func(filter, bias nn.Operand) *nn.Model {
		one := check.Int32Scalar(1)
		return oneOperation(nn.OpConv2D, quant(nn.TensorQuant8Asymm, in, 0.5, 1, 2, 2, 2), filter, bias, one, one, one, check.Int32Scalar(0), quant(nn.TensorQuant8Asymm, out, 1, 1, 2, 2, 2))
	}
	filter := quant(nn.TensorQuant8Asymm, in, 0.25, 2, 1, 1, 2)
	for share, ok := range map[float32]bool{1: true, 1 + 1e-7: true, 1.0001: false, 0.9999: false, 2: false} {
		rule(fmt.Sprint("CONV_2D with ", share, " of the bias's scale"), conv(filter, quant(nn.TensorInt32, in, 0.125*share, 2)), ok)
	}
	for dim := range uint32(4) {
		x := quant(nn.TensorQuant8SymmPerChannel, in, 0, 2, 1, 1, 2)
		x.Channel = &nn.ChannelQuant{Dim: dim, Scales: []float32{0.25, 0.5}[:x.Dimensions[dim]]}
		rule(fmt.Sprint("CONV_2D with a scale for each element of dimension ", dim), conv(x, quant(nn.TensorInt32, in, 0, 2)), dim == 0)
	}
}

func rangesAndPositions(t *check.T) {
	for _, scale := range []float32{0.7, 0.5, 0.03, 3} {
		for _, zero := range []int32{0, 10, 255} {
			code := func(v float64) int32 {
				return int32(min(max(math.Round(float64(float32(v)/scale))+float64(zero), 0), 255))
			}
			for act, r := range map[nn.FusedActivation][2]float64{nn.ActNone: {-1e6, 1e6}, nn.ActRelu: {0, 1e6}, nn.ActRelu1: {-1, 1}, nn.ActRelu6: {0, 6}} {
				lo, hi := quantized.ActRange(act, nn.TensorQuant8Asymm, scale, zero)
				check.Equal(t, fmt.Sprintf("range of activation %d with scale %v and zero point %d", act, scale, zero), [2]int32{lo, hi}, [2]int32{code(r[0]), code(r[1])})
			}
		}
	}
	for _, c := range []struct {
		in, out       int
		align, center bool
		nearest       string
		second        float64 // place of the second sample of the bilinear kind
	}{{4, 2, true, false, "[0 3]", 3}, {4, 2, false, false, "[0 2]", 2}, {4, 2, false, true, "[1 3]", 2.5}, {3, 1, true, false, "[0]", -1}, {2, 3, true, false, "[0 1 1]", 0.5}, {2, 4, false, true, "[0 0 1 1]", 0.25}} {
		r := opspec.Resize{H: c.in, W: c.in, OutH: c.out, OutW: c.out, AlignCorners: c.align, Center: c.center}
		what := fmt.Sprintf("%d to %d, align %v, half pixel %v", c.in, c.out, c.align, c.center)
		y, x := r.Nearest()
		check.Equal(t, what+": rows", fmt.Sprint(y), c.nearest)
		check.Equal(t, what+": columns", fmt.Sprint(x), c.nearest)
		if a, _ := r.Bilinear(); c.out > 1 {
			check.Equal(t, what+": the second sample", float64(a.Lo[1])+float64(a.Frac[1]), c.second)
		}
	}
}

func productScales(t *check.T) {
	const in, w = 0.5, 0.25
	quant := func(l nn.Lifetime, scale float32, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: dims, Lifetime: l, Scale: scale}
	}
	bias := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput, Scale: in * w}
	one := check.Int32Scalar(1)
	for scale, want := range map[float32]compat.Version{2 * in * w: compat.V1_0, in * w: compat.V1_2, in * w / 2: compat.V1_2} {
		conv := oneOperation(nn.OpConv2D, quant(nn.SubgraphInput, in, 1, 2, 2, 1), quant(nn.SubgraphInput, w, 1, 1, 1, 1), bias, one, one, one, check.Int32Scalar(0), quant(nn.SubgraphOutput, scale, 1, 2, 2, 1))
		check.Equal(t, fmt.Sprint("CONV_2D with output scale ", scale), compat.ModelVersion(conv), want)
		full := oneOperation(nn.OpFullyConnected, quant(nn.SubgraphInput, in, 2, 3), quant(nn.SubgraphInput, w, 1, 3), bias, check.Int32Scalar(0), quant(nn.SubgraphOutput, scale, 2, 1))
		check.Equal(t, fmt.Sprint("FULLY_CONNECTED with output scale ", scale), compat.ModelVersion(full), want)
	}
}

// sampleDrivers: the table of Android's sample drivers, by operations and figures.
func sampleDrivers(t *check.T) {
	f := func(op nn.OperationType) *nn.Model {
		m := check.AddModel(nn.TensorFloat32)
		m.Main.Operations[0].Type = op
		return m
	}
	choose := func(typ nn.OperandType) *nn.Model {
		x := check.Tensor(typ, nn.SubgraphInput, 2)
		return oneOperation(nn.OpSelect, check.Tensor(nn.TensorBool8, nn.SubgraphInput, 2), x, x, check.Tensor(typ, nn.SubgraphOutput, 2))
	}
	models := []*nn.Model{f(nn.OpAdd), f(nn.OpMul), check.ReluModel(nn.TensorFloat32, 2, 3), check.AddModel(nn.TensorQuant8Asymm), choose(nn.TensorFloat32), choose(nn.TensorQuant8Asymm), check.RequantModel()}
	for name, c := range map[string]struct {
		supports        string
		float, tensors8 hal.PerformanceInfo
	}{
		"sample_all":        {"[true true true true true true false]", hal.PerformanceInfo{ExecTime: 1.1, PowerUsage: 1.1}, hal.PerformanceInfo{ExecTime: 1.1, PowerUsage: 1.1}},
		"sample_float_fast": {"[true true true false true false false]", hal.PerformanceInfo{ExecTime: 0.8, PowerUsage: 1.2}, hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}},
		"sample_float_slow": {"[true true true false true false false]", hal.PerformanceInfo{ExecTime: 1.3, PowerUsage: 0.7}, hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}},
		"sample_minimal":    {"[true false false false false false false]", hal.PerformanceInfo{ExecTime: 0.4, PowerUsage: 0.5}, hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}},
		"sample_quant":      {"[false false false true false true false]", hal.PerformanceInfo{ExecTime: 50, PowerUsage: 1}, hal.PerformanceInfo{ExecTime: 50, PowerUsage: 1}},
	} {
		d := check.V(sample.New(name, cpudriver.Config{}))(t, name)
		var takes []bool
		for _, m := range models {
			s := check.V(d.SupportedOperations(m))(t, name)
			takes = append(takes, s[0].OK)
		}
		check.Equal(t, name+" takes", fmt.Sprint(takes), c.supports)
		for typ, want := range map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: c.float, nn.Float32: c.float, nn.TensorQuant8Asymm: c.tensors8} {
			check.Equal(t, name+": the figure of "+typ.String(), d.Capabilities().Lookup(typ), want)
		}
	}
}

// failuresAreFree repeats calls that fail, and copies, more often than a quota would bear.
func failuresAreFree(t *check.T) {
	m := check.AddModel(nn.TensorFloat32)
	_, folder, stop := t.ServiceOf(service.Quotas{Memory: 1 << 20, Prepared: 2, Buffers: 2, Bursts: 2, Fenced: 2, Calls: 2}, check.TimedCPU())
	defer stop()
	d := t.Dial(folder)
	defer d.Close()
	own := t.On(d)
	bad := check.AddModel(nn.TensorFloat32)
	bad.Main.Operands[0].Type = nn.TensorInt32
	for range 6 {
		t.Status("an invalid model", check.Err(d.PrepareModel(bad, hal.PrepareOptions{})), hal.InvalidArgument)
	}
	p := own.Prepare(m, hal.PrepareOptions{})
	for range 6 {
		_, err := d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, nil, nil)
		t.Status("a memory without roles", err, hal.InvalidArgument)
		r, _, _ := check.Shared(m)
		r.Outputs = nil
		t.Status("an invalid request", check.Err(p.Execute(r, hal.ExecuteOptions{})), hal.InvalidArgument)
		_, err = p.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)
		t.Status("an invalid request with fences", err, hal.InvalidArgument)
	}
	large := check.AddModel(nn.TensorFloat32)
	for i := range 3 {
		large.Main.Operands[i].Dimensions = []uint32{128, 256}
	}
	b := own.Allocate(own.Prepare(large, hal.PrepareOptions{}), 2, 0)
	defer b.Release()
	bytes := hal.NewMemory(128 << 10)
	for range 12 { // in all more than the client may hold
		t.OK("copyFrom", b.CopyFrom(bytes, nil))
		t.OK("copyTo", b.CopyTo(bytes))
	}
	own.Compute("afterwards", p, m)
}

// slotsOfOthers releases a memory of a burst and sends another, which gets its slot.
func slotsOfOthers(t *check.T) {
	p, m := t.Adder()
	b := check.V(p.ConfigureExecutionBurst())(t, "burst")
	defer func() { t.OK("close", b.Close()) }()
	for i := range 4 {
		r, memory, want := check.Shared(m)
		if i%2 == 1 { // both inputs are the first
			r.Inputs[1] = r.Inputs[0]
			_, err := p.Execute(r, hal.ExecuteOptions{})
			t.OK("execute", err)
			at := r.Outputs[0].Location
			want = append([]byte(nil), memory.Data[at.Offset:][:at.Length]...)
			clear(memory.Data[at.Offset:][:at.Length])
		}
		release := b.CacheMemory(memory)
		_, err := b.Execute(r, hal.ExecuteOptions{})
		t.OK("burst", err)
		t.Same(fmt.Sprint("memory ", i), memory.Data[r.Outputs[0].Location.Offset:][:len(want)], want)
		release()
	}
}
