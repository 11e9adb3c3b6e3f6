package refcpu

import (
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lstmKernels are the LSTM cells on reals.
var lstmKernels = []operation{
	{op: nn.OpLstm, prepare: read(prepareLstm)},
	{op: nn.OpUnidirectionalSequenceLstm, prepare: read(prepareLstm)},
	{op: nn.OpBidirectionalSequenceLstm, prepare: read(prepareLstm)},
}

// Gates of an LSTM cell.
const (
	gateInput  = opspec.GateInput
	gateForget = opspec.GateForget
	gateCell   = opspec.GateCell
	gateOutput = opspec.GateOutput
	gates      = opspec.Gates
)

// lstmCell is an LSTM cell with the values of its operands; those left out are nil.
type lstmCell struct {
	*opspec.LstmCell
	cellClip, outClip           float32
	act                         func(float32) float32
	w, aux, r, bias, peep, norm [gates][]float32
	projection, projBias        []float32
	h, c                        []float32
}

// newLstmCell reads the values of a cell.
func newLstmCell(x *Run, l *opspec.Lstm, p *opspec.LstmCell) *lstmCell {
	c := &lstmCell{LstmCell: p, cellClip: l.CellClip, outClip: l.OutClip, act: cellFunction(l.Act), projection: x.values(p.Projection), projBias: x.values(p.ProjectionBias),
		h: x.values(p.State), c: slices.Clone(x.values(p.Cell))}
	for g := range gates {
		c.w[g], c.aux[g], c.r[g] = x.values(p.Weights[g]), x.values(p.AuxWeights[g]), x.values(p.Recurrent[g])
		c.bias[g], c.peep[g], c.norm[g] = x.values(p.Bias[g]), x.values(p.Peephole[g]), x.values(p.Norm[g])
	}
	return c
}

// prepareLstm is LSTM and the sequences of it in one direction or two.
func prepareLstm(_ opspec.View, _ *nn.Operation, l opspec.Lstm) (Kernel, error) {
	return func(x *Run) error {
		var list []direction
		for i := range l.Cells {
			p := &l.Cells[i]
			list = append(list, direction{newLstmCell(x, &l, p), &p.Input, &p.Aux, p.Output, p.Out})
		}
		x.recur(list, l.Merge)
		for i := range list {
			c := list[i].cell.(*lstmCell)
			x.put(c.NextState, c.h)
			x.put(c.NextCell, c.c)
		}
		if l.Scratch != opspec.None {
			clear(x.Bytes(l.Scratch))
		}
		return nil
	}, nil
}

func (l *lstmCell) step(x, aux []float32) []float32 {
	f := l.gate(gateForget, x, aux)
	g := l.gate(gateCell, x, aux)
	var in []float32
	if !l.Coupled {
		in = l.gate(gateInput, x, aux)
	}
	for i := range l.c {
		forget := sigmoid(f[i])
		admit := 1 - forget
		if in != nil {
			admit = sigmoid(in[i])
		}
		c := float32(forget*l.c[i]) + float32(admit*l.act(g[i]))
		if l.cellClip > 0 {
			c = clampF(c, -l.cellClip, l.cellClip)
		}
		l.c[i] = c
	}
	o := l.gate(gateOutput, x, aux)
	for i, c := range l.c {
		o[i] = sigmoid(o[i]) * l.act(c)
	}
	if l.projection == nil {
		l.h = o
		return l.h
	}
	batch := l.Input.Batch
	next := make([]float32, batch*l.Out)
	repeat(next, l.projBias, batch)
	multiply(next, l.projection, o, batch)
	if l.outClip > 0 {
		for i, v := range next {
			next[i] = clampF(v, -l.outClip, l.outClip)
		}
	}
	l.h = next
	return l.h
}

// gate computes the input of a gate's function for a batch.
func (l *lstmCell) gate(g int, x, aux []float32) []float32 {
	batch := l.Input.Batch
	v := make([]float32, batch*l.Units)
	normed := l.norm[g] != nil
	if !normed {
		repeat(v, l.bias[g], batch)
	}
	multiply(v, l.w[g], x, batch)
	multiply(v, l.aux[g], aux, batch)
	multiply(v, l.r[g], l.h, batch)
	if p := l.peep[g]; p != nil {
		for i := range v {
			v[i] += float32(p[i%l.Units] * l.c[i])
		}
	}
	if normed {
		for b := range batch {
			normalize(v[b*l.Units:(b+1)*l.Units], l.norm[g], l.bias[g])
		}
	}
	return v
}

// normalize subtracts the mean, divides by the deviation, scales and shifts.
func normalize(v, scale, shift []float32) {
	mean, square := float32(0), float32(0)
	for _, x := range v {
		mean += x
		square += float32(x * x)
	}
	n := float32(len(v))
	mean /= n
	variance := square/n - float32(mean*mean)
	inv := float32(1 / math.Sqrt(float64(variance)+1e-8))
	if variance == 0 {
		inv = float32(1 / math.Sqrt(1e-8))
	}
	for i, x := range v {
		v[i] = float32((x-mean)*inv*scale[i]) + shift[i]
	}
}
