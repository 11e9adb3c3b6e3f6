package family

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerSoftmax is NNAPI's fixed-point softmax as a chain of kernels on rows of 32
// bits. Per row: the maximum by halving, exponentials of the differences by
// table, their sum, its reciprocal by three Newton steps, and the product.
func lowerSoftmax(l *lower.Lowering, op *nn.Operation, s opspec.Softmax) {
	o := l.Quantized(s.Output)
	lastAxis.Refuse(s.Inner != 1, "axis %d", s.Axis)
	q := try.V(s.Quant(l.View()))
	c := chain{l: l, rows: s.Outer}
	in := l.In(s.Input, 1, s.Outer, s.Depth)
	maximum := c.maximum(in)

	// Differences -255..0 select table entries 0..255: index = value + 128.
	table := make([]byte, 0, 1024)
	exps := q.ExpTable()
	for diff := 255; diff >= 0; diff-- {
		table = binary.LittleEndian.AppendUint32(table, uint32(exps[diff]))
	}
	e := c.wide(s.Depth)
	e.Zero = 127
	c.op(ethosu.EltSub, in, maximum, e, tweak{table: table, clip: ethosu.ClipInt8, lo: -128, hi: 127, scale: 1, copies: 1})
	e.Zero = 0

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

	reciprocal := c.reciprocal(fraction, fixedpoint.Q31)
	c.op(ethosu.EltMul, reciprocal, c.constant(2), reciprocal, plain)
	c.op(ethosu.EltMul, e, reciprocal, e, product)
	right := c.wide(1)
	c.op(ethosu.EltSub, headroom, c.constant(35), right, tweak{scale: 1, copies: 1, swap: true})
	out := l.Out(s.Output, 1, s.Outer, s.Depth)
	out.Zero = int(o.ZeroPoint)
	last := natural
	last.lo, last.hi = int(q.Lo), int(q.Hi)
	c.op(ethosu.EltShr, e, right, out, last)
}

// chain writes elementwise kernels on rows: maps of 1 x rows x channels.
type chain struct {
	l    *lower.Lowering
	rows int
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
func (c *chain) wide(n int) layout.Ref {
	return layout.Ref{Value: c.l.Temporary(4 * c.rows * n), FeatureMap: layout.Dense(0, 1, c.rows, n, 4, true)}
}

// constant is one 32-bit element in region 0.
func (c *chain) constant(v int32) layout.Ref {
	return c.constants(v)
}

// op is a binary kernel; b may be one element or one per row.
func (c *chain) op(mode int, a, b, out layout.Ref, t tweak) {
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: mode, Round: t.round, Scale: t.scale, Shift: t.shift, OPAScale: t.copies, OPBScale: t.copies, Clip: t.clip, Lo: t.lo, Hi: t.hi, Broadcast: broadcastOf(&a.FeatureMap, &b.FeatureMap)}, IFM: a, IFM2: &b, OFM: out, Table: t.table}
	if t.swap {
		w.Broadcast |= ethosu.BroadcastSwap
	}
	c.l.Add(w)
}

func (c *chain) unary(mode int, a, out layout.Ref) {
	c.l.Add(kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: mode, Scale: 1, OPAScale: 1, OPBScale: 1}, IFM: a, OFM: out})
}

// reduce sums the channels of each row.
func (c *chain) reduce(a, out layout.Ref) {
	c.l.Add(kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolReduceSum, Global: true, Scale: 1}, IFM: a, OFM: out})
}

// maximum is the largest byte of each row: the larger of both halves, again
// and again; the halves of an odd row share its middle.
func (c *chain) maximum(in layout.Ref) layout.Ref {
	at := in
	for at.C > 1 {
		half := (at.C + 1) / 2
		a, b := at, at
		a.C, b.C = half, half
		b.Addr += at.C - half
		to := layout.Ref{Value: c.l.Temporary(c.rows * half), FeatureMap: layout.Dense(0, 1, c.rows, half, 1, in.Signed)}
		w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: ethosu.EltMax, Scale: 1, OPAScale: 1, OPBScale: 1}, IFM: a, IFM2: &b, OFM: to}
		w.Lo, w.Hi = layout.Limits(in.Signed)
		c.l.Add(w)
		at = to
	}
	return at
}
