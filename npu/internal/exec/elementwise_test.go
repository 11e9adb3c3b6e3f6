package exec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// dense is a map of 32-bit elements, row by row.
func dense(h, w, c int, data []byte) state.FeatureMap {
	return state.FeatureMap{Data: data, Height0: h, Height1: h, Width0: w, StrideX: 4 * c, StrideY: 4 * c * w, ElemSize: 4, Signed: true, H: h, W: w, C: c}
}

// TestBroadcast: the second operand is broadcast over rows, columns or channels of which it has one, and is the first
// operand after a swap; a scalar is either.
func TestBroadcast(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 200 {
		h, w, c := 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(5)
		pick := func(n int) int {
			if r.IntN(2) == 0 {
				return 1
			}
			return n
		}
		h2, w2, c2 := pick(h), pick(w), pick(c)
		a, b, want := make([]int32, h*w*c), make([]int32, h2*w2*c2), make([]int32, h*w*c)
		for _, list := range [][]int32{a, b} {
			for i := range list {
				list[i] = r.Int32() >> 2
			}
		}
		o := state.Op{Kind: state.Elementwise, Mode: ethosu.EltSub, IFM: dense(h, w, c, make([]byte, 4*len(a))), OFM: dense(h, w, c, make([]byte, 4*len(a))),
			IFM2: dense(h2, w2, c2, make([]byte, 4*len(b))), HasIFM2: round%5 > 0, Scalar: r.Int64N(1000), Swap: r.IntN(2) == 0,
			Output: state.Output{Round: ethosu.RoundNatural, Scale: 1, Min: math.MinInt32, Max: math.MaxInt32, ElemSize: 4, Signed: true}}
		for y := range h {
			o.IFM.WriteRow(a[y*w*c:], y)
			for x := range w {
				for z := range c {
					at := (y*w+x)*c + z
					second := o.Scalar
					if o.HasIFM2 {
						second = int64(b[(y%h2*w2+x%w2)*c2+z%c2])
					}
					if want[at] = int32(int64(a[at]) - second); o.Swap {
						want[at] = -want[at]
					}
				}
			}
		}
		for y := range h2 {
			o.IFM2.WriteRow(b[y*w2*c2:], y)
		}
		var e Engine
		require.NoError(t, e.elementwise(&o))
		got := make([]int32, w*c)
		for y := range h {
			if o.OFM.ReadRow(got, y); !slices.Equal(got, want[y*w*c:][:w*c]) {
				t.Fatalf("%dx%dx%d with %dx%dx%d, swapped %v: row %d is %d, want %d", h, w, c, h2, w2, c2, o.Swap, y, got, want[y*w*c:][:w*c])
			}
		}
	}
}

// TestPaddedInput: a convolution whose input is too large with its padding is refused, whatever the side.
func TestPaddedInput(t *testing.T) {
	for _, k := range []state.Window{
		{InH: 1, InW: 1 << 10, Top: 1 << 12}, {InH: 1, InW: 1 << 10, Bottom: 1 << 12}, {InH: 1 << 10, InW: 1, Left: 1 << 12}, {InH: 1 << 10, InW: 1, Right: 1 << 12},
	} {
		o := state.Op{Kind: state.Conv, Window: k, IFM: state.FeatureMap{C: 15}}
		var e Engine
		if err := e.convolve(&o); err == nil || err.Error() != "padded input of 67125248 elements is too large" {
			t.Errorf("%+v: %v", k, err)
		}
	}
}
