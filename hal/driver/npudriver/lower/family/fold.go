package family

import (
	"bytes"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/npu"
)

// folded rewrites a convolution with a stride along rows as one without: as many columns as the stride become
// the channels of one, since the array is not faster with few channels than with many. ok is false where that
// saves no steps of the array, or the columns do not divide.
//
//	3 taps of c channels, stride 2:    w0 w1 w2       over columns 0 1 2, 2 3 4, ...
//	2 taps of 2c channels, stride 1:   w0|w1 w2|zero  over columns 0|1 2|3, 2|3 4|5, ...
//
// Vela does the same for stride 2 (its optimise_strided_conv).
func folded(l *lower.Lowering, g *gemm, win opspec.Window, filter []byte) (to gemm, data []byte, ok bool) {
	n := win.StrideW
	if g.depthwise || g.patches != nil || n < 2 || win.W%n != 0 || win.DilationW != 1 {
		return to, nil, false
	}
	left := (win.Left + n - 1) / n
	taps := (win.KW-1-win.Left+left*n)/n + 1
	if arraySteps(l.Spec(), n*g.c, win.KH*taps) >= arraySteps(l.Spec(), g.c, win.KH*win.KW) {
		return to, nil, false
	}
	data = bytes.Repeat([]byte{byte(g.quant.FilterZero)}, g.k*win.KH*taps*n*g.c)
	for row := range g.k * win.KH {
		for x := range win.KW {
			at := x - win.Left + left*n // of the columns of a row's taps
			copy(data[(row*taps*n+at)*g.c:][:g.c], filter[(row*win.KW+x)*g.c:])
		}
	}
	to = *g
	to.c *= n
	win.W, win.KW, win.Left, win.StrideW = win.W/n, taps, left, 1
	to.win = win
	return to, data, true
}

// arraySteps is the steps of the array, or its tiles of weights, for each output of a convolution.
func arraySteps(s *npu.Spec, channels, taps int) int {
	switch {
	case s.PackTaps:
		return (channels*taps + s.UBlock.IFM - 1) / s.UBlock.IFM
	case partKernel(channels, taps):
		return (taps + 3) / 4 * roundUp(channels, 8) / 8
	}
	return taps * roundUp(channels, 32) / 32
}
