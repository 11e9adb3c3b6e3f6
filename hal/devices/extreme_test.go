package devices_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestExtremeQuantization: scales and biases at the ends of their ranges are
// declined or computed exactly, never wrong.
func TestExtremeQuantization(t *testing.T) {
	require.AllTests(t)
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer))(t)
	scales := []float32{1e-38, 1e-20, 1e-6, 0.5, 1e6, 1e20, 3.2e38}
	biases := []int32{math.MinInt32, math.MinInt32 + 1, -1 << 30, 0, 1 << 30, math.MaxInt32 - 1, math.MaxInt32}
	ran := map[string]int{}
	for _, op := range []nn.OperationType{nn.OpConv2D, nn.OpDepthwiseConv2D, nn.OpFullyConnected} {
		for _, typ := range []nn.OperandType{nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned} {
			for _, weight := range scales {
				for _, out := range scales {
					for k, bias := range biases {
						m := extreme(op, typ, weight, out, bias, biases[(k+3)%len(biases)])
						if validate.Model(m) != nil {
							continue // bias scale beyond float32
						}
						in := make([]byte, m.Main.Operands[0].Bytes())
						for i := range in {
							in[i] = byte(i*89 + 7)
						}
						want := require.V(cpudriver.Reference(m, [][]byte{in}))(t)
						for _, d := range list[1:] {
							what := fmt.Sprintf("%v %v on %s: weight scale %g, output scale %g, bias %d", op, typ, d.Name(), weight, out, bias)
							s, err := d.SupportedOperations(m)
							if err != nil {
								t.Errorf("%s: %v", what, err)
								continue
							}
							if !s[0].OK {
								continue
							}
							p, err := d.PrepareModel(m, hal.PrepareOptions{})
							if err != nil {
								t.Errorf("%s: declared, but %v", what, err)
								continue
							}
							got := [][]byte{make([]byte, len(want[0]))}
							if _, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{in}, Outputs: got, ExecuteOptions: hal.ExecuteOptions{Functional: true}}); err != nil {
								t.Errorf("%s: %v", what, err)
								continue
							}
							ran[d.Name()]++
							require.Check(t, bytes.Equal(got[0], want[0]), "%s: % x, want % x", what, got[0], want[0])
						}
					}
				}
			}
		}
	}
	t.Logf("exact: %v", ran)
}

// extreme is an operation of 1x1 positions and 4 channels with these scales and
// two alternating biases.
func extreme(op nn.OperationType, typ nn.OperandType, weight, out float32, bias ...int32) *nn.Model {
	zero := int32(128)
	if typ == nn.TensorQuant8AsymmSigned {
		zero = 0
	}
	q := func(l nn.Lifetime, scale float32, dims ...uint32) nn.Operand {
		return nn.Operand{Type: typ, Scale: scale, ZeroPoint: zero, Dimensions: dims, Lifetime: l}
	}
	scalar := func(v byte) nn.Operand {
		return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
	}
	const input = 0.5
	b := nn.Operand{Type: nn.TensorInt32, Scale: input * weight, Dimensions: []uint32{4}, Lifetime: nn.ConstantCopy}
	for k := range 4 {
		b.Data = binary.LittleEndian.AppendUint32(b.Data, uint32(bias[k%2]))
	}
	x, y, f := q(nn.SubgraphInput, input, 1, 1, 1, 4), q(nn.SubgraphOutput, out, 1, 1, 1, 4), q(nn.ConstantCopy, weight, 4, 1, 1, 4)
	args := []uint32{0, 1, 2, 4, 5, 5, 6}
	switch op {
	case nn.OpDepthwiseConv2D:
		f.Dimensions = []uint32{1, 1, 1, 4}
		args = []uint32{0, 1, 2, 4, 5, 5, 5, 6}
	case nn.OpFullyConnected:
		x.Dimensions, y.Dimensions, f.Dimensions = []uint32{1, 4}, []uint32{1, 4}, []uint32{4, 4}
		args = []uint32{0, 1, 2, 6}
	}
	f.Data = make([]byte, f.Bytes())
	for k := range f.Data {
		f.Data[k] = byte(k*53 + 1)
	}
	return &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{x, f, b, y, scalar(nn.PaddingValid), scalar(1), scalar(0)},
		Operations: []nn.Operation{{Type: op, Inputs: args, Outputs: []uint32{3}}},
		Inputs:     []uint32{0}, Outputs: []uint32{3},
	}}
}
