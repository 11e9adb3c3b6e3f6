package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// lowerConcat copies each input to its place in the rows of the output; another
// quantization than the output's goes through a table.
func lowerConcat(l *lower.Lowering, _ *nn.Operation, c opspec.Concat) {
	o := l.Tensor(c.Output)
	size := lower.ElementBytes(o.Type)
	row := 0
	for _, n := range c.Sizes {
		row += n * size
	}
	at := 0
	for i, x := range c.Inputs {
		in := l.Tensor(x)
		n := c.Sizes[i] * size
		from := l.In(x, 1, c.Outer, n)
		to := l.Out(c.Output, 1, c.Outer, n)
		to.Addr += at
		to.StrideX, to.StrideY = row, row*c.Outer
		lo, hi := layout.Limits(to.Signed)
		var table *[256]byte
		if o.Type.IsQuant8() {
			table = quantized.RequantTable(in, o)
		}
		if c.Outer == 1 {
			moveAll(l, from, to, n, table, lo, hi)
		} else {
			move(l, from, to, table, lo, hi)
		}
		at += n
	}
}

// mapped lowers a function of one byte: a table, or a clamp when it is nil.
func mapped(l *lower.Lowering, in, out uint32, table *[256]byte, lo, hi int) {
	o := l.Quantized(out)
	n := int(o.Bytes())
	from := l.In(in, 1, 1, n)
	to := l.Out(out, 1, 1, n)
	moveAll(l, from, to, n, table, lo, hi)
}

func lowerRelu(l *lower.Lowering, op *nn.Operation, u opspec.Unary) {
	o := l.Quantized(u.Output)
	lo, hi := quantized.ActRange(opspec.UnaryActivation(op.Type), o.Type, o.Scale, o.ZeroPoint)
	mapped(l, u.Input, u.Output, nil, int(lo), int(hi))
}

// lowerByTable lowers a function of one byte.
func lowerByTable(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	l.Quantized(u.Input)
	o := l.Quantized(u.Output)
	lo, hi := layout.Limits(lower.Signed(o.Type))
	mapped(l, u.Input, u.Output, try.V(u.ByteTable(l.View())), lo, hi)
}

// move copies or maps bytes: a 1x1 maximum with an optional table, which maps
// the byte b to table[b], and a clamp. Without a table the zero points of the maps may
// differ, which moves the values of one to the other.
func move(l *lower.Lowering, from, to layout.Ref, table *[256]byte, lo, hi int) {
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: lo, Hi: hi}, IFM: from, OFM: to}
	if from.Signed != to.Signed && table == nil { // zero points of both signs: an average of one
		w.Mode, w.Global, w.Round = ethosu.PoolAverage, true, doubleRound
		scale, shift := ethosu.AverageScale(1, 0)
		w.Scale, w.Shift = scale, int(shift)
		l.Add(w)
		return
	}
	w.IFM.Signed = to.Signed
	if table != nil {
		// The index is the value, from the least one of the type.
		w.Table = make([]byte, 256)
		for i := range w.Table {
			b := byte(i)
			if to.Signed {
				b -= 128
			}
			w.Table[i] = table[b]
		}
	}
	l.Add(w)
}

// moveAll is move for n contiguous bytes.
func moveAll(l *lower.Lowering, from, to layout.Ref, n int, table *[256]byte, lo, hi int) {
	const row = 1024
	for at := 0; at < n; {
		rows, c := min((n-at)/row, lower.MaxElements/row), row
		if rows == 0 {
			rows, c = 1, n-at
		}
		a := layout.Ref{Value: from.Value, FeatureMap: layout.Dense(from.Addr+at, 1, rows, c, 1, to.Signed)}
		b := layout.Ref{Value: to.Value, FeatureMap: layout.Dense(to.Addr+at, 1, rows, c, 1, to.Signed)}
		move(l, a, b, table, lo, hi)
		at += rows * c
	}
}

// lowerAlias is RESHAPE, SQUEEZE and EXPAND_DIMS: the same bytes.
func lowerAlias(l *lower.Lowering, _ *nn.Operation, c opspec.Copy) {
	o := l.Tensor(c.Input)
	if o.IsConst() { // folding made it one; its readers expect a value on chip
		n := int(o.Bytes())
		from := l.In(c.Input, 1, 1, n)
		l.Copy(from, l.Out(c.Output, 1, 1, n))
		return
	}
	l.Alias(c.Output, c.Input)
}
