package family

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch/convolution"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// weights are the filter of a convolution and its biases. Weight (k, y, x, c) is
// at from + k*channel + y*row + x*tap + c; distances may be negative.
type weights struct {
	data, biasData             []byte         // when both are known
	runtimeFilter, runtimeBias *layout.Tensor // flat, when one is not
	flip                       byte           // 0x80 when data is signed
	zero                       int32          // zero point of the unsigned values
	k, kh, kw, c               int
	from, channel, row, tap    int
	first                      int // channel of the biases and multipliers that k = 0 has
}

// newWeights are a filter [k, kh, kw, c] and its biases.
func newWeights(l *lower.Lowering, filter, bias uint32, k, kh, kw, c int) (w weights) {
	w = weights{k: k, kh: kh, kw: kw, c: c, channel: kh * kw * c, row: kw * c, tap: c}
	o := &l.Graph.Operands[filter]
	w.zero = o.ZeroPoint
	if o.Type != nn.TensorQuant8Asymm {
		w.zero += 128
	}
	n := kh * kw * c
	maxFilter.Refuse(n > layout.MaxDepth, "%d", n)
	if l.Packable(filter, bias) {
		if o.Type != nn.TensorQuant8Asymm {
			w.flip = 0x80
		}
		w.data = try.V(l.View().Data(filter))
		w.biasData = try.V(l.View().Data(bias))
		return w
	}
	w.runtimeFilter = l.Flat(filter)
	w.runtimeBias = l.Flat(bias)
	return w
}

// at is the place of a weight.
func (w *weights) at(k, y, x, c int) int { return w.from + k*w.channel + y*w.row + x*w.tap + c }

// filter is the known weights in the order that packing expects.
func (w *weights) filter() filter.Filter {
	f := filter.Filter{Data: w.data, Flip: w.flip, Zero: w.zero, K: w.k, KH: w.kh, KW: w.kw, C: w.c}
	if w.data == nil || w.from == 0 && w.tap == w.c && w.row == w.kw*w.c && w.channel == w.kh*w.row {
		return f
	}
	f.Data = make([]byte, 0, w.k*w.kh*w.kw*w.c)
	for k := range w.k {
		for y := range w.kh {
			for x := range w.kw {
				at := w.at(k, y, x, 0)
				f.Data = append(f.Data, w.data[at:at+w.c]...)
			}
		}
	}
	return f
}

// blocks are the weights of groups, [K, KH, KW, inputs of a group], or of a depthwise
// filter, [KH, KW, K], as slices of m groups each: between them lie zero points.
func blocks(l *lower.Lowering, w *weights, groups, m int, depthwise bool) {
	k, taps := w.k/groups, w.kh*w.kw
	per := w.c / groups
	c := m * per
	// From memory to the place within a slice, all slices one behind the other.
	list := []launch.Dim{
		{N: groups / m, Src: m * k * taps * per, Dst: m * k * taps * c}, {N: m, Src: k * taps * per, Dst: k*taps*c + per},
		{N: k, Src: taps * per, Dst: taps * c}, {N: taps, Src: per, Dst: c}, {N: per, Src: 1, Dst: 1},
	}
	if depthwise {
		list[0].Src, list[1].Src, list[2].Src, list[3].Src = m*k, k, 1, w.k
	}
	n := w.k * taps * c
	maxPacked.Refuse(n > layout.MaxConst, "%d of slices", n)
	w.c, w.tap, w.row, w.channel = c, c, w.kw*c, taps*c
	if w.runtimeFilter == nil {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(w.zero) ^ w.flip
		}
		// Not simplified, so that every piece is per bytes long at least.
		move := launch.Move{Dims: list}
		move.Each(0, 0, func(to, from uint32) { data[to] = w.data[from] })
		w.data = data
		return
	}
	out := l.NewFlat("weights of slices", n, 1)
	l.FillFlat(out, uint32(w.zero)*hvx.Ones)
	from := w.runtimeFilter
	w.runtimeFilter = out
	l.MoveFlat("slices", out, from, 1, list, 0, 0)
}

// slice is the weights of n channels from first on.
func (w *weights) slice(first, n int) weights {
	s := *w
	s.from, s.first, s.k = w.from+first*w.channel, w.first+first, n
	return s
}

// convPart is a convolution between tensors.
type convPart struct {
	opspec.Window
	in, out *layout.Tensor
	narrow  int // pitch that out had better have, 0 for none
	weights weights
	// Runtime weights of parts that follow each other are packed with the first one's:
	// how many parts they are, and of the others which one this is.
	parts, index int
	packed       *packedWeights
}

