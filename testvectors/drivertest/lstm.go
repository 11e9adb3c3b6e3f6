package drivertest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/nn"
)

// RandomCell is a model of one operation with its inputs; those that are left out are nil.
type RandomCell struct {
	Name       string
	Model      *nn.Model
	Inputs     [][]byte
	Functional bool
}

// cells builds a model of one cell.
type cells struct {
	*rand.Rand
	m  nn.Model
	in [][]byte
}

func newCells(seed, stream uint64) *cells { return &cells{Rand: rand.New(rand.NewPCG(seed, stream))} }

func (b *cells) operand(o nn.Operand) uint32 {
	b.m.Main.Operands = append(b.m.Main.Operands, o)
	return uint32(len(b.m.Main.Operands) - 1)
}

// input adds an input with its value, nil where it is left out.
func (b *cells) input(o nn.Operand, data []byte) uint32 {
	o.Lifetime = nn.SubgraphInput
	x := b.operand(o)
	b.m.Main.Inputs, b.in = append(b.m.Main.Inputs, x), append(b.in, data)
	return x
}

// either adds a constant or an input.
func (b *cells) either(o nn.Operand, data []byte) uint32 {
	if b.IntN(2) == 0 {
		o.Lifetime, o.Data = nn.ConstantCopy, data
		return b.operand(o)
	}
	return b.input(o, data)
}

func (b *cells) output(o nn.Operand) uint32 {
	o.Lifetime = nn.SubgraphOutput
	x := b.operand(o)
	b.m.Main.Outputs = append(b.m.Main.Outputs, x)
	return x
}

func (b *cells) float(v float64) uint32 {
	return b.operand(nn.Operand{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(v)))})
}

// power is a number from 2^n to 2^(n+1).
func (b *cells) power(n int) float64 { return math.Ldexp(1+b.Float64(), n) }

func (b *cells) bytes(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(b.Uint32())
	}
	return data
}

// integers are the bytes of n integers around 0.
func (b *cells) integers(n, size int) (data []byte) {
	for range n {
		data = binary.LittleEndian.AppendUint32(data, uint32(int32(b.IntN(size)-size/2)))
	}
	return data
}

func (b *cells) pick(list ...int) int { return list[b.IntN(len(list))] }

func (b *cells) cell(name string, op nn.OperationType, args []uint32, outputs ...nn.Operand) RandomCell {
	var out []uint32
	for _, o := range outputs {
		out = append(out, b.output(o))
	}
	b.m.Main.Operations = []nn.Operation{{Type: op, Inputs: args, Outputs: out}}
	return RandomCell{name, &b.m, b.in, b.IntN(2) == 0}
}

// tensor is an operand of a type.
func tensor(t nn.OperandType, scale float64, zero int32, dims ...int) nn.Operand {
	o := nn.Operand{Type: t, Scale: float32(scale), ZeroPoint: zero}
	for _, n := range dims {
		o.Dimensions = append(o.Dimensions, uint32(n))
	}
	return o
}

// Lstms are models of QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM, half of them in a short run.
func Lstms() []RandomCell {
	n := 24
	if testing.Short() {
		n /= 2
	}
	return slices.Concat(Lstms16(n), Lstms8(2*n))
}

// Lstms16 are n models of QUANTIZED_16BIT_LSTM with constant weights and with weights that are inputs.
func Lstms16(n int) (list []RandomCell) {
	for seed := range uint64(n) {
		b := newCells(seed, 41)
		batch, size, units := 1+b.IntN(3), b.pick(1, 2, 7, 40, 150), b.pick(1, 4, 9, 33, 64, 130)
		const q8 = nn.TensorQuant8Asymm
		scale := b.power(-8 - b.IntN(6))
		var zero [4]int32
		for g := range zero {
			zero[g] = b.Int32N(256)
		}
		args := []uint32{b.input(tensor(q8, 1./128, 128, batch, size), b.bytes(batch*size))}
		for k := range 8 {
			n := size
			if k >= 4 {
				n = units
			}
			args = append(args, b.either(tensor(q8, scale, zero[k%4], units, n), b.bytes(units*n)))
		}
		for range 4 {
			args = append(args, b.either(tensor(nn.TensorInt32, scale/128, 0, units), b.integers(units, 1<<(4+b.IntN(27)))))
		}
		state, out := tensor(nn.TensorQuant16Symm, 1./2048, 0, batch, units), tensor(q8, 1./128, 128, batch, units)
		args = append(args, b.input(state, b.bytes(2*batch*units)), b.input(out, b.bytes(batch*units)))
		list = append(list, b.cell(fmt.Sprintf("%d_%dx%d_%d", seed, batch, size, units), nn.OpQuantized16bitLstm, args, state, out))
	}
	return list
}

