package lower

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// concat copies each input to its place in the rows of the output; another
// quantization than the output's goes through a table.
func (l *Lowering) concat(_ *nn.Operation, c opspec.Concat) error {
	o := try.V(l.tensor(c.Output))
	size := elementBytes(o.Type)
	row := 0
	for _, n := range c.Sizes {
		row += n * size
	}
	at := 0
	for i, x := range c.Inputs {
		in := try.V(l.tensor(x))
		n := c.Sizes[i] * size
		from := try.V(l.In(x, 1, c.Outer, n))
		to := try.V(l.Out(c.Output, 1, c.Outer, n))
		to.Addr += at
		to.StrideX, to.StrideY = row, row*c.Outer
		lo, hi := layout.Limits(to.Signed)
		var table *[256]byte
		if o.Type.IsQuant8() {
			table = opspec.RequantTable(in, o)
		}
		if c.Outer == 1 {
			try.E(l.moveAll(from, to, n, table, lo, hi))
		} else {
			try.E(l.move(from, to, table, lo, hi))
		}
		at += n
	}
	return nil
}

// mapped lowers a function of one byte: a table, or a clamp when it is nil.
func (l *Lowering) mapped(in, out uint32, table *[256]byte, lo, hi int) error {
	o := try.V(l.operand(out))
	n := int(o.Bytes())
	from := try.V(l.In(in, 1, 1, n))
	to := try.V(l.Out(out, 1, 1, n))
	return l.moveAll(from, to, n, table, lo, hi)
}

func (l *Lowering) relu(op *nn.Operation, u opspec.Unary) error {
	o := try.V(l.operand(u.Output))
	lo, hi := opspec.ActRange(opspec.UnaryActivation(op.Type), o.Type, o.Scale, o.ZeroPoint)
	return l.mapped(u.Input, u.Output, nil, int(lo), int(hi))
}

// byteTable makes the table of a function of one byte.
type byteTable func(*opspec.Unary, opspec.View) (*[256]byte, error)

// byTable lowers a function of one byte.
func byTable(table byteTable) lowering {
	return func(l *Lowering, op *nn.Operation) error { return l.byteFunction(op, table) }
}

func (l *Lowering) byteFunction(op *nn.Operation, function byteTable) error {
	u := try.V(opspec.Read[opspec.Unary](l.view, op))
	try.V(l.operand(u.Input))
	o := try.V(l.operand(u.Output))
	table := try.V(function(&u, l.view))
	lo, hi := layout.Limits(isSigned(o.Type))
	return l.mapped(u.Input, u.Output, table, lo, hi)
}

// requantize is a table from bytes to bytes.
func (l *Lowering) requantize(_ *nn.Operation, u opspec.Unary) error {
	for _, x := range [2]uint32{u.Input, u.Output} {
		try.V(l.operand(x))
	}
	lo, hi := layout.Limits(isSigned(l.graph.Operands[u.Output].Type))
	return l.mapped(u.Input, u.Output, u.RequantizeTable(l.view), lo, hi)
}

// move copies or maps bytes: a 1x1 maximum with an optional table, which maps
// the byte b to table[b], and a clamp. Without a table the zero points of the maps may
// differ, which moves the values of one to the other.
func (l *Lowering) move(from, to layout.Ref, table *[256]byte, lo, hi int) error {
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: lo, Hi: hi}, IFM: from, OFM: to}
	if from.Signed != to.Signed && table == nil { // zero points of both signs: an average of one
		w.Mode, w.Global, w.Round = ethosu.PoolAverage, true, doubleRound
		scale, shift := ethosu.AverageScale(1, 0)
		w.Scale, w.Shift = scale, int(shift)
		return l.Add(w)
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
	return l.Add(w)
}

// moveAll is move for n contiguous bytes.
func (l *Lowering) moveAll(from, to layout.Ref, n int, table *[256]byte, lo, hi int) error {
	const row = 1024
	for at := 0; at < n; {
		rows, c := min((n-at)/row, maxElements/row), row
		if rows == 0 {
			rows, c = 1, n-at
		}
		a := layout.Ref{Value: from.Value, FeatureMap: layout.Dense(from.Addr+at, 1, rows, c, 1, to.Signed)}
		b := layout.Ref{Value: to.Value, FeatureMap: layout.Dense(to.Addr+at, 1, rows, c, 1, to.Signed)}
		try.E(l.move(a, b, table, lo, hi))
		at += rows * c
	}
	return nil
}

// alias is RESHAPE, SQUEEZE and EXPAND_DIMS: the same bytes.
func (l *Lowering) alias(_ *nn.Operation, c opspec.Copy) error {
	o := try.V(l.tensor(c.Input))
	if o.IsConst() { // folding made it one; its readers expect a value on chip
		n := int(o.Bytes())
		from := try.V(l.In(c.Input, 1, 1, n))
		l.value[c.Output] = l.Temporary(n)
		l.copy(from, layout.Ref{Value: l.value[c.Output], FeatureMap: layout.Dense(0, 1, 1, n, 1, false)})
		return nil
	}
	l.value[c.Output] = l.value[c.Input]
	return nil
}