// convolve lowers a part of a convolution with the given requantization of all channels.
func convolve(l *lower.Lowering, p *convPart, q quantized.GEMM, output uint32) {
	w := &p.weights
	if len(q.Mult) > 1 {
		q.Mult = q.Mult[w.first:][:w.k]
	}
	g := convolution.Convolution{Window: p.Window, In: p.in, Out: p.out, Conv: filter.Conv{Filter: w.filter(), InZero: int32(p.in.Zero),
		Rq: hvx.NewRequant(q.Mult, q.OutZero, q.Lo, q.Hi, lower.UnsignedBias(l.Graph.Operands[output].Type))}}
	if w.runtimeFilter == nil {
		g.Bias = w.biasData[4*w.first:][:4*w.k]
		g.Rq.UseHalfword(g.MaxSum())
	}
	try.E(p.in.NeedHalo(&p.Window))
	if w.runtimeFilter != nil {
		if p.packed == nil {
			p.packed = packRuntimeWeights(l, &g, w, max(p.parts, 1))
		}
		g.RuntimeWeights, g.RuntimeWeightsAt = p.packed.records, uint32(p.index*p.packed.size)
	}
	if p.narrow > 0 {
		n, out := g, *g.Out
		out.Pitch, n.Out = p.narrow, &out
		n.Rq.UseByteFactor(n.MaxSum())
		if d, ok := convolution.SpatialKernelOf(l.Object, &n); ok {
			if d, ok = convolution.ChooseSpatial(l.Object, d); ok {
				g.Out.Pitch, g.Rq, g.Spatial = p.narrow, n.Rq, &d
			}
		}
	}
	product(l, &g)
}

// noWeights are zeros in place of a filter, for outputs that no input reaches.
func noWeights(l *lower.Lowering, w *weights) weights {
	z := *w
	z.from, z.kh, z.kw, z.channel, z.row, z.tap = 0, 1, 1, w.c, w.c, w.c
	if w.runtimeFilter != nil {
		z.runtimeFilter = l.NewFlat("no weights", w.k*w.c, 1)
		l.FillFlat(z.runtimeFilter, uint32(w.zero)*hvx.Ones)
		return z
	}
	z.data = bytes.Repeat([]byte{byte(w.zero) ^ w.flip}, w.k*w.c)
	return z
}

// Runtime weights are weights that only an execution brings or the model computes. The
// program itself packs them into the records that the GEMM kernel reads: moves lay them out,
// and the fold kernel subtracts the inputs' zero point times the weights from the biases.

// laneSet is lanes of chunks and the channels that they hold: dims move from
// channel to channel and from lane to lane in bytes.
type laneSet struct {
	dims    []launch.Dim
	channel int // of the first lane
	at      int // first lane, in bytes of the records
	groups  int // of each chunk
}

// channelLanes lists the lanes of k channels, as PackChunks orders them.
func channelLanes(c *conv.GEMM, full, k int) (list []laneSet) {
	whole := min(full, k/128)
	word := 4
	if whole > 0 { // j = 2a + b holds the channels 4i + a + 2b, see LanePhase
		list = append(list, laneSet{dims: []launch.Dim{{N: whole, Src: 128, Dst: c.Record(4)}, {N: 2, Src: 1, Dst: 2 * layout.VectorBytes}, {N: 2, Src: 2, Dst: layout.VectorBytes}, {N: 32, Src: 4, Dst: word}}, groups: 4})
	}
	if whole < full { // the last chunk is not full
		for j, phase := range hvx.LanePhase {
			if n := layout.CeilDiv(k-whole*128-phase, 4); n > 0 {
				list = append(list, laneSet{[]launch.Dim{{N: n, Src: 4, Dst: word}}, whole*128 + phase, whole*c.Record(4) + j*layout.VectorBytes, 4})
			}
		}
		return list
	}
	rest := k - full*128
	if n := rest / 32; n > 0 {
		list = append(list, laneSet{[]launch.Dim{{N: n, Src: 32, Dst: layout.VectorBytes}, {N: 32, Src: 1, Dst: word}}, full * 128, full * c.Record(4), c.Tail})
	}
	if n := rest % 32; n > 0 {
		list = append(list, laneSet{[]launch.Dim{{N: n, Src: 1, Dst: word}}, full*128 + rest - n, full*c.Record(4) + rest/32*layout.VectorBytes, c.Tail})
	}
	return list
}

