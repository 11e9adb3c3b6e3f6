package devices_test

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// oneOperation is a model of one operation. Activations are inputs, shapes under
// constants are weights, numbers are INT32 scalars.
type oneOperation struct {
	op   nn.OperationType
	kind nn.OperandType
	args []any
	out  []uint32
	more [][]uint32 // outputs before out
}

type weights []uint32

// indexes is the shape of an INT32 input.
type indexes []uint32

// pairs are the values of an INT32 constant of two columns.
type pairs []uint32

func (o oneOperation) model() *nn.Model {
	var g nn.Subgraph
	random := uint64(1)
	fill := func(b []byte) []byte { // small finite numbers of any type
		for i := range b {
			random = random*6364136223846793005 + 1442695040888963407
			b[i] = byte(random>>60) + 1
		}
		return b
	}
	integer := o.kind.ElementBytes() == 1
	add := func(x nn.Operand) uint32 {
		x.Scale = 0
		if x.Type.ElementBytes() == 1 && x.Type != nn.Bool {
			x.Scale = 0.5
		}
		if x.Type == nn.TensorInt32 && integer && len(x.Dimensions) == 1 {
			x.Scale = 0.25
		}
		g.Operands = append(g.Operands, x)
		return uint32(len(g.Operands) - 1)
	}
	var in []uint32
	for _, a := range o.args {
		x := nn.Operand{Type: o.kind, Lifetime: nn.ConstantCopy}
		switch a := a.(type) {
		case []uint32:
			x.Dimensions, x.Lifetime = a, nn.SubgraphInput
		case weights:
			x.Dimensions = a
			if len(a) == 1 && integer {
				x.Type = nn.TensorInt32 // a bias
			}
			x.Data = fill(make([]byte, x.Bytes()))
		case indexes:
			x.Type, x.Dimensions, x.Lifetime = nn.TensorInt32, a, nn.SubgraphInput
		case pairs:
			x.Type, x.Dimensions = nn.TensorInt32, []uint32{uint32(len(a) / 2), 2}
			for _, v := range a {
				x.Data = binary.LittleEndian.AppendUint32(x.Data, v)
			}
		case int:
			x.Type, x.Data = nn.Int32, binary.LittleEndian.AppendUint32(nil, uint32(a))
		case float32:
			x.Type, x.Data = nn.Float32, make([]byte, 4)
		case bool:
			x.Type, x.Data = nn.Bool, []byte{0}
		case nil:
			x = nn.Operand{Type: o.kind, Lifetime: nn.NoValue}
		}
		i := add(x)
		if x.Lifetime == nn.SubgraphInput {
			g.Inputs = append(g.Inputs, i)
		}
		in = append(in, i)
	}
	for _, d := range append(append([][]uint32{}, o.more...), o.out) {
		i := add(nn.Operand{Type: o.kind, Dimensions: d, Lifetime: nn.SubgraphOutput})
		if integer {
			switch o.op { // the quantizations that these must have
			case nn.OpSoftmax:
				g.Operands[i].Scale = 1. / 256
			case nn.OpTanh:
				g.Operands[i].Scale, g.Operands[i].ZeroPoint = 1./128, 128
			}
		}
		g.Outputs = append(g.Outputs, i)
	}
	g.Operations = []nn.Operation{{Type: o.op, Inputs: in, Outputs: g.Outputs}}
	return &nn.Model{Main: g}
}

