package opspec

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Lstm8 is a QUANTIZED_LSTM: 8-bit activations and weights, 16-bit gates with 3
// integer bits, a 16-bit cell state whose scale is a power of two.
type Lstm8 struct {
	Input, Last, Cell           uint32 // operand indexes; Last is the previous output
	NextState, NextCell, Output uint32
	Batch, Size, Units, Out     int
	InZero, LastZero, OutZero   int32
	Gate                        [Gates]Gate8
	Coupled                     bool // the input gate is what the forget gate leaves
	CellShift                   int  // log2 of the cell state's scale
	CellClip, OutClip           int32
	Hidden                      Multiplier
	HiddenZero                  int32
	Projection, ProjectionBias  uint32 // None without
	ProjectionScale             Multiplier
}

// Gate8 is a gate of a QUANTIZED_LSTM; operands may be None.
type Gate8 struct {
	W, R, Bias, Peephole, Norm    uint32 // operand indexes
	WScale, RScale, PeepholeScale Multiplier
	NormScale                     Multiplier
	// VarianceAtZero is what normalization takes for a variance below 1.
	VarianceAtZero int32
}

// maybe is an optional operand of the given shape, nil when it is omitted.
func (a *Args) maybe(name string, shape ...int) (*nn.Operand, uint32, error) {
	i := a.In(name)
	if i == None {
		return nil, None, nil
	}
	if _, err := a.shaped(name, shape...); err != nil {
		return nil, None, err
	}
	return &a.View.Operands[i], i, nil
}

// Lstm8 reads a QUANTIZED_LSTM.
func (v View) Lstm8(op *nn.Operation) (Lstm8, error) {
	a, err := v.bindAs(op, nn.OpQuantizedLstm)
	if err != nil {
		return Lstm8{}, err
	}
	l := Lstm8{NextState: op.Outputs[0], NextCell: op.Outputs[1], Output: op.Outputs[2]}
	d, err := a.shaped("input", -1, -1)
	if err != nil {
		return l, err
	}
	l.Input, l.Batch, l.Size = a.In("input"), int(d[0]), int(d[1])
	if d, err = a.shaped("output_state_in", l.Batch, -1); err != nil {
		return l, err
	}
	l.Last, l.Out = a.In("output_state_in"), int(d[1])
	if d, err = a.shaped("cell_state_in", l.Batch, -1); err != nil {
		return l, err
	}
	l.Cell, l.Units = a.In("cell_state_in"), int(d[1])
	in, last, cell, out := &v.Operands[l.Input], &v.Operands[l.Last], &v.Operands[l.Cell], &v.Operands[l.NextState]
	l.InZero, l.LastZero, l.OutZero = in.ZeroPoint, last.ZeroPoint, out.ZeroPoint
	log := math.Log2(float64(cell.Scale))
	l.CellShift = int(math.Round(log))
	if !(math.Abs(log-float64(l.CellShift)) < 1e-3) || l.CellShift < -15 || l.CellShift > -11 {
		return l, a.errorf("cell_state_in", "scale %v is no power of two from 2^-15 to 2^-11", cell.Scale)
	}
	var scalars [7]float32
	for i, n := range []string{"input_intermediate_scale", "forget_intermediate_scale", "cell_intermediate_scale",
		"output_intermediate_scale", "cell_clip", "proj_clip", "hidden_state_scale"} {
		if scalars[i], err = a.Float(n); err != nil {
			return l, err
		}
	}
	if l.HiddenZero, err = a.Int32("hidden_state_zero_point"); err != nil {
		return l, err
	}
	for g := range l.Gate {
		if err := l.readGate(&a, g, in, last, cell, scalars[g]); err != nil {
			return l, err
		}
	}
	hidden := float64(scalars[6])
	l.CellClip = int32(min(max(float64(scalars[4])/float64(cell.Scale), math.MinInt16), math.MaxInt16))
	if out.Scale > 0 {
		l.OutClip = int32(min(max(float64(scalars[5])/float64(out.Scale), math.MinInt8), math.MaxInt8))
	}
	if !(hidden > 0) {
		return l, a.errorf("hidden_state_scale", "%v is not positive", hidden)
	}
	l.Hidden = QuantizeMultiplier(math.Ldexp(1, -15) / hidden * math.Ldexp(1, -15))
	p, x, err := a.maybe("projection_weights", l.Out, l.Units)
	if err != nil {
		return l, err
	}
	l.Projection, l.ProjectionBias = x, None
	if p == nil {
		if l.Out != l.Units {
			return l, a.errorf("output_state_in", "%d values without a projection, %d needed", l.Out, l.Units)
		}
		return l, nil
	}
	l.ProjectionScale = QuantizeMultiplier(float64(p.Scale) * hidden / float64(out.Scale))
	_, l.ProjectionBias, err = a.maybe("projection_bias", l.Out)
	return l, err
}

// readGate reads gate g; intermediate is the scale of its sums when they are
// normalized, which are Q3.12 otherwise.
func (l *Lstm8) readGate(a *Args, g int, in, last, cell *nn.Operand, intermediate float32) error {
	p, n := &l.Gate[g], GateNames[g]
	*p = Gate8{W: None, R: None, Bias: None, Peephole: None, Norm: None}
	w, x, err := a.maybe("input_to_"+n+"_weights", l.Units, l.Size)
	if err != nil {
		return err
	}
	p.W = x
	r, x, err := a.maybe("recurrent_to_"+n+"_weights", l.Units, l.Out)
	if err != nil {
		return err
	}
	p.R = x
	if (w == nil) != (r == nil) || w == nil && g != GateInput {
		return a.errorf("input_to_"+n+"_weights", "given without recurrent weights or the reverse")
	}
	if w == nil {
		l.Coupled = true
		return nil
	}
	if _, p.Bias, err = a.maybe(n+"_gate_bias", l.Units); err != nil {
		return err
	}
	if p.Bias == None {
		return a.errorf(n+"_gate_bias", "is missing")
	}
	norm, x, err := a.maybe(n+"_layer_norm_weights", l.Units)
	if err != nil {
		return err
	}
	scale := math.Ldexp(1, -12)
	if p.Norm = x; norm != nil {
		scale = float64(intermediate)
		p.NormScale = QuantizeMultiplier(float64(norm.Scale))
		p.NormScale.Shift += 12
		p.VarianceAtZero = max(1, int32(10000*norm.Scale))
	}
	if !(scale > 0) {
		return a.errorf(n+"_intermediate_scale", "%v is not positive", intermediate)
	}
	p.WScale = QuantizeMultiplier(float64(w.Scale) * float64(in.Scale) / scale)
	p.RScale = QuantizeMultiplier(float64(r.Scale) * float64(last.Scale) / scale)
	if g == GateCell {
		return nil
	}
	peep, x, err := a.maybe("cell_to_"+n+"_weights", l.Units)
	if p.Peephole = x; peep != nil {
		p.PeepholeScale = QuantizeMultiplier(float64(cell.Scale) * float64(peep.Scale) / scale)
	}
	return err
}
