package opspec

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// TestSoftmaxQuant holds a quantized row to the real softmax.
func TestSoftmaxQuant(t *testing.T) {
	v := View{Operands: []nn.Operand{
		{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 20}, Scale: 0.05},
		{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: []byte{0, 0, 0x80, 0x3f}},
		{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 20}, Scale: 1. / 256},
	}}
	s := require.V(Read[Softmax](v, &nn.Operation{Type: nn.OpSoftmax, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}))(t)
	q := require.V(s.Quant(v))(t)
	sum, real := int32(0), 0.
	for i := range 20 {
		sum += quantized.SoftmaxSumTerm(q.Exp(int32(-7 * i)))
		real += math.Exp(-0.05 * 7 * float64(i))
	}
	scale, shift := quantized.SoftmaxScale(sum)
	for i := range 20 {
		got, want := q.Finish(q.Exp(int32(-7*i)), scale, shift), math.Exp(-0.05*7*float64(i))/real*256
		require.Check(t, math.Abs(float64(got)-want) <= 0.51, "entry %d is %d, want %.2f", i, got, want)
	}
	v.Operands[2].ZeroPoint = 1
	require.Fails(t, require.Err(s.Quant(v)), "an output with a zero point of 1 was accepted")
}

// TestSumsFit: the bound is that of the weights there are, also where the largest weights would go beyond it.
func TestSumsFit(t *testing.T) {
	const depth = 50
	weights := make([]byte, 2*depth)
	sum := 0
	for i := range weights {
		weights[i] = byte(128 + i%7)
		if i >= depth {
			sum += i % 7
		}
	}
	for over, want := range []bool{true, false} {
		bias := make([]byte, 8)
		binary.LittleEndian.PutUint32(bias[4:], uint32(math.MaxInt32-255*sum+over))
		v := View{Operands: []nn.Operand{
			{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, depth}, Scale: 0.5},
			{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2, depth}, Scale: 0.5, ZeroPoint: 128, Lifetime: nn.ConstantCopy, Data: weights},
			{Type: nn.TensorInt32, Dimensions: []uint32{2}, Scale: 0.25, Lifetime: nn.ConstantCopy, Data: bias},
			{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)},
			{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{1, 2}, Scale: 1},
		}}
		op := nn.Operation{Type: nn.OpFullyConnected, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}
		if _, ok := v.Sums(&op); !ok {
			t.Fatal("the operation adds up nothing")
		}
		if err := v.SumsFit(&op); (err == nil) != want {
			t.Errorf("%d beyond 32 bits: %v", over, err)
		}
		binary.LittleEndian.PutUint32(bias[4:], 1)
		require.Report(t, v.SumsFit(&op))
	}
}

// TestPadded: padding on any side is one.
func TestPadded(t *testing.T) {
	for i := range 5 {
		var pads [5]int
		pads[i] = 1
		if w := (Window{Top: pads[1], Bottom: pads[2], Left: pads[3], Right: pads[4]}); w.Padded() != (i > 0) {
			t.Errorf("%+v: %v", w, w.Padded())
		}
	}
}
