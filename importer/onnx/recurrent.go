package onnx

import (
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// recurrentOperators are the operators of recurrent networks.
var recurrentOperators = []operator{
	{name: "RNN", inputs: [2]int{3, 6}, outputs: [2]int{0, 2}, convert: recurrent(1, []string{"Tanh"}, rnnStep)},
	{name: "GRU", inputs: [2]int{3, 6}, outputs: [2]int{0, 2}, convert: recurrent(3, []string{"Sigmoid", "Tanh"}, gruStep)},
	{name: "LSTM", inputs: [2]int{3, 8}, outputs: [2]int{0, 3}, convert: recurrent(4, []string{"Sigmoid", "Tanh", "Tanh"}, lstmStep)},
}

// maxSteps bounds a sequence whose steps become separate operations.
const maxSteps = 1 << 10

// cell is one direction of a recurrent operator.
type cell struct {
	units        uint32
	activations  []string
	alpha        [][]float32 // parameters per activation
	clip         float32
	coupled      bool   // input and forget gate of an LSTM
	reset        bool   // linear_before_reset of a GRU
	w, r         uint32 // [gates * units, inputs] and [gates * units, units]
	bias, hidden uint32 // [gates * units] each, of inputs and of the state
	peepholes    []uint32
}

// recurrent converts an operator of so many gates, step by step: input [steps, batch,
// inputs], weights per direction, lengths of the sequences and first states.
func recurrent(gates int64, initial []string, step func(c *conversion, k *cell, x, h, s uint32) (uint32, uint32)) func(*conversion) {
	return func(c *conversion) {
		x := c.As(c.x(0), nn.TensorFloat32)
		if c.flag("layout", 0) {
			x = c.transposed(x, []int{1, 0, 2})
		}
		d := c.Dims(x)
		if len(d) != 3 {
			c.Failf("an input of shape %v", d)
		}
		steps, batch := int64(d[0]), d[1]
		directions := []bool{false} // backwards
		switch v := c.text("direction", "forward"); v {
		case "forward":
		case "reverse":
			directions = []bool{true}
		case "bidirectional":
			directions = []bool{false, true}
		default:
			c.Failf("direction %q", v)
		}
		running := c.running(steps, batch)
		var all, last, states []uint32
		for k, backwards := range directions {
			one := c.cell(k, len(directions), gates, initial)
			h, s := c.firstState(5, k, batch, one.units), c.firstState(6, k, batch, one.units)
			var y, hn, sn uint32
			if one.plain(gates) && running == nil {
				y, hn, sn = c.sequenceLSTM(one, x, h, s, backwards)
			} else {
				y, hn, sn = c.unrolled(one, x, h, s, backwards, running, step)
			}
			all = append(all, c.Reshape(y, []uint32{d[0], 1, batch, one.units}))
			last = append(last, c.Reshape(hn, []uint32{1, batch, one.units}))
			if gates == 4 {
				states = append(states, c.Reshape(sn, []uint32{1, batch, one.units}))
			}
		}
		float := nn.Operand{Type: nn.TensorFloat32}
		for k, list := range [][]uint32{all, last, states} {
			if !c.isRead(k) {
				continue
			}
			axis := 0
			if k == 0 {
				axis = 1
			}
			y := c.Concat(float, axis, list...)
			if c.flag("layout", 0) {
				y = c.transposed(y, [][]int{{2, 0, 1, 3}, {1, 0, 2}, {1, 0, 2}}[k])
			}
			c.define(k, c.To(y, nn.Operand{Type: c.Operand(c.x(0)).Type}))
		}
	}
}

// running are, per step, the sequences that have not ended there, as truth values [batch, 1], by their lengths in input 4;
// nil where all sequences have all steps.
func (c *conversion) running(steps int64, batch uint32) func(step int64) uint32 {
	if !c.has(4) {
		return nil
	}
	column := []uint32{batch, 1}
	if x := c.raw(4); !c.IsConst(x) {
		ends := c.Reshape(x, column)
		return func(step int64) uint32 {
			return c.Compare(nn.OpGreater, ends, c.Int32Shaped([]uint32{1, 1}, []int64{step}))
		}
	}
	lengths := c.list(4)
	if int64(len(lengths)) != int64(batch) || slices.ContainsFunc(lengths, func(n int64) bool { return n < 0 || n > steps }) {
		c.Failf("lengths %v of %d sequences of %d steps", lengths, batch, steps)
	}
	if !slices.ContainsFunc(lengths, func(n int64) bool { return n != steps }) {
		return nil
	}
	return func(step int64) uint32 {
		on := make([]int64, len(lengths))
		for b, n := range lengths {
			if step < n {
				on[b] = 1
			}
		}
		return c.As(c.Int32Shaped(column, on), nn.TensorBool8)
	}
}

// part is direction k of input i, [directions, ..].
func (c *conversion) part(i, k, directions int) uint32 {
	x := c.As(c.x(i), nn.TensorFloat32)
	d := c.Dims(x)
	if len(d) < 2 || int(d[0]) != directions {
		c.Failf("input %d has the shape %v for %d directions", i, d, directions)
	}
	begin, size := make([]int64, len(d)), make([]int64, len(d))
	for i, n := range d {
		size[i] = int64(n)
	}
	begin[0], size[0] = int64(k), 1
	return c.reshaped(c.Slice(x, begin, size), d[1:])
}

// firstState is the state of direction k from input i, zero without one.
func (c *conversion) firstState(i, k int, batch, units uint32) uint32 {
	if !c.has(i) {
		return c.filled(nn.Operand{Type: nn.TensorFloat32}, []uint32{batch, units}, 0)
	}
	x := c.As(c.x(i), nn.TensorFloat32)
	if c.flag("layout", 0) {
		x = c.transposed(x, []int{1, 0, 2})
	}
	d := c.Dims(x)
	if len(d) != 3 || int(d[0]) <= k || d[1] != batch || d[2] != units {
		c.Failf("input %d has the shape %v for %d sequences and %d units", i, d, batch, units)
	}
	return c.reshaped(c.Slice(x, []int64{int64(k), 0, 0}, []int64{1, int64(batch), int64(units)}), []uint32{batch, units})
}

// cell reads weights and attributes of direction k.
func (c *conversion) cell(k, directions int, gates int64, initial []string) *cell {
	one := &cell{clip: c.float("clip", 0), coupled: c.flag("input_forget", 0), reset: c.flag("linear_before_reset", 0)}
	one.w, one.r = c.part(1, k, directions), c.part(2, k, directions)
	dw, dr := c.Dims(one.w), c.Dims(one.r)
	if len(dw) != 2 || len(dr) != 2 || int64(dr[0]) != gates*int64(dr[1]) || dw[0] != dr[0] {
		c.Failf("weights of shapes %v and %v for %d gates", dw, dr, gates)
	}
	one.units = dr[1]
	n := int64(dr[0])
	if c.has(3) {
		b := c.part(3, k, directions)
		one.bias, one.hidden = c.Slice(b, []int64{0}, []int64{n}), c.Slice(b, []int64{n}, []int64{n})
	} else {
		one.bias = c.filled(nn.Operand{Type: nn.TensorFloat32}, dr[:1], 0)
		one.hidden = one.bias
	}
	if gates == 4 && c.has(7) {
		p := c.part(7, k, directions)
		for i := range int64(3) {
			one.peepholes = append(one.peepholes, c.Slice(p, []int64{i * int64(one.units)}, []int64{int64(one.units)}))
		}
	}
	names := c.texts("activations")
	each := len(initial)
	if names == nil {
		names = slices.Repeat(initial, directions)
	}
	if len(names) != each*directions {
		c.Failf("activations %q", names)
	}
	alphas, betas := c.floats("activation_alpha"), c.floats("activation_beta")
	one.activations = names[k*each : (k+1)*each]
	for i := range each {
		var params []float32
		if at := k*each + i; at < len(alphas) {
			params = append(params, alphas[at])
			if at < len(betas) {
				params = append(params, betas[at])
			}
		}
		one.alpha = append(one.alpha, params)
	}
	return one
}

// plain reports whether the cell is the one that NNAPI's LSTM has.
func (k *cell) plain(gates int64) bool {
	return gates == 4 && !k.coupled && slices.EqualFunc(k.activations, []string{"Sigmoid", "Tanh", "Tanh"}, strings.EqualFold) && k.clip == 0
}

// gate is a part of a list of gates.
func (c *conversion) gate(x uint32, i int64, units uint32) uint32 {
	n := int64(units)
	if c.Rank(x) == 1 {
		return c.Slice(x, []int64{i * n}, []int64{n})
	}
	if d := c.Dims(x); int64(d[0])%n == 0 && int64(d[0]) > i*n { // weights [gates * units, ..]
		return c.Slice(x, []int64{i * n, 0}, []int64{n, int64(d[1])})
	}
	return none
}

// sequenceLSTM is NNAPI's over the whole sequence. Gates are input, output, forget and cell
// in the file, input, forget, cell and output there.
func (c *conversion) sequenceLSTM(k *cell, x, h, s uint32, backwards bool) (y, hn, sn uint32) {
	d := c.Dims(x)
	if backwards {
		x = c.Reverse(x, 0)
	}
	no := func() uint32 { return c.NoValue(nn.TensorFloat32) }
	order := []int64{0, 2, 3, 1}
	in := []uint32{x}
	for _, list := range []uint32{k.w, k.r} {
		for _, g := range order {
			in = append(in, c.gate(list, g, k.units))
		}
	}
	if k.peepholes != nil {
		in = append(in, k.peepholes[0], k.peepholes[2], k.peepholes[1]) // input, forget, output
	} else {
		in = append(in, no(), no(), no())
	}
	for _, g := range order {
		in = append(in, c.Binary(nn.OpAdd, c.gate(k.bias, g, k.units), c.gate(k.hidden, g, k.units)))
	}
	in = append(in, no(), no(), h, s, c.Int32Scalar(4), c.ScalarLike(x, 0), c.ScalarLike(x, 0), c.BoolScalar(true), no(), no(), no(), no())
	out := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims} }
	r := c.EmitAll(nn.OpUnidirectionalSequenceLstm, []nn.Operand{out(d[0], d[1], k.units), out(d[1], k.units), out(d[1], k.units)}, in...)
	if backwards {
		r[0] = c.Reverse(r[0], 0)
	}
	return r[0], r[1], r[2]
}

