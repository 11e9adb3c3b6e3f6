package step

import (
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/move"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/reduce"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestWrite: a step is a line with its operation, its kernel's arguments, and its tensors by number.
func TestWrite(t *testing.T) {
	x, c := &layout.Tensor{Elem: layout.F16, N: 8}, &layout.Tensor{Region: layout.Consts, Off: 64, Elem: layout.I32, N: 2}
	l := &List{Tensors: []*layout.Tensor{x}, Steps: []Step{{Op: 3, Kernel: &move.Fill{Value: 7, Out: x}, Reads: []*layout.Tensor{c}, Writes: []*layout.Tensor{x}}}}
	h := &recurrent.Hidden{Batch: 2, Units: 3, Out: [2]recurrent.Rows{{T: x, At: 1, Stride: 4}}}
	l.Steps = append(l.Steps, Step{Kernel: h, Writes: []*layout.Tensor{x}}) // no place of the host in it
	rows := &reduce.L2Norm{Rows: reduce.Rows{Outer: 4, Depth: 5, Inner: 6, In: x, Out: x}, Zero: 9}
	l.Steps = append(l.Steps, Step{Op: 1, Kernel: rows, Writes: []*layout.Tensor{x}}) // nor in what it embeds
	var b strings.Builder
	require.NoError(t, l.Write(&b))
	const want = "0: operation 3 move.Fill{Value:7} (c64:i32[2]) -> (t0:f16[8])\n" +
		"1: operation 0 recurrent.Hidden{Batch:2 Units:3 Act:{Code:0 Lo:0 Hi:0} Out:[1+4 none]} () -> (t0:f16[8])\n" +
		"2: operation 1 reduce.L2Norm{Outer:4 Depth:5 Inner:6 Zero:9} () -> (t0:f16[8])\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
