package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
)

// window is a kernel of n rows with a window of so many rows, and its output.
func window(n, taps, stride, dilation, top, bottom int) *kernel.Kernel {
	k := &kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Conv, KH: taps, SY: stride, DY: dilation, Top: top}}
	k.Defaults()
	k.IFM.FeatureMap = layout.Dense(0, n, 1, 1, 1, false)
	k.OFM.FeatureMap = layout.Dense(0, (n+top+bottom-(taps-1)*dilation-1)/stride+1, 1, 1, 1, false)
	k.Bottom = max(0, (k.OFM.H-1)*stride+(taps-1)*dilation+1-top-n)
	return k
}

// TestTurns: the example of the comment.
func TestTurns(t *testing.T) {
	parts, rings := interleave([]*kernel.Kernel{window(6, 1, 1, 1, 0, 0), window(6, 3, 1, 1, 1, 1)}, 2)
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%d: %d-%d, ", p.stage, p.lo, p.hi-1)
	}
	if got := b.String(); got != "0: 0-2, 1: 0-1, 0: 3-4, 1: 2-3, 0: 5-5, 1: 4-5, " || len(rings) != 1 || rings[0] != 4 {
		t.Errorf("%s, rings %v", got, rings)
	}
}

// TestTypical: the height of most rows, not of most parts, of one stage; the first of equal ones.
func TestTypical(t *testing.T) {
	parts := []part{{1, 0, 9}, {0, 0, 3}, {0, 3, 7}, {0, 7, 11}, {0, 11, 14}, {0, 14, 15}, {0, 15, 16}, {0, 16, 17}, {0, 17, 19}}
	if got := typical(parts, 0); got != (part{0, 3, 7}) {
		t.Errorf("%+v", got)
	}
	if got := typical(parts[1:3], 0); got != (part{0, 3, 7}) {
		t.Errorf("two heights: %+v", got)
	}
	if got := typical([]part{{0, 0, 2}, {0, 2, 3}, {0, 3, 4}}, 0); got != (part{0, 0, 2}) {
		t.Errorf("as many rows: %+v", got)
	}
}

// TestTurnsAreComplete: of random chains every row of the last kernel is computed once, in order, and
// what a part reads has been computed and is still in its rolling buffer.
func TestTurnsAreComplete(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		n := 3 + r.IntN(60)
		var chain []*kernel.Kernel
		for range 2 + r.IntN(4) {
			taps, stride, dilation := 1+r.IntN(4), 1+r.IntN(3), 1+r.IntN(2)
			reach := (taps-1)*dilation + 1
			top, bottom := r.IntN(reach), r.IntN(reach)
			if n+top+bottom < reach+stride {
				continue
			}
			k := window(n, taps, stride, dilation, top, bottom)
			chain, n = append(chain, k), k.OFM.H
		}
		if len(chain) < 2 {
			continue
		}
		parts, rings := interleave(chain, 1+r.IntN(8))
		done := make([]int, len(chain))
		content := make([][]int, len(rings)) // rows that the slots of rings hold
		for i, ring := range rings {
			if ring == 0 {
				ring = chain[i].OFM.H
			}
			content[i] = make([]int, ring)
		}
		for _, p := range parts {
			if p.lo != done[p.stage] || p.hi <= p.lo {
				t.Fatalf("stage %d computes rows %d to %d behind %d", p.stage, p.lo, p.hi, done[p.stage])
			}
			done[p.stage] = p.hi
			lo, hi := inputRows(chain[p.stage], p.lo, p.hi)
			ringIn, ringOut := 0, 0
			if p.stage > 0 {
				slots := content[p.stage-1]
				for y := lo; y < hi; y++ {
					if y >= done[p.stage-1] || slots[y%len(slots)] != y {
						t.Fatalf("stage %d reads row %d, its slot holds %d of %d", p.stage, y, slots[y%len(slots)], done[p.stage-1])
					}
				}
				ringIn = rings[p.stage-1]
			}
			if p.stage < len(rings) {
				for y := p.lo; y < p.hi; y++ {
					content[p.stage][y%len(content[p.stage])] = y
				}
				ringOut = rings[p.stage]
			}
			s := stripe(chain[p.stage], p.lo, p.hi, 0, ringIn, ringOut)
			full := chain[p.stage]
			if s.IFM.H != hi-lo || s.OFM.H != p.hi-p.lo || s.Top+s.IFM.H+s.Bottom < (s.OFM.H-1)*s.SY+(s.KH-1)*s.DY+1 ||
				s.Top > full.Top || s.Bottom > full.Bottom || lo > 0 && s.Top > full.Top-p.lo*full.SY && s.Top != 0 {
				t.Fatalf("rows %d to %d of %+v: %+v", p.lo, p.hi, full.Shape, s)
			}
		}
		if last := len(chain) - 1; done[last] != chain[last].OFM.H {
			t.Fatalf("%d of %d rows", done[last], chain[last].OFM.H)
		}
	}
}