// unrolled computes the steps one after the other. A sequence that has ended keeps its state and outputs zeros.
func (c *conversion) unrolled(k *cell, x, h, s uint32, backwards bool, running func(step int64) uint32, step func(c *conversion, k *cell, x, h, s uint32) (uint32, uint32)) (y, hn, sn uint32) {
	d := c.Dims(x)
	if d[0] > maxSteps {
		c.Refusef("a sequence of %d steps, at most %d can be unrolled", d[0], maxSteps)
	}
	list := make([]uint32, d[0])
	for i := range list {
		t := i
		if backwards {
			t = len(list) - 1 - i
		}
		one := c.Reshape(c.Slice(x, []int64{int64(t), 0, 0}, []int64{1, int64(d[1]), int64(d[2])}), d[1:])
		nh, ns := step(c, k, one, h, s)
		given := nh
		if running != nil {
			full := []uint32{d[1], k.units}
			there := c.BroadcastTo(running(int64(t)), full)
			float := nn.Operand{Type: nn.TensorFloat32}
			given = c.Emit(nn.OpSelect, float, there, nh, c.filled(float, full, 0))
			nh = c.Emit(nn.OpSelect, float, there, nh, h)
			if ns != none {
				ns = c.Emit(nn.OpSelect, float, there, ns, s)
			}
		}
		h, s = nh, ns
		list[t] = c.Reshape(given, []uint32{1, d[1], k.units})
	}
	return c.Concat(nn.Operand{Type: nn.TensorFloat32}, 0, list...), h, s
}

