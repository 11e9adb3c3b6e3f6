package kernel

import "github.com/nnsoc/nnsoc/nn/opspec"

// EachTap calls f for every tap of every output position of n images in order, with
// the element index of the tap's first channel, -1 for padding.
func EachTap(w *opspec.Window, n, channels int, f func(pos, tap, index int)) {
	pos := 0
	for b := range n {
		for oy := range w.OutH {
			for ox := range w.OutW {
				tap := 0
				for ky := range w.KH {
					y := oy*w.StrideH - w.Top + ky*w.DilationH
					for kx := range w.KW {
						x := ox*w.StrideW - w.Left + kx*w.DilationW
						i := -1
						if y >= 0 && y < w.H && x >= 0 && x < w.W {
							i = ((b*w.H+y)*w.W + x) * channels
						}
						f(pos, tap, i)
						tap++
					}
				}
				pos++
			}
		}
	}
}
