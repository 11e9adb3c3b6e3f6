package nnrt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// filled is FILL with the size that an execution brings, and relu of that.
func filled() *nn.Model {
	open := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{0}, Lifetime: l}
	}
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput},
			{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: []byte{0, 0, 0xc0, 0x3f}},
			open(nn.TemporaryVariable), open(nn.SubgraphOutput),
		},
		Operations: []nn.Operation{
			{Type: nn.OpFill, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpRelu, Inputs: []uint32{2}, Outputs: []uint32{3}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{3},
	}}
}

// TestOpenShapes runs a model whose shapes an execution gives, in one part and in
// two, with more than one element and with none.
func TestOpenShapes(t *testing.T) {
	m := filled()
	require.NoError(t, Validate(m))
	for _, c := range []struct {
		name     string
		declines map[nn.OperationType]bool
		prepare  error
		owner    string // of the second operation
	}{
		{"together", map[nn.OperationType]bool{nn.OpFill: true, nn.OpRelu: true}, nil, "cpu"},
		{"apart", map[nn.OperationType]bool{nn.OpFill: true}, nil, "x"},
		{"not prepared", map[nn.OperationType]bool{nn.OpFill: true}, errors.New("no"), "cpu"},
	} {
		r := require.V(registry.New(testCPU(), &picky{name: "x", declines: c.declines, prepare: c.prepare}))(t)
		compiled := require.V(Compile(r, m, "x", CompileOptions{}))(t)
		for _, n := range []uint32{1, 5, 300, 0} {
			in := [][]byte{binary.LittleEndian.AppendUint32(nil, n)}
			res, err := compiled.Execute(in, ExecuteOptions{})
			if err != nil {
				t.Errorf("%s, %d elements: %v", c.name, n, err)
				continue
			}
			want := bytes.Repeat([]byte{0, 0, 0xc0, 0x3f}, int(n))
			ref := require.V(cpudriver.Reference(m, in))(t)
			if !bytes.Equal(res.Outputs[0], want) || !bytes.Equal(ref[0], want) || !slices.Equal(res.Dimensions[0], []uint32{n}) {
				t.Errorf("%s, %d elements: %d bytes, reference %d, shape %v", c.name, n, len(res.Outputs[0]), len(ref[0]), res.Dimensions[0])
			}
			owner := c.owner
			if n == 0 {
				owner = "cpu" // no model can say so to a device
			}
			if got := res.Operations[1].Device; got != owner {
				t.Errorf("%s, %d elements: relu on %s, want %s", c.name, n, got, owner)
			}
			if err := addsUp(res); err != nil {
				t.Errorf("%s, %d elements: %v", c.name, n, err)
			}
		}
		require.Fails(t, require.Err(compiled.Execute([][]byte{{0xff, 0xff, 0xff, 0x7f}}, ExecuteOptions{})), c.name, "2^31 elements")
	}
}

// stubborn is a device whose outputs never fit.
type stubborn struct {
	picky
	dims [][]uint32
}

func (d *stubborn) PrepareModel(*nn.Model, hal.PrepareOptions) (hal.PreparedModel, error) {
	return &stubbornModel{dims: d.dims}, nil
}

// stubbornModel is what stubborn prepares.
type stubbornModel struct {
	hal.UnimplementedPreparedModel
	dims [][]uint32
}

func (d *stubbornModel) Execute(*hal.Request, hal.ExecuteOptions) (*hal.Result, error) {
	return &hal.Result{OutputDimensions: d.dims, Insufficient: []bool{true}}, hal.Errorf(hal.OutputInsufficientSize, "too small")
}

// TestOutputInsufficientSize: the status of a device that requests larger buffers more
// than once, too large ones, or ones for outputs of known shape is passed on.
func TestOutputInsufficientSize(t *testing.T) {
	for _, c := range []struct {
		dims [][]uint32
		want hal.Status
	}{
		{[][]uint32{{7}}, hal.OutputInsufficientSize},
		{[][]uint32{{1}}, hal.OutputInsufficientSize},
		{nil, hal.GeneralFailure},
		{[][]uint32{{1 << 30, 1 << 30}}, hal.GeneralFailure},
	} {
		r := require.V(registry.New(testCPU(), &stubborn{picky{name: "x"}, c.dims}))(t)
		for _, m := range []*nn.Model{filled(), model()} {
			compiled, err := Compile(r, m, "x", CompileOptions{})
			require.NoError(t, err)
			in, want := []byte{3, 0, 0, 0}, c.want
			if len(m.Main.Operations) > 2 {
				in, want = input(), hal.OutputInsufficientSize
			}
			if _, err = compiled.Execute([][]byte{in}, ExecuteOptions{}); hal.StatusOf(err) != want {
				t.Errorf("shapes %v: %v, want %v", c.dims, err, want)
			}
		}
	}
}
