package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TENSOR_FLOAT32 values exist at the edges of a model: QUANTIZE reads them,
// DEQUANTIZE makes them, CAST does both. They are flat words.

// floatEdge reports whether operand list 0 (inputs) or 1 (outputs) of an operation may
// hold floats.
func floatEdge(op nn.OperationType, list int) bool {
	switch op {
	case nn.OpQuantize:
		return list == 0
	case nn.OpDequantize:
		return list == 1
	}
	return op == nn.OpCast
}

// mapScalars computes out from in.
func mapScalars(l *lower.Lowering, f elementwise.ScalarFunction, out, in *layout.Tensor, runs []launch.TableRun, tables ...[]uint32) {
	size, made, _ := f.Form()
	l.Add(f.Name(), []*layout.Tensor{in}, []*layout.Tensor{out}, launch.MapScalars{Function: f, Tables: tables, Runs: runs, In: in, Size: size, Out: out, Made: made})
}

// evenly divides n elements among the threads.
func evenly(l *lower.Lowering, n int) (list []launch.TableRun) {
	for _, r := range l.Spread(n) {
		list = append(list, launch.TableRun{From: r[0], N: r[1] - r[0], Table: 0})
	}
	return list
}

// quantizeFloat lowers a QUANTIZE of a float value.
func quantizeFloat(l *lower.Lowering, u *opspec.Unary) {
	in := l.Flat(u.Input)
	q := lower.AffineOf(&l.Graph.Operands[u.Output])
	mapScalars(l, elementwise.Quantize{To: q}, l.FlatResult(u.Output), in, evenly(l, int(nn.Elements(u.Dims))))
}

// lowerDequantize lowers DEQUANTIZE: a table of the values of all bytes, one
// for each channel where channels have scales. One whose result only QUANTIZE
// reads is part of the table of that.
func lowerDequantize(l *lower.Lowering, op *nn.Operation) {
	if onlyRequantizes(l.Graph, op) == nil {
		return
	}
	u := try.V(opspec.Read[opspec.Unary](l.View(), op))
	in := l.Flat(u.Input)
	o := &l.Graph.Operands[u.Input]
	n, zero := int(nn.Elements(u.Dims)), o.ZeroPoint
	if lower.SignedBytes(o.Type) {
		zero += 128
	}
	reals := func(scale float32) []uint32 { return hvxmath.Quant{Scale: scale, Zero: zero}.Floats() }
	runs, tables := evenly(l, n), [][]uint32{reals(o.Scale)}
	if o.Type == nn.TensorQuant8SymmPerChannel {
		c := o.Channel
		channelScales.Refuse(c == nil || int64(c.Dim) >= int64(len(u.Dims)) || len(c.Scales) != int(u.Dims[c.Dim]), "operand %d", u.Input)
		run := int(nn.Elements(u.Dims[c.Dim+1:]))
		lower.MaxRuns.Refuse(run == 0 || n/run > layout.MaxPositions || len(c.Scales) > layout.MaxConst/4096, "%d of %d elements in %d channels", n/max(run, 1), run, len(c.Scales))
		runs, tables = nil, nil
		for _, s := range c.Scales {
			tables = append(tables, reals(s))
		}
		for i := range n / run {
			runs = append(runs, launch.TableRun{From: i * run, N: run, Table: i % len(c.Scales)})
		}
	}
	mapScalars(l, elementwise.Dequantize{}, l.FlatResult(u.Output), in, runs, tables...)
}

// castFloat lowers a CAST from or to floats: to integers towards zero, to bytes
// within 0 and 255.
func castFloat(l *lower.Lowering, u *opspec.Unary, in *layout.Tensor, from, to nn.OperandType) {
	var f elementwise.ScalarFunction = elementwise.IntToFloat{Bytes: from.ElementBytes()}
	if from == nn.TensorFloat32 {
		f = elementwise.FloatToInt{Bytes: to.ElementBytes()}
	}
	mapScalars(l, f, l.FlatResult(u.Output), in, evenly(l, int(nn.Elements(u.Dims))))
}
