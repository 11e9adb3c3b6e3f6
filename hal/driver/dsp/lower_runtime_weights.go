package dsp

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// Runtime weights are weights that only an execution brings or the model computes. The
// program itself packs them into the records that the GEMM kernel reads: moves lay them out,
// and the fold kernel subtracts the inputs' zero point times the weights from the biases.

// laneSet is lanes of chunks and the channels that they hold: dims move from
// channel to channel and from lane to lane in bytes.
type laneSet struct {
	dims    []moveDim
	channel int // of the first lane
	at      int // first lane, in bytes of the records
	groups  int // of each chunk
}

// channelLanes lists the lanes of k channels, as PackChunks orders them.
func channelLanes(c *conv.GEMM, full, k int) (list []laneSet) {
	whole := min(full, k/128)
	word := 4
	if whole > 0 { // j = 2a + b holds the channels 4i + a + 2b, see LanePhase
		list = append(list, laneSet{dims: []moveDim{{whole, 128, c.Record(4)}, {2, 1, 2 * vecBytes}, {2, 2, vecBytes}, {32, 4, word}}, groups: 4})
	}
	if whole < full { // the last chunk is not full
		for j, phase := range hvx.LanePhase {
			if n := ceilDiv(k-whole*128-phase, 4); n > 0 {
				list = append(list, laneSet{[]moveDim{{n, 4, word}}, whole*128 + phase, whole*c.Record(4) + j*vecBytes, 4})
			}
		}
		return list
	}
	rest := k - full*128
	if n := rest / 32; n > 0 {
		list = append(list, laneSet{[]moveDim{{n, 32, vecBytes}, {32, 1, word}}, full * 128, full * c.Record(4), c.Tail})
	}
	if n := rest % 32; n > 0 {
		list = append(list, laneSet{[]moveDim{{n, 1, word}}, full*128 + rest - n, full*c.Record(4) + rest/32*vecBytes, c.Tail})
	}
	return list
}

// with are the dimensions of a set, whose channels are step bytes apart, and others.
func (s *laneSet) with(step int, more ...moveDim) []moveDim {
	list := slices.Clone(s.dims)
	for i := range list {
		list[i].src *= step
	}
	return append(list, more...)
}

// packedWeights are the records of convolutions whose weights follow each other.
type packedWeights struct {
	records *tensor
	size    int // bytes of one
}

// packRuntimeWeights emits the steps that pack the records of g and of the n-1 convolutions
// behind it.
func (l *lowering) packRuntimeWeights(g *gemm, w *weights, n int) (*packedWeights, error) {
	p := l.planGemm(g)
	c := &p.c
	l.shapeBlock(c, g.out.shape.positions())
	size := p.full * c.Record(4)
	if c.Tail > 0 {
		size += c.Record(c.Tail)
	}
	if int64(size)*int64(n) > maxConst {
		return nil, fmt.Errorf("%d bytes of packed weights, at most %d", int64(size)*int64(n), maxConst)
	}
	rec := l.newFlat("packed weights", size*n, 1)
	words, rest := w.c/4, w.c%4
	if rest > 0 || g.Filter.K != 128*p.full+32*c.Tail || c.Words*c.Runs != w.kh*w.kw*words {
		l.fillFlat(rec, 0)
	}
	// In vectors of a group: rows, taps and words of a tap.
	row, tap := w.kw*c.Words, c.Words
	if p.perRun > 1 {
		row, tap = c.Words, g.in.pitch/4
	}
	factors := l.factors(g, c.Rq)
	for _, s := range channelLanes(c, p.full, w.k) {
		step := s.groups * vecBytes
		at := s.at + c.Header(s.groups)*vecBytes
		from := w.at(s.channel, 0, 0, 0)
		taps := []moveDim{{n, w.k * w.channel, size}, {w.kh, w.row, row * step}, {w.kw, w.tap, tap * step}}
		if words > 0 {
			dims := s.with(w.channel, append(taps, moveDim{words, 4, step})...)
			if err := l.moveFlat("pack", rec, w.runtimeFilter, 4, dims, at, from); err != nil {
				return nil, err
			}
		}
		if rest > 0 {
			dims := append(s.with(w.channel, taps...), moveDim{rest, 1, 1})
			if err := l.moveFlat("pack", rec, w.runtimeFilter, 1, dims, at+words*step, from+4*words); err != nil {
				return nil, err
			}
		}
		biases := s.with(4, moveDim{n, 4 * w.k, size})
		if err := l.moveFlat("pack biases", rec, w.runtimeBias, 4, biases, s.at, 4*(w.first+s.channel)); err != nil {
			return nil, err
		}
		if factors != nil {
			dims := s.with(4, moveDim{c.Rq.Vectors(), 4 * w.k, step})
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
func (l *lowering) factors(g *gemm, kind hvx.RequantKind) *tensor {
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
	t := l.newFlat("multipliers", n*g.Filter.K, 4)
	t.unplaced = true
	t.addr = l.constant(data)
	return t
}

// foldInputZeroPoint emits the subtraction of the products with the inputs' zero point from
// the biases.
func (l *lowering) foldInputZeroPoint(g *gemm, p *convPlan, packed *packedWeights) {
	f, rec := &g.Filter, packed.records
	l.addStep("fold biases", []*tensor{rec}, []*tensor{rec}, foldBiasesWork{p, rec, packed, g, f})
}

// foldBiasesWork subtracts the products of runtime weights with the inputs' zero point from the biases.
type foldBiasesWork struct {
	p      *convPlan
	rec    *tensor
	packed *packedWeights
	g      *gemm
	f      *filter.Filter
}

func (w foldBiasesWork) Launch(l *launcher, _ rowRange) error {
	c := &w.p.c
	var table []uint32
	chunk := func(at, n int) {
		for j := range n {
			bias := w.rec.addr + uint32(at+j*vecBytes)
			table = append(table, bias, bias+uint32(c.Header(n)*vecBytes), uint32(c.Words*c.Runs), uint32(n*vecBytes))
		}
	}
	for at := 0; at < w.rec.bytes(); at += w.packed.size {
		for i := range w.p.full {
			chunk(at+i*c.Record(4), 4)
		}
		if c.Tail > 0 {
			chunk(at+w.p.full*c.Record(4), c.Tail)
		}
	}
	kern, err := l.linked(conv.FoldZeroPoint{})
	if err != nil {
		return err
	}
	zeros := w.g.InZero*int32(w.f.KH*w.f.KW*w.f.C)*w.f.Zero - w.g.Rq.Centre()
	l.launchTable(kern, table, conv.FoldWords, uint32(w.g.InZero)*ones, uint32(zeros))
	return nil
}
