package refcpu

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/buffer"
)

// quantizedLstmKernels are the LSTM cells in fixed point.
var quantizedLstmKernels = []operation{
	{op: nn.OpQuantizedLstm, prepare: read(prepareQuantizedLstm)},
	{op: nn.OpQuantized16bitLstm, prepare: read(prepareQuantized16Lstm)},
}

// prepareQuantizedLstm is QUANTIZED_LSTM: 8-bit activations and weights, 16-bit
// gates with 3 integer bits, a 16-bit cell state whose scale is a power of two.
func prepareQuantizedLstm(_ opspec.View, _ *nn.Operation, p opspec.Lstm8) (Kernel, error) {
	return func(x *Run) error {
		l := lstm8{Lstm8: p, in: x.Bytes(p.Input), last: x.Bytes(p.Last), cell: x.Bytes(p.Cell)}
		data := func(i uint32) []byte {
			if i == opspec.None {
				return nil
			}
			return x.Bytes(i)
		}
		for g := range l.gate {
			q := &p.Gate[g]
			l.gate[g] = gate8{Gate8: q, w: data(q.W), r: data(q.R), peep: data(q.Peephole), norm: data(q.Norm), bias: buffer.Values[int32](data(q.Bias))}
		}
		l.proj, l.projBias = data(p.Projection), buffer.Values[int32](data(p.ProjectionBias))
		state, cell := x.Bytes(p.NextState), x.Bytes(p.NextCell)
		for i := range l.Batch {
			l.step(i, state[i*l.Out:(i+1)*l.Out], cell[2*i*l.Units:2*(i+1)*l.Units])
		}
		copy(x.Bytes(p.Output), state)
		return nil
	}, nil
}

// gate8 is a gate with its values.
type gate8 struct {
	*opspec.Gate8
	w, r       []byte // int8
	peep, norm []byte // int16
	bias       []int32
}

// lstm8 is a QUANTIZED_LSTM with its values.
type lstm8 struct {
	opspec.Lstm8
	in, last, cell []byte
	gate           [gates]gate8
	proj           []byte
	projBias       []int32
}

// dot8 is the sum of products of signed bytes, with the zero point subtracted from x.
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
	p, v := &l.gate[g], make([]int32, l.Units)
	in, last := l.in[b*l.Size:(b+1)*l.Size], l.last[b*l.Out:(b+1)*l.Out]
	for u := range v {
		s := dot8(p.w[u*l.Size:(u+1)*l.Size], in, l.InZero)
		if p.norm == nil {
			s += p.bias[u]
		}
		v[u] = saturate16(p.WScale.Apply(s))
		v[u] = saturate16(v[u] + p.RScale.Apply(dot8(p.r[u*l.Out:(u+1)*l.Out], last, l.LastZero)))
		if p.peep != nil {
			v[u] = saturate16(v[u] + p.PeepholeScale.Apply(int16At(p.peep, u)*int16At(cell, u)))
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
		variance = p.VarianceAtZero
	}
	inv := fixedpoint.InverseSqrt(variance)
	for i, x := range v {
		r := inv.Apply(1024*x - int32(mean))
		y := int64(r)*int64(int16At(p.norm, i)) + int64(p.bias[i])
		if y > 0 {
			y += 512
		} else {
			y -= 512
		}
		v[i] = saturate16(p.NormScale.Apply(int32(y / 1024)))
	}
}

// step computes one batch into the new output and cell states.
func (l *lstm8) step(b int, state, next []byte) {
	const f = fixedpoint.Q15
	old := l.cell[2*b*l.Units : 2*(b+1)*l.Units]
	forget, update := l.sums(gateForget, b, old), l.sums(gateCell, b, old)
	var admit []int32
	if !l.Coupled {
		admit = l.sums(gateInput, b, old)
	}
	for u := range l.Units {
		keep := f.Logistic(forget[u], 3)
		in := 1<<15 - 1 - keep
		if admit != nil {
			in = f.Logistic(admit[u], 3)
		}
		c := fixedpoint.RDPOT(keep*int16At(old, u), 15) + fixedpoint.RDPOT(in*f.Tanh(update[u], 3), 30+l.CellShift)
		c = saturate16(c)
		if l.CellClip > 0 {
			c = min(max(c, -l.CellClip), l.CellClip)
		}
		binary.LittleEndian.PutUint16(next[2*u:], uint16(int16(c)))
	}
	open := l.sums(gateOutput, b, next)
	hidden := make([]byte, l.Units)
	for u := range hidden {
		h := l.Hidden.Apply(f.Logistic(open[u], 3)*f.Tanh(int16At(next, u), 15+l.CellShift)) + l.HiddenZero
		hidden[u] = byte(min(max(h, math.MinInt8), math.MaxInt8))
	}
	if l.proj == nil {
		copy(state, hidden)
		return
	}
	for o := range state {
		s := dot8(l.proj[o*l.Units:(o+1)*l.Units], hidden, l.HiddenZero)
		if l.projBias != nil {
			s += l.projBias[o]
		}
		y := min(max(l.ProjectionScale.Apply(s)+l.OutZero, math.MinInt8), math.MaxInt8)
		if l.OutClip > 0 {
			y = min(max(y, -l.OutClip), l.OutClip)
		}
		state[o] = byte(y)
	}
}

// prepareQuantized16Lstm is QUANTIZED_16BIT_LSTM: 8-bit activations of scale
// 1/128, 16-bit gates with 3 integer bits and a 16-bit state with 4.
func prepareQuantized16Lstm(_ opspec.View, _ *nn.Operation, p opspec.Lstm16) (Kernel, error) {
	return func(x *Run) error {
		l := lstm16{Lstm16: p, in: x.Bytes(p.Input), last: x.Bytes(p.Last), state: x.Bytes(p.State)}
		for g := range opspec.Gates {
			l.w[g], l.r[g], l.bias[g] = x.Bytes(p.W[g]), x.Bytes(p.R[g]), x.int32s(p.Bias[g])
		}
		l.run(x.Bytes(p.NextState), x.Bytes(p.Output))
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
	const f = fixedpoint.Q15
	for b := range l.Batch {
		for u := range l.Units {
			in, forget := f.Logistic(l.gate(gateInput, b, u), 3), f.Logistic(l.gate(gateForget, b, u), 3)
			cell, open := f.Tanh(l.gate(gateCell, b, u), 3), f.Logistic(l.gate(gateOutput, b, u), 3)
			i := b*l.Units + u
			old := int32(int16(binary.LittleEndian.Uint16(l.state[2*i:])))
			next := saturate16(f.Scale(f.Mul(in, cell), -4) + f.Mul(forget, old))
			binary.LittleEndian.PutUint16(state[2*i:], uint16(int16(next)))
			o := fixedpoint.RDPOT(f.Mul(open, f.Tanh(next, 4)), 8)
			out[i] = byte(min(max(o, -128), 127) + 128)
		}
	}
}
