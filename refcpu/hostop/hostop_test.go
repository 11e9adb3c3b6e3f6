package hostop

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// value is an operand of a test: a list of float32 or int32, or none.
type value struct {
	kind nn.OperandType
	dims []uint32
	list []float64
}

func f32(dims []uint32, list ...float64) value { return value{nn.TensorFloat32, dims, list} }
func i32(dims []uint32, list ...float64) value { return value{nn.TensorInt32, dims, list} }
func d(dims ...uint32) []uint32                { return dims }

func (v value) bytes() (b []byte) {
	for _, x := range v.list {
		word := math.Float32bits(float32(x))
		if v.kind == nn.TensorInt32 {
			word = uint32(int32(x))
		}
		b = binary.LittleEndian.AppendUint32(b, word)
	}
	return b
}

// execute runs one operation. The shapes of its results are open.
func execute(op nn.OperationType, attributes []int32, in []value, out ...nn.OperandType) ([]value, error) {
	m := &nn.Model{Extensions: []nn.ExtensionPrefix{{Name: nn.HostExtension, Prefix: 3}}}
	g := &m.Main
	o := nn.Operation{Type: op}
	add := func(x nn.Operand) uint32 {
		g.Operands = append(g.Operands, x)
		return uint32(len(g.Operands) - 1)
	}
	var inputs []refcpu.Tensor
	for _, v := range in {
		if v.dims == nil {
			o.Inputs = append(o.Inputs, add(nn.Operand{Type: nn.TensorFloat32, Lifetime: nn.NoValue}))
			continue
		}
		x := add(nn.Operand{Type: v.kind, Dimensions: make([]uint32, len(v.dims)), Lifetime: nn.SubgraphInput})
		o.Inputs, g.Inputs = append(o.Inputs, x), append(g.Inputs, x)
		inputs = append(inputs, refcpu.Tensor{Dimensions: v.dims, Data: v.bytes()})
	}
	var data []byte
	for _, a := range attributes {
		data = binary.LittleEndian.AppendUint32(data, uint32(a))
	}
	o.Inputs = append(o.Inputs, add(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(len(attributes))}, Data: data, Lifetime: nn.ConstantCopy}))
	for _, t := range out {
		x := add(nn.Operand{Type: t, Lifetime: nn.SubgraphOutput})
		o.Outputs, g.Outputs = append(o.Outputs, x), append(g.Outputs, x)
	}
	g.Operations = []nn.Operation{o}
	if err := validate.ModelOf(Table().Spec(), m); err != nil {
		return nil, err
	}
	p, err := refcpu.CompileConfig(m, refcpu.Config{Operations: Table(), Limits: refcpu.Limits{Bytes: 1 << 24, Work: 1 << 24}})
	if err != nil {
		return nil, err
	}
	results, err := p.Execute(inputs, refcpu.Options{})
	if err != nil {
		return nil, err
	}
	var list []value
	for i, r := range results {
		v := value{out[i], r.Dimensions, nil}
		t := tensor{kind: out[i], data: r.Data}
		for k := range t.n() {
			v.list = append(v.list, t.number(k))
		}
		list = append(list, v)
	}
	return list, nil
}

const none = int32(None)

