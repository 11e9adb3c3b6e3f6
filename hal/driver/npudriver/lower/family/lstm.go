package family

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// dense is clamp(scale(x * w + bias) + zero point): a convolution of rows where weights and bias are
// constants, else elementwise products and their sums.
type dense struct {
	x      layout.Ref // 1 x rows x inputs, bytes
	w      []byte     // a row per output; nil where they come at run time
	filter layout.Ref // then, in the same order
	zero   int32      // of the weights
	bias   uint32     // TENSOR_INT32, or None
	scale  fixedpoint.Multiplier
	out    layout.Ref // 1 x rows x outputs
	clip   int
	lo, hi int
}

func addDense(l *lower.Lowering, d *dense) {
	rows, inputs, outputs := d.x.W, d.x.C, d.out.C
	biases := make([]byte, 4*outputs)
	if d.bias != opspec.None {
		if o := l.Operand(d.bias); o.IsConst() {
			biases = o.Data
		} else {
			biases = nil
		}
	}
	most := int64(inputs) * 255 * 255
	for _, b := range integers(biases) {
		most = max(most, int64(inputs)*255*255+max(int64(b), -int64(b)))
	}
	left := max(d.scale.Shift, 0)
	gateSums.Refuse(most > math.MaxInt32>>left, "%d products", inputs)
	if d.w == nil || biases == nil {
		runtimeDense(l, d)
		return
	}
	scale, shift := hardware(d.scale)
	slice := min(outputs, max(roundDown(weightSlice/inputs, sliceGranule(l)), sliceGranule(l)))
	for k := 0; k < outputs; k += slice {
		width := min(slice, outputs-k)
		w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Conv, Round: doubleRound, Clip: d.clip, Lo: d.lo, Hi: d.hi, PartKernel: partKernel(inputs, 1)}, IFM: d.x,
			OFM: within(d.out, k*d.out.Bytes, 1, rows, width, d.out.StrideY, d.out.StrideX)}
		w.Weights = &kernel.Weights{Form: kernel.PerOutput, Filter: d.w, Signed: d.x.Signed, Zero: int(d.zero), First: k, Outputs: width, Taps: 1, Inputs: inputs, Channels: outputs}
		for _, b := range integers(biases[4*k : 4*(k+width)]) {
			w.Weights.Records = append(w.Weights.Records, scaleRecord(int64(b), scale, shift))
		}
		l.Add(w)
	}
}

// runtimeDense is dense with weights or a bias that come at run time.
func runtimeDense(l *lower.Lowering, d *dense) {
	rows, inputs, outputs := d.x.W, d.x.C, d.out.C
	filter := d.filter
	if d.w != nil {
		filter = l.Constant(d.w, 1, outputs, inputs, 1, d.x.Signed)
	}
	filter.Zero = int(d.zero)
	acc := wideMap(l, 1, rows, outputs)
	products(l, d.x, filter, acc, rows, outputs, inputs)
	c := chain{l: l}
	if d.bias != opspec.None {
		bias := l.In(d.bias, 1, 1, outputs)
		bias.Bytes, bias.Signed = 4, true
		c.op(ethosu.EltAdd, acc, shaped(bias, 1, 1, outputs), acc, plain)
	}
	c.rescale(acc, d.out, []fixedpoint.Multiplier{d.scale}, tweak{clip: d.clip, lo: d.lo, hi: d.hi})
}

// joined is rows of bytes, each those of several operands one behind the other: data of constants, else a
// value.
func joined(l *lower.Lowering, rows int, operands ...uint32) (data []byte, to layout.Ref) {
	var sizes []int
	total, constant := 0, true
	for _, x := range operands {
		o := l.Tensor(x)
		sizes = append(sizes, int(o.Elements())/rows)
		total += sizes[len(sizes)-1]
		constant = constant && o.IsConst()
	}
	if constant {
		for r := range rows {
			for i, x := range operands {
				data = append(data, l.Operand(x).Data[r*sizes[i]:][:sizes[i]]...)
			}
		}
		return data, to
	}
	if len(operands) == 1 {
		return nil, allBytes(l, operands[0])
	}
	to = narrowMap(l, 1, rows, total, lower.Signed(l.Operand(operands[0]).Type))
	lo, hi := layout.Limits(to.Signed)
	at := 0
	for i, x := range operands {
		from := l.In(x, 1, rows, sizes[i])
		move(l, from, within(to, at, 1, rows, sizes[i], to.StrideY, to.StrideX), nil, lo, hi)
		at += sizes[i]
	}
	return nil, to
}