// TestEqualMACsTakeSimilarTime: operations whose loops multiply and accumulate
// matrices lie within 3x of each other on the CPU of every preset when they have
// the same number of multiply-accumulates. Grouped convolutions, whose loops have no
// vectors, take longer than all of them (D-312).
func TestEqualMACsTakeSimilarTime(t *testing.T) {
	const macs = 32 * 32 * 64 * 9 * 32
	type shape = []uint32
	lstm := []any{shape{64, 32}}
	for range 4 {
		lstm = append(lstm, weights{256, 32})
	}
	for range 4 {
		lstm = append(lstm, weights{256, 256})
	}
	lstm = append(lstm, nil, nil, nil)
	for range 4 {
		lstm = append(lstm, weights{256})
	}
	lstm = append(lstm, nil, nil, shape{64, 256}, shape{64, 256}, 4, float32(0), float32(0))
	common := func(k nn.OperandType) []oneOperation {
		return []oneOperation{
			{op: nn.OpConv2D, kind: k, args: []any{shape{1, 32, 32, 32}, weights{64, 3, 3, 32}, weights{64}, nn.PaddingSame, 1, 1, 0}, out: shape{1, 32, 32, 64}},
			{op: nn.OpGroupedConv2D, kind: k, args: []any{shape{1, 32, 32, 64}, weights{64, 3, 3, 32}, weights{64}, nn.PaddingSame, 1, 1, 2, 0, false}, out: shape{1, 32, 32, 64}},
			{op: nn.OpTransposeConv2D, kind: k, args: []any{shape{1, 32, 32, 32}, weights{64, 3, 3, 32}, weights{64}, 1, 1, 1, 1, 1, 1, 0, false}, out: shape{1, 32, 32, 64}},
			{op: nn.OpFullyConnected, kind: k, args: []any{shape{64, 512}, weights{576, 512}, weights{576}, 0}, out: shape{64, 576}},
		}
	}
	for _, list := range [][]oneOperation{
		append(common(nn.TensorFloat32),
			oneOperation{op: nn.OpBatchMatmul, kind: nn.TensorFloat32, args: []any{shape{64, 512}, shape{512, 576}, false, false}, out: shape{64, 576}},
			oneOperation{op: nn.OpRnn, kind: nn.TensorFloat32, args: []any{shape{64, 64}, weights{512, 64}, weights{512, 512}, weights{512}, shape{64, 512}, 1}, more: [][]uint32{{64, 512}}, out: shape{64, 512}},
			oneOperation{op: nn.OpLstm, kind: nn.TensorFloat32, args: lstm, more: [][]uint32{{64, 1024}, {64, 256}, {64, 256}}, out: shape{64, 256}}),
		append(common(nn.TensorQuant8AsymmSigned),
			oneOperation{op: nn.OpBatchMatmul, kind: nn.TensorQuant8AsymmSigned, args: []any{shape{64, 512}, shape{512, 576}, false, false}, out: shape{64, 576}}),
	} {
		prepared := make([]*nn.Model, len(list))
		for i, o := range list {
			prepared[i] = o.model()
		}
		for _, name := range soc.Names() {
			c := require.V(soc.Load(name))(t)
			cpu := openCPU(t, c)
			var least, most, grouped int64
			for i, m := range prepared {
				s := execute(t, cpu, m).Operations[0]
				require.Check(t, s.MACs == macs, "%v: %d multiply-accumulates, want %d", list[i].op, s.MACs, macs)
				if list[i].op == nn.OpGroupedConv2D {
					grouped = s.Cycles
					continue
				}
				if i == 0 {
					least, most = s.Cycles, s.Cycles
				}
				least, most = min(least, s.Cycles), max(most, s.Cycles)
				if most > 3*least {
					t.Errorf("%s: %v %v takes %d cycles, others %d to %d", name, list[i].op, list[i].kind, s.Cycles, least, most)
				}
			}
			require.Check(t, grouped >= 3*most, "%s: groups take %d cycles, others %d to %d", name, grouped, least, most)
		}
	}
}

func openCPU(t *testing.T, c *soc.Config) hal.Device {
	t.Helper()
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	return list[0]
}

// execute runs a model once on zeros.
func execute(t *testing.T, d hal.Device, m *nn.Model) *hal.Stats {
	t.Helper()
	p := require.V(d.PrepareModel(m, hal.PrepareOptions{}))(t, m.Main.Operations[0].Type)
	var r hal.Buffers
	for _, i := range m.Main.Inputs {
		r.Inputs = append(r.Inputs, make([]byte, m.Main.Operands[i].Bytes()))
	}
	for _, i := range m.Main.Outputs {
		r.Outputs = append(r.Outputs, make([]byte, m.Main.Operands[i].Bytes()))
	}
	res := require.V(hal.Execute(p, &r))(t, m.Main.Operations[0].Type)
	return &res.Stats
}

// TestLibrary: ONNX Runtime computes a grouped convolution as products of matrices, TensorFlow Lite in a loop.
func TestLibrary(t *testing.T) {
	type shape = []uint32
	o := oneOperation{op: nn.OpGroupedConv2D, kind: nn.TensorQuant8AsymmSigned,
		args: []any{shape{1, 32, 32, 64}, weights{64, 3, 3, 32}, weights{64}, nn.PaddingSame, 1, 1, 2, 0, false}, out: shape{1, 32, 32, 64}}
	cycles := map[string]int64{}
	for _, library := range []string{"", soc.TFLite, soc.ONNXRuntime} {
		c := require.V(soc.Load("pixel4"))(t)
		c.CPU.Library = library
		cycles[library] = execute(t, openCPU(t, c), o.model()).Operations[0].Cycles
	}
	require.Check(t, cycles[""] == cycles[soc.TFLite] && cycles[soc.TFLite] > 10*cycles[soc.ONNXRuntime], "%v", cycles)
}
