package refcpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// prepareQuantizedLstm is QUANTIZED_LSTM: 8-bit activations and weights, 16-bit
// gates with 3 integer bits, a 16-bit cell state whose scale is a power of two.
func prepareQuantizedLstm(v opspec.View, op *nn.Operation) (kern, error) {
	if _, err := v.Bind(op); err != nil {
		return nil, err
	}
	return func(x *run) error {
		a, err := x.view.Bind(op)
		if err != nil {
			return err
		}
		l := &lstm8{x: x, a: &a}
		if err := l.load(); err != nil {
			return err
		}
		b := uint32(l.batch)
		if err := x.give(op, []uint32{b, uint32(l.out)}, []uint32{b, uint32(l.units)}, []uint32{b, uint32(l.out)}); err != nil {
			return err
		}
		if x.left.work -= int64(l.batch) * int64(l.units) * int64(gates*(l.size+l.out)+l.out); x.left.work < 0 {
			return errLimit
		}
		state, cell := x.bytes(op.Outputs[0]), x.bytes(op.Outputs[1])
		for i := range l.batch {
			l.step(i, state[i*l.out:(i+1)*l.out], cell[2*i*l.units:2*(i+1)*l.units])
		}
		copy(x.bytes(op.Outputs[2]), state)
		return nil
	}, nil
}

// gate8 are the parameters of one gate.
type gate8 struct {
	w, r           []byte // int8
	peep, norm     []byte // int16
	bias           []int32
	wMul, rMul     opspec.Multiplier
	peepMul        opspec.Multiplier
	normMul        opspec.Multiplier
	varianceAtZero int32
}

// lstm8 is a QUANTIZED_LSTM; coupled when the input gate has no weights.
type lstm8 struct {
	x                  *run
	a                  *opspec.Args
	batch, size, units int
	out                int
	in, last, cell     []byte
	inZero, lastZero   int32
	gate               [gates]gate8
	coupled            bool
	cellShift          int // log2 of the cell state's scale
	cellClip, outClip  int32
	hidden             opspec.Multiplier
	hiddenZero         int32
	proj               []byte
	projBias           []int32
	projMul            opspec.Multiplier
	outZero            int32
}

// operand reads an operand of the expected shape, nil when it is omitted.
func (l *lstm8) operand(name string, shape ...int) (*nn.Operand, []byte, error) {
	i := l.a.In(name)
	if i == opspec.None {
		return nil, nil, nil
	}
	d, err := l.a.Dims(name)
	if err != nil {
		return nil, nil, err
	}
	ok := len(d) == len(shape)
	for k := 0; ok && k < len(d); k++ {
		ok = shape[k] < 0 || int(d[k]) == shape[k]
	}
	if !ok {
		return nil, nil, fmt.Errorf("%s: shape %v, %v needed", name, d, shape)
	}
	return &l.x.view.Operands[i], l.x.bytes(i), nil
}

