package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// concat copies each input to its place in the rows of the output; another
// quantization than the output's goes through a table.
func (l *lowering) concat(op *nn.Operation) error {
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
		from, err := l.in(x, 1, c.Outer, n)
		if err != nil {
			return err
		}
		to, err := l.out(c.Output, 1, c.Outer, n)
		if err != nil {
			return err
		}
		to.addr += at
		to.strideX, to.strideY = row, row*c.Outer
		lo, hi := limits(to.signed)
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
func (l *lowering) mapped(in, out uint32, table *[256]byte, lo, hi int) error {
	o, err := l.operand(out)
	if err != nil {
		return err
	}
	n := int(o.Bytes())
	from, err := l.in(in, 1, 1, n)
	if err != nil {
		return err
	}
	to, err := l.out(out, 1, 1, n)
	if err != nil {
		return err
	}
	return l.moveAll(from, to, n, table, lo, hi)
}

func (l *lowering) relu(op *nn.Operation) error {
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

func (l *lowering) logistic(op *nn.Operation) error {
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
	lo, hi := limits(isSigned(o.Type))
	return l.mapped(u.Input, u.Output, table, lo, hi)
}

// pad is a 1x1 depthwise kernel of weight 1 with padding: taps outside the
// image are zero before the output zero point is added.
func (l *lowering) pad(op *nn.Operation) error {
	p, err := l.view.Pad(op)
	if err != nil {
		return err
	}
	o, err := l.operand(p.Output)
	if err != nil {
		return err
	}
	n := int(nn.Elements(p.In))
	from, err := l.in(p.Input, 1, 1, n)
	if err != nil {
		return err
	}
	to, err := l.out(p.Output, 1, 1, int(o.Bytes()))
	if err != nil {
		return err
	}
	return l.padTo(&p, from, to, int(o.ZeroPoint))
}

// padTo pads height and width of the dense tensor at from into the dense one at to.
func (l *lowering) padTo(p *opspec.Pad, from, to ref, zero int) error {
	if len(p.In) != 4 || p.Before[0]|p.After[0]|p.Before[3]|p.After[3] != 0 {
		return fmt.Errorf("only height and width of a rank 4 tensor are padded")
	}
	if p.Before[1] > 127 || p.Before[2] > 127 || p.After[1] > 255 || p.After[2] > 255 || p.In[0] > maxBatch {
		return fmt.Errorf("padding of %v and %v", p.Before, p.After)
	}
	h, w, c := int(p.In[1]), int(p.In[2]), int(p.In[3])
	oh, ow := int(p.Dims[1]), int(p.Dims[2])
	unit := opspec.QuantizeMultiplier(1)
	scale, shift, err := hardware(unit)
	if err != nil {
		return err
	}
	for n := range int(p.In[0]) {
		k := work{
			kind: kindDepthwise, round: doubleRound,
			top: p.Before[1], left: p.Before[2], bottom: p.After[1], right: p.After[2],
		}
		k.ifm = ref{from.value, dense(from.addr+n*h*w*c, h, w, c, 1, from.signed)}
		k.ofm = ref{to.value, dense(to.addr+n*oh*ow*c, oh, ow, c, 1, to.signed)}
		k.ifm.zero, k.ofm.zero = zero, zero
		k.lo, k.hi = limits(k.ofm.signed)
		ones := make([]int16, c)
		k.weights = &weights{o: c, i: 1, w: func() []int16 { return ones }}
		for i := range ones {
			ones[i] = 1
			k.weights.records = append(k.weights.records, scaleRecord(0, scale, shift))
		}
		if err := l.emit(k); err != nil {
			return err
		}
	}
	return nil
}

// requantize is a table from bytes to bytes.
func (l *lowering) requantize(op *nn.Operation) error {
	u, err := l.view.Unary(op)
	if err != nil {
		return err
	}
	for _, x := range [2]uint32{u.Input, u.Output} {
		if _, err := l.operand(x); err != nil {
			return err
		}
	}
	lo, hi := limits(isSigned(l.graph.Operands[u.Output].Type))
	return l.mapped(u.Input, u.Output, u.RequantizeTable(l.view), lo, hi)
}
