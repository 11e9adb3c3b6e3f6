package step

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
)

// TestWrite: a step is a line with its operation, the values of its maps, its window and its block.
func TestWrite(t *testing.T) {
	k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Conv, KH: 3, KW: 2, SY: 1, SX: 2}, IFM: layout.Ref{Value: 4, FeatureMap: layout.Dense(16, 5, 6, 7, 1, false)},
		OFM: layout.Ref{Value: layout.Placed, FeatureMap: layout.Dense(32, 1, 2, 3, 1, false)}}
	k.Block = kernel.Block{H: 2, W: 4, D: 8}
	l := &List{Steps: []Step{{Op: 9, Kernel: k}}}
	var b strings.Builder
	if err := l.Write(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"0: operation 9 ", ": r0+32[1x2x3] = v4+16[5x6x7] ", "kernel 3x2 stride 1x2 block 2x4x8\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
}
