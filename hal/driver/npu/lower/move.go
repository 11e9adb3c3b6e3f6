package lower

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// concat copies each input to its place in the rows of the output; another
// quantization than the output's goes through a table.
func (l *Lowering) concat(op *nn.Operation) error {
	c, err := l.view.Concat(op)
	if err != nil {
		return err
	}
	o, err := l.operand(c.Output)
	if err != nil {
		return err
	}
	row := 0
	for _, n := range c.Sizes {
		row += n
	}
	at := 0
	for i, x := range c.Inputs {
		in, err := l.operand(x)
		if err != nil {
			return err
		}
		n := c.Sizes[i]
		from, err := l.In(x, 1, c.Outer, n)
		if err != nil {
			return err
		}
		to, err := l.Out(c.Output, 1, c.Outer, n)
		if err != nil {
			return err
		}
		to.Addr += at
		to.StrideX, to.StrideY = row, row*c.Outer
		lo, hi := layout.Limits(to.Signed)
		table := opspec.RequantTable(in, o)
		if c.Outer == 1 {
			err = l.moveAll(from, to, n, table, lo, hi)
		} else {
			err = l.move(from, to, table, lo, hi)
		}
		if err != nil {
			return err
		}
		at += n
	}
	return nil
}

// mapped lowers a function of one byte: a table, or a clamp when it is nil.
func (l *Lowering) mapped(in, out uint32, table *[256]byte, lo, hi int) error {
	o, err := l.operand(out)
	if err != nil {
		return err
	}
	n := int(o.Bytes())
	from, err := l.In(in, 1, 1, n)
	if err != nil {
		return err
	}
	to, err := l.Out(out, 1, 1, n)
	if err != nil {
		return err
	}
	return l.moveAll(from, to, n, table, lo, hi)
}

func (l *Lowering) relu(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	o, err := l.operand(u.Output)
	if err != nil {
		return err
	}
	lo, hi := opspec.ActRange(opspec.UnaryActivation(op.Type), o.Type, o.Scale, o.ZeroPoint)
	return l.mapped(u.Input, u.Output, nil, int(lo), int(hi))
}

func (l *Lowering) logistic(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	o, err := l.operand(u.Output)
	if err != nil {
		return err
	}
	table, err := u.LogisticTable(l.view)
	if err != nil {
		return err
	}
	lo, hi := layout.Limits(isSigned(o.Type))
	return l.mapped(u.Input, u.Output, table, lo, hi)
}

// pad is a 1x1 depthwise kernel of weight 1 with padding: taps outside the
// image are zero before the output zero point is added.
func (l *Lowering) pad(op *nn.Operation) error {
	p, err := l.view.Pad(op)
	if err != nil {
		return err
	}
	o, err := l.operand(p.Output)
	if err != nil {
		return err
	}
	n := int(nn.Elements(p.In))
	from, err := l.In(p.Input, 1, 1, n)
	if err != nil {
		return err
	}
	to, err := l.Out(p.Output, 1, 1, int(o.Bytes()))
	if err != nil {
		return err
	}
	return l.padTo(&p, from, to, int(o.ZeroPoint))
}

// padTo pads height and width of the dense tensor at from into the dense one at to.
func (l *Lowering) padTo(p *opspec.Pad, from, to layout.Ref, zero int) error {
	if len(p.In) != 4 || p.Before[0]|p.After[0]|p.Before[3]|p.After[3] != 0 {
		return fmt.Errorf("only height and width of a rank 4 tensor are padded")
	}
	if p.Before[1] > 127 || p.Before[2] > 127 || p.After[1] > 255 || p.After[2] > 255 || p.In[0] > maxBatch {
		return fmt.Errorf("padding of %v and %v", p.Before, p.After)
	}
	h, w, c := int(p.In[1]), int(p.In[2]), int(p.In[3])
	oh, ow := int(p.Dims[1]), int(p.Dims[2])
	unit := fixedpoint.QuantizeMultiplier(1)
	scale, shift, err := hardware(unit)
	if err != nil {
		return err
	}
	for n := range int(p.In[0]) {
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Depthwise, Round: doubleRound, Top: p.Before[1], Left: p.Before[2], Bottom: p.After[1], Right: p.After[2]}}
		k.IFM = layout.Ref{Value: from.Value, FeatureMap: layout.Dense(from.Addr+n*h*w*c, h, w, c, 1, from.Signed)}
		k.OFM = layout.Ref{Value: to.Value, FeatureMap: layout.Dense(to.Addr+n*oh*ow*c, oh, ow, c, 1, to.Signed)}
		k.IFM.Zero, k.OFM.Zero = zero, zero
		k.Lo, k.Hi = layout.Limits(k.OFM.Signed)
		k.Weights = &kernel.Weights{Form: kernel.Ones, Outputs: c, Taps: 1}
		for range c {
			k.Weights.Records = append(k.Weights.Records, scaleRecord(0, scale, shift))
		}
		if err := l.Add(k); err != nil {
			return err
		}
	}
	return nil
}

// requantize is a table from bytes to bytes.
func (l *Lowering) requantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	for _, x := range [2]uint32{u.Input, u.Output} {
		if _, err := l.operand(x); err != nil {
			return err
		}
	}
	lo, hi := layout.Limits(isSigned(l.graph.Operands[u.Output].Type))
	return l.mapped(u.Input, u.Output, u.RequantizeTable(l.view), lo, hi)
}

// move copies or maps Bytes: a 1x1 maximum with an optional table, which maps
// the byte b to table[b], and a clamp.
func (l *Lowering) move(from, to layout.Ref, table *[256]byte, lo, hi int) error {
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: lo, Hi: hi}, IFM: from, OFM: to}
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
		rows, c := min((n-at)/row, maxExtent), row
		if rows == 0 {
			rows, c = 1, n-at
		}
		a := layout.Ref{Value: from.Value, FeatureMap: layout.Dense(from.Addr+at, 1, rows, c, 1, to.Signed)}
		b := layout.Ref{Value: to.Value, FeatureMap: layout.Dense(to.Addr+at, 1, rows, c, 1, to.Signed)}
		if err := l.move(a, b, table, lo, hi); err != nil {
			return err
		}
		at += rows * c
	}
	return nil
}

// alias is RESHAPE and SQUEEZE: the same bytes.
func (l *Lowering) alias(op *nn.Operation) error {
	c, err := l.view.Copy(op)
	if err != nil {
		return err
	}
	o, err := l.operand(c.Input)
	if err != nil {
		return err
	}
	if o.IsConst() { // folding made it one; its readers expect a value on chip
		n := int(o.Bytes())
		from, err := l.In(c.Input, 1, 1, n)
		if err != nil {
			return err
		}
		l.value[c.Output] = l.Temporary(n)
		l.copy(from, layout.Ref{Value: l.value[c.Output], FeatureMap: layout.Dense(0, 1, 1, n, 1, false)})
		return nil
	}
	l.value[c.Output] = l.value[c.Input]
	return nil
}