// operationTests are results by the documents of ONNX and TensorFlow Lite.
var operationTests = []struct {
	op         nn.OperationType
	attributes []int32
	in, want   []value
}{
	{nn.OpHostNonZero, []int32{0}, []value{i32(d(2, 2), 1, 0, 1, 1)}, []value{i32(d(2, 3), 0, 1, 1, 0, 0, 1)}},
	{nn.OpHostNonZero, []int32{1}, []value{f32(d(2, 2), 1, 0, -1, 1)}, []value{i32(d(3, 2), 0, 0, 1, 0, 1, 1)}},
	{nn.OpHostNonZero, []int32{0}, []value{f32(d(3), 0, 0, 0)}, []value{i32(d(1, 0))}},
	{nn.OpHostUnique, []int32{none, 0}, []value{f32(d(6), 2, 1, 1, 3, 4, 3)},
		[]value{f32(d(4), 2, 1, 3, 4), i32(d(4), 0, 1, 3, 4), i32(d(6), 0, 1, 1, 2, 3, 2), i32(d(4), 1, 2, 2, 1)}},
	{nn.OpHostUnique, []int32{none, 1}, []value{f32(d(6), 2, 1, 1, 3, 4, 3)},
		[]value{f32(d(4), 1, 2, 3, 4), i32(d(4), 1, 0, 3, 4), i32(d(6), 1, 0, 0, 2, 3, 2), i32(d(4), 2, 1, 2, 1)}},
	{nn.OpHostUnique, []int32{0, 1}, []value{f32(d(3, 2), 1, 0, 1, 0, 0, 5)},
		[]value{f32(d(2, 2), 0, 5, 1, 0), i32(d(2), 2, 0), i32(d(3), 1, 1, 0), i32(d(2), 1, 2)}},
	{nn.OpHostCompress, []int32{0}, []value{f32(d(3, 2), 1, 2, 3, 4, 5, 6), i32(d(3), 0, 1, 1)}, []value{f32(d(2, 2), 3, 4, 5, 6)}},
	{nn.OpHostCompress, []int32{none}, []value{f32(d(3, 2), 1, 2, 3, 4, 5, 6), i32(d(5), 0, 1, 0, 0, 1)}, []value{f32(d(2), 2, 5)}},
	{nn.OpHostSlice, []int32{0}, []value{f32(d(4), 1, 2, 3, 4), i32(d(1), -1), i32(d(1), math.MinInt32), i32(d(1), 0), i32(d(1), -2)}, []value{f32(d(2), 4, 2)}},
	{nn.OpHostSlice, []int32{0}, []value{f32(d(4), 1, 2, 3, 4), i32(d(1), 3), i32(d(1), 1)}, []value{f32(d(0))}},
	{nn.OpHostGather, []int32{1, 0, 0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(2), -1, 0)}, []value{f32(d(2, 2), 3, 1, 6, 4)}},
	{nn.OpHostGather, []int32{0, 1, 0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(1), 1)}, []value{f32(d(3), 4, 5, 6)}},
	{nn.OpHostGather, []int32{0, 0, 0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(0))}, []value{f32(d(0, 3))}},
	{nn.OpHostTopK, []int32{-1, 1}, []value{f32(d(2, 3), 1, 3, 3, 0, -1, 5), i32(d(1), 2)}, []value{f32(d(2, 2), 3, 3, 5, 0), i32(d(2, 2), 1, 2, 2, 0)}},
	{nn.OpHostTopK, []int32{0, 0}, []value{f32(d(2, 2), 4, 3, 1, 5), i32(d(1), 1)}, []value{f32(d(1, 2), 1, 3), i32(d(1, 2), 1, 0)}},
	{nn.OpHostSplit, []int32{0}, []value{f32(d(3), 1, 2, 3), i32(d(2), 0, 3)}, []value{f32(d(0)), f32(d(3), 1, 2, 3)}},
	{nn.OpHostBitShift, []int32{0}, []value{i32(d(2), 3, 1), i32(d(1), 4)}, []value{i32(d(2), 48, 16)}},
	{nn.OpHostBitShift, []int32{1}, []value{i32(d(2), 48, 1), i32(d(2), 4, 40)}, []value{i32(d(2), 3, 0)}},
	{nn.OpHostBitwiseAnd, []int32{0}, []value{i32(d(2), 6, -1), i32(d(2), 3, 5)}, []value{i32(d(2), 2, 5)}},
	{nn.OpHostBitwiseOr, []int32{0}, []value{i32(d(2, 1), 6, 1), i32(d(2), 3, 8)}, []value{i32(d(2, 2), 7, 14, 3, 9)}},
	{nn.OpHostBitwiseXor, []int32{0}, []value{i32(d(1), 6), i32(d(1), 3)}, []value{i32(d(1), 5)}},
	{nn.OpHostBitwiseNot, []int32{0}, []value{i32(d(2), 0, 5)}, []value{i32(d(2), -1, -6)}},
	{nn.OpHostReshape, []int32{0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(3), 0, -1, 1)}, []value{f32(d(2, 3, 1), 1, 2, 3, 4, 5, 6)}},
	{nn.OpHostReshape, []int32{1}, []value{f32(d(0, 3)), i32(d(2), 7, 0)}, []value{f32(d(7, 0))}},
	{nn.OpHostExpand, []int32{0}, []value{f32(d(2, 1), 1, 2), i32(d(3), 2, 1, 2)}, []value{f32(d(2, 2, 2), 1, 1, 2, 2, 1, 1, 2, 2)}},
	{nn.OpHostPad, []int32{0}, []value{f32(d(2), 1, 2), i32(d(2), 1, 1), f32(d(1), 9)}, []value{f32(d(4), 9, 1, 2, 9)}},
	{nn.OpHostPad, []int32{1}, []value{f32(d(3), 1, 2, 3), i32(d(2), 2, 1)}, []value{f32(d(6), 3, 2, 1, 2, 3, 2)}},
	{nn.OpHostPad, []int32{2}, []value{f32(d(2), 1, 2), i32(d(2), -1, 2)}, []value{f32(d(3), 2, 2, 2)}},
	{nn.OpHostPad, []int32{3}, []value{f32(d(2), 1, 2), i32(d(2), 1, 2)}, []value{f32(d(5), 2, 1, 2, 1, 2)}},
	{nn.OpHostPad, []int32{0}, []value{f32(d(1, 2), 1, 2), i32(d(2), 0, 1), {}, i32(d(1), -1)}, []value{f32(d(1, 3), 1, 2, 0)}},
	{nn.OpHostTrilu, []int32{1}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(1), 1)}, []value{f32(d(2, 3), 0, 2, 3, 0, 0, 6)}},
	{nn.OpHostTrilu, []int32{0}, []value{f32(d(2, 2), 1, 2, 3, 4)}, []value{f32(d(2, 2), 1, 0, 3, 4)}},
	{nn.OpHostRange, []int32{0}, []value{i32(d(1), 10), i32(d(1), 4), i32(d(1), -4)}, []value{i32(d(2), 10, 6)}},
	{nn.OpHostRange, []int32{0}, []value{f32(d(1), 1), f32(d(1), 1), f32(d(1), 1)}, []value{f32(d(0))}},
	{nn.OpHostFill, []int32{0}, []value{i32(d(2), 2, 1), f32(d(1), 7)}, []value{f32(d(2, 1), 7, 7)}},
	{nn.OpHostTile, []int32{0}, []value{f32(d(1, 2), 1, 2), i32(d(2), 2, 2)}, []value{f32(d(2, 4), 1, 2, 1, 2, 1, 2, 1, 2)}},
	{nn.OpHostSqueeze, []int32{0}, []value{f32(d(1, 2, 1), 1, 2), i32(d(1), -1)}, []value{f32(d(1, 2), 1, 2)}},
	{nn.OpHostUnsqueeze, []int32{0}, []value{f32(d(2), 1, 2), i32(d(2), 0, -1)}, []value{f32(d(1, 2, 1), 1, 2)}},
	{nn.OpHostCumulativeSum, []int32{1, 1}, []value{f32(d(3), 1, 2, 3), i32(d(1), 0)}, []value{f32(d(3), 5, 3, 0)}},
	{nn.OpHostCumulativeSum, []int32{0, 0}, []value{i32(d(2, 2), 1, 2, 3, 4), i32(d(1), -2)}, []value{i32(d(2, 2), 1, 2, 4, 6)}},
	{nn.OpHostOneHot, []int32{0, 1}, []value{i32(d(2), 1, -3), i32(d(1), 3), f32(d(2), 2, 5)}, []value{f32(d(3, 2), 2, 5, 5, 2, 2, 2)}},
	{nn.OpHostOneHot, []int32{-1, 0}, []value{i32(d(2), 1, -3), i32(d(1), 3), f32(d(2), 2, 5)}, []value{f32(d(2, 3), 2, 5, 2, 2, 2, 2)}},
	{nn.OpHostGather, []int32{1, 0, 1}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(2, 2), 0, 2, 1, 1)}, []value{f32(d(2, 2), 1, 3, 5, 5)}},
	{nn.OpHostSplit, []int32{0}, []value{f32(d(3), 1, 2, 3), i32(d(2), -1, 2)}, []value{f32(d(1), 1), f32(d(2), 2, 3)}},
	{nn.OpHostBitShift, []int32{1}, []value{i32(d(2), -9, -1), i32(d(1), 80)}, []value{i32(d(2), -1, -1)}},
	{nn.OpHostShape, []int32{0, 4}, []value{f32(d(2, 0, 3))}, []value{i32(d(3), 2, 0, 3)}},
	{nn.OpHostShape, []int32{1, 2}, []value{f32(d(2, 0, 3))}, []value{i32(d(1), 0)}},
	// x[1:, ..., None, 1], x[..., ::-1] and x[1:1] of a matrix.
	{nn.OpHostStridedSlice, []int32{0, 1, 2, 4, 8, 0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(4), 1, 0, 0, 1), i32(d(4), 0, 0, 0, 2), i32(d(4), 1, 1, 1, 1)}, []value{f32(d(1, 1), 5)}},
	{nn.OpHostStridedSlice, []int32{2, 2, 1, 0, 0, 0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(2), 0, 0), i32(d(2), 0, 0), i32(d(2), 1, -1)}, []value{f32(d(2, 3), 3, 2, 1, 6, 5, 4)}},
	{nn.OpHostStridedSlice, []int32{0, 0, 0, 0, 0, 1}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(2), 1, 1), i32(d(2), 0, 2), i32(d(2), 1, 1)}, []value{f32(d(0, 2))}},
	{nn.OpHostGatherNd, []int32{0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(2, 2), 0, 2, 1, 0)}, []value{f32(d(2), 3, 4)}},
	{nn.OpHostGatherNd, []int32{1}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(2, 1), 2, 0)}, []value{f32(d(2), 3, 4)}},
	{nn.OpHostGatherNd, []int32{0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), i32(d(0, 1))}, []value{f32(d(0, 3))}},
	{nn.OpHostScatterNd, []int32{0}, []value{i32(d(3, 1), 2, 0, 2), f32(d(3, 2), 1, 2, 3, 4, 5, 6), i32(d(2), 3, 2)}, []value{f32(d(3, 2), 3, 4, 0, 0, 6, 8)}},
	{nn.OpHostScatterNd, []int32{0}, []value{i32(d(2, 1), 0, 0), i32(d(2), math.MaxInt32, 1), i32(d(1), 1)}, []value{i32(d(1), math.MinInt32)}},
	{nn.OpHostSegment, []int32{0}, []value{f32(d(3, 2), 1, 2, 3, 4, 5, 6), i32(d(3), 0, 0, 2)}, []value{f32(d(3, 2), 4, 6, 0, 0, 5, 6)}},
	{nn.OpHostSegment, []int32{1}, []value{f32(d(3), 2, 3, 4), i32(d(3), 1, -1, 1), i32(d(1), 3)}, []value{f32(d(3), 1, 8, 1)}},
	{nn.OpHostSegment, []int32{2}, []value{i32(d(2, 2), 2, 3, 4, -5), i32(d(2, 2), 0, 1, 0, 1), i32(d(1), 3)}, []value{i32(d(3), 4, 3, math.MinInt32)}},
	{nn.OpHostSegment, []int32{3}, []value{i32(d(2), 2, 3), i32(d(2), 0, 0), i32(d(1), 2)}, []value{i32(d(2), 2, math.MaxInt32)}},
	{nn.OpHostResize, []int32{0, 5, 2, 0, 0, 0, 0}, []value{f32(d(1, 2), 1, 2), {}, {}, i32(d(2), 2, 4), {}, {}}, []value{f32(d(2, 4), 1, 1, 2, 2, 1, 1, 2, 2)}},
	{nn.OpHostResize, []int32{1, 0, 0, 0, 0, 0, 2}, []value{f32(d(1, 2), 1, 2), {}, f32(d(1), 2), {}, {}, {}}, []value{f32(d(1, 4), 1, 1.25, 1.75, 2)}},
	{nn.OpHostResize, []int32{1, 4, 0, 1, 0, 0, 3}, []value{f32(d(2, 4), 1, 2, 3, 4, 5, 6, 7, 8), {}, {}, i32(d(2), 1, 4), {}, {}}, []value{f32(d(1, 2), 1, 4)}},
	{nn.OpHostResize, []int32{1, 6, 0, 0, 0, 0, 0}, []value{f32(d(3), 1, 2, 3), f32(d(2), 0, 2), {}, i32(d(1), 3), {}, f32(d(1), 9)}, []value{f32(d(3), 1, 3, 9)}},
	{nn.OpHostSelect, []int32{0}, []value{i32(d(2, 1), 0, 1), f32(d(2), 1, 2), f32(d(1), 9)}, []value{f32(d(2, 2), 9, 9, 1, 2)}},
	{nn.OpHostSelect, []int32{0}, []value{i32(d(2), 0, 1), f32(d(2, 2), 1, 2, 3, 4), f32(d(1), 9)}, []value{f32(d(2, 2), 9, 2, 9, 4)}},
	{nn.OpHostSelect, []int32{1}, []value{i32(d(2), 0, 1), f32(d(2, 2), 1, 2, 3, 4), f32(d(2, 2), 5, 6, 7, 8)}, []value{f32(d(2, 2), 5, 6, 3, 4)}},
	{nn.OpHostSelect, []int32{0}, []value{i32(d(1), 1), i32(d(0, 2)), i32(d(1, 2), 1, 2)}, []value{i32(d(0, 2))}},
	{nn.OpHostUpdateSlice, []int32{0}, []value{f32(d(2, 3), 1, 2, 3, 4, 5, 6), f32(d(1, 2), 8, 9), i32(d(2), 1, 7)}, []value{f32(d(2, 3), 1, 2, 3, 4, 8, 9)}},
	{nn.OpHostBitcast, []int32{0}, []value{f32(d(2), 1, -2)}, []value{i32(d(2), 0x3f800000, -1<<30)}},
	{nn.OpHostAtan2, []int32{0}, []value{f32(d(2, 1), 1, -1), f32(d(2), 0, -1)}, []value{f32(d(2, 2), math.Pi/2, 3*math.Pi/4, -math.Pi/2, -3*math.Pi/4)}},
	{nn.OpHostDilate, []int32{0}, []value{f32(d(2, 2), 1, 2, 3, 4), i32(d(2), 1, 3), f32(d(1), 9)}, []value{f32(d(2, 4), 1, 9, 9, 2, 3, 9, 9, 4)}},
	// Of two planes [3, 2], windows of 2x2 in steps of 1 with a padding above; of [4], every second element.
	{nn.OpHostMaxPool, []int32{0, 1, 1, 1, 0, 1, 2, 1, 1, 1, 3, 2, 1, 1, 0, 1}, []value{f32(d(2, 1, 3, 2), 1, 5, 5, 2, 0, 3, -1, -2, -3, -4, -6, -5)},
		[]value{f32(d(2, 1, 3, 1), 5, 5, 5, -1, -1, -3), i32(d(2, 1, 3, 1), 1, 1, 2, 6, 6, 8)}},
	{nn.OpHostMaxPool, []int32{1, 1, 1, 1, 0, 1, 2, 1, 1, 1, 3, 2, 1, 1, 0, 1}, []value{f32(d(2, 1, 3, 2), 1, 5, 5, 2, 0, 3, -1, -2, -3, -4, -6, -5)},
		[]value{f32(d(2, 1, 3, 1), 5, 5, 5, -1, -1, -3), i32(d(2, 1, 3, 1), 3, 3, 1, 6, 6, 7)}},
	{nn.OpHostMaxPool, []int32{0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 3, 1, 2, 1, 3}, []value{i32(d(1, 1, 1, 4), 7, 2, 9, 4)}, []value{i32(d(1, 1, 1, 3), 4, 9, 4), i32(d(1, 1, 1, 3), 3, 2, 3)}},
	{nn.OpHostMaxUnpool, []int32{0}, []value{f32(d(1, 3), 5, 6, 7), i32(d(1, 3), 4, 0, 4), i32(d(2), 2, 3)}, []value{f32(d(2, 3), 6, 0, 0, 0, 7, 0)}},
	// A region of the second image: elements of 1x1 from (0, 0), sampled in their centres; then with centres at halves.
	{nn.OpHostRoiAlign, []int32{1, 2, 1, 0, 0}, []value{f32(d(2, 1, 2, 3), 9, 9, 9, 9, 9, 9, 1, 2, 4, 3, 4, 6), f32(d(1, 4), 0, 0, 2, 1), i32(d(1), 1), {}}, []value{f32(d(1, 1, 1, 2), 2.5, 4)}},
	{nn.OpHostRoiAlign, []int32{1, 2, 1, 1, 0}, []value{f32(d(1, 1, 2, 3), 1, 2, 4, 3, 4, 6), f32(d(1, 4), 0, 0, 4, 2), i32(d(1), 0), f32(d(1), 0.5)}, []value{f32(d(1, 1, 1, 2), 1, 2)}},
	{nn.OpHostRoiAlign, []int32{1, 1, 0, 0, 1}, []value{f32(d(1, 1, 2, 3), 1, 2, 4, 3, 4, 6), f32(d(1, 4), 0, 0, 2, 1), i32(d(1), 0), {}}, []value{f32(d(1, 1, 1, 1), 1.5)}},
	{nn.OpHostRoiAlign, []int32{1, 1, 0, 1, 0}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 4), 3, 3, 1, 1), i32(d(1), 0), {}}, []value{f32(d(1, 1, 1, 1), 0)}},
	// Of 1 2 3 2: 2 alone, 2 3 side by side, 1 3 and 2 2 with a word between.
	{nn.OpHostCountSequences, []int32{5, 1, 0}, []value{i32(d(4), 1, 2, 3, 2), i32(d(7), 2, 2, 3, 1, 3, 2, 2), i32(d(4), 1, 2, 2, 2), i32(d(4), 4, 0, 1, 3), {}}, []value{f32(d(5), 1, 1, 0, 1, 2)}},
	{nn.OpHostCountSequences, []int32{2, 0, 1}, []value{i32(d(2, 2), 1, 1, 3, 2), i32(d(2), 1, 2), i32(d(2), 1, 1), i32(d(2), 0, 1), f32(d(2), 0.5, 3)}, []value{f32(d(2, 2), 0.5, 0, 0, 3)}},
	{nn.OpHostCountSequences, []int32{2, 0, 2}, []value{i32(d(2, 2), 1, 1, 3, 2), i32(d(2), 1, 2), i32(d(2), 1, 1), i32(d(2), 0, 1), f32(d(2), 0.5, 3)}, []value{f32(d(2, 2), 1, 0, 0, 3)}},
	{nn.OpHostDeterminant, []int32{0}, []value{f32(d(2, 3, 3), 0, 2, 1, 3, 0, 4, 1, 1, 0, 1, 2, 3, 2, 4, 6, 1, 1, 1)}, []value{f32(d(2), 11, 0)}},
	// A window of 1x2 over [2, 2], the second element moved down and left by halves and doubled.
	{nn.OpHostDeformedColumns, []int32{1, 2, 1, 1, 1, 1, 0, 0, 1}, []value{f32(d(1, 1, 2, 2), 1, 2, 3, 4), f32(d(1, 4, 2, 1), 0, 0, 0, 0, 0.5, 0.5, -0.5, -0.5), f32(d(1, 2, 2, 1), 1, 1, 2, 2)},
		[]value{f32(d(1, 2, 2), 1, 3, 5, 3.5)}},
	{nn.OpHostDeformedColumns, []int32{1, 1, 1, 1, 2, 1, 1, 0, 2}, []value{f32(d(1, 2, 2, 1), 1, 2, 3, 4), f32(d(1, 4, 2, 1), 0, 0, 0, 0, 1, -1, 0, math.NaN()), {}}, []value{f32(d(1, 2, 2), 0, 2, 3, 0)}},
	{nn.OpHostCumulativeProduct, []int32{1, 1}, []value{f32(d(3), 1, 2, 3), i32(d(1), 0)}, []value{f32(d(3), 6, 3, 1)}},
	{nn.OpHostCumulativeProduct, []int32{0, 0}, []value{i32(d(2, 2), 1, 2, 3, 4), i32(d(1), -2)}, []value{i32(d(2, 2), 1, 2, 3, 8)}},
	{nn.OpHostDeterminant, []int32{0}, []value{f32(d(1, 1), -3)}, []value{f32(d(1), -3)}},
	{nn.OpHostBroadcastShapes, []int32{0}, []value{i32(d(3), 2, 1, 3), i32(d(2), 4, 1)}, []value{i32(d(3), 2, 4, 3)}},
	// Boxes 0 and 1 overlap by 9/11 of their union, box 2 stands alone.
	{nn.OpHostNonMaxSuppression, []int32{0}, []value{f32(d(1, 3, 4), 0, 0, 1, 1, 1, 1.1, 0, 0.1, 3, 3, 4, 4), f32(d(1, 2, 3), 0.5, 0.9, 0.1, 0.2, 0, 0.3), i32(d(1), 5), f32(d(1), 0.5), f32(d(1), 0.15)},
		[]value{i32(d(3, 3), 0, 0, 1, 0, 1, 2, 0, 1, 0)}},
	{nn.OpHostNonMaxSuppression, []int32{1}, []value{f32(d(1, 2, 4), 0.5, 0.5, 1, 1, 0.5, 0.6, 1, 1), f32(d(1, 1, 2), 0.5, 0.9), i32(d(1), 5), f32(d(1), 0.5), {}}, []value{i32(d(1, 3), 0, 0, 1)}},
	{nn.OpHostNonMaxSuppression, []int32{0}, []value{f32(d(1, 2, 4), 0, 0, 1, 1, 0, 0, 1, 1), f32(d(1, 1, 2), 0.5, 0.9)}, []value{i32(d(0, 3))}},
	{nn.OpHostNonMaxSuppressionPadded, []int32{0}, []value{f32(d(3, 4), 0, 0, 1, 1, 0, 0.1, 1, 1.1, 3, 3, 4, 4), f32(d(3), 0.5, 0.9, 0.1), i32(d(1), 4), f32(d(1), 0.5), f32(d(1), 0)},
		[]value{i32(d(4), 1, 2, 0, 0), f32(d(4), 0.9, 0.1, 0, 0), i32(d(1), 2)}},
}

