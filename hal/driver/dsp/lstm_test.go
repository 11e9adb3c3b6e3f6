package dsp

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

func (b *builder) words16(n int) []byte { return b.bytes(2 * n) }

// TestRandomLstm16 runs QUANTIZED_16BIT_LSTM with constant weights and with
// weights that are inputs.
func TestRandomLstm16(t *testing.T) {
	d := device(t)
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 41))
		b := newBuilder(r)
		batch, size, units := 1+r.IntN(3), pick(r, 1, 2, 7, 40, 150), pick(r, 1, 4, 9, 33, 64, 130)
		var in [][]byte
		operand := func(o nn.Operand, data []byte) uint32 {
			if r.IntN(2) == 0 {
				o.Lifetime, o.Data = nn.ConstantCopy, data
				return b.operand(o)
			}
			in = append(in, data)
			return b.input(o)
		}
		act := func(n int) nn.Operand {
			return nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 1. / 128, ZeroPoint: 128, Dimensions: []uint32{uint32(batch), uint32(n)}}
		}
		args := make([]uint32, 15)
		args[0] = b.input(act(size))
		in = append(in, b.bytes(batch*size))
		var zero [4]int32
		for g := range zero {
			zero[g] = r.Int32N(256)
		}
		scale := float32(math.Ldexp(float64(1+r.Float32()), -8-r.IntN(6)))
		for k := 1; k < 9; k++ {
			n, g := size, (k-1)%4
			if k > 4 {
				n = units
			}
			o := nn.Operand{Type: nn.TensorQuant8Asymm, Scale: scale, ZeroPoint: zero[g], Dimensions: []uint32{uint32(units), uint32(n)}}
			args[k] = operand(o, b.bytes(units*n))
		}
		for k := 9; k < 13; k++ {
			var data []byte
			for range units {
				data = binary.LittleEndian.AppendUint32(data, uint32(r.Int32N(1<<uint(4+r.IntN(27)))-1<<3))
			}
			args[k] = operand(nn.Operand{Type: nn.TensorInt32, Scale: scale / 128, Dimensions: []uint32{uint32(units)}}, data)
		}
		state := nn.Operand{Type: nn.TensorQuant16Symm, Scale: 1. / 2048, Dimensions: []uint32{uint32(batch), uint32(units)}}
		args[13] = b.input(state)
		in = append(in, b.words16(batch*units))
		args[14] = b.input(act(units))
		in = append(in, b.bytes(batch*units))
		b.add(nn.OpQuantized16bitLstm, args, b.output(state), b.output(act(units)))
		t.Run(fmt.Sprintf("%d_%dx%d_%d", seed, batch, size, units), func(t *testing.T) { check(t, d, &b.m, in, r.IntN(2) == 0) })
	}
}

// TestRandomLstm8 runs QUANTIZED_LSTM with any of its optional parts: coupled
// gates, peepholes, layer normalization, projection, clipping.
func TestRandomLstm8(t *testing.T) {
	d := device(t)
	for seed := range uint64(48) {
		r := rand.New(rand.NewPCG(seed, 42))
		b := newBuilder(r)
		batch, size, units := 1+r.IntN(3), pick(r, 1, 5, 40, 150), pick(r, 1, 4, 9, 33, 70, 130)
		coupled, peephole, norm, project := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
		out := units
		if project {
			out = pick(r, 1, 3, 20, 129)
		}
		var in [][]byte
		tensor := func(t nn.OperandType, scale float32, zero int32, data []byte, dims ...int) uint32 {
			o := nn.Operand{Type: t, Scale: scale, ZeroPoint: zero}
			for _, n := range dims {
				o.Dimensions = append(o.Dimensions, uint32(n))
			}
			if data == nil {
				data = b.bytes(product(dims) * t.ElementBytes())
			}
			if r.IntN(2) == 0 && t != nn.TensorQuant8AsymmSigned {
				o.Lifetime, o.Data = nn.ConstantCopy, data
				return b.operand(o)
			}
			in = append(in, data)
			return b.input(o)
		}
		ints := func(n, size int) []byte {
			var data []byte
			for range n {
				data = binary.LittleEndian.AppendUint32(data, uint32(int32(r.IntN(size)-size/2)))
			}
			return data
		}
		omitted := func(t nn.OperandType, _ ...int) uint32 {
			return b.operand(nn.Operand{Type: t, Scale: 1, Lifetime: nn.NoValue})
		}
		if r.IntN(2) == 0 { // as an input that is not given
			omitted = func(t nn.OperandType, dims ...int) uint32 {
				in = append(in, nil)
				return b.input(nn.Operand{Type: t, Dimensions: b.plain(nn.TensorInt32, dims...).Dimensions, Scale: 1})
			}
		}
		optional := func(there bool, t nn.OperandType, scale float32, data []byte, dims ...int) uint32 {
			if !there {
				return omitted(t, dims...)
			}
			return tensor(t, scale, 0, data, dims...)
		}
		spread := float32(math.Ldexp(1, -3-r.IntN(9))) // of the weights
		const q8, sym, q16 = nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm, nn.TensorQuant16Symm
		cell := float32(math.Ldexp(1, -11-r.IntN(5)))
		args := []uint32{tensor(q8, 1./64, r.Int32N(256)-128, nil, batch, size)}
		for k := range 8 {
			n := size
			if k >= 4 {
				n = out
			}
			args = append(args, optional(k%4 != 0 || !coupled, sym, spread*float32(0.5+r.Float64()), nil, units, n))
		}
		for k := range 3 {
			args = append(args, optional(peephole && (k > 0 || !coupled), q16, 1./32768, nil, units))
		}
		for k := range 4 {
			args = append(args, optional(k > 0 || !coupled, nn.TensorInt32, 1, ints(units, 1<<uint(8+r.IntN(10))), units))
		}
		args = append(args, optional(project, sym, 1./64, nil, out, units), optional(project && r.IntN(2) == 0, nn.TensorInt32, 1, ints(out, 4096), out))
		state := nn.Operand{Type: q8, Scale: 1. / 64, ZeroPoint: r.Int32N(256) - 128, Dimensions: []uint32{uint32(batch), uint32(out)}}
		args = append(args, tensor(q8, state.Scale, state.ZeroPoint, nil, batch, out), tensor(q16, cell, 0, nil, batch, units))
		for k := range 4 {
			args = append(args, optional(norm && (k > 0 || !coupled), q16, float32(math.Ldexp(float64(1+r.Float32()), -16)), nil, units))
		}
		args = append(args, b.float32(pick(r, float32(0), 0.5, 8)), b.float32(pick(r, float32(0), 0.7)))
		for range 4 {
			args = append(args, b.float32(float32(math.Ldexp(float64(1+r.Float32()), -8-r.IntN(6)))))
		}
		args = append(args, b.int32(r.IntN(256)-128), b.float32(float32(math.Ldexp(float64(1+r.Float32()), -8))))
		next := nn.Operand{Type: q16, Scale: cell, Dimensions: []uint32{uint32(batch), uint32(units)}}
		b.add(nn.OpQuantizedLstm, args, b.output(state), b.output(next), b.output(state))
		t.Run(fmt.Sprintf("%d_%dx%d_%d_%d_%v_%v_%v_%v", seed, batch, size, units, out, coupled, peephole, norm, project), func(t *testing.T) {
			check(t, d, &b.m, in, r.IntN(2) == 0)
		})
	}
}
