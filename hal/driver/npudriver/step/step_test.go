package step

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWrite: a step is a line with its operation, the values of its maps, its window and its block.
func TestWrite(t *testing.T) {
	k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Conv, KH: 3, KW: 2, SY: 1, SX: 2}, IFM: layout.Ref{Value: 4, FeatureMap: layout.Dense(16, 5, 6, 7, 1, false)},
		OFM: layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(32, 1, 2, 3, 1, false)}}
	k.Block = kernel.Block{H: 2, W: 4, D: 8}
	l := &List{Steps: []Step{{Op: 9, Kernel: k}}}
	var b strings.Builder
	require.NoError(t, l.Write(&b))
	got := b.String()
	for _, want := range []string{"0: operation 9 ", ": r0+32[1x2x3] = v4+16[5x6x7] ", "kernel 3x2 stride 1x2 block 2x4x8\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
}

// TestWriteMaps: a second input, an order in bricks, rolling buffers and parts of a cascade are named, and only these.
func TestWriteMaps(t *testing.T) {
	k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Elementwise, Mode: 1, KH: 1, KW: 1, SY: 1, SX: 1}}
	k.Block = kernel.Block{H: 1, W: 1, D: 1}
	k.IFM = layout.Ref{Value: 1, FeatureMap: layout.Dense(0, 4, 1, 1, 1, false).Bricks()}
	k.IFM2 = &layout.Ref{Value: 2, FeatureMap: layout.Dense(0, 1, 1, 1, 1, false)}
	k.IFM2.StrideC = 1
	k.OFM = layout.Ref{Value: 3, FeatureMap: layout.Dense(0, 9, 1, 1, 1, false).Rolled(1, 5, 7)}
	l := &List{Steps: []Step{{Op: 2, Kernel: k, Cascade: Cascade{ID: 3, Stage: 1, Row: 5}}, {Op: -1, Part: 4, Kernel: k}}}
	l.Steps[1].Kernel.IFM2 = nil
	var b strings.Builder
	require.NoError(t, l.Write(&b))
	const want = `0: operation 2 elementwise 1: v3(row 0 of 1)+0[2x1x1] = v1+0[4x1x1 bricks] v2+0[1x1x1 bricks] kernel 1x1 stride 1x1 block 1x1x1 cascade 3 stage 1 rows 5-6
1: operation -1 elementwise 1: v3(row 0 of 1)+0[2x1x1] = v1+0[4x1x1 bricks] kernel 1x1 stride 1x1 block 1x1x1
`
	require.Same(t, want, b.String())
	if a, b := l.Steps[0].Mark(), l.Steps[1].Mark(); a != 2 || b != 3 {
		t.Errorf("marks %d and %d", a, b)
	}
}