func TestOperations(t *testing.T) {
	tested := map[nn.OperationType]bool{}
	for i, x := range operationTests {
		tested[x.op] = true
		name := fmt.Sprintf("%d %v", i, x.op)
		var kinds []nn.OperandType
		for _, w := range x.want {
			kinds = append(kinds, w.kind)
		}
		got, err := execute(x.op, x.attributes, x.in, kinds...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for k, w := range x.want {
			near := slices.EqualFunc(w.list, got[k].list, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
			require.Check(t, near && slices.Equal(w.dims, got[k].dims), "%s: output %d is %v, want %v", name, k, got[k], w)
		}
	}
	for _, op := range nn.HostOperations() {
		require.Check(t, tested[op] && Table().Supported(op) && strings.HasPrefix(op.String(), "HOST_") && op.IsHost(), "%v has no test, no row or no name", op)
	}
}

// TestRefusals: hostile values are errors before memory or time is spent.
func TestRefusals(t *testing.T) {
	const bounded = "values of the execution may give at most 134217728"
	for _, x := range []struct {
		op         nn.OperationType
		attributes []int32
		in         []value
		want       string
	}{
		{nn.OpHostReshape, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1), 3)}, "shape [3] for 2 elements"},
		{nn.OpHostPad, []int32{0}, []value{f32(d(2), 1, 2), i32(d(2), 1<<29, 1<<29)}, bounded},
		{nn.OpHostFill, []int32{0}, []value{i32(d(3), 1<<10, 1<<10, 1<<10), f32(d(1), 1)}, bounded},
		{nn.OpHostRange, []int32{0}, []value{f32(d(1), 0), f32(d(1), 1<<30), f32(d(1), 1)}, bounded},
		{nn.OpHostDilate, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1), 1<<30), f32(d(1), 0)}, bounded},
		{nn.OpHostReshape, []int32{0}, []value{f32(d(2), 1, 2), i32(d(2), -1, -1)}, "dimension -1"},
		{nn.OpHostExpand, []int32{0}, []value{f32(d(1), 1), i32(d(2), 30000, 30000)}, bounded},
		{nn.OpHostFill, []int32{0}, []value{i32(d(2), 1<<30, 4), f32(d(1), 1)}, "too large"},
		{nn.OpHostTile, []int32{0}, []value{f32(d(1), 1), i32(d(1), 1<<30)}, bounded},
		{nn.OpHostRange, []int32{0}, []value{f32(d(1), 0), f32(d(1), 1), f32(d(1), 1e-20)}, "in steps of"},
		{nn.OpHostRange, []int32{0}, []value{f32(d(1), 0), f32(d(1), 1), f32(d(1), math.NaN())}, "in steps of"},
		{nn.OpHostOneHot, []int32{0, 1}, []value{i32(d(1), 1), i32(d(1), 1<<29), f32(d(2), 0, 1)}, bounded},
		{nn.OpHostPad, []int32{0}, []value{f32(d(1), 1), i32(d(2), math.MaxInt32, math.MaxInt32)}, "beside shape"},
		{nn.OpHostGather, []int32{0, 0, 0}, []value{f32(d(2), 1, 2), i32(d(1), 2)}, "index 2 of 2"},
		{nn.OpHostGather, []int32{3, 0, 0}, []value{f32(d(2), 1, 2), i32(d(1), 1)}, "axis 3 of rank 1"},
		{nn.OpHostSlice, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1), 0), i32(d(1), 1), i32(d(1), 0), i32(d(1), 0)}, "a step of 0"},
		{nn.OpHostSlice, []int32{0}, []value{f32(d(0, 1<<30)), i32(d(1), 0), i32(d(1), 1<<30), i32(d(1), 1)}, "exceed"},
		{nn.OpHostTopK, []int32{0, 1}, []value{f32(d(2), 1, 2), i32(d(1), 3)}, "the first 3 of 2"},
		{nn.OpHostSplit, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1), 1)}, "parts of 1 entries"},
		{nn.OpHostCompress, []int32{0}, []value{f32(d(1), 1), i32(d(2), 1, 1)}, "2 conditions for 1"},
		{nn.OpHostBitShift, []int32{0}, []value{i32(d(1), 1), i32(d(1), 40)}, "does not fit"},
		{nn.OpHostNonMaxSuppression, []int32{0}, []value{f32(d(1, 2, 3), 0, 0, 1, 1, 0, 0), f32(d(1, 1, 2), 0.5, 0.9)}, "want [batches, n, 4]"},
		{nn.OpHostNonMaxSuppressionPadded, []int32{0}, []value{f32(d(1, 4), 0, 0, 1, 1), f32(d(1), 0.5), i32(d(1), 1<<30)}, bounded},
		{nn.OpHostUnsqueeze, []int32{0}, []value{f32(d(1), 1), i32(d(2), 0, 0)}, "axis 0 twice"},
		{nn.OpHostNonZero, []int32{0, 0}, []value{f32(d(1), 1)}, "bytes of attributes"},
		{nn.OpHostGather, []int32{0, 0, 1}, []value{f32(d(2), 1, 2), i32(d(1), 1)}, "1 batch dimensions"},
		{nn.OpHostStridedSlice, []int32{0, 0, 0, 0, 0, 0}, []value{f32(d(2), 1, 2), i32(d(2), 0, 0), i32(d(2), 1, 1), i32(d(2), 1, 1)}, "2 bounds for rank 1"},
		{nn.OpHostStridedSlice, []int32{0, 0, 0, 0, 1, 0}, []value{f32(d(2), 1, 2), i32(d(1), 5), i32(d(1), 6), i32(d(1), 1)}, "index 5 of 2"},
		{nn.OpHostGatherNd, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1, 1), 2)}, "index 2 of dimension 0"},
		{nn.OpHostGatherNd, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1, 2), 0, 0)}, "indices of shape [1 2]"},
		{nn.OpHostScatterNd, []int32{0}, []value{i32(d(1, 1), 0), i32(d(1), 1), i32(d(1), 1<<29)}, bounded},
		{nn.OpHostScatterNd, []int32{0}, []value{i32(d(1<<28, 0)), i32(d(0)), i32(d(1), 1)}, "exceed"},
		{nn.OpHostSegment, []int32{0}, []value{i32(d(2), 1, 2), i32(d(2), 0, 1<<29)}, bounded},
		{nn.OpHostSegment, []int32{0}, []value{i32(d(2), 1, 2), i32(d(2), 0, -2)}, "segments"},
		{nn.OpHostSegment, []int32{9}, []value{i32(d(1), 1), i32(d(1), 0)}, "fold 9"},
		{nn.OpHostUpdateSlice, []int32{0}, []value{f32(d(1), 1), f32(d(2), 1, 2), i32(d(1), 0)}, "a part of shape [2]"},
		{nn.OpHostDilate, []int32{0}, []value{f32(d(2), 1, 2), i32(d(1), math.MaxInt32), f32(d(1), 0)}, "distance"},
		{nn.OpHostBroadcastShapes, []int32{0}, []value{i32(d(1), 2), i32(d(1), 3)}, "do not broadcast"},
		{nn.OpHostReshape, []int32{0}, []value{f32(d(1), 1)}, "input 1 is missing"},
		{nn.OpHostSelect, []int32{0}, []value{i32(d(1), 1), i32(d(2), 1, 2), i32(d(3), 1, 2, 3)}, "do not broadcast"},
		{nn.OpHostMaxPool, []int32{0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1 << 30, 1, 1, 0, 1}, []value{i32(d(1, 1, 1, 1), 1)}, "windows of 1073741824 elements"},
		{nn.OpHostMaxPool, []int32{0, 1, 1, 1, 0, 1 << 13, 1, 1, 1, 0, 1 << 13, 1, 1, 1, 0, 1}, []value{i32(d(1, 1, 1, 1), 1)}, bounded},
		{nn.OpHostMaxPool, []int32{0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1}, []value{i32(d(1, 1, 1, 1), 1)}, "a window of paddings alone"},
		{nn.OpHostMaxPool, []int32{0, 1, 1, 1, 0, 1, 2000, 1, 1, 1000, 1000, 2000, 1, 1, 1000, 1000}, []value{i32(d(1, 1, 4, 4), make([]float64, 16)...)}, "steps of work"},
		{nn.OpHostMaxUnpool, []int32{0}, []value{i32(d(1), 1), i32(d(1), 4), i32(d(1), 4)}, "place 4 of 4"},
		{nn.OpHostMaxUnpool, []int32{0}, []value{i32(d(1), 1), i32(d(1), 4), i32(d(1), 1<<29)}, bounded},
		{nn.OpHostRoiAlign, []int32{1, 1, math.MaxInt32, 0, 0}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 4), 0, 0, 1, 1), i32(d(1), 0)}, "steps of work"},
		{nn.OpHostRoiAlign, []int32{1, 1, 0, 0, 0}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 4), 0, 0, 1e30, 1e30), i32(d(1), 0)}, "steps of work"},
		{nn.OpHostRoiAlign, []int32{1, 1, 0, 0, 0}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 4), math.NaN(), 0, 1, 1), i32(d(1), 0)}, "region 0 is from"},
		{nn.OpHostRoiAlign, []int32{1, 1, 0, 0, 0}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 4), 0, 0, 1, 1), i32(d(1), 1)}, "region 0 is of image 1 of 1"},
		{nn.OpHostCountSequences, []int32{1, 0, 0}, []value{i32(d(1), 1), i32(d(2), 1, 1), i32(d(2), 1, 1), i32(d(2), 0, 0)}, "is there twice"},
		{nn.OpHostCountSequences, []int32{1, 0, 0}, []value{i32(d(1), 1), i32(d(2), 1, 1), i32(d(1), 3), i32(d(1), 0)}, "sequence 0 of 3 words, of which 2 are left"},
		{nn.OpHostCountSequences, []int32{1 << 30, 0, 0}, []value{i32(d(1), 1), i32(d(1), 1), i32(d(1), 1), i32(d(1), 0)}, bounded},
		{nn.OpHostDeterminant, []int32{0}, []value{f32(d(2, 1), 1, 2)}, "must be square"},
		{nn.OpHostDeformedColumns, []int32{1 << 20, 1 << 20, 1, 1, 1, 1, 0, 0, 1}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 2, 1, 1), 0, 0)}, "moves of shape [1 2 1 1], 1 groups of 1099511627776 elements"},
		{nn.OpHostDeformedColumns, []int32{1, 1, 1, 1, 1, 1, 0, 0, 2}, []value{f32(d(1, 1, 1, 1), 1), f32(d(1, 2, 1, 1), 0, 0)}, "2 groups of windows"},
		{nn.OpHostCumulativeProduct, []int32{0, 0}, []value{i32(d(2), 1<<20, 1<<20), i32(d(1), 0)}, "does not fit"},
		{nn.OpHostDeterminant, []int32{0}, []value{f32(d(512, 512), make([]float64, 1<<18)...)}, "steps of work"},
		{nn.OpHostResize, []int32{0, 9, 0, 0, 0, 0, 0}, []value{i32(d(1), 1), {}, {}, i32(d(1), 2)}, "attribute 1 is 9"},
		{nn.OpHostResize, []int32{0, 0, 0, 0, 0, 0, 0}, []value{i32(d(1), 1), {}, {}, i32(d(2), 2, 2)}, "2 scales or sizes for 1 axes"},
		{nn.OpHostResize, []int32{1, 0, 0, 0, 0, 0, 0}, []value{i32(d(1), 1), {}, {}, i32(d(1), 1<<20)}, "it resizes 1 elements to 1048576"},
		{nn.OpHostResize, []int32{0, 0, 0, 0, 0, 0, 0}, []value{i32(d(0)), {}, {}, i32(d(1), 2)}, "size 2 of 0 elements"},
	} {
		kind := nn.TensorInt32
		if len(x.in) > 0 && x.in[0].kind == nn.TensorFloat32 && x.op != nn.OpHostNonMaxSuppression && x.op != nn.OpHostNonMaxSuppressionPadded {
			kind = nn.TensorFloat32
		}
		_, err := execute(x.op, x.attributes, x.in, kind)
		require.ErrorContains(t, err, x.want, x.op)
	}
}