// fixedCell is an LSTM cell in fixed point: 16-bit sums of gates with 3 integer bits, functions in Q0.15, a 16-bit
// state. Its maps have 32-bit elements, [gate][batch][unit].
//
//	c = forget * c + admit * tanh(cell), h = output * tanh(c)
type fixedCell struct {
	chain
	batch, units int
	shift        int  // logarithm of the scale of the state, -15 to -11
	rounded      bool // products are rounded to 16 bits before they are scaled
	coupled      bool // it admits what the forget gate leaves
	clip         int32
	// sums puts the inputs of gates into the rows of a map. Peepholes look at a state.
	sums func(gates []int, state, out layout.Ref)
}

// gateBits are the integer bits of the sums of gates.
const gateBits = 3

// states are the elements of a TENSOR_QUANT16_SYMM.
func (c *fixedCell) states(r layout.Ref) layout.Ref {
	r.Bytes, r.Signed = 2, true
	return shaped(r, 1, c.batch, c.units)
}

// step computes the next state and returns what of it the output gate lets out: both factors, in Q0.15.
func (c *fixedCell) step(state, next uint32) (open, visible layout.Ref) {
	from := c.l.In(state, 1, c.batch, c.units)
	old := wideMap(c.l, 1, c.batch, c.units)
	c.widen(c.states(from), old)
	gates := []int{opspec.GateForget, opspec.GateCell}
	list := []function{{integer: gateBits}, {tanh: true, integer: gateBits}}
	if !c.coupled {
		gates, list = append([]int{opspec.GateInput}, gates...), append([]function{{integer: gateBits}}, list...)
	}
	sums := wideMap(c.l, len(gates), c.batch, c.units)
	c.sums(gates, old, sums)
	y := c.functions(sums, list)
	forget, update := rowsOf(y, len(gates)-2, len(gates)-1), rowsOf(y, len(gates)-1, len(gates))
	admit := rowsOf(y, 0, 1)
	if c.coupled {
		admit = c.like(forget)
		c.op(ethosu.EltSub, forget, c.constant(1<<15-1), admit, swapped)
	}
	ends := wideMap(c.l, 2, c.batch, c.units) // of the output gate, and the state
	now := rowsOf(ends, 1, 2)
	if c.rounded {
		c.op(ethosu.EltMul, admit, update, admit, fraction)
		c.op(ethosu.EltShr, admit, c.constant(int32(15+c.shift)), admit, awayFromZero)
		c.op(ethosu.EltMul, forget, old, forget, fraction)
	} else {
		c.op(ethosu.EltMul, admit, update, admit, plain)
		c.op(ethosu.EltShr, admit, c.constant(int32(30+c.shift)), admit, awayFromZero)
		c.op(ethosu.EltMul, forget, old, forget, plain)
		c.op(ethosu.EltShr, forget, c.constant(15), forget, awayFromZero)
	}
	bounds := saturated
	if c.clip > 0 {
		bounds.lo, bounds.hi = -int(c.clip), int(c.clip)
	}
	c.op(ethosu.EltAdd, forget, admit, now, bounds)
	to := c.l.Out(next, 1, c.batch, c.units)
	c.narrow(now, c.states(to), saturated.lo, saturated.hi)
	c.sums([]int{opspec.GateOutput}, now, rowsOf(ends, 0, 1))
	y = c.functions(ends, []function{{integer: gateBits}, {tanh: true, integer: 15 + c.shift}})
	return rowsOf(y, 0, 1), rowsOf(y, 1, 2)
}

