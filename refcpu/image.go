package refcpu

import "github.com/nnsoc/nnsoc/nn/opspec"

// toNHWC copies an NCHW image to NHWC.
func toNHWC[T any](dst, src []T, n, h, w, c int) {
	for b := range n {
		for ch := range c {
			s := src[(b*c+ch)*h*w : (b*c+ch+1)*h*w]
			d := dst[b*h*w*c+ch:]
			for i, v := range s {
				d[i*c] = v
			}
		}
	}
}

// toNCHW copies an NHWC image to NCHW.
func toNCHW[T any](dst, src []T, n, h, w, c int) {
	for b := range n {
		for ch := range c {
			d := dst[(b*c+ch)*h*w : (b*c+ch+1)*h*w]
			s := src[b*h*w*c+ch:]
			for i := range d {
				d[i] = s[i*c]
			}
		}
	}
}

// patch copies the elements under a filter at output pixel r into dst, in the
// order [KH][KW][c]; padding elements become fill. A pixel of src has stride
// elements, of which the first c are taken.
func patch[T any](dst, src []T, g *opspec.Window, c, stride int, fill T, r int) {
	b := r / (g.OutH * g.OutW)
	y0 := r/g.OutW%g.OutH*g.StrideH - g.Top
	x0 := r%g.OutW*g.StrideW - g.Left
	img := src[b*g.H*g.W*stride:]
	o := 0
	for ky := range g.KH {
		y := y0 + ky*g.DilationH
		if y < 0 || y >= g.H {
			fillSlice(dst[o:o+g.KW*c], fill)
			o += g.KW * c
			continue
		}
		if g.DilationW == 1 && c == stride && x0 >= 0 && x0+g.KW <= g.W {
			o += copy(dst[o:o+g.KW*c], img[(y*g.W+x0)*c:])
			continue
		}
		for kx := range g.KW {
			x := x0 + kx*g.DilationW
			if x < 0 || x >= g.W {
				fillSlice(dst[o:o+c], fill)
			} else {
				copy(dst[o:o+c], img[(y*g.W+x)*stride:])
			}
			o += c
		}
	}
}

func fillSlice[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// taps is the range of filter taps [lo, hi) that fall inside an axis of size
// in when tap k sits at start + k*dil.
func taps(start, k, dil, in int) (lo, hi int) {
	if start < 0 {
		lo = (-start + dil - 1) / dil
	}
	hi = k
	if last := in - 1 - start; last < (k-1)*dil {
		hi = 0
		if last >= 0 {
			hi = last/dil + 1
		}
	}
	return min(lo, hi), hi
}

// pointwise reports a 1x1 window that moves by single steps without padding:
// its patches are the image's pixels.
func pointwise(g *opspec.Window) bool {
	return g.KH == 1 && g.KW == 1 && g.StrideH == 1 && g.StrideW == 1 && g.OutH == g.H && g.OutW == g.W
}