// TestSuppressionIsBounded: the pairs of boxes are charged to the execution's limit.
func TestSuppressionIsBounded(t *testing.T) {
	const n = 1 << 13
	boxes, scores := value{nn.TensorFloat32, d(1, n, 4), nil}, value{nn.TensorFloat32, d(1, 1, n), nil}
	for i := range n {
		x := float64(2 * i)
		boxes.list = append(boxes.list, x, 0, x+1, 1)
		scores.list = append(scores.list, 0.5)
	}
	_, err := execute(nn.OpHostNonMaxSuppression, []int32{0}, []value{boxes, scores, i32(d(1), n)}, nn.TensorInt32)
	require.ErrorContains(t, err, "steps of work")
}

// FuzzOperations: no operation panics or spends more than the limits, whatever its operands are.
func FuzzOperations(f *testing.F) {
	for i := range nn.HostOperations() {
		f.Add(uint8(i), int32(0), int32(1), []byte{2, 3, 1, 2, 3, 4, 5, 6}, []byte{2, 1, 255, 3})
		f.Add(uint8(i), int32(1), int32(0), []byte{0, 3}, []byte{1, 2})
		f.Add(uint8(i), int32(2), int32(1), []byte{2, 1, 3, 4, 7, 250}, []byte{1, 4, 0, 1})
	}
	f.Fuzz(func(t *testing.T, number uint8, a, b int32, first, second []byte) {
		list := slices.Concat(families...)
		o := list[int(number)%len(list)]
		attributes := slices.Repeat([]int32{a, b, a, b, a & 1, b & 1, a, b, 1, 2}, 2)[:max(o.attributes, 1)]
		in := []value{drawn(first, nn.TensorFloat32), drawn(second, nn.TensorInt32), drawn(second, nn.TensorInt32), drawn(first, nn.TensorFloat32)}
		for k := range len(in) + 1 {
			for _, kind := range []nn.OperandType{nn.TensorFloat32, nn.TensorInt32} {
				_, _ = execute(o.op, attributes, in[:k], kind)
				slices.Reverse(in[:k])
			}
		}
	})
}

// drawn is an operand by bytes: dimensions first.
func drawn(b []byte, kind nn.OperandType) value {
	v := value{kind: kind, dims: []uint32{}}
	n := 1
	for len(b) > 0 && len(v.dims) < 4 && n <= 1024 {
		n *= int(b[0] % 16)
		v.dims, b = append(v.dims, uint32(b[0]%16)), b[1:]
	}
	if len(v.dims) == 0 {
		v.dims = append(v.dims, 1)
	}
	for i := range int(nn.Elements(v.dims)) {
		x := float64(i)
		if len(b) > 0 {
			x = float64(int8(b[i%len(b)]))
		}
		v.list = append(v.list, x)
	}
	return v
}
