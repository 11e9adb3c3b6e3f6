package base_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// shapes records the shapes that are requested from a driver.
type shapes struct {
	base.Compiler
	supported, compiled [][]uint32
}

func (s *shapes) Supports(m *nn.Model) ([]hal.Support, error) {
	s.supported = append(s.supported, m.Main.Operands[1].Dimensions)
	return []hal.Support{{OK: true}}, nil
}

func (s *shapes) Compile(m *nn.Model, _ hal.PrepareOptions) (base.Program, error) {
	s.compiled = append(s.compiled, m.Main.Operands[1].Dimensions)
	p, err := cpudriver.New(cpudriver.Config{}).PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		return nil, err
	}
	return base.Unwrap(p), nil
}

// TestResolvesOutputs: a driver sees the shape of an output that the model
// leaves open, and a request learns it.
func TestResolvesOutputs(t *testing.T) {
	for _, dims := range [][]uint32{nil, {0}} {
		s := &shapes{}
		d := base.New(base.Config{Name: "toy"}, s)
		m := relu()
		m.Main.Operands[1].Dimensions = dims
		p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t)
		if len(s.compiled) != 1 || !slices.Equal(s.compiled[0], []uint32{4}) {
			t.Errorf("compiled for %v", s.compiled)
		}
		if m.Main.Operands[1].Known() {
			t.Error("the caller's model was changed")
		}
		if _, err := d.SupportedOperations(m); err != nil || len(s.supported) != 1 || !slices.Equal(s.supported[0], []uint32{4}) {
			t.Errorf("asked for %v: %v", s.supported, err)
		}
		r := request()
		r.Functional = true
		if res, err := hal.Execute(p, r); err != nil || !slices.Equal(res.OutputDimensions[0], []uint32{4}) {
			t.Errorf("%v, %v", res, err)
		}
		r.Outputs[0] = r.Outputs[0][1:]
		if res, err := hal.Execute(p, r); hal.StatusOf(err) != hal.OutputInsufficientSize || !slices.Equal(res.OutputDimensions[0], []uint32{4}) {
			t.Errorf("one byte short: %v, %v", res, err)
		}
	}
}