// Lstms8 are n models of QUANTIZED_LSTM with any of its optional parts: coupled gates, peepholes, layer
// normalization, projection, clipping.
func Lstms8(n int) (list []RandomCell) {
	for seed := range uint64(n) {
		b := newCells(seed, 42)
		batch, size, units := 1+b.IntN(3), b.pick(1, 5, 40, 150), b.pick(1, 4, 9, 33, 70, 130)
		coupled, peephole, norm, project := b.IntN(2) == 0, b.IntN(2) == 0, b.IntN(2) == 0, b.IntN(2) == 0
		out := units
		if project {
			out = b.pick(1, 3, 20, 129)
		}
		asInput := b.IntN(2) == 0 // an omitted operand is an input without argument
		optional := func(there bool, o nn.Operand, data []byte) uint32 {
			switch {
			case there:
				return b.either(o, data)
			case asInput:
				return b.input(o, nil)
			}
			o.Lifetime = nn.NoValue
			return b.operand(o)
		}
		const q8, sym, q16 = nn.TensorQuant8AsymmSigned, nn.TensorQuant8Symm, nn.TensorQuant16Symm
		spread, cell := math.Ldexp(1, -3-b.IntN(9)), math.Ldexp(1, -11-b.IntN(5))
		args := []uint32{b.input(tensor(q8, 1./64, b.Int32N(256)-128, batch, size), b.bytes(batch*size))}
		for k := range 8 {
			n := size
			if k >= 4 {
				n = out
			}
			args = append(args, optional(k%4 != 0 || !coupled, tensor(sym, spread*(0.5+b.Float64()), 0, units, n), b.bytes(units*n)))
		}
		for k := range 3 {
			args = append(args, optional(peephole && (k > 0 || !coupled), tensor(q16, 1./32768, 0, units), b.bytes(2*units)))
		}
		for k := range 4 {
			args = append(args, optional(k > 0 || !coupled, tensor(nn.TensorInt32, 1, 0, units), b.integers(units, 1<<(8+b.IntN(10)))))
		}
		args = append(args, optional(project, tensor(sym, 1./64, 0, out, units), b.bytes(out*units)),
			optional(project && b.IntN(2) == 0, tensor(nn.TensorInt32, 1, 0, out), b.integers(out, 4096)))
		state, next := tensor(q8, 1./64, b.Int32N(256)-128, batch, out), tensor(q16, cell, 0, batch, units)
		args = append(args, b.input(state, b.bytes(batch*out)), b.either(next, b.bytes(2*batch*units)))
		for k := range 4 {
			args = append(args, optional(norm && (k > 0 || !coupled), tensor(q16, b.power(-16+b.IntN(9)), 0, units), b.bytes(2*units)))
		}
		args = append(args, b.float([]float64{0, 0.5, 8}[b.IntN(3)]), b.float([]float64{0, 0.7}[b.IntN(2)]))
		for range 4 {
			args = append(args, b.float(b.power(-8-b.IntN(6))))
		}
		zero := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: binary.LittleEndian.AppendUint32(nil, uint32(b.Int32N(256)-128))}
		args = append(args, b.operand(zero), b.float(b.power(-8)))
		list = append(list, b.cell(fmt.Sprintf("%d_%dx%d_%d_%d_%v_%v_%v_%v", seed, batch, size, units, out, coupled, peephole, norm, project), nn.OpQuantizedLstm, args, state, next, state))
	}
	return list
}