// lowerLstm16 is QUANTIZED_16BIT_LSTM.
func lowerLstm16(l *lower.Lowering, op *nn.Operation, p opspec.Lstm16) {
	// NNAPI multiplies the recurrent and then the input weights of a row with the input and then the previous
	// output.
	const shift, zero = -11, 128
	data, values := joined(l, p.Batch, p.Input, p.Last)
	n := p.Size + p.Units
	if data != nil {
		values = l.Constant(data, 1, p.Batch, n, 1, false)
	}
	values.Zero = zero
	c := &fixedCell{chain: chain{l: l}, batch: p.Batch, units: p.Units, shift: shift, rounded: true}
	c.sums = func(gates []int, _, out layout.Ref) {
		for i, g := range gates {
			d := dense{x: values, zero: p.Zero[g], bias: p.Bias[g], scale: p.Scale, out: rowsOf(out, i, i+1), clip: saturated.clip, lo: saturated.lo, hi: saturated.hi}
			d.w, d.filter = joined(l, p.Units, p.R[g], p.W[g])
			addDense(l, &d)
		}
	}
	open, visible := c.step(p.State, p.NextState)
	out := l.Out(p.Output, 1, p.Batch, p.Units)
	out.Zero = zero
	c.op(ethosu.EltMul, open, visible, open, fraction)
	last := awayFromZero
	last.lo, last.hi = layout.Limits(false)
	c.op(ethosu.EltShr, open, c.constant(8), out, last)
}

// lowerLstm8 is QUANTIZED_LSTM.
func lowerLstm8(l *lower.Lowering, op *nn.Operation, p opspec.Lstm8) {
	hiddenZero.Refuse(p.HiddenZero < math.MinInt8 || p.HiddenZero > math.MaxInt8, "%d", p.HiddenZero)
	in := l.In(p.Input, 1, p.Batch, p.Size)
	last := l.In(p.Last, 1, p.Batch, p.Out)
	in.Zero, last.Zero = int(p.InZero), int(p.LastZero)
	c := &fixedCell{chain: chain{l: l}, batch: p.Batch, units: p.Units, shift: p.CellShift, coupled: p.Coupled, clip: p.CellClip}
	c.sums = func(gates []int, state, out layout.Ref) {
		for i, g := range gates {
			c.sum8(&p.Gate[g], in, last, state, rowsOf(out, i, i+1))
		}
		for i := 0; i < len(gates); {
			var list []*opspec.Gate8 // neighbours that are normalized at once
			for _, g := range gates[i:] {
				if p.Gate[g].Norm == opspec.None {
					break
				}
				list = append(list, &p.Gate[g])
			}
			c.normalize(list, rowsOf(out, i, i+len(list)))
			i += max(len(list), 1)
		}
	}
	open, visible := c.step(p.Cell, p.NextCell)
	hidden := narrowMap(l, 1, p.Batch, p.Units, true)
	if p.Projection == opspec.None {
		hidden = l.Out(p.NextState, 1, p.Batch, p.Units)
	}
	hidden.Zero = int(p.HiddenZero)
	lo, hi := layout.Limits(true)
	c.op(ethosu.EltMul, open, visible, open, plain)
	c.rescale(open, hidden, []fixedpoint.Multiplier{p.Hidden}, tweak{lo: lo, hi: hi})
	if p.Projection != opspec.None {
		to := l.Out(p.NextState, 1, p.Batch, p.Out)
		to.Zero = int(p.OutZero)
		if p.OutClip > 0 {
			lo, hi = max(lo, -int(p.OutClip)), min(hi, int(p.OutClip))
		}
		d := dense{x: hidden, bias: p.ProjectionBias, scale: p.ProjectionScale, out: to, lo: lo, hi: hi}
		d.w, d.filter = joined(l, p.Out, p.Projection)
		addDense(l, &d)
	}
	mapped(l, p.NextState, p.Output, nil, math.MinInt8, math.MaxInt8)
}

