package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// The gates of an LSTM, in the order of their operands.
const (
	GateInput = iota
	GateForget
	GateCell
	GateOutput
	Gates
)

// GateNames are the gates as operands name them.
var GateNames = [Gates]string{"input", "forget", "cell", "output"}

// Lstm16 is a QUANTIZED_16BIT_LSTM: 8-bit activations of scale 1/128, 16-bit
// gates with 3 integer bits and a 16-bit state with 4.
type Lstm16 struct {
	Input, Last, State uint32 // operand indexes; Last is the previous output
	NextState, Output  uint32
	Batch, Size, Units int
	W, R, Bias         [Gates]uint32 // of input and of previous output
	Zero               [Gates]int32  // of both weights
	Scale              Multiplier    // of the sums to Q3.12
}

// Lstm16 reads a QUANTIZED_16BIT_LSTM.
func (v View) Lstm16(op *nn.Operation) (Lstm16, error) {
	a, err := v.bindAs(op, nn.OpQuantized16bitLstm)
	if err != nil {
		return Lstm16{}, err
	}
	l := Lstm16{NextState: op.Outputs[0], Output: op.Outputs[1]}
	d, err := a.shaped("input", -1, -1)
	if err != nil {
		return l, err
	}
	l.Input, l.Batch, l.Size = a.In("input"), int(d[0]), int(d[1])
	if d, err = a.shaped("prev_output", l.Batch, -1); err != nil {
		return l, err
	}
	l.Last, l.Units = a.In("prev_output"), int(d[1])
	if _, err = a.shaped("prev_cell_state", l.Batch, l.Units); err != nil {
		return l, err
	}
	l.State = a.In("prev_cell_state")
	for g, n := range GateNames {
		if _, err = a.shaped("input_to_"+n+"_weights", l.Units, l.Size); err != nil {
			return l, err
		}
		if _, err = a.shaped("recurrent_to_"+n+"_weights", l.Units, l.Units); err != nil {
			return l, err
		}
		if _, err = a.shaped(n+"_gate_bias", l.Units); err != nil {
			return l, err
		}
		l.W[g], l.R[g], l.Bias[g] = a.In("input_to_"+n+"_weights"), a.In("recurrent_to_"+n+"_weights"), a.In(n+"_gate_bias")
		w, r := &v.Operands[l.W[g]], &v.Operands[l.R[g]]
		if w.Scale != r.Scale || w.ZeroPoint != r.ZeroPoint || w.Scale != v.Operands[l.W[0]].Scale {
			return l, a.errorf("input_to_"+n+"_weights", "quantization of another kind than the other weights'")
		}
		l.Zero[g] = w.ZeroPoint
	}
	bias := v.Operands[l.Bias[0]].Scale
	real := 4096 * float64(bias)
	if !(real > 0 && real < 1) {
		return l, a.errorf("input_gate_bias", "scale %v", bias)
	}
	l.Scale = QuantizeMultiplier(real)
	return l, nil
}

// shaped is the shape of the named input, which must be want; -1 is any size.
func (a *Args) shaped(name string, want ...int) ([]uint32, error) {
	d, err := a.Dims(name)
	if err != nil {
		return nil, err
	}
	ok := len(d) == len(want)
	for i := 0; ok && i < len(d); i++ {
		ok = want[i] < 0 || int(d[i]) == want[i]
	}
	if !ok {
		return nil, a.errorf(name, "shape %v, %v needed", d, want)
	}
	return d, nil
}
