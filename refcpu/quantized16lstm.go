package refcpu

import (
	"encoding/binary"
	"fmt"

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
		a, err := x.view.Bind(op)
		if err != nil {
			return err
		}
		l, err := newLstm16(x, &a)
		if err != nil {
			return err
		}
		d := []uint32{uint32(l.batch), uint32(l.units)}
		if err := x.give(op, d, d); err != nil {
			return err
		}
		if x.left.work -= int64(gates) * int64(l.batch) * int64(l.units) * int64(l.size+l.units); x.left.work < 0 {
			return errLimit
		}
		l.run(x.bytes(op.Outputs[0]), x.bytes(op.Outputs[1]))
		return nil
	}, nil
}

// lstm16 are the operands of a QUANTIZED_16BIT_LSTM.
type lstm16 struct {
	batch, size, units int
	in, last           []byte // input and previous output, zero point 128
	state              []byte // int16
	w, r               [gates][]byte
	wZero, rZero       [gates]int32
	bias               [gates][]int32
	scale              opspec.Multiplier // of the sums to Q3.12
}

func newLstm16(x *run, a *opspec.Args) (*lstm16, error) {
	shape := func(name string, want ...int) ([]uint32, []byte, error) {
		d, err := a.Dims(name)
		if err != nil {
			return nil, nil, err
		}
		ok := len(d) == len(want)
		for i := 0; ok && i < len(d); i++ {
			ok = want[i] < 0 || int(d[i]) == want[i]
		}
		if !ok {
			return nil, nil, fmt.Errorf("%s: shape %v, %v needed", name, d, want)
		}
		return d, x.bytes(a.In(name)), nil
	}
	l := &lstm16{}
	d, in, err := shape("input", -1, -1)
	if err != nil {
		return nil, err
	}
	l.batch, l.size, l.in = int(d[0]), int(d[1]), in
	if d, l.last, err = shape("prev_output", l.batch, -1); err != nil {
		return nil, err
	}
	l.units = int(d[1])
	if _, l.state, err = shape("prev_cell_state", l.batch, l.units); err != nil {
		return nil, err
	}
	for g, n := range gateNames {
		if _, l.w[g], err = shape("input_to_"+n+"_weights", l.units, l.size); err != nil {
			return nil, err
		}
		if _, l.r[g], err = shape("recurrent_to_"+n+"_weights", l.units, l.units); err != nil {
			return nil, err
		}
		if _, _, err = shape(n+"_gate_bias", l.units); err != nil {
			return nil, err
		}
		l.bias[g] = x.int32s(a.In(n + "_gate_bias"))
		w, r := &x.view.Operands[a.In("input_to_"+n+"_weights")], &x.view.Operands[a.In("recurrent_to_"+n+"_weights")]
		if w.Scale != r.Scale || w.ZeroPoint != r.ZeroPoint || w.Scale != x.view.Operands[a.In("input_to_input_weights")].Scale {
			return nil, fmt.Errorf("the weights of the %s gate have another quantization", n)
		}
		l.wZero[g], l.rZero[g] = w.ZeroPoint, r.ZeroPoint
	}
	bias := &x.view.Operands[a.In("input_gate_bias")]
	real := 4096 * float64(bias.Scale)
	if !(real > 0 && real < 1) {
		return nil, fmt.Errorf("bias scale %v", bias.Scale)
	}
	l.scale = opspec.QuantizeMultiplier(real)
	return l, nil
}

// gate is the input of gate g of unit u, Q3.12. NNAPI multiplies the row of
// recurrent and then input weights with input and then previous output, in
// this order whatever their sizes; its test vectors hold that product.
func (l *lstm16) gate(g, b, u int) int32 {
	sum := l.bias[g][u]
	in, last := l.in[b*l.size:(b+1)*l.size], l.last[b*l.units:(b+1)*l.units]
	w, r := l.w[g][u*l.size:(u+1)*l.size], l.r[g][u*l.units:(u+1)*l.units]
	for i := range l.size + l.units {
		weight, value := int32(0), int32(0)
		if i < l.units {
			weight = int32(r[i]) - l.rZero[g]
		} else {
			weight = int32(w[i-l.units]) - l.wZero[g]
		}
		if i < l.size {
			value = int32(in[i]) - 128
		} else {
			value = int32(last[i-l.size]) - 128
		}
		sum += weight * value
	}
	return saturate16(l.scale.Apply(sum))
}

func saturate16(v int32) int32 { return min(max(v, -1<<15), 1<<15-1) }

// run writes the new state (int16, Q4.11) and output.
func (l *lstm16) run(state, out []byte) {
	const f = opspec.Fixed16
	for b := range l.batch {
		for u := range l.units {
			in, forget := f.Logistic(l.gate(gateInput, b, u), 3), f.Logistic(l.gate(gateForget, b, u), 3)
			cell, open := f.Tanh(l.gate(gateCell, b, u), 3), f.Logistic(l.gate(gateOutput, b, u), 3)
			i := b*l.units + u
			old := int32(int16(binary.LittleEndian.Uint16(l.state[2*i:])))
			next := saturate16(f.Scale(f.Mul(in, cell), -4) + f.Mul(forget, old))
			binary.LittleEndian.PutUint16(state[2*i:], uint16(int16(next)))
			o := opspec.RDPOT(f.Mul(open, f.Tanh(next, 4)), 8)
			out[i] = byte(min(max(o, -128), 127) + 128)
		}
	}
}