// sums are the gates' weighted sums of a step: x W' + h R' + biases, [batch, gates * units].
func (c *conversion) sums(w, x, bias uint32) uint32 {
	return c.fully(x, w, bias, nn.Operand{Type: nn.TensorFloat32}, 0)
}

// columns are the columns of gate i in sums.
func (c *conversion) columns(x uint32, i int64, units uint32) uint32 {
	return c.Slice(x, []int64{0, i * int64(units)}, []int64{int64(c.Dims(x)[0]), int64(units)})
}

// apply is activation i of a cell on a clipped sum.
func (c *conversion) apply(k *cell, i int, x uint32) uint32 {
	if k.clip > 0 && !math.IsInf(float64(k.clip), 0) {
		x = c.Clamp(x, -k.clip, k.clip)
	}
	return c.activated(x, k.activations[i], k.alpha[i])
}

func rnnStep(c *conversion, k *cell, x, h, _ uint32) (uint32, uint32) {
	return c.apply(k, 0, c.Binary(nn.OpAdd, c.sums(k.w, x, k.bias), c.sums(k.r, h, k.hidden))), none
}

// gruStep has the gates update, reset and hidden:
//
//	h' = (1 - z) g + z h,  g from (r h) R' or, with linear_before_reset, from r (h R' + b)
func gruStep(c *conversion, k *cell, x, h, _ uint32) (uint32, uint32) {
	add := func(a, b uint32) uint32 { return c.Binary(nn.OpAdd, a, b) }
	mul := func(a, b uint32) uint32 { return c.Binary(nn.OpMul, a, b) }
	sx, sh := c.sums(k.w, x, k.bias), c.sums(k.r, h, k.hidden)
	z := c.apply(k, 0, add(c.columns(sx, 0, k.units), c.columns(sh, 0, k.units)))
	r := c.apply(k, 0, add(c.columns(sx, 1, k.units), c.columns(sh, 1, k.units)))
	var hidden uint32
	if k.reset {
		hidden = mul(r, c.columns(sh, 2, k.units))
	} else {
		hidden = c.sums(c.gate(k.r, 2, k.units), mul(r, h), c.gate(k.hidden, 2, k.units))
	}
	g := c.apply(k, 1, add(c.columns(sx, 2, k.units), hidden))
	return add(mul(c.Binary(nn.OpSub, c.Like(z, 1), z), g), mul(z, h)), none
}

// lstmStep has the gates input, output, forget and cell.
func lstmStep(c *conversion, k *cell, x, h, s uint32) (uint32, uint32) {
	add := func(a, b uint32) uint32 { return c.Binary(nn.OpAdd, a, b) }
	mul := func(a, b uint32) uint32 { return c.Binary(nn.OpMul, a, b) }
	sums := add(c.sums(k.w, x, k.bias), c.sums(k.r, h, k.hidden))
	gate := func(i int64, state uint32, peephole int) uint32 {
		v := c.columns(sums, i, k.units)
		if k.peepholes != nil {
			v = add(v, mul(state, k.peepholes[peephole]))
		}
		return c.apply(k, 0, v)
	}
	i := gate(0, s, 0)
	f := none
	if k.coupled {
		f = c.Binary(nn.OpSub, c.Like(i, 1), i)
	} else {
		f = gate(2, s, 2)
	}
	state := add(mul(f, s), mul(i, c.apply(k, 1, c.columns(sums, 3, k.units))))
	o := gate(1, state, 1)
	return mul(o, c.activated(state, k.activations[2], k.alpha[2])), state
}