// sum8 is the input of a gate of QUANTIZED_LSTM before it is normalized: the sum is clamped after the addition of
// each term.
func (c *fixedCell) sum8(p *opspec.Gate8, in, last, state, out layout.Ref) {
	bias := p.Bias
	if p.Norm != opspec.None {
		bias = opspec.None
	}
	term := c.like(out)
	d := dense{x: in, bias: bias, scale: p.WScale, out: out, clip: saturated.clip, lo: saturated.lo, hi: saturated.hi}
	r := dense{x: last, bias: opspec.None, scale: p.RScale, out: term}
	d.w, d.filter = joined(c.l, c.units, p.W)
	r.w, r.filter = joined(c.l, c.units, p.R)
	for _, d := range []*dense{&d, &r} {
		addDense(c.l, d)
	}
	c.op(ethosu.EltAdd, out, term, out, saturated)
	if p.Peephole != opspec.None {
		weights := c.vector(p.Peephole)
		c.op(ethosu.EltMul, state, weights, term, plain)
		c.rescale(term, term, []fixedpoint.Multiplier{p.PeepholeScale}, tweak{})
		c.op(ethosu.EltAdd, out, term, out, saturated)
	}
}

// vector is a value per unit, of 16 or 32 bits, as 32-bit elements.
func (c *fixedCell) vector(x uint32) layout.Ref {
	from := c.l.In(x, 1, 1, c.units)
	from.Bytes, from.Signed = lower.ElementBytes(c.l.Operand(x).Type), true
	from = shaped(from, 1, 1, c.units)
	if from.Bytes == 4 {
		return from
	}
	to := c.like(from)
	c.widen(from, to)
	return to
}

// maxUnits bounds the units that are normalized: their sums of 1024 times 16-bit elements are quotients of 30
// bits.
const maxUnits = 1 << 14

// normalize is layer normalization of the sums of gates, a row each, in integers with 10 more bits.
func (c *fixedCell) normalize(gates []*opspec.Gate8, v layout.Ref) {
	if len(gates) == 0 {
		return
	}
	maxNormalized.Refuse(c.units > maxUnits, "%d", c.units)
	var atZero, multiplier, left, right []int32
	weights, bias := wideMap(c.l, len(gates), 1, c.units), wideMap(c.l, len(gates), 1, c.units)
	for i, g := range gates {
		atZero = append(atZero, g.VarianceAtZero)
		multiplier = append(multiplier, g.NormScale.M)
		left, right = append(left, int32(max(g.NormScale.Shift, 0))), append(right, int32(max(-g.NormScale.Shift, 0)))
		for _, x := range []struct {
			from uint32
			to   layout.Ref
		}{{g.Norm, weights}, {g.Bias, bias}} {
			r := c.vector(x.from)
			c.op(ethosu.EltAdd, r, c.constant(0), rowsOf(x.to, i, i+1), plain)
		}
	}
	mean, variance := c.moments(v)
	// A variance below 1 is another.
	some := c.clamped(variance, 0, 1)
	c.op(ethosu.EltMax, variance, c.constant(0), variance, plain)
	c.op(ethosu.EltSub, some, c.constant(1), some, swapped)
	c.op(ethosu.EltMul, some, c.rowConstants(atZero...), some, plain)
	c.op(ethosu.EltAdd, variance, some, variance, plain)
	root, factor, shift := c.inverseSqrt(variance, math.MaxInt32)
	c.op(ethosu.EltMul, root, factor, root, plain)

	// r = (1024 * v - mean) / deviation, then (r * weight + bias) / 1024, its 64 bits as high * 2^10 + low.
	r := c.like(v)
	c.op(ethosu.EltMul, v, c.constant(1<<10), r, plain)
	c.op(ethosu.EltSub, r, mean, r, plain)
	c.op(ethosu.EltMul, r, root, r, product)
	c.op(ethosu.EltShr, r, shift, r, awayFromZero)
	high, low := c.split(r, 10)
	biasHigh, biasLow := c.split(bias, 10)
	c.op(ethosu.EltMul, high, weights, high, plain)
	c.op(ethosu.EltAdd, high, biasHigh, high, plain)
	c.op(ethosu.EltMul, low, weights, low, plain)
	c.op(ethosu.EltAdd, low, biasLow, low, plain)
	carry, rest := c.split(low, 10)
	c.op(ethosu.EltAdd, high, carry, high, plain)
	// Ties away from zero: the rest counts from 512 on, of a negative number from 513 on.
	c.op(ethosu.EltAdd, rest, c.clamped(high, -1, 0), rest, plain)
	c.op(ethosu.EltSub, rest, c.constant(511), rest, plain)
	c.op(ethosu.EltAdd, high, c.clamped(rest, 0, 1), high, plain)
	if slices.Max(left) > 0 {
		c.op(ethosu.EltShl, high, c.rowConstants(left...), high, shiftLeft)
	}
	c.op(ethosu.EltMul, high, c.rowConstants(multiplier...), high, product)
	last := saturated
	last.round = doubleRound
	c.op(ethosu.EltShr, high, c.rowConstants(right...), v, last)
}