func (l *lstm8) load() error {
	in, data, err := l.operand("input", -1, -1)
	if err != nil {
		return err
	}
	l.batch, l.size, l.in, l.inZero = int(in.Dimensions[0]), int(in.Dimensions[1]), data, in.ZeroPoint
	last, data, err := l.operand("output_state_in", l.batch, -1)
	if err != nil {
		return err
	}
	l.out, l.last, l.lastZero = int(last.Dimensions[1]), data, last.ZeroPoint
	cell, data, err := l.operand("cell_state_in", l.batch, -1)
	if err != nil {
		return err
	}
	l.units, l.cell = int(cell.Dimensions[1]), data
	log := math.Log2(float64(cell.Scale))
	l.cellShift = int(math.Round(log))
	if !(math.Abs(log-float64(l.cellShift)) < 1e-3) || l.cellShift < -15 || l.cellShift > -11 {
		return fmt.Errorf("cell_state_in: scale %v is no power of two from 2^-15 to 2^-11", cell.Scale)
	}
	var scalars [8]float32
	for i, n := range []string{"input_intermediate_scale", "forget_intermediate_scale", "cell_intermediate_scale",
		"output_intermediate_scale", "cell_clip", "proj_clip", "hidden_state_scale"} {
		if scalars[i], err = l.a.Float(n); err != nil {
			return err
		}
	}
	if l.hiddenZero, err = l.a.Int32("hidden_state_zero_point"); err != nil {
		return err
	}
	for g := range gates {
		if err := l.loadGate(g, in, last, cell, scalars[g]); err != nil {
			return err
		}
	}
	out := &l.x.view.Operands[l.a.Op.Outputs[0]]
	l.outZero = out.ZeroPoint
	hiddenScale := float64(scalars[6])
	l.cellClip = int32(min(max(float64(scalars[4])/float64(cell.Scale), math.MinInt16), math.MaxInt16))
	if out.Scale > 0 {
		l.outClip = int32(min(max(float64(scalars[5])/float64(out.Scale), math.MinInt8), math.MaxInt8))
	}
	if !(hiddenScale > 0) {
		return fmt.Errorf("hidden_state_scale: %v is not positive", hiddenScale)
	}
	l.hidden = opspec.QuantizeMultiplier(math.Ldexp(1, -15) / hiddenScale * math.Ldexp(1, -15))
	proj, data, err := l.operand("projection_weights", l.out, l.units)
	if err != nil {
		return err
	}
	if proj == nil {
		if l.out != l.units {
			return fmt.Errorf("output_state_in: %d values without a projection, %d needed", l.out, l.units)
		}
		return nil
	}
	l.proj, l.projMul = data, opspec.QuantizeMultiplier(float64(proj.Scale)*hiddenScale/float64(out.Scale))
	bias, data, err := l.operand("projection_bias", l.out)
	if bias != nil {
		l.projBias = view[int32](data)
	}
	return err
}

// loadGate reads gate g; intermediate is the scale of its sums when they are
// normalized, which are Q3.12 otherwise.
func (l *lstm8) loadGate(g int, in, last, cell *nn.Operand, intermediate float32) error {
	p, n := &l.gate[g], gateNames[g]
	w, data, err := l.operand("input_to_"+n+"_weights", l.units, l.size)
	if err != nil {
		return err
	}
	p.w = data
	r, data, err := l.operand("recurrent_to_"+n+"_weights", l.units, l.out)
	if err != nil {
		return err
	}
	p.r = data
	if (w == nil) != (r == nil) || w == nil && g != gateInput {
		return fmt.Errorf("input_to_%s_weights: given without recurrent weights or the reverse", n)
	}
	if w == nil {
		l.coupled = true
		return nil
	}
	bias, data, err := l.operand(n+"_gate_bias", l.units)
	if err != nil {
		return err
	}
	if bias == nil {
		return fmt.Errorf("%s_gate_bias: is missing", n)
	}
	p.bias = view[int32](data)
	norm, data, err := l.operand(n+"_layer_norm_weights", l.units)
	if err != nil {
		return err
	}
	scale := math.Ldexp(1, -12)
	if p.norm = data; norm != nil {
		scale = float64(intermediate)
		p.normMul = opspec.QuantizeMultiplier(float64(norm.Scale))
		p.varianceAtZero = max(1, int32(10000*norm.Scale))
	}
	if !(scale > 0) {
		return fmt.Errorf("%s_intermediate_scale: %v is not positive", n, intermediate)
	}
	p.wMul = opspec.QuantizeMultiplier(float64(w.Scale) * float64(in.Scale) / scale)
	p.rMul = opspec.QuantizeMultiplier(float64(r.Scale) * float64(last.Scale) / scale)
	if g == gateCell {
		return nil
	}
	peep, data, err := l.operand("cell_to_"+n+"_weights", l.units)
	if p.peep = data; peep != nil {
		p.peepMul = opspec.QuantizeMultiplier(float64(cell.Scale) * float64(peep.Scale) / scale)
	}
	return err
}

