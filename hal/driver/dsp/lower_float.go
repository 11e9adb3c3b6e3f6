package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// TENSOR_FLOAT32 values exist at the edges of a model: QUANTIZE reads them,
// DEQUANTIZE makes them, CAST does both. They are flat words.

// edges are these operations; where says whether operand list 0 (inputs) or 1
// (outputs) may hold floats.
func floatEdge(op nn.OperationType, list int) bool {
	switch op {
	case nn.OpQuantize:
		return list == 0
	case nn.OpDequantize:
		return list == 1
	}
	return op == nn.OpCast
}

// carried reports whether tensors of a type have a flat form here.
func carried(t nn.OperandType) bool { return storable(t) || t == nn.TensorFloat32 }

// tableRun is a run of elements that one lookup table serves.
type tableRun struct{ from, n, table int }

// mapScalars computes out from in.
func (l *lowering) mapScalars(f elementwise.ScalarFunction, out, in *tensor, pieces []tableRun, tables ...[]uint32) {
	size, made, _ := f.Form()
	l.addStep(f.Name(), []*tensor{in}, []*tensor{out}, scalarMapWork{f, tables, pieces, in, size, out, made})
}

// scalarMapWork computes elements one by one, some by tables.
type scalarMapWork struct {
	f      elementwise.ScalarFunction
	tables [][]uint32
	pieces []tableRun
	in     *tensor
	size   int
	out    *tensor
	made   int
}

func (w scalarMapWork) Launch(l *launcher, _ rowRange) error {
	kern, err := l.linked(elementwise.Scalar{F: w.f})
	if err != nil {
		return err
	}
	at := make([]uint32, max(len(w.tables), 1))
	for i, t := range w.tables {
		at[i] = l.constWords(t)
	}
	var table []uint32
	for _, p := range w.pieces {
		table = append(table, w.in.addr+uint32(p.from*w.size), w.out.addr+uint32(p.from*w.made), uint32(p.n), at[p.table])
	}
	l.launchTable(kern, table, 4)
	return nil
}

// evenly divides n elements among the threads.
func (l *lowering) evenly(n int) (list []tableRun) {
	for _, r := range l.spread(n) {
		list = append(list, tableRun{r[0], r[1] - r[0], 0})
	}
	return list
}

// quantizeFloat lowers a QUANTIZE of a float value.
func quantizeFloat(l *lowering, u *opspec.Unary) error {
	in, err := l.flat(u.Input)
	if err != nil {
		return err
	}
	q := affineOf(&l.graph.Operands[u.Output])
	l.mapScalars(elementwise.Quantize{To: q}, l.flatResult(u.Output), in, l.evenly(int(nn.Elements(u.Dims))))
	return nil
}

// lowerDequantize lowers DEQUANTIZE: a table of the values of all bytes, one
// for each channel where channels have scales. One whose result only QUANTIZE
// reads is part of the table of that.
func lowerDequantize(l *lowering, op *nn.Operation) error {
	if onlyRequantizes(l.graph, op) == nil {
		return nil
	}
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	in, err := l.flat(u.Input)
	if err != nil {
		return err
	}
	o := &l.graph.Operands[u.Input]
	n, zero := int(nn.Elements(u.Dims)), o.ZeroPoint
	if signedBytes(o.Type) {
		zero += 128
	}
	reals := func(scale float32) []uint32 { return hvx.Quant{Scale: scale, Zero: zero}.Floats() }
	pieces, tables := l.evenly(n), [][]uint32{reals(o.Scale)}
	if o.Type == nn.TensorQuant8SymmPerChannel {
		c := o.Channel
		if c == nil || int64(c.Dim) >= int64(len(u.Dims)) || len(c.Scales) != int(u.Dims[c.Dim]) {
			return fmt.Errorf("operand %d has no scale for each channel", u.Input)
		}
		run := int(nn.Elements(u.Dims[c.Dim+1:]))
		if run == 0 || n/run > maxPositions || len(c.Scales) > maxConst/4096 {
			return fmt.Errorf("%d runs of %d elements in %d channels", n/max(run, 1), run, len(c.Scales))
		}
		pieces, tables = nil, nil
		for _, s := range c.Scales {
			tables = append(tables, reals(s))
		}
		for i := range n / run {
			pieces = append(pieces, tableRun{i * run, run, i % len(c.Scales)})
		}
	}
	l.mapScalars(elementwise.Dequantize{}, l.flatResult(u.Output), in, pieces, tables...)
	return nil
}

// castFloat lowers a CAST from or to floats: to integers towards zero, to bytes
// within 0 and 255.
func castFloat(l *lowering, u *opspec.Unary, in *tensor, from, to nn.OperandType) error {
	var f elementwise.ScalarFunction = elementwise.IntToFloat{Bytes: from.ElementBytes()}
	if from == nn.TensorFloat32 {
		f = elementwise.FloatToInt{Bytes: to.ElementBytes()}
	}
	l.mapScalars(f, l.flatResult(u.Output), in, l.evenly(int(nn.Elements(u.Dims))))
	return nil
}