// moments are 1024 times the mean of the channels, and their variance, rounded to zero as the reference divides:
//
//	mean     = 1024 * sum(v) / n
//	variance = (sum(v^2) * (2^20 / n) - mean^2) / 2^20
//
// The difference is A * 2^20 + B * 2^10 + C, with 32 bits for each.
func (c *fixedCell) moments(v layout.Ref) (mean, variance layout.Ref) {
	n := c.units
	total := func(x layout.Ref) layout.Ref {
		y := wideMap(c.l, x.H, x.W, 1)
		c.reduce(x, y)
		return y
	}
	times := c.times
	sum := total(v)
	whole := c.quotient(sum, n)
	rest := times(whole, c.constant(int32(n)))
	c.op(ethosu.EltSub, sum, rest, rest, plain)
	rest = c.quotient(times(rest, c.constant(1<<10)), n)
	mean = times(whole, c.constant(1<<10))
	c.op(ethosu.EltAdd, mean, rest, mean, plain)

	// sum(v^2) = (h1 * 2^10 + h0) * 2^15 + l1 * 2^10 + l0, mean = a * 2^13 + b.
	high, low := c.split(times(v, v), 15)
	h1, h0 := c.split(total(high), 10)
	l1, l0 := c.split(total(low), 10)
	a, b := c.split(mean, 13)
	guard := int32(1 << 20 / n)
	y1, y0 := c.split(times(h0, c.constant(guard)), 5)
	C := times(l0, c.constant(guard))
	c.op(ethosu.EltSub, C, times(b, b), C, plain)
	B := times(y0, c.constant(32))
	c.op(ethosu.EltAdd, B, times(l1, c.constant(guard)), B, plain)
	c.op(ethosu.EltSub, B, times(times(a, b), c.constant(16)), B, plain)
	variance = times(h1, c.constant(32*guard))
	c.op(ethosu.EltAdd, variance, y1, variance, plain)
	c.op(ethosu.EltSub, variance, times(times(a, a), c.constant(64)), variance, plain)
	c.op(ethosu.EltAdd, B, c.floorShift(C, 10), B, plain)
	c.op(ethosu.EltAdd, variance, c.floorShift(B, 10), variance, plain)
	return mean, variance
}

// quotient is x / n rounded to zero, |x| below 2^30: the product with 2^s / n, rounded up to 31 bits.
func (c *chain) quotient(x layout.Ref, n int) layout.Ref {
	y := c.like(x)
	if n == 1 {
		c.op(ethosu.EltAdd, x, c.constant(0), y, plain)
		return y
	}
	shift := 30
	for 1<<(shift-30) < n {
		shift++
	}
	m := (int64(1)<<shift + int64(n) - 1) / int64(n)
	c.op(ethosu.EltMul, x, c.constant(int32(m)), y, tweak{scale: 1 << 30, shift: shift, copies: 1, round: ethosu.RoundTruncate})
	return y
}
