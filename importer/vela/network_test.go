package vela_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/importer/vela/velatest"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// A graph is cut at its ethos-u operators; the operators between them become separate models.
func TestRead(t *testing.T) {
	data := velatest.Mixed([]byte("COP1")).Bytes()
	require.Check(t, vela.Is(data), "not recognised")
	n := require.V(vela.Read(data))(t)
	if got := n.String(); got != "1 CPU operators, ethos-u, 1 CPU operators" {
		t.Error(got)
	}
	var in, out [][]int
	for i := range n.Steps {
		in, out = append(in, n.Steps[i].Inputs), append(out, n.Steps[i].Outputs)
	}
	require.Equal(t, [][]int{{4}, {5}, {6}}, in, "inputs of steps")
	require.Equal(t, [][]int{{5}, {6}, {7}}, out, "outputs of steps")
	for i, want := range map[int]nn.OperationType{0: nn.OpRelu, 2: nn.OpRelu6} {
		g := &n.Steps[i].CPU.Main
		if len(g.Operations) != 1 || g.Operations[0].Type != want || len(g.Operands) != 2 || len(g.Inputs) != 1 || len(g.Outputs) != 1 {
			t.Errorf("step %d: %+v", i, g)
		}
		if o := g.Operands[g.Outputs[0]]; o.Scale != 0.1 || o.ZeroPoint != -4 || o.Type != nn.TensorQuant8AsymmSigned {
			t.Errorf("step %d: output %+v", i, o)
		}
	}
	if o := n.Steps[1].NPU; string(o.Payload) != "COP1" || len(o.Constants) != 16 || o.ArenaBytes != 256 || o.FastBytes != 64 {
		t.Errorf("operator %+v", o)
	}
}

// TestUnreadSteps demands that operators of the CPU whose results nothing reads are left out.
func TestUnreadSteps(t *testing.T) {
	f := velatest.Mixed([]byte("COP1"))
	f.Outputs = []int32{6}
	n := require.V(vela.Read(f.Bytes()))(t)
	require.Check(t, len(n.Steps) == 2 && n.Steps[1].NPU != nil, "%d steps", len(n.Steps))
}

// What is wrong with a file is named.
func TestReadErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *velatest.File)
		want   string
	}{
		"no ethos-u":        {func(f *velatest.File) { f.Operators[1].Custom = "other" }, "no ethos-u operator"},
		"no inputs":         {func(f *velatest.File) { f.Operators[1].Inputs = []int32{0, 1, 2} }, "operator 1 (ethos-u): 3 inputs and 1 outputs"},
		"omitted":           {func(f *velatest.File) { f.Operators[1].Inputs[4] = -1 }, "operand 4 is omitted"},
		"no such tensor":    {func(f *velatest.File) { f.Operators[1].Inputs[4] = 99 }, "input 4 is tensor 99 of 8"},
		"no stream":         {func(f *velatest.File) { f.Tensors[0].Data = nil }, "tensor 0 has no command stream"},
		"huge arena":        {func(f *velatest.File) { f.Tensors[2].Shape = []int32{1<<28 + 1} }, "working memory of 268435457"},
		"outside the arena": {func(f *velatest.File) { f.Tensors[6].Offset = 129 }, "[0x81,0x101) of an arena of 0x100 bytes"},
		"no place":          {func(f *velatest.File) { f.Tensors[6].Offset = -1 }, "tensor 6 (npu) has no place in the arena"},
		"no offsets":        {func(f *velatest.File) { f.NoOffsets = true }, "tensor 5 (before) has no place in the arena"},
		"before it is made": {func(f *velatest.File) { f.Operators[0].Inputs[0] = 7 }, "step 0 needs tensor 7 (after) before"},
		"no outputs":        {func(f *velatest.File) { f.Outputs = nil }, "no outputs"},
		"string input":      {func(f *velatest.File) { f.Tensors[4].Type = velatest.String }, "tensor 4 (input): input or output of TensorFlow Lite type 5"},
		"unknown CPU operator": {func(f *velatest.File) {
			f.Operators[2] = velatest.Operator{Custom: "Odd", Inputs: []int32{6}, Outputs: []int32{7}}
		},
			"operator 2 on the CPU"},
	} {
		t.Run(name, func(t *testing.T) {
			f := velatest.Mixed([]byte("COP1"))
			c.change(f)
			require.ErrorContains(t, require.Err(vela.Read(f.Bytes())), c.want)
		})
	}
	if _, err := vela.Read([]byte("TFL3TFL3")); err == nil || errors.Is(err, vela.ErrNotVela) {
		t.Error(err)
	}
}

// FuzzRead: any file results in a network whose parts are inside it, or an error.
func FuzzRead(f *testing.F) {
	data := velatest.Mixed([]byte("COP1")).Bytes()
	f.Add(data)
	for _, n := range []int{1, 8, 40, len(data) / 2, len(data) - 1} {
		f.Add(data[:n])
	}
	for i := 4; i < len(data); i += 37 {
		b := append([]byte(nil), data...)
		b[i] ^= 0x40
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := vela.Read(data)
		if err != nil {
			require.Check(t, strings.HasPrefix(err.Error(), "vela: "), "error without a source: %v", err)
			return
		}
		require.Check(t, vela.Is(data), "read but not recognised")
		for i := range n.Steps {
			if o := n.Steps[i].NPU; o != nil && (o.ArenaBytes > vela.MaxArena || len(o.Payload)+len(o.Constants) > 2*len(data)) {
				t.Errorf("step %d: %d bytes of arena", i, o.ArenaBytes)
			}
		}
	})
}
