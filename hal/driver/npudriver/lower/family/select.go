package family

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// lowerTile repeats dimensions: copies whose source does not move along the repeated ones.
func lowerTile(l *lower.Lowering, _ *nn.Operation, t opspec.Tile) {
	o := l.Tensor(t.Output)
	from := allBytes(l, t.Input)
	to := l.Out(t.Output, 1, 1, int(o.Bytes()))
	size := lower.ElementBytes(o.Type)
	axes := []axis{{size, 1, 1}}
	src, dst := size, size
	for i := len(t.In) - 1; i >= 0; i-- {
		n, times := int(t.In[i]), int(t.Dims[i]/t.In[i])
		axes = append(axes, axis{n, src, dst}, axis{times, 0, dst * n})
		src, dst = src*n, dst*n*times
	}
	copyAxes(l, from, to, axes)
}

// lowerGatherRows is GATHER and EMBEDDING_LOOKUP with constant indices: a copy of each run of
// evenly spaced ones.
func lowerGatherRows(l *lower.Lowering, _ *nn.Operation, g opspec.Gather) {
	o := l.Tensor(g.Output)
	data, err := l.View().Data(g.Indices)
	constantIndices.Refuse(err != nil, "operand %d is none", g.Indices)
	var index []int
	for _, x := range integers(data) {
		constantIndices.Refuse(x < 0 || int(x) >= g.Count, "index %d of %d", x, g.Count)
		index = append(index, int(x))
	}
	from := allBytes(l, g.Input)
	to := l.Out(g.Output, 1, 1, int(o.Bytes()))
	list := runs(index)
	maxRuns.Refuse(len(list) > maxMoves, "%d of indices", len(list))
	row := g.Inner * lower.ElementBytes(o.Type)
	for _, r := range list {
		a, b := from, to
		a.Addr += r.from * row
		b.Addr += r.at * row
		copyAxes(l, a, b, []axis{{row, 1, 1}, {r.n, r.step * row, r.every * row}, {g.Outer, g.Count * row, len(index) * row}})
	}
}

