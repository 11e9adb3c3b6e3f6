package family

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
)

// array and arm are an array of 64 rows, and machines of Arm's, which multiply 32 channels of a tap at a time or four
// taps of 8 channels.
var array, arm = npu.Spec{PackTaps: true, UBlock: npu.UBlock{IFM: 64}}, npu.Spec{UBlock: npu.UBlock{IFM: 8}}

// TestArraySteps: steps of the array, worked out by hand.
func TestArraySteps(t *testing.T) {
	for _, c := range []struct {
		s                    *npu.Spec
		channels, taps, want int
	}{
		{&array, 3, 9, 1}, {&array, 16, 4, 1}, {&array, 13, 5, 2}, {&array, 64, 9, 9}, {&array, 65, 1, 2},
		{&arm, 3, 9, 3}, {&arm, 8, 4, 1}, {&arm, 8, 5, 2}, // up to 8 channels by taps
		{&arm, 9, 1, 1}, {&arm, 9, 4, 2}, {&arm, 24, 3, 3}, {&arm, 40, 4, 5}, {&arm, 33, 3, 5}, // 5 groups of 8 for 40 channels
		{&arm, 32, 9, 9}, {&arm, 33, 1, 2}, {&arm, 64, 4, 8},
	} {
		if got := arraySteps(c.s, c.channels, c.taps); got != c.want {
			t.Errorf("%d channels, %d taps, array of taps %v: %d steps, want %d", c.channels, c.taps, c.s.PackTaps, got, c.want)
		}
	}
}

// TestFoldedWhere: a convolution is folded where a stride of at least 2 divides the columns, taps are not apart, it
// is neither depthwise nor gathered, and that saves steps.
func TestFoldedWhere(t *testing.T) {
	win := opspec.Window{H: 4, W: 8, KH: 3, KW: 3, StrideH: 2, StrideW: 2, DilationH: 1, DilationW: 1, Top: 1, Left: 1, OutH: 2, OutW: 4}
	for name, c := range map[string]struct {
		s    *npu.Spec
		c    int
		edit func(g *gemm, w *opspec.Window)
		want string // columns, channels, taps and columns of padding
	}{
		"stride 2 of 3 channels":          {&arm, 3, nil, "4 6 2 1"}, // 6 taps of 6 for 9 of 3: 2 steps for 3
		"stride 1":                        {&arm, 3, func(_ *gemm, w *opspec.Window) { w.StrideW = 1 }, ""},
		"stride 4":                        {&arm, 2, func(_ *gemm, w *opspec.Window) { w.StrideW, w.KW, w.Left, w.OutW = 4, 5, 2, 2 }, "2 8 2 1"},
		"stride 3 of 8 columns":           {&arm, 2, func(_ *gemm, w *opspec.Window) { w.StrideW = 3 }, ""},
		"taps apart":                      {&arm, 3, func(_ *gemm, w *opspec.Window) { w.DilationW = 2 }, ""},
		"depthwise":                       {&arm, 3, func(g *gemm, _ *opspec.Window) { g.depthwise = true }, ""},
		"no padding":                      {&arm, 3, func(_ *gemm, w *opspec.Window) { w.Left = 0 }, "4 6 2 0"},
		"5 channels take 4 steps of 16":   {&arm, 5, nil, ""},
		"an array packs 3 channels":       {&array, 3, nil, ""}, // 27 or 36 of 64 rows
		"fewer rows of an array are none": {&array, 16, nil, ""},
	} {
		l := lower.Anywhere(Table(), c.s, &graph.Graph{}, nil)
		g, w := gemm{c: c.c, k: 2}, win
		if c.edit != nil {
			c.edit(&g, &w)
		}
		got := ""
		if to, _, ok := folded(l, &g, w, make([]byte, g.k*w.KH*w.KW*g.c)); ok {
			got = fmt.Sprint(to.win.W, to.c, to.win.KW, to.win.Left)
		}
		require.Same(t, c.want, got, name, "folded")
	}
}

// TestFoldedSame: what is folded gives the same sums over rows of random numbers, whose columns outside are the zero point.
func TestFoldedSame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	folds := 0
	for range 3000 {
		n := 2 + r.IntN(3)
		win := opspec.Window{H: 1, W: n * (1 + r.IntN(6)), KH: 1 + r.IntN(2), KW: 1 + r.IntN(7), StrideH: 1, StrideW: n, DilationH: 1, DilationW: 1, OutH: 1}
		win.Left = r.IntN(win.KW)
		win.OutW = (win.W+win.Left-1)/n + 1
		g := gemm{c: 1 + r.IntN(4), k: 1 + r.IntN(2), win: win}
		g.quant.FilterZero = int32(r.IntN(256))
		filter := make([]byte, g.k*win.KH*win.KW*g.c)
		for i := range filter {
			filter[i] = byte(r.Uint32())
		}
		to, data, ok := folded(lower.Anywhere(Table(), &arm, &graph.Graph{}, nil), &g, win, filter)
		if !ok {
			continue
		}
		folds++
		x := make([]int, win.W*g.c)
		for i := range x {
			x[i] = r.IntN(9) - 4
		}
		sum := func(w *opspec.Window, c int, filter []byte, row, out int) (s int) {
			for tap := range w.KW * c {
				if at := (out*w.StrideW-w.Left)*c + tap; at >= 0 && at < len(x) {
					s += x[at] * (int(filter[row*w.KW*c+tap]) - int(g.quant.FilterZero))
				}
			}
			return s
		}
		for row := range g.k * win.KH {
			for out := range win.OutW {
				if have, want := sum(&to.win, to.c, data, row, out), sum(&win, g.c, filter, row, out); have != want {
					t.Fatalf("%+v of %d channels: output %d of row %d is %d, want %d", win, g.c, out, row, have, want)
				}
			}
		}
	}
	if folds < 200 {
		t.Errorf("%d convolutions folded", folds)
	}
}

// TestTransposed: the filter of a depthwise convolution of one channel, three outputs of four taps, as a convolution's.
func TestTransposed(t *testing.T) {
	got := string(transposed([]byte("abcdefghijkl"), 4))
	if want := "adgj" + "behk" + "cfil"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
