package refcpu

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareQuantized16Lstm is QUANTIZED_16BIT_LSTM: 8-bit activations of scale
// 1/128, 16-bit gates with 3 integer bits and a 16-bit state with 4.
func prepareQuantized16Lstm(v opspec.View, op *nn.Operation) (kern, error) {
	if _, err := v.Bind(op); err != nil {
		return nil, err
	}
	return func(x *run) error {
		p, err := x.view.Lstm16(op)
		if err != nil {
			return err
		}
		l := lstm16{Lstm16: p, in: x.bytes(p.Input), last: x.bytes(p.Last), state: x.bytes(p.State)}
		for g := range opspec.Gates {
			l.w[g], l.r[g], l.bias[g] = x.bytes(p.W[g]), x.bytes(p.R[g]), x.int32s(p.Bias[g])
		}
		d := []uint32{uint32(l.Batch), uint32(l.Units)}
		if err := x.give(op, d, d); err != nil {
			return err
		}
		if x.left.work -= int64(gates) * int64(l.Batch) * int64(l.Units) * int64(l.Size+l.Units); x.left.work < 0 {
			return errLimit
		}
		l.run(x.bytes(op.Outputs[0]), x.bytes(op.Outputs[1]))
		return nil
	}, nil
}

// lstm16 is a QUANTIZED_16BIT_LSTM with its values.
type lstm16 struct {
	opspec.Lstm16
	in, last []byte // zero point 128
	state    []byte // int16
	w, r     [gates][]byte
	bias     [gates][]int32
}

// gate is the input of gate g of unit u, Q3.12. NNAPI multiplies the row of
// recurrent and then input weights with input and then previous output, in
// this order whatever their sizes; its test vectors hold that product.
func (l *lstm16) gate(g, b, u int) int32 {
	sum := l.bias[g][u]
	in, last := l.in[b*l.Size:(b+1)*l.Size], l.last[b*l.Units:(b+1)*l.Units]
	w, r := l.w[g][u*l.Size:(u+1)*l.Size], l.r[g][u*l.Units:(u+1)*l.Units]
	for i := range l.Size + l.Units {
		weight, value := int32(0), int32(0)
		if i < l.Units {
			weight = int32(r[i]) - l.Zero[g]
		} else {
			weight = int32(w[i-l.Units]) - l.Zero[g]
		}
		if i < l.Size {
			value = int32(in[i]) - 128
		} else {
			value = int32(last[i-l.Size]) - 128
		}
		sum += weight * value
	}
	return saturate16(l.Scale.Apply(sum))
}

func saturate16(v int32) int32 { return min(max(v, -1<<15), 1<<15-1) }

// run writes the new state (int16, Q4.11) and output.
func (l *lstm16) run(state, out []byte) {
	const f = opspec.Fixed16
	for b := range l.Batch {
		for u := range l.Units {
			in, forget := f.Logistic(l.gate(gateInput, b, u), 3), f.Logistic(l.gate(gateForget, b, u), 3)
			cell, open := f.Tanh(l.gate(gateCell, b, u), 3), f.Logistic(l.gate(gateOutput, b, u), 3)
			i := b*l.Units + u
			old := int32(int16(binary.LittleEndian.Uint16(l.state[2*i:])))
			next := saturate16(f.Scale(f.Mul(in, cell), -4) + f.Mul(forget, old))
			binary.LittleEndian.PutUint16(state[2*i:], uint16(int16(next)))
			o := opspec.RDPOT(f.Mul(open, f.Tanh(next, 4)), 8)
			out[i] = byte(min(max(o, -128), 127) + 128)
		}
	}
}
