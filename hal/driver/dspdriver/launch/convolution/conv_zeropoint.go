package convolution

import (
	"math"
	"math/bits"
	"sort"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

const (
	// maxStripWindowSums bounds the sums of a strip, unless one block has more.
	maxStripWindowSums = 512
	// maxStripBytes bounds its inputs in the same way: those of two strips of each
	// thread should stay in L2.
	maxStripBytes = 16 << 10
	// maxWindowSumOverread bounds how far behind its last position a chunk reads.
	maxWindowSumOverread = layout.EndGuard / 2
	// windowSumGap is the largest gap, in positions, between two runs that are computed as one.
	windowSumGap = 16
	// windowSumLead is the space before a strip's sums, for a chunk that begins sooner.
	windowSumLead = conv.MaxChunk
)

// windowSumRun are positions without a gap, of which at words come before in the strip.
type windowSumRun struct{ first, end, at int }

// windowSumRuns are the positions whose sums a strip needs, in order.
type windowSumRuns []windowSumRun

// add adds the positions [first, end), none of which precedes the last run.
func (s *windowSumRuns) add(first, end int) {
	at := 0
	if n := len(*s); n > 0 {
		last := &(*s)[n-1]
		if first <= last.end+windowSumGap {
			last.end = max(last.end, end)
			return
		}
		at = s.words()
	}
	*s = append(*s, windowSumRun{first, end, at})
}

func (s windowSumRuns) words() int {
	last := s[len(s)-1]
	return last.at + last.end - last.first
}

// word is the index of the sum of a position.
func (s windowSumRuns) word(position int) int {
	i := sort.Search(len(s), func(i int) bool { return s[i].first > position }) - 1
	return windowSumLead + s[i].at + position - s[i].first
}

// span is the distance from the first position to the last one's end.
func (s windowSumRuns) span() int { return s[len(s)-1].end - s[0].first }

// strip are consecutive blocks.
type strip struct {
	from, to int
	runs     windowSumRuns
}

// strips divides the blocks of a convolution and lists the inputs that their window sums need.
type strips struct {
	g       *Convolution
	c       *conv.GEMM
	entries []uint32 // the block table
	list    []strip
}

// columns is how far the window reaches to the right.
func (g *Convolution) columns() int { return (g.KW - 1) * g.DilationW }

// WindowSumBytes bounds the memory that a thread needs for the sums of a strip.
func (g *Convolution) WindowSumBytes() int {
	block := maxConvPositions*(layout.VectorBytes+g.columns()) + 2*maxNear
	return layout.RoundUp(4*(windowSumLead+max(maxStripWindowSums, block)+layout.VectorBytes), layout.VectorBytes)
}

// position is the number of the position at an address.
func (p *strips) position(addr uint32) int { return int(addr-p.g.In.Addr) / p.g.In.Pitch }

// addBlock adds what block b needs. Chunks begin on whole vectors.
func (p *strips) addBlock(s *windowSumRuns, b int) {
	c, g := p.c, p.g
	whole := g.In.PerVec()
	reach := g.columns() + 1
	if c.InStep > 0 {
		reach += (c.PerAddress - 1) * g.StrideW
	}
	for _, in := range p.entries[b*c.EntryWords():][:c.Inputs()] {
		at := p.position(in)
		s.add(at-at%whole, at+reach)
	}
}

// runs is what the blocks [from, to) need.
func (p *strips) runs(from, to int) windowSumRuns {
	var s windowSumRuns
	for b := from; b < to; b++ {
		p.addBlock(&s, b)
	}
	return s
}

// newStrips cuts the blocks into strips and enters into the block table where
// each position finds its sum.
func newStrips(g *Convolution, c *conv.GEMM, entries []uint32) *strips {
	p := &strips{g: g, c: c, entries: entries}
	var s windowSumRuns
	from, n := 0, len(entries)/c.EntryWords()
	end := func(to int) {
		p.list = append(p.list, strip{from, to, s})
		from = to
	}
	for b := range n {
		old, last := len(s), windowSumRun{}
		if old > 0 {
			last = s[old-1]
		}
		p.addBlock(&s, b)
		if b > from && (s.words() > maxStripWindowSums || s.span()*g.In.Pitch > maxStripBytes) {
			s = s[:old]
			s[old-1] = last
			end(b)
			s = nil
			p.addBlock(&s, b)
		}
	}
	end(n)
	if c.ZeroPoint {
		for _, t := range p.list {
			for b := t.from; b < t.to; b++ {
				e := entries[b*c.EntryWords():]
				for i := range c.Inputs() {
					e[c.Inputs()+i] = uint32(4 * t.runs.word(p.position(e[i])))
				}
			}
		}
	}
	return p
}

// each calls fn for the parts of strips that lie in the blocks [from, to).
func (p *strips) each(from, to int, fn func(whole *strip, part strip)) {
	for i := range p.list {
		if t := &p.list[i]; t.from < to && from < t.to {
			a, b := max(from, t.from), min(to, t.to)
			fn(t, strip{a, b, p.runs(a, b)})
		}
	}
}

// chunks divides run i of a part into chunks of n positions: how many whole ones,
// and where one more begins, -1 if there is none. It ends with the run, unless that
// is shorter. Then it begins with the run, but for the first one of a part at the end
// of the tensor, or of the present rows: loads past those are slow.
func (p *strips) chunks(runs windowSumRuns, i, n int) (full, rest int) {
	r := runs[i]
	end := layout.RoundUp(r.end, p.g.In.PerVec())
	if full = (end - r.first) / n; r.first+full*n == end {
		return full, -1
	}
	last := p.list[len(p.list)-1].runs
	if rest = end - n; rest >= r.first || i == 0 && rest >= 0 && r.first+n > last[len(last)-1].end {
		return full, rest
	}
	return full, r.first
}

// kernel chooses the zero-point kernel when the threads share the blocks as given.
func (p *strips) kernel(shares [][2]int) conv.ZeroPoint {
	g := p.g
	channels, pitch := g.Filter.C, g.In.Pitch
	k := conv.ZeroPoint{Pitch: pitch, Vectors: layout.CeilDiv(channels, layout.VectorBytes), Rows: g.KH, Taps: g.KW, Dilation: g.DilationW}
	// Where a position is a word, all words are masked alike.
	k.Masked = pitch > 4 && channels%min(pitch, layout.VectorBytes) != 0
	var parts []windowSumRuns
	for _, s := range shares {
		p.each(s[0], s[1], func(_ *strip, part strip) { parts = append(parts, part.runs) })
	}
	end := g.In.Bytes() / pitch
	const (
		miss  = 130 // latency of a line from DRAM in packets
		fetch = 2   // and an instruction of a kernel that is used more than once
	)
	best, cost := 0, math.MaxInt
	for n := conv.MaxChunk; n >= max(1, layout.VectorBytes/pitch); n /= 2 {
		if k.Positions = n; n > 1 && n*k.LeafBytes() > maxWindowSumOverread || (n > 32 || !k.Flat()) && k.Leaves() > conv.MaxLeaves {
			continue
		}
		leaves := k.Leaves()
		chunk := leaves*(k.Rows*k.Vectors+1) + 6*max(0, k.Levels()-bits.Len(uint(leaves))+1) + 10
		sum := 0
		for _, runs := range parts {
			for i := range runs {
				full, rest := p.chunks(runs, i, n)
				sum += full * chunk
				if rest >= 0 {
					sum += chunk + max(0, rest+n-end)*k.Vectors*miss
				}
			}
		}
		if sum = sum/len(shares) + k.Code()*fetch; sum < cost {
			best, cost = n, sum
		}
	}
	k.Positions = best
	return k
}

// ZeroPointArgs returns the arguments of the zero-point correction, except for the scratch of
// each thread.
func (g *Convolution) zeroPointArgs(l *step.Launcher, c *conv.GEMM) (w [conv.ZeroPointArgs]uint32) {
	k, zero := &c.Correction, g.Filter.Zero
	if c.Window {
		zero = max(signedZero(g), -signedZero(g))
	}
	w[conv.ZeroPointBytes], w[conv.ZeroPointOnes], w[conv.ZeroPointRowStep] = uint32(zero)*hvx.Ones, hvx.Ones, uint32(g.DilationH*g.In.RowBytes())
	if c := g.Filter.C; k.Pitch == 4 {
		w[conv.ZeroPointOnes] &= 1<<(8*c) - 1
	}
	if k.Masked {
		mask := make([]byte, layout.VectorBytes)
		for i := range mask {
			if i%min(k.Pitch, layout.VectorBytes) < (g.Filter.C-1)%layout.VectorBytes+1 {
				mask[i] = 1
			}
		}
		w[conv.ZeroPointMask] = l.Constant(mask)
	}
	return w
}

// prefetch is the range of memory, and the box of lines for it, that the first strip
// of the blocks [from, to) reads.
func (p *strips) prefetch(from, to int) (at, box uint32) {
	for i := range p.list {
		if t := &p.list[i]; from < t.to {
			runs, g := p.runs(from, min(to, t.to)), p.g
			bytes := runs.span()*g.In.Pitch + (g.KH-1)*g.DilationH*g.In.RowBytes()
			return g.In.Addr + uint32(runs[0].first*g.In.Pitch), step.Box(min(uint32(bytes)+layout.VectorBytes, step.PrefetchLimit))
		}
	}
	return 0, 0
}

// table makes the strips of a thread that works on the blocks [from, to): their
// address and number.
func (p *strips) table(l *step.Launcher, from, to int) (uint32, int) {
	var list, runs []uint32
	p.each(from, to, func(whole *strip, part strip) {
		w := [conv.StripWords]uint32{conv.StripBlocks: uint32(part.to - part.from), conv.StripRuns: uint32(4 * len(runs)), conv.StripStride: layout.VectorBytes}
		if p.c.ZeroPoint {
			for i, r := range part.runs {
				add := func(first, chunks int) {
					at := whole.runs.word(r.first) + first - r.first
					runs = append(runs, p.g.In.Addr+uint32(first*p.g.In.Pitch), uint32(4*at), uint32(chunks))
					w[conv.StripRunCount]++
				}
				full, rest := p.chunks(part.runs, i, p.c.Correction.Positions)
				if full > 0 {
					add(r.first, full)
				}
				if rest >= 0 {
					add(rest, 1)
				}
			}
			first := whole.runs.word(part.runs[0].first) / 32
			last := whole.runs.word(part.runs[len(part.runs)-1].end-1) - p.g.columns()
			w[conv.StripAcross], w[conv.StripVectors] = uint32(first*layout.VectorBytes), uint32(layout.CeilDiv(last/32-first+1, conv.AcrossVectors))
		}
		if part.to < to {
			w[conv.StripPrefetch], w[conv.StripBox] = p.prefetch(part.to, to)
		}
		list = append(list, w[:]...)
	})
	at := l.Words(runs)
	for i := conv.StripRuns; i < len(list); i += conv.StripWords {
		list[i] += at
	}
	return l.Words(list), len(list) / conv.StripWords
}