// with are the dimensions of a set, whose channels are step bytes apart, and others.
func (s *laneSet) with(step int, more ...launch.Dim) []launch.Dim {
	list := slices.Clone(s.dims)
	for i := range list {
		list[i].Src *= step
	}
	return append(list, more...)
}

// packedWeights are the records of convolutions whose weights follow each other.
type packedWeights struct {
	records *layout.Tensor
	size    int // bytes of one
}

// packRuntimeWeights emits the steps that pack the records of g and of the n-1 convolutions
// behind it.
func packRuntimeWeights(l *lower.Lowering, g *convolution.Convolution, w *weights, n int) *packedWeights {
	p := convolution.PlanGEMM(l.Object, g)
	c := &p.C
	convolution.ShapeBlock(c, g.Out.Shape.Positions())
	size := p.Full * c.Record(4)
	if c.Tail > 0 {
		size += c.Record(c.Tail)
	}
	maxPacked.Refuse(int64(size)*int64(n) > layout.MaxConst, "%d", int64(size)*int64(n))
	rec := l.NewFlat("packed weights", size*n, 1)
	words, rest := w.c/4, w.c%4
	if rest > 0 || g.Filter.K != 128*p.Full+32*c.Tail || c.Words*c.Runs != w.kh*w.kw*words {
		l.FillFlat(rec, 0)
	}
	// In vectors of a group: rows, taps and words of a tap.
	row, tap := w.kw*c.Words, c.Words
	if p.PerRun > 1 {
		row, tap = c.Words, g.In.Pitch/4
	}
	factors := factors(l, g, c.Rq)
	for _, s := range channelLanes(c, p.Full, w.k) {
		step := s.groups * layout.VectorBytes
		at := s.at + c.Header(s.groups)*layout.VectorBytes
		from := w.at(s.channel, 0, 0, 0)
		taps := []launch.Dim{{N: n, Src: w.k * w.channel, Dst: size}, {N: w.kh, Src: w.row, Dst: row * step}, {N: w.kw, Src: w.tap, Dst: tap * step}}
		if words > 0 {
			dims := s.with(w.channel, append(taps, launch.Dim{N: words, Src: 4, Dst: step})...)
			l.MoveFlat("pack", rec, w.runtimeFilter, 4, dims, at, from)
		}
		if rest > 0 {
			dims := append(s.with(w.channel, taps...), launch.Dim{N: rest, Src: 1, Dst: 1})
			l.MoveFlat("pack", rec, w.runtimeFilter, 1, dims, at+words*step, from+4*words)
		}
		biases := s.with(4, launch.Dim{N: n, Src: 4 * w.k, Dst: size})
		l.MoveFlat("pack biases", rec, w.runtimeBias, 4, biases, s.at, 4*(w.first+s.channel))
		if factors != nil {
			dims := s.with(4, launch.Dim{N: c.Rq.Vectors(), Src: 4 * w.k, Dst: step})
			l.MoveFlat("pack multipliers", rec, factors, 4, dims, s.at+step, 4*s.channel)
		}
	}
	packed := &packedWeights{rec, size}
	foldInputZeroPoint(l, g, &p, packed)
	return packed
}

// factors are the multipliers per channel in memory, kind by kind; nil when there
// is one for all.
func factors(l *lower.Lowering, g *convolution.Convolution, kind hvx.RequantKind) *layout.Tensor {
	n := kind.Vectors()
	if n == 0 {
		return nil
	}
	var data []byte
	for v := range n {
		for ch := range g.Filter.K {
			data = binary.LittleEndian.AppendUint32(data, g.Rq.ChannelWords(ch)[v])
		}
	}
	t := l.NewFlat("multipliers", n*g.Filter.K, 4)
	t.Unplaced = true
	t.Addr = l.Constant(data)
	return t
}

// foldInputZeroPoint emits the subtraction of the products with the inputs' zero point from
// the biases.
func foldInputZeroPoint(l *lower.Lowering, g *convolution.Convolution, p *convolution.GEMMPlan, packed *packedWeights) {
	f, rec := &g.Filter, packed.records
	l.Add("fold biases", []*layout.Tensor{rec}, []*layout.Tensor{rec}, convolution.FoldBiases{Plan: p, Rec: rec, Size: packed.size, Conv: g, Filter: f})
}
