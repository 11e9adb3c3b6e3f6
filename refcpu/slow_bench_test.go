package refcpu

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// BenchmarkOperations measures operations without their own vector kernels against 50 ns per output element plus 1 ns
// per multiply-accumulate: the metric "share" is below 1 within that bound.
func BenchmarkOperations(b *testing.B) {
	constant := func(t nn.OperandType, v uint32) nn.Operand {
		return nn.Operand{Type: t, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, v)[:t.ElementBytes()]}
	}
	tensor := func(t nn.OperandType, l nn.Lifetime, dims ...uint32) nn.Operand {
		o := nn.Operand{Type: t, Dimensions: dims, Lifetime: l}
		if l == nn.ConstantCopy {
			o.Data = make([]byte, o.Bytes())
		}
		return o
	}
	size := tensor(nn.TensorInt32, nn.ConstantCopy, 4)
	for i, v := range []uint32{1, 64, 64, 32} {
		binary.LittleEndian.PutUint32(size.Data[4*i:], v)
	}
	one, two, none, no := constant(nn.Int32, 1), constant(nn.Int32, 2), constant(nn.Int32, 0), constant(nn.Bool, 0)
	const in, out, fixed = nn.SubgraphInput, nn.SubgraphOutput, nn.ConstantCopy
	for _, t := range []nn.OperandType{nn.TensorFloat32, nn.TensorFloat16} {
		beta := constant(nn.Float32, math.Float32bits(1))
		if t == nn.TensorFloat16 {
			beta = constant(nn.Float16, 0x3c00)
		}
		for _, c := range []struct {
			op     nn.OperationType
			inputs []nn.Operand
			output nn.Operand
			macs   float64
		}{
			{nn.OpTransposeConv2D, []nn.Operand{tensor(t, in, 1, 32, 32, 32), tensor(t, fixed, 32, 3, 3, 32), tensor(t, fixed, 32), size, one, two, two, none, no},
				tensor(t, out, 1, 64, 64, 32), 32 * 32 * 32 * 9 * 32},
			{nn.OpBatchMatmul, []nn.Operand{tensor(t, in, 1, 256, 256), tensor(t, in, 1, 256, 256), no, no}, tensor(t, out, 1, 256, 256), 256 * 256 * 256},
			{nn.OpSoftmax, []nn.Operand{tensor(t, in, 256, 1000), beta}, tensor(t, out, 256, 1000), 0},
			{nn.OpPow, []nn.Operand{tensor(t, in, 1, 64, 64, 32), tensor(t, in, 1, 64, 64, 32)}, tensor(t, out, 1, 64, 64, 32), 0},
		} {
			g := nn.Subgraph{Operands: append(c.inputs, c.output)}
			op := nn.Operation{Type: c.op, Outputs: []uint32{uint32(len(c.inputs))}}
			var data [][]byte
			for i := range c.inputs {
				op.Inputs = append(op.Inputs, uint32(i))
				if c.inputs[i].Lifetime == in {
					g.Inputs = append(g.Inputs, uint32(i))
					data = append(data, make([]byte, c.inputs[i].Bytes()))
				}
			}
			g.Outputs, g.Operations = op.Outputs, []nn.Operation{op}
			b.Run(c.op.String()+"/"+t.String(), func(b *testing.B) {
				p := require.V(Compile(&nn.Model{Main: g}))(b)
				result := [][]byte{make([]byte, c.output.Bytes())}
				for b.Loop() {
					require.NoError(b, p.Run(data, result, Options{Threads: 1}))
				}
				allowed := 50*float64(c.output.Elements()) + c.macs
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/allowed, "share")
			})
		}
	}
}
