package offline_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// compiled compiles a model, reads the file and runs it, on noise.
func compiled(t *testing.T, m *nn.Model, name string) (*offline.Network, *vela.Network, [][]byte) {
	t.Helper()
	a := require.V(ethosu.ParseConfig(name))(t)
	c := require.V(soc.Load(name))(t)
	n := require.V(offline.Compile(m, c, a))(t)
	read := require.V(vela.Read(n.File))(t)
	if got, err := inference.Accelerator(read); err != nil || got != a {
		t.Fatalf("the file is for %v, %v", got, err)
	}
	machine := require.V(inference.NewMachine(c, hal.FastSingleAnswer))(t)
	s := require.V(inference.New(read, machine))(t)
	r := require.V(s.Run(noise(m), inference.Options{}))(t)
	if r.Stalls.Total() != r.Cycles || r.ActiveCycles <= 0 {
		t.Errorf("reasons add up to %d of %d cycles, %d active", r.Stalls.Total(), r.Cycles, r.ActiveCycles)
	}
	return n, read, r.Outputs
}

func noise(m *nn.Model) (inputs [][]byte) {
	for i := range m.Main.Inputs {
		inputs = append(inputs, tensor.SyntheticInput(&m.Main, i, uint32(i+1)))
	}
	return inputs
}

// checkOutputs demands the reference's bytes.
func checkOutputs(t *testing.T, m *nn.Model, got [][]byte) {
	t.Helper()
	ref := require.V(refcpu.Compile(m))(t)
	var want [][]byte
	for _, x := range m.Main.Outputs {
		want = append(want, make([]byte, m.Main.Operands[x].Bytes()))
	}
	require.NoError(t, ref.Run(noise(m), want, refcpu.Options{}))
	for i := range want {
		require.Check(t, bytes.Equal(got[i], want[i]), "output %d differs from the reference", i)
	}
}

// TestNetworks compiles whole networks for machines with activations on chip and without, and
// demands the reference's bytes of the files.
func TestNetworks(t *testing.T) {
	for _, name := range []string{"mlperf_tiny_kws_quant", "mlperf_tiny_ad_quant", "mobilenet_v2_0.35_96_quant"} {
		for _, accelerator := range []string{"ethos-u55-32", "ethos-u55-128", "ethos-u65-512"} {
			t.Run(name+"/"+accelerator, func(t *testing.T) {
				m := zoo.MustBuild(name)
				n, read, got := compiled(t, m, accelerator)
				checkOutputs(t, m, got)
				require.Check(t, len(n.Operators) == 1 && len(n.CPU) == 0, "%d operators, on the CPU %v", len(n.Operators), n.CPU)
				checkPlaces(t, read)
			})
		}
	}
}

// checkPlaces checks the properties that Arm's driver relies on: aligned operands, and inputs and outputs of each
// operator inside its arena, in memory that no other of them uses.
func checkPlaces(t *testing.T, n *vela.Network) {
	t.Helper()
	for _, s := range n.Steps {
		if s.NPU == nil {
			continue
		}
		if len(s.NPU.Payload)%4 != 0 || len(s.NPU.Constants)%16 != 0 {
			t.Errorf("payload of %d bytes, constants of %d", len(s.NPU.Payload), len(s.NPU.Constants))
		}
		require.Same(t, 0x31504F43, binary.LittleEndian.Uint32(s.NPU.Payload), "payload begins with")
		for i, x := range s.Inputs {
			a := &n.Tensors[x]
			require.Check(t, a.Offset%16 == 0, "tensor %d at %d", x, a.Offset)
			for _, y := range s.Inputs[:i] {
				b := &n.Tensors[y]
				if a.Offset < b.Offset+int(b.Operand.Bytes()) && b.Offset < a.Offset+int(a.Operand.Bytes()) {
					t.Errorf("tensors %d and %d overlap", x, y)
				}
			}
		}
	}
}

// mixed is a network whose middle no NPU computes, a sine in float, with a value that passes it
// by.
func mixed(t *testing.T) *nn.Model {
	g := nn.Subgraph{}
	operand := func(typ nn.OperandType, scale float32, l nn.Lifetime) uint32 {
		g.Operands = append(g.Operands, nn.Operand{Type: typ, Dimensions: []uint32{1, 8, 8, 4}, Scale: scale, Lifetime: l})
		return uint32(len(g.Operands) - 1)
	}
	x, y := operand(nn.TensorQuant8AsymmSigned, 0.1, nn.SubgraphInput), operand(nn.TensorQuant8AsymmSigned, 0.1, nn.SubgraphOutput)
	a, c := operand(nn.TensorQuant8AsymmSigned, 0.1, nn.TemporaryVariable), operand(nn.TensorQuant8AsymmSigned, 0.1, nn.TemporaryVariable)
	f, s := operand(nn.TensorFloat32, 0, nn.TemporaryVariable), operand(nn.TensorFloat32, 0, nn.TemporaryVariable)
	g.Operands = append(g.Operands, nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)})
	none := uint32(len(g.Operands) - 1)
	g.Inputs, g.Outputs = []uint32{x}, []uint32{y}
	g.Operations = []nn.Operation{
		{Type: nn.OpAdd, Inputs: []uint32{x, x, none}, Outputs: []uint32{a}},
		{Type: nn.OpDequantize, Inputs: []uint32{a}, Outputs: []uint32{f}},
		{Type: nn.OpSin, Inputs: []uint32{f}, Outputs: []uint32{s}},
		{Type: nn.OpQuantize, Inputs: []uint32{s}, Outputs: []uint32{c}},
		{Type: nn.OpAdd, Inputs: []uint32{a, c, none}, Outputs: []uint32{y}},
	}
	m := &nn.Model{Main: g}
	require.NoError(t, nnrt.Validate(m))
	return m
}

// TestMixed: two operators with operations of the CPU between them share an arena; inputs of the second one from the
// first survive.
func TestMixed(t *testing.T) {
	m := mixed(t)
	n, read, got := compiled(t, m, "ethos-u55-64")
	checkOutputs(t, m, got)
	checkPlaces(t, read)
	if len(n.Operators) != 2 || len(n.CPU) != 3 || len(read.Steps) != 3 || !strings.Contains(n.Reasons[1], "SIN") {
		t.Errorf("%d operators, CPU %v (%v), %d steps", len(n.Operators), n.CPU, n.Reasons, len(read.Steps))
	}
}

// TestRefusals: unsupported models are refused by name.
func TestRefusals(t *testing.T) {
	c := require.V(soc.Load("ethos-u55-128"))(t)
	a, _ := ethosu.ParseConfig("ethos-u55-128")
	if _, err := offline.Compile(zoo.MustBuild("mlperf_tiny_kws_float"), c, a); err == nil || !strings.Contains(err.Error(), "no operation of the model runs on the NPU") {
		t.Errorf("a float network: %v", err)
	}
	other, _ := ethosu.ParseConfig("ethos-u65-256")
	require.ErrorContains(t, require.Err(offline.Compile(zoo.MustBuild("mlperf_tiny_kws_quant"), c, other)), "compiled for U65", "another accelerator")
}
