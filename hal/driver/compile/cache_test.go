package compile_test

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// cacheIn are the files of a compilation cache in a folder of the test.
func cacheIn(t *testing.T) hal.Cache {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) []hal.CacheHandle {
		f := require.V(os.OpenFile(filepath.Join(dir, name), os.O_RDWR|os.O_CREATE, 0o600))(t)
		t.Cleanup(func() { f.Close() })
		return []hal.CacheHandle{{f}}
	}
	return hal.Cache{Model: file("model"), Data: file("data")}
}

// product is a FULLY_CONNECTED of 2 x 64 floats with a constant filter of 256 x 64, behind a RESHAPE to a shape that
// is a constant, or comes at run time.
func product(atRunTime bool) *nn.Model {
	const units, size = 256, 64
	tensor := func(typ nn.OperandType, l nn.Lifetime, data []byte, dims ...uint32) nn.Operand {
		return nn.Operand{Type: typ, Dimensions: dims, Lifetime: l, Data: data}
	}
	weights := make([]byte, 0, 4*units*size)
	for i := range units * size {
		weights = binary.LittleEndian.AppendUint32(weights, math.Float32bits(float32(i%17-8)))
	}
	shape := tensor(nn.TensorInt32, nn.ConstantCopy, []byte{2, 0, 0, 0, size, 0, 0, 0}, 2)
	inputs := []uint32{0}
	if atRunTime {
		shape.Lifetime, shape.Data, inputs = nn.SubgraphInput, nil, []uint32{0, 1}
	}
	middle := tensor(nn.TensorFloat32, nn.TemporaryVariable, nil)
	return &nn.Model{Main: nn.Subgraph{
		Operands: []nn.Operand{tensor(nn.TensorFloat32, nn.SubgraphInput, nil, 2*size), shape, middle,
			tensor(nn.TensorFloat32, nn.ConstantCopy, weights, units, size), tensor(nn.TensorFloat32, nn.ConstantCopy, make([]byte, 4*units), units),
			{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, tensor(nn.TensorFloat32, nn.SubgraphOutput, nil, 2, units)},
		Operations: []nn.Operation{{Type: nn.OpReshape, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpFullyConnected, Inputs: []uint32{2, 3, 4, 5}, Outputs: []uint32{6}}},
		Inputs: inputs, Outputs: []uint32{6},
	}}
}

// TestCacheWeights: a compilation cache has the weights of a model in its programs, once; where an execution has to
// lower stages, it has them for that, and the costs are those of the shapes that the execution brings.
func TestCacheWeights(t *testing.T) {
	in := make([]byte, 0, 512)
	for i := range 128 {
		in = binary.LittleEndian.AppendUint32(in, math.Float32bits(float32(i)))
	}
	var results [][]byte
	for files, d := range []hal.Device{base.New(base.Config{Name: "toy"}, compile.New(picky{})), gpuOf(t)} {
		model, data := d.NumberOfCacheFilesNeeded()
		require.Equal(t, [2]int{files, files}, [2]int{model, data}, d.Name())
	}
	for _, atRunTime := range []bool{false, true} {
		d, m, c := gpuOf(t), product(atRunTime), cacheIn(t)
		p := require.V(d.PrepareModel(m, hal.PrepareOptions{Cache: c}))(t)
		size := 0
		for _, h := range []hal.CacheHandle{c.Model[0], c.Data[0]} {
			info := require.V(h[0].(*os.File).Stat())(t)
			size += int(info.Size())
		}
		if weights := len(m.Main.Operands[3].Data); size < weights || size > weights*5/4 {
			t.Errorf("at run time %v: %d bytes for weights of %d", atRunTime, size, weights)
		}
		loaded := require.V(d.PrepareModelFromCache(nil, c))(t)
		require.Same(t, 5e12+int64(size)*1e6/2, loaded.(hal.Preparing).PreparedFs(), "loaded in fs")
		for _, p := range []hal.PreparedModel{p, loaded} {
			b := &hal.Buffers{Inputs: [][]byte{in}, Outputs: [][]byte{make([]byte, 4*2*256)}}
			if atRunTime {
				b.Inputs = append(b.Inputs, []byte{2, 0, 0, 0, 64, 0, 0, 0})
			}
			res := require.V(hal.Execute(p, b))(t)
			results = append(results, b.Outputs[0])
			macs := int64(0)
			for _, o := range res.Stats.Operations {
				macs += o.MACs
			}
			require.Same(t, 2*256*64, macs, "at run time", atRunTime, "MACs")
		}
	}
	for i, r := range results {
		if !slices.Equal(r, results[0]) || !slices.ContainsFunc(r, func(b byte) bool { return b != 0 }) {
			t.Errorf("execution %d differs", i)
		}
	}
}
