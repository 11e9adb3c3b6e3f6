package lower

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
)

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
func (l *Lowering) packRuntimeWeights(g *launch.Convolution, w *weights, n int) (*packedWeights, error) {
	p := launch.PlanGEMM(l.Object, g)
	c := &p.C
	launch.ShapeBlock(l.Object, c, g.Out.Shape.Positions())
	size := p.Full * c.Record(4)
	if c.Tail > 0 {
		size += c.Record(c.Tail)
	}
	if int64(size)*int64(n) > layout.MaxConst {
		return nil, fmt.Errorf("%d bytes of packed weights, at most %d", int64(size)*int64(n), layout.MaxConst)
	}
	rec := l.NewFlat("packed weights", size*n, 1)
	words, rest := w.c/4, w.c%4
	if rest > 0 || g.Filter.K != 128*p.Full+32*c.Tail || c.Words*c.Runs != w.kh*w.kw*words {
		l.fillFlat(rec, 0)
	}
	// In vectors of a group: rows, taps and words of a tap.
	row, tap := w.kw*c.Words, c.Words
	if p.PerRun > 1 {
		row, tap = c.Words, g.In.Pitch/4
	}
	factors := l.factors(g, c.Rq)
	for _, s := range channelLanes(c, p.Full, w.k) {
		step := s.groups * layout.VectorBytes
		at := s.at + c.Header(s.groups)*layout.VectorBytes
		from := w.at(s.channel, 0, 0, 0)
		taps := []launch.Dim{{N: n, Src: w.k * w.channel, Dst: size}, {N: w.kh, Src: w.row, Dst: row * step}, {N: w.kw, Src: w.tap, Dst: tap * step}}
		if words > 0 {
			dims := s.with(w.channel, append(taps, launch.Dim{N: words, Src: 4, Dst: step})...)
			if err := l.moveFlat("pack", rec, w.runtimeFilter, 4, dims, at, from); err != nil {
				return nil, err
			}
		}
		if rest > 0 {
			dims := append(s.with(w.channel, taps...), launch.Dim{N: rest, Src: 1, Dst: 1})
			if err := l.moveFlat("pack", rec, w.runtimeFilter, 1, dims, at+words*step, from+4*words); err != nil {
				return nil, err
			}
		}
		biases := s.with(4, launch.Dim{N: n, Src: 4 * w.k, Dst: size})
		if err := l.moveFlat("pack biases", rec, w.runtimeBias, 4, biases, s.at, 4*(w.first+s.channel)); err != nil {
			return nil, err
		}
		if factors != nil {
			dims := s.with(4, launch.Dim{N: c.Rq.Vectors(), Src: 4 * w.k, Dst: step})
			if err := l.moveFlat("pack multipliers", rec, factors, 4, dims, s.at+step, 4*s.channel); err != nil {
				return nil, err
			}
		}
	}
	packed := &packedWeights{rec, size}
	l.foldInputZeroPoint(g, &p, packed)
	return packed, nil
}

// factors are the multipliers per channel in memory, kind by kind; nil when there
// is one for all.
func (l *Lowering) factors(g *launch.Convolution, kind hvx.RequantKind) *layout.Tensor {
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
func (l *Lowering) foldInputZeroPoint(g *launch.Convolution, p *launch.GEMMPlan, packed *packedWeights) {
	f, rec := &g.Filter, packed.records
	l.Add("fold biases", []*layout.Tensor{rec}, []*layout.Tensor{rec}, launch.FoldBiases{Plan: p, Rec: rec, Size: packed.size, Conv: g, Filter: f})
}