// dot8 is the sum of signed bytes, the zero point taken off x.
func dot8(w, x []byte, zero int32) int32 {
	sum := int32(0)
	for i, b := range w {
		sum += int32(int8(b)) * (int32(int8(x[i])) - zero)
	}
	return sum
}

func int16At(b []byte, i int) int32 { return int32(int16(binary.LittleEndian.Uint16(b[2*i:]))) }

// sums computes the input of gate g, Q3.12.
func (l *lstm8) sums(g, b int, cell []byte) []int32 {
	p, v := &l.gate[g], make([]int32, l.units)
	in, last := l.in[b*l.size:(b+1)*l.size], l.last[b*l.out:(b+1)*l.out]
	for u := range v {
		s := dot8(p.w[u*l.size:(u+1)*l.size], in, l.inZero)
		if p.norm == nil {
			s += p.bias[u]
		}
		v[u] = saturate16(p.wMul.Apply(s))
		v[u] = saturate16(v[u] + p.rMul.Apply(dot8(p.r[u*l.out:(u+1)*l.out], last, l.lastZero)))
		if p.peep != nil {
			v[u] = saturate16(v[u] + p.peepMul.Apply(int16At(p.peep, u)*int16At(cell, u)))
		}
	}
	if p.norm != nil {
		p.normalize(v)
	}
	return v
}

// normalize is layer normalization in integers with 10 more bits.
func (p *gate8) normalize(v []int32) {
	const guard = 1 << 20
	if len(v) == 0 {
		return
	}
	var sum, square int64
	for _, x := range v {
		sum += int64(x)
		square += int64(x) * int64(x)
	}
	n := int64(len(v))
	mean := sum * 1024 / n
	variance := int32((square*(guard/n) - mean*mean) / guard)
	if variance < 1 {
		variance = p.varianceAtZero
	}
	inv := opspec.InverseSqrt(variance)
	last := p.normMul
	last.Shift += 12
	for i, x := range v {
		r := inv.Apply(1024*x - int32(mean))
		y := int64(r)*int64(int16At(p.norm, i)) + int64(p.bias[i])
		if y > 0 {
			y += 512
		} else {
			y -= 512
		}
		v[i] = saturate16(last.Apply(int32(y / 1024)))
	}
}

// step computes one batch into the new output and cell states.
func (l *lstm8) step(b int, state, next []byte) {
	const f = opspec.Fixed16
	old := l.cell[2*b*l.units : 2*(b+1)*l.units]
	forget, update := l.sums(gateForget, b, old), l.sums(gateCell, b, old)
	var admit []int32
	if !l.coupled {
		admit = l.sums(gateInput, b, old)
	}
	for u := range l.units {
		keep := f.Logistic(forget[u], 3)
		in := 1<<15 - 1 - keep
		if admit != nil {
			in = f.Logistic(admit[u], 3)
		}
		c := opspec.RDPOT(keep*int16At(old, u), 15) + opspec.RDPOT(in*f.Tanh(update[u], 3), 30+l.cellShift)
		c = saturate16(c)
		if l.cellClip > 0 {
			c = min(max(c, -l.cellClip), l.cellClip)
		}
		binary.LittleEndian.PutUint16(next[2*u:], uint16(int16(c)))
	}
	open := l.sums(gateOutput, b, next)
	hidden := make([]byte, l.units)
	for u := range hidden {
		h := l.hidden.Apply(f.Logistic(open[u], 3)*f.Tanh(int16At(next, u), 15+l.cellShift)) + l.hiddenZero
		hidden[u] = byte(min(max(h, math.MinInt8), math.MaxInt8))
	}
	if l.proj == nil {
		copy(state, hidden)
		return
	}
	for o := range state {
		s := dot8(l.proj[o*l.units:(o+1)*l.units], hidden, l.hiddenZero)
		if l.projBias != nil {
			s += l.projBias[o]
		}
		y := min(max(l.projMul.Apply(s)+l.outZero, math.MinInt8), math.MaxInt8)
		if l.outClip > 0 {
			y = min(max(y, -l.outClip), l.outClip)
		}
		state[o] = byte(y)
	}
}