// TestOpenInput: a request completes the shape of an input, which does not follow from the length
// of a buffer; each size is compiled once, and an empty batch gives empty outputs.
func TestOpenInput(t *testing.T) {
	s := &shapes{}
	d := base.New(base.Config{Name: "toy"}, s)
	m := relu()
	m.Main.Operands[0].Dimensions, m.Main.Operands[1].Dimensions = []uint32{0, 4}, nil
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	require.NoError(t, err)
	require.Same(t, 0, len(compile.Programs(p)), "programs before an execution")
	for _, batch := range []int{2, 3, 2, 3, 2, 0, 4, 5, 6, 7, 8, 9, 1, 2, 3, 2, 4} {
		r := &hal.Buffers{Inputs: [][]byte{make([]byte, 16*batch)}, Outputs: [][]byte{make([]byte, 16*batch)}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
		if batch > 0 {
			if _, err := hal.Execute(p, r); hal.StatusOf(err) != hal.InvalidArgument {
				t.Errorf("batch %d that only the length tells: %v", batch, err)
			}
			r.InputDimensions = [][]uint32{{uint32(batch), 4}}
		}
		res, err := hal.Execute(p, r)
		if err != nil || !slices.Equal(res.OutputDimensions[0], []uint32{uint32(batch), 4}) {
			t.Errorf("batch %d: %v, %v", batch, res, err)
		}
	}
	want := [][]uint32{{1, 4}} // the sample, and what is not among the last eight
	for _, batch := range []uint32{2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 4} {
		want = append(want, []uint32{batch, 4})
	}
	if !slices.EqualFunc(s.compiled, want, slices.Equal[[]uint32]) {
		t.Errorf("compiled for %v, want %v", s.compiled, want)
	}
	for _, bytes := range []int{4, 17} {
		r := &hal.Buffers{Inputs: [][]byte{make([]byte, bytes)}, Outputs: [][]byte{make([]byte, 64)}, InputDimensions: [][]uint32{{1, 4}}}
		if _, err := hal.Execute(p, r); hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
	m.Main.Operands[0].Dimensions = []uint32{0, 0, 4}
	if p, err = d.PrepareModel(m, hal.PrepareOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := hal.Execute(p, request()); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("two unknown dimensions: %v", err)
	}
}

// openModel is a model of one operation whose inputs and outputs are float tensors of these shapes, with constants of
// TENSOR_INT32 or INT32 behind the inputs.
func openModel(op nn.OperationType, in [][]uint32, out []uint32, parameters ...nn.Operand) *nn.Model {
	g := nn.Subgraph{Operations: []nn.Operation{{Type: op}}}
	o := &g.Operations[0]
	add := func(x nn.Operand) uint32 {
		g.Operands = append(g.Operands, x)
		return uint32(len(g.Operands) - 1)
	}
	for _, dims := range in {
		g.Inputs = append(g.Inputs, add(nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: nn.SubgraphInput}))
	}
	o.Inputs = slices.Clone(g.Inputs)
	for _, x := range parameters {
		x.Lifetime = nn.ConstantCopy
		o.Inputs = append(o.Inputs, add(x))
	}
	g.Outputs = []uint32{add(nn.Operand{Type: nn.TensorFloat32, Dimensions: out, Lifetime: nn.SubgraphOutput})}
	o.Outputs = g.Outputs
	return &nn.Model{Main: g}
}

// TestOpenShapes: whatever a model leaves open of its inputs, a device accepts it that accepts the whole shapes, and a
// request completes them. Shapes that follow from an output or from another input are found.
func TestOpenShapes(t *testing.T) {
	i32 := func(v byte) nn.Operand { return nn.Operand{Type: nn.Int32, Data: []byte{v, 0, 0, 0}} }
	conv := []nn.Operand{i32(2), i32(1), i32(1), i32(0)}
	for _, c := range []struct {
		name  string
		model *nn.Model
		dims  [][]uint32 // of the request
		out   []uint32
	}{
		{"two sizes, told by the output", openModel(nn.OpRelu, [][]uint32{{3, 0, 0, 8}}, []uint32{3, 9, 5, 8}), [][]uint32{{3, 9, 5, 8}}, []uint32{3, 9, 5, 8}},
		{"two sizes beside an open output", openModel(nn.OpRelu, [][]uint32{{0, 0}}, nil), [][]uint32{{70, 3}}, []uint32{70, 3}},
		{"no rank", openModel(nn.OpRelu, [][]uint32{nil}, nil), [][]uint32{{2, 3, 4}}, []uint32{2, 3, 4}},
		{"no rank, told by the output", openModel(nn.OpRelu, [][]uint32{nil}, []uint32{7, 0, 2}), [][]uint32{{7, 3, 2}}, []uint32{7, 3, 2}},
		{"rank 1", openModel(nn.OpRelu, [][]uint32{{0}}, nil), [][]uint32{{5}}, []uint32{5}},
		{"a second input without rank", openModel(nn.OpMul, [][]uint32{{2, 3}, nil}, []uint32{2, 3}, i32(0)), [][]uint32{{2, 3}, {3}}, []uint32{2, 3}},
		{"filter and bias", openModel(nn.OpConv2D, [][]uint32{{1, 4, 4, 63}, {5, 3, 2, 0}, {0}}, []uint32{1, 2, 3, 5}, conv...),
			[][]uint32{{1, 4, 4, 63}, {5, 3, 2, 63}, {5}}, []uint32{1, 2, 3, 5}},
		{"an image by a window", openModel(nn.OpAveragePool2D, [][]uint32{{0, 0, 0, 0}}, []uint32{2, 90, 1, 8},
			i32(2), i32(1), i32(1), i32(3), i32(2), i32(0)), [][]uint32{{2, 91, 3, 8}}, []uint32{2, 90, 1, 8}},
		{"channels by a block", openModel(nn.OpDepthToSpace, [][]uint32{{1, 0, 0, 0}}, []uint32{1, 4, 6, 3}, i32(2)), [][]uint32{{1, 2, 3, 12}}, []uint32{1, 4, 6, 3}},
	} {
		d := cpudriver.New(cpudriver.Config{})
		s, err := d.SupportedOperations(c.model)
		if err != nil || len(s) != 1 || !s[0].OK {
			t.Errorf("%s: support: %v, %v", c.name, s, err)
			continue
		}
		p, err := d.PrepareModel(c.model, hal.PrepareOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b := &hal.Buffers{InputDimensions: c.dims, Outputs: [][]byte{make([]byte, 4*nn.Elements(c.out))}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
		for _, d := range c.dims {
			b.Inputs = append(b.Inputs, make([]byte, 4*nn.Elements(d)))
		}
		if res, err := hal.Execute(p, b); err != nil || !slices.Equal(res.OutputDimensions[0], c.out) {
			t.Errorf("%s: %v, %v", c.name, res, err)
		}
	}
}

// TestContradictoryShapes: a valid model whose declared shapes no input has is declined with a reason, which is no
// error of the query.
func TestContradictoryShapes(t *testing.T) {
	d, m := cpudriver.New(cpudriver.Config{}), openModel(nn.OpMul, [][]uint32{{0, 4}, {0, 5}}, []uint32{2, 4}, nn.Operand{Type: nn.Int32, Data: make([]byte, 4)})
	if s, err := d.SupportedOperations(m); err != nil || s[0].OK || s[0].Reason == "" {
		t.Errorf("support: %v, %v", s, err)
	}
	if _, err := d.PrepareModel(m, hal.PrepareOptions{}); hal.StatusOf(err) != hal.InvalidArgument {
		t.Errorf("prepared: %v", err)
	}
}

// TestOmittedOrGiven: an optional input of unknown shape may be left out of a request, or come with its shape.
func TestOmittedOrGiven(t *testing.T) {
	g := nn.Subgraph{Operations: []nn.Operation{{Type: nn.OpSvdf}}}
	add := func(l nn.Lifetime, typ nn.OperandType, data []byte, dims ...uint32) uint32 {
		g.Operands = append(g.Operands, nn.Operand{Type: typ, Dimensions: dims, Lifetime: l, Data: data})
		return uint32(len(g.Operands) - 1)
	}
	const f32 = nn.TensorFloat32
	g.Inputs = []uint32{add(nn.SubgraphInput, f32, nil, 1, 2), add(nn.SubgraphInput, f32, nil, 3, 2), add(nn.SubgraphInput, f32, nil, 3, 2),
		add(nn.SubgraphInput, f32, nil, 0), add(nn.SubgraphInput, f32, nil, 1, 6)}
	scalar := func(v byte) uint32 { return add(nn.ConstantCopy, nn.Int32, []byte{v, 0, 0, 0}) }
	g.Operations[0].Inputs = append(slices.Clone(g.Inputs), scalar(1), scalar(0))
	g.Outputs = []uint32{add(nn.SubgraphOutput, f32, nil, 1, 6), add(nn.SubgraphOutput, f32, nil, 1, 3)}
	g.Operations[0].Outputs = g.Outputs
	d := cpudriver.New(cpudriver.Config{})
	p := require.V(d.PrepareModel(&nn.Model{Main: g}, hal.PrepareOptions{}))(t)
	for _, bias := range [][]byte{nil, {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64}, nil} {
		b := &hal.Buffers{Inputs: [][]byte{make([]byte, 8), make([]byte, 24), make([]byte, 24), bias, make([]byte, 24)},
			InputDimensions: [][]uint32{nil, nil, nil, {3}, nil}, Outputs: [][]byte{make([]byte, 24), make([]byte, 12)},
			ExecuteOptions: hal.ExecuteOptions{Functional: true}}
		require.NoError(t, require.Err(hal.Execute(p, b)), "bias of", len(bias), "bytes")
		if want := append(slices.Clone(bias), make([]byte, 12-len(bias))...); !slices.Equal(b.Outputs[1], want) {
			t.Errorf("bias %v: %v", bias, b.Outputs[1])
		}
	}
}