// integers are the elements of a TENSOR_INT32.
func integers(data []byte) []int32 {
	list := make([]int32, len(data)/4)
	for i := range list {
		list[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return list
}

// run is a part of a list of indices: entries at, at+every, ... are from, from+step, ...
type run struct{ at, every, n, from, step int }

// mostPhases is how many interleaved progressions runs looks for: upscaling by up to 8 is
// one copy for each (assumed, D-963).
const mostPhases = 8

// runs divides a list of indices into few arithmetic progressions that do not fall.
func runs(index []int) (best []run) {
	for every := 1; every <= min(mostPhases, len(index)); every++ {
		var list []run
		for phase := range every {
			for i := phase; i < len(index); {
				r := run{at: i, every: every, n: 1, from: index[i]}
				for i += every; i < len(index); i += every {
					step := index[i] - index[i-every]
					if r.n == 1 && step >= 0 {
						r.step = step
					} else if step != r.step || step < 0 {
						break
					}
					r.n++
				}
				list = append(list, r)
			}
		}
		if best == nil || len(list) < len(best) {
			best = list
		}
	}
	return best
}

// lowerDensify is DENSIFY with a constant tree: zeros, and the values copied to their places, those
// evenly spaced at once.
func lowerDensify(l *lower.Lowering, _ *nn.Operation, d opspec.Densify) {
	o := l.Tensor(d.Output)
	in := l.Tensor(d.Values)
	lists := map[uint32][]int32{}
	for _, level := range d.Levels {
		for _, x := range []uint32{level.Segments, level.Indices} {
			if x == opspec.None {
				continue
			}
			data, err := l.View().Data(x)
			constantTree.Refuse(err != nil, "operand %d is none", x)
			lists[x] = integers(data)
		}
	}
	place := make([]int, in.Elements())
	owner := map[int]int{} // of a place, the last value
	try.E(d.Walk(func(x uint32) []int32 { return lists[x] }, len(place), func(value, at int) {
		place[value], owner[at] = at, value
	}))
	distinctIndices.Refuse(len(owner) != len(place), "%d places for %d values", len(owner), len(place))
	from := allBytes(l, d.Values)
	to := l.Out(d.Output, 1, 1, int(o.Bytes()))
	size := lower.ElementBytes(o.Type)
	zero := binary.LittleEndian.AppendUint32(nil, uint32(o.ZeroPoint))[:size]
	fillMap(l, to, int(o.Bytes()), zero)
	list := runs(place)
	maxRuns.Refuse(len(list) > maxMoves, "%d of values", len(list))
	for _, r := range list {
		a, b := from, to
		a.Addr += r.at * size
		b.Addr += r.from * size
		copyAxes(l, a, b, []axis{{size, 1, 1}, {r.n, r.every * size, r.step * size}})
	}
}

// lowerChoose is SELECT: b + condition * (a - b), with condition 0 or 1, in 32 bits.
func lowerChoose(l *lower.Lowering, op *nn.Operation, s opspec.Select) {
	o := l.Quantized(s.Output)
	h, w, ch := factor(int(o.Bytes()))
	factors.Refuse(h == 0, "%d elements", o.Bytes())
	a := rescaled(l, s.A, o)
	b := rescaled(l, s.B, o)
	condition := truth(l, s.Condition, a.Signed)
	truth := shaped(condition, h, w, ch)
	lo, hi := layout.Limits(truth.Signed)
	out := l.Out(s.Output, h, w, ch)
	c := chain{l: l}
	difference, sum := wideMap(l, h, w, ch), wideMap(l, h, w, ch)
	c.op(ethosu.EltSub, shaped(a, h, w, ch), shaped(b, h, w, ch), difference, plain)
	c.widen(truth, sum)
	c.op(ethosu.EltMul, difference, sum, difference, plain)
	c.widen(shaped(b, h, w, ch), sum)
	c.op(ethosu.EltAdd, difference, sum, sum, plain)
	c.narrow(sum, out, lo, hi)
}

// truth is a TENSOR_BOOL8 with 1 for each byte but 0.
func truth(l *lower.Lowering, x uint32, signed bool) (to layout.Ref) {
	from := allBytes(l, x)
	var one [256]byte
	for i := 1; i < len(one); i++ {
		one[i] = 1
	}
	to = narrowMap(l, 1, 1, from.C, signed)
	lo, hi := layout.Limits(signed)
	moveAll(l, from, to, from.C, &one, lo, hi)
	return to
}

// logical is LOGICAL_AND, the lesser of truths, or LOGICAL_OR, the greater.
func logical(mode int) lowering {
	legal.Given("mode", mode)
	return read(func(l *lower.Lowering, _ *nn.Operation, e opspec.Elementwise) {
		lesserOrGreater(l, &e, truth(l, e.A, false), truth(l, e.B, false), mode)
	})
}

// lowerNot is LOGICAL_NOT.
func lowerNot(l *lower.Lowering, _ *nn.Operation, u opspec.Unary) {
	from := allBytes(l, u.Input)
	to := l.Out(u.Output, 1, 1, from.C)
	moveAll(l, from, to, from.C, &[256]byte{1}, 0, 1)
}

// rescaled is an 8-bit operand in the quantization of another, as MAXIMUM, MINIMUM and
// SELECT bring their inputs to it.
func rescaled(l *lower.Lowering, x uint32, like *nn.Operand) layout.Ref {
	o := l.Quantized(x)
	from := allBytes(l, x)
	if o.Scale == like.Scale && o.ZeroPoint == like.ZeroPoint && o.Type == like.Type {
		return from
	}
	n := int(o.Bytes())
	to := narrowMap(l, 1, 1, n, lower.Signed(like.Type))
	lo, hi := layout.Limits(to.Signed)
	moveAll(l, from, to, n, quantized.RescaleTable(o, like), lo, hi)
	return to
}
