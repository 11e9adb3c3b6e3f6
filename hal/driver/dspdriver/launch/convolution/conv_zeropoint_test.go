package convolution

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/conv"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

func pick[T any](r *rand.Rand, l ...T) T { return l[r.IntN(len(l))] }

// describe names a convolution in test output.
func (g *Convolution) describe() string {
	return fmt.Sprintf("%v to %d channels, %+v", g.In.Shape, g.Filter.K, g.Window)
}

// drawConvolution draws a convolution by a filter that has a zero point.
func drawConvolution(r *rand.Rand) *Convolution {
	for {
		c := pick(r, 1, 2, 3, 4, 5, 7, 8, 13, 16, 24, 32, 40, 64, 96, 127, 128, 129, 144, 256, 300, 1024, 1+r.IntN(2000))
		k := pick(r, 1, 8, 24, 32, 33, 64, 100, 130)
		w := opspec.Window{H: 1 + r.IntN(pick(r, 4, 20)), W: 1 + r.IntN(pick(r, 6, 40, 300)), KH: 1, KW: 1,
			StrideH: 1 + r.IntN(3)*r.IntN(2), StrideW: 1 + r.IntN(4)*r.IntN(2), DilationH: 1, DilationW: 1}
		if r.IntN(2) == 0 {
			w.KH, w.KW = 1+r.IntN(pick(r, 3, 7)), 1+r.IntN(pick(r, 3, 12))
			w.DilationH, w.DilationW = 1+r.IntN(2)*r.IntN(3), 1+r.IntN(2)*r.IntN(40)
			w.Left, w.Right, w.Top, w.Bottom = r.IntN(w.KW), r.IntN(w.KW), r.IntN(w.KH), r.IntN(w.KH)
		}
		high, wide := (w.KH-1)*w.DilationH+1, (w.KW-1)*w.DilationW+1
		w.OutH, w.OutW = (w.H+w.Top+w.Bottom-high)/w.StrideH+1, (w.W+w.Left+w.Right-wide)/w.StrideW+1
		if high > w.H || wide > w.W || w.H*w.W*c > 3e5 {
			continue
		}
		s, o := layout.Shape{N: 1 + r.IntN(2), H: w.H, W: w.W, C: c}, layout.Shape{H: w.OutH, W: w.OutW, C: k}
		o.N = s.N
		in := &layout.Tensor{Shape: s, Pitch: s.SmallPitch(), Addr: layout.ArenaBase}
		if in.NeedHalo(&w) != nil {
			continue
		}
		return &Convolution{Window: w, In: in, Out: &layout.Tensor{Shape: o, Pitch: o.Pitch()},
			Conv: filter.Conv{Filter: filter.Filter{K: k, KH: w.KH, KW: w.KW, C: c, Zero: 1}}}
	}
}

// TestStrips checks that a thread's memory holds the sums of every strip, that a
// strip's part finds its sums where the strip does, and that chunks cover every run
// and read little past it.
func TestStrips(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 32))
		g := drawConvolution(r)
		s, in := g.describe(), g.In
		c := &conv.GEMM{ZeroPoint: true, Unrolled: true, Pipelined: r.IntN(2) == 0, PerVector: g.Out.PerVec(), Positions: 4 + 4*r.IntN(2)}
		shareAddresses(c, g)
		entries := g.blockTable(c, 0, in.Shape.N*g.OutH)
		p := newStrips(g, c, entries)
		blocks := len(entries) / c.EntryWords()
		from := r.IntN(blocks)
		to := from + 1 + r.IntN(blocks-from)
		k := p.kernel([][2]int{{from, to}})
		for _, x := range p.list {
			if need, room := 4*(windowSumLead+x.runs.words()+conv.MaxChunk), g.WindowSumBytes(); need > room {
				t.Errorf("%d: %s: a strip needs %d bytes, there are %d", seed, s, need, room)
			}
		}
		covered := 0
		p.each(from, to, func(whole *strip, part strip) {
			covered += part.to - part.from
			last := p.list[len(p.list)-1].runs
			for i, run := range part.runs {
				full, rest := p.chunks(part.runs, i, k.Positions)
				end := run.first + full*k.Positions
				if rest >= 0 {
					early := i == 0 && run.first+k.Positions > last[len(last)-1].end && whole.runs.word(run.first)+rest-run.first >= 0
					if rest < run.first && !early || rest > end {
						t.Errorf("%d: %s: run %v: last chunk at %d", seed, s, run, rest)
					}
					end = rest + k.Positions
				}
				if behind := end - layout.RoundUp(run.end, in.PerVec()); behind < 0 || full > 0 && behind > 0 || behind*in.Pitch > maxWindowSumOverread {
					t.Errorf("%d: %s: run %v: chunks of %d end at %d", seed, s, run, k.Positions, end)
				}
				if whole.runs.word(run.end-1)-whole.runs.word(run.first) != run.end-1-run.first {
					t.Errorf("%d: %s: run %v is not together in %v", seed, s, run, whole.runs)
				}
			}
		})
		if covered != to-from {
			t.Errorf("%d: %s: %d of %d blocks", seed, s, covered, to-from)
		}
	}
}

// TestNothingToFetch: a thread without blocks fetches nothing.
func TestNothingToFetch(t *testing.T) {
	for _, p := range []*strips{{}, {list: []strip{{to: 3}}}} {
		if at, box := p.prefetch(3, 3); at != 0 || box != 0 {
			t.Errorf("%d, %d", at, box)
		}
	}
}
