package conformance_test

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/conformance/model"
	"github.com/nnsoc/nnsoc/testvectors/fuzzing"
)

// FuzzDevice: each of the devices refuses, declines or computes the models that a fuzzer draws.
func FuzzDevice(f *testing.F) { fuzzing.Device(f, nil, open(f)...) }

// FuzzEdited: the models of the checks with any edits are refused, declined with reasons, or
// prepared as declared and executed, by each of the devices.
func FuzzEdited(f *testing.F) {
	list, models := open(f), check.Models()
	for i := range list {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(40+i), []byte{1, 0, 0, 5})
		f.Add(uint8(i), uint16(90+i), []byte{11, 0, 0, 3, 4, 1, 0, 5})
	}
	f.Fuzz(func(t *testing.T, device uint8, which uint16, edits []byte) {
		fuzzing.Model(t, list[int(device)%len(list)], model.Edited(models[int(which)%len(models)], edits[:min(len(edits), 16)]))
	})
}

// TestEdited: each of the devices refuses, declines or executes random models with random edits.
func TestEdited(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 200
	}
	for i, d := range open(t) {
		fuzzing.Random(t, d, uint64(i), n)
	}
}

// TestSupportPrepares: a device prepares the operations that its support query accepts, and no more, where an execution
// decides about shapes.
func TestSupportPrepares(t *testing.T) {
	constant := func(typ nn.OperandType, bytes int, dims ...uint32) nn.Operand {
		return nn.Operand{Type: typ, Lifetime: nn.ConstantCopy, Data: make([]byte, bytes), Dimensions: dims}
	}
	scalar := func(v uint32) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, v)}
	}
	in := func(o nn.Operand) nn.Operand { o.Lifetime = nn.SubgraphInput; return o }
	out := func(o nn.Operand) nn.Operand { o.Lifetime = nn.SubgraphOutput; return o }
	f16 := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat16, Dimensions: dims} }
	i32 := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorInt32, Dimensions: dims} }
	q8 := func(dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1, Dimensions: dims}
	}
	half := nn.Operand{Type: nn.Float16, Lifetime: nn.ConstantCopy, Data: []byte{0, 0x38}}
	for _, c := range []struct {
		name  string
		takes map[string]bool
		model nn.Subgraph
	}{
		{"a hash with a weight for each of the boxes that suppression leaves", map[string]bool{"cpu": true, "gpu": true}, nn.Subgraph{
			Operands: []nn.Operand{constant(nn.TensorFloat16, 96, 12, 4), constant(nn.TensorFloat16, 384, 12, 16), constant(nn.TensorInt32, 48, 12),
				half, scalar(3), scalar(0), half, half, half, out(f16(0)), out(f16(0, 4)), out(i32(0)), out(i32(0)),
				constant(nn.TensorFloat16, 64, 4, 8), in(f16(12)), scalar(2), out(i32(32))},
			Operations: []nn.Operation{
				{Type: nn.OpBoxWithNmsLimit, Inputs: []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8}, Outputs: []uint32{9, 10, 11, 12}},
				{Type: nn.OpLshProjection, Inputs: []uint32{13, 12, 14, 15}, Outputs: []uint32{16}},
			},
			Inputs: []uint32{14}, Outputs: []uint32{9, 10, 11, 12, 16},
		}},
		{"a large copy with its places in the request", map[string]bool{"cpu": true, "gpu": true, "dsp": true}, nn.Subgraph{
			Operands:   []nn.Operand{in(q8(128, 128)), in(i32(2)), out(q8(128, 128))},
			Operations: []nn.Operation{{Type: nn.OpTranspose, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}},
			Inputs:     []uint32{0, 1}, Outputs: []uint32{2},
		}},
	} {
		for _, d := range open(t) {
			require.Same(t, c.takes[d.Name()], fuzzing.Model(t, d, &nn.Model{Main: c.model}), c.name, d.Name(), "taken")
		}
	}
}
