package compat_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// mixed is RELU (1.0), NEG (1.2), RELU of that, ABS (1.2) of that, and ADD of both ABS
// and NEG with a constant BOOL that nothing names.
func mixed() *nn.Model {
	f := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: l}
	}
	temp := nn.TemporaryVariable
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{f(nn.SubgraphInput), f(temp), f(temp), f(temp), f(temp), f(nn.SubgraphOutput),
			{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, {Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: make([]byte, 1)}},
		Operations: []nn.Operation{
			{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OpNeg, Inputs: []uint32{1}, Outputs: []uint32{2}},
			{Type: nn.OpRelu, Inputs: []uint32{2}, Outputs: []uint32{3}},
			{Type: nn.OpAbs, Inputs: []uint32{3}, Outputs: []uint32{4}},
			{Type: nn.OpAdd, Inputs: []uint32{4, 2, 6}, Outputs: []uint32{5}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{5},
	}}
}

// TestSlice: HAL 1.0 gets three operations. What NEG and ABS write is one input, as both
// are alike; what only they read are outputs.
func TestSlice(t *testing.T) {
	s, original := compat.Slice(compat.V1_0, mixed())
	if diff := cmp.Diff([]int{0, 2, 4}, original); diff != "" {
		t.Fatalf("operations (-want +got):\n%s", diff)
	}
	want := []nn.Operation{
		{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
		{Type: nn.OpRelu, Inputs: []uint32{2}, Outputs: []uint32{3}},
		{Type: nn.OpAdd, Inputs: []uint32{2, 2, 4}, Outputs: []uint32{5}},
	}
	require.Equal(t, want, s.Main.Operations, "slice")
	require.Equal(t, [][]uint32{{2, 0}, {1, 3, 5}}, [][]uint32{s.Main.Inputs, s.Main.Outputs}, "inputs and outputs")
	if whole, original := compat.Slice(compat.V1_2, mixed()); whole == nil || len(original) != 5 {
		t.Errorf("HAL 1.2 gets operations %v", original)
	}
	none := mixed()
	none.Main.Operations = none.Main.Operations[1:2]
	none.Main.Operations[0].Inputs[0] = 0
	none.Main.Operations[0].Outputs[0] = 5
	if s, _ := compat.Slice(compat.V1_0, none); s != nil {
		t.Errorf("a slice of nothing: %+v", s)
	}
}

// TestSimplified: a POOL with its default layout loses the argument and the operand, so
// that HAL 1.0 can express it.
func TestSimplified(t *testing.T) {
	one := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{1, 0, 0, 0}}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	image := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2, 2, 1}, Lifetime: l}
	}
	for layout, want := range map[byte]compat.Version{0: compat.V1_0, 1: compat.V1_2} {
		m := &nn.Model{Main: nn.Subgraph{
			Operands: []nn.Operand{image(nn.SubgraphInput), one, none, image(nn.SubgraphOutput), {Type: nn.Bool, Lifetime: nn.ConstantCopy, Data: []byte{layout}}},
			Operations: []nn.Operation{
				{Type: nn.OpMaxPool2D, Inputs: []uint32{0, 1, 1, 1, 1, 1, 2, 4}, Outputs: []uint32{3}},
			},
			Inputs: []uint32{0}, Outputs: []uint32{3},
		}}
		if got := compat.ModelVersion(m); got != compat.V1_2 {
			t.Fatalf("the model is of %v", got)
		}
		require.Same(t, want, compat.ModelVersion(compat.Simplified(m)), "layout", layout)
		require.Same(t, 8, len(m.Main.Operations[0].Inputs), "the model itself has changed")
	}
}

// TestAdapt: a driver of each version supports the models that the version can express, prepares
// them, and computes the same results; later features are refused or left out.
func TestAdapt(t *testing.T) {
	d := cpudriver.New(cpudriver.Config{})
	m := mixed()
	for v, supported := range map[compat.Version]int{compat.V1_0: 3, compat.V1_1: 3, compat.V1_2: 5, compat.V1_3: 5} {
		old := compat.Adapt(v, d)
		list := require.V(old.SupportedOperations(m))(t)
		n := 0
		for _, s := range list {
			if s.OK {
				n++
			}
		}
		require.Check(t, n == supported, "%v: supports %d of 5, want %d: %v", v, n, supported, list)
		_, err := old.PrepareModel(m, hal.PrepareOptions{})
		require.Same(t, supported == 5, err == nil, v, "preparing the whole model", err)
		part := mixed()
		part.Main.Operations = part.Main.Operations[:1]
		part.Main.Operands[1].Lifetime = nn.SubgraphOutput
		part.Main.Operands[5].Lifetime = nn.TemporaryVariable
		part.Main.Outputs = []uint32{1}
		p := require.V(old.PrepareModel(part, hal.PrepareOptions{Preference: hal.FastSingleAnswer}))(t)
		out := make([]byte, 8)
		b := &hal.Buffers{Inputs: [][]byte{{0, 0, 0x80, 0xbf, 0, 0, 0x80, 0x3f}}, Outputs: [][]byte{out}, ExecuteOptions: hal.ExecuteOptions{Functional: true}}
		res, err := hal.Execute(p, b)
		if err != nil || !bytes.Equal(out, []byte{0, 0, 0, 0, 0, 0, 0x80, 0x3f}) {
			t.Errorf("%v: output %v, error %v", v, out, err)
			continue
		}
		if shapes := res.OutputDimensions != nil; shapes != (v >= compat.V1_2) {
			t.Errorf("%v: shapes %v", v, res.OutputDimensions)
		}
		passed := hal.TimePoint(0)
		b.Deadline = &passed
		if _, err := hal.Execute(p, b); (err != nil) != (v >= compat.V1_3) {
			t.Errorf("%v: a passed deadline: %v", v, err)
		}
		if _, err := p.ExecuteFenced(b.Request(), nil, hal.ExecuteOptions{}, 0); (err == nil) != (v >= compat.V1_3) {
			t.Errorf("%v: executeFenced: %v", v, err)
		}
		if _, err := p.ConfigureExecutionBurst(); (err == nil) != (v >= compat.V1_2) {
			t.Errorf("%v: a burst: %v", v, err)
		}
		roles := []hal.BufferRole{{Frequency: 1}}
		if _, err := old.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, roles, nil); (err == nil) != (v >= compat.V1_3) {
			t.Errorf("%v: allocate: %v", v, err)
		}
	}
}
