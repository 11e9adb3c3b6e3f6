package npu

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// softmax is NNAPI's fixed-point softmax as a chain of kernels on rows of 32
// bits. Per row: the maximum by halving, exponentials of the differences by
// table, their sum, its reciprocal by three Newton steps, and the product.
func (l *lowering) softmax(op *nn.Operation) error {
	s, err := l.view.Softmax(op)
	if err != nil {
		return err
	}
	o, err := l.operand(s.Output)
	if err != nil {
		return err
	}
	if s.Inner != 1 {
		return fmt.Errorf("along axis %d; only the last axis is supported", s.Axis)
	}
	q, err := s.Quant(l.view)
	if err != nil {
		return err
	}
	c := chain{l: l, rows: s.Outer}
	in, err := l.in(s.Input, 1, s.Outer, s.Depth)
	if err != nil {
		return err
	}
	maximum := c.maximum(in)

	// Differences -255..0 select table entries 0..255: index = value + 128.
	table := make([]byte, 0, 1024)
	exps := q.ExpTable()
	for diff := 255; diff >= 0; diff-- {
		table = binary.LittleEndian.AppendUint32(table, uint32(exps[diff]))
	}
	e := c.wide(s.Depth)
	e.zero = 127
	c.op(ethosu.EltSub, in, maximum, e, tweak{table: table, clip: ethosu.ClipInt8, lo: -128, hi: 127, scale: 1, copies: 1})
	e.zero = 0

	terms := c.wide(s.Depth)
	c.op(ethosu.EltShr, e, c.constant(12), terms, natural)
	sum := c.wide(1)
	c.reduce(terms, sum)
	headroom := c.wide(1)
	c.unary(ethosu.EltClz, sum, headroom)

	// sum * 2^headroom - 2^31, without leaving 32 bits.
	less := c.wide(1)
	c.op(ethosu.EltSub, headroom, c.constant(1), less, plain)
	fraction := c.wide(1)
	c.op(ethosu.EltShl, sum, less, fraction, shiftLeft)
	c.op(ethosu.EltSub, fraction, c.constant(1<<30), fraction, plain)
	c.op(ethosu.EltShl, fraction, c.constant(1), fraction, shiftLeft)

	reciprocal := c.reciprocal(fraction)
	c.op(ethosu.EltMul, e, reciprocal, e, product)
	right := c.wide(1)
	c.op(ethosu.EltSub, headroom, c.constant(35), right, tweak{scale: 1, copies: 1, swap: true})
	out, err := l.out(s.Output, 1, s.Outer, s.Depth)
	if err != nil {
		return err
	}
	out.zero = int(o.ZeroPoint)
	last := natural
	last.lo, last.hi = int(q.Lo), int(q.Hi)
	c.op(ethosu.EltShr, e, right, out, last)
	return c.err
}

// reciprocal is 1/(1+x) of x in Q0.31, in Q0.31: d = (1+x)/2, three steps of
// y += 4 * y * (1 - d*y) in Q2.29 from y = 48/17 - 32/17 d.
func (c *chain) reciprocal(x ref) ref {
	d := c.wide(1)
	c.op(ethosu.EltAdd, x, c.constant(1<<31-1), d, tweak{scale: 1, shift: 1, copies: 1, round: doubleRound})
	y := c.wide(1)
	c.op(ethosu.EltMul, d, c.constant(-1010580540), y, product) // 32/17 in Q2.29
	c.op(ethosu.EltAdd, y, c.constant(1515870810), y, plain)    // 48/17
	for range 3 {
		t := c.wide(1)
		c.op(ethosu.EltMul, y, d, t, product)
		c.op(ethosu.EltSub, t, c.constant(1<<29), t, tweak{scale: 1, copies: 1, swap: true})
		c.op(ethosu.EltMul, y, t, t, product)
		c.op(ethosu.EltMul, t, c.constant(4), t, plain)
		c.op(ethosu.EltAdd, y, t, y, plain)
	}
	c.op(ethosu.EltMul, y, c.constant(2), y, plain)
	return y
}

// chain writes elementwise kernels on rows: maps of 1 x rows x channels.
type chain struct {
	l    *lowering
	rows int
	err  error
}

// tweak is what kernels of a chain differ in.
type tweak struct {
	scale  uint32
	shift  int
	copies uint32 // OPA and OPB scale
	round  int
	swap   bool
	table  []byte
	clip   int
	lo, hi int
}

var (
	plain     = tweak{scale: 1, copies: 1}
	shiftLeft = tweak{scale: 1, copies: 1}
	natural   = tweak{scale: 1, copies: 1, round: ethosu.RoundNatural}
	// product is the rounded high half of twice the product.
	product = tweak{scale: 1 << 30, shift: 31, copies: 1, round: doubleRound}
)

// wide is a new value of 32-bit elements, n per row.
func (c *chain) wide(n int) ref {
	return ref{c.l.temporary(4 * c.rows * n), dense(0, 1, c.rows, n, 4, true)}
}

// constant is one 32-bit element in region 0.
func (c *chain) constant(v int32) ref {
	at := c.l.consts.add(binary.LittleEndian.AppendUint32(nil, uint32(v)))
	return ref{placed, dense(at, 1, 1, 1, 4, true)}
}

func (c *chain) emit(w work) {
	if c.err == nil {
		c.err = c.l.emit(w)
	}
}

// op is a binary kernel; b may be one element or one per row.
func (c *chain) op(mode int, a, b, out ref, t tweak) {
	w := work{
		kind: kindElementwise, mode: mode, ifm: a, ifm2: &b, ofm: out, round: t.round, scale: t.scale, shift: t.shift,
		opaScale: t.copies, opbScale: t.copies, table: t.table, clip: t.clip, lo: t.lo, hi: t.hi,
		broadcast: broadcastOf(&a.fm, &b.fm),
	}
	if t.swap {
		w.broadcast |= ethosu.BroadcastSwap
	}
	c.emit(w)
}

func (c *chain) unary(mode int, a, out ref) {
	c.emit(work{kind: kindElementwise, mode: mode, ifm: a, ofm: out, scale: 1, opaScale: 1, opbScale: 1})
}

// reduce sums the channels of each row.
func (c *chain) reduce(a, out ref) {
	c.emit(work{kind: kindPool, mode: poolReduceSum, ifm: a, ofm: out, global: true, scale: 1})
}

// maximum is the largest byte of each row: the larger of both halves, again
// and again; the halves of an odd row share its middle.
func (c *chain) maximum(in ref) ref {
	at := in
	for at.c > 1 {
		half := (at.c + 1) / 2
		a, b := at, at
		a.c, b.c = half, half
		b.addr += at.c - half
		to := ref{c.l.temporary(c.rows * half), dense(0, 1, c.rows, half, 1, in.signed)}
		w := work{kind: kindElementwise, mode: ethosu.EltMax, ifm: a, ifm2: &b, ofm: to, scale: 1, opaScale: 1, opbScale: 1}
		w.lo, w.hi = limits(in.signed)
		c.emit(w)
		at = to
	}
	return at
}
