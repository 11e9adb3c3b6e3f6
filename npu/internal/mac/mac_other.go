//go:build !amd64 || purego

package mac

// FastU8 reports whether DotU8 is the faster of the two dot products here.
func FastU8() bool { return false }

// DotU8 computes, for each of TileU8 pixels and vectors*16 output channels,
// acc[m*stride+o] = sum over runs r and k < 4*quads of
// a[pix[m]+runs[r]+k] * w(r*4*quads+k, o), with w as PackU8 lays it out.
func DotU8(acc []int32, stride int, a []byte, pix *[TileU8]int32, runs []int32, quads int, w []int8, vectors int) {
	dotU8(acc, stride, a, pix, runs, quads, w, vectors)
}

// DotI16 is DotU8 for 16-bit elements, TileI16 pixels and 16 output channels,
// with w as PackI16 lays it out.
func DotI16(acc []int32, stride int, a []int16, pix *[TileI16]int32, runs []int32, quads int, w []int16) {
	dotI16(acc, stride, a, pix, runs, quads, w)
}

// Depthwise computes, for a row of pixels and 16 channels,
// acc[p*stride+c] = sum over taps t of a[p*step+taps[t]+c] * w(c, t), with w as
// PackDepthwise lays it out; the number of taps is even.
func Depthwise(acc []int32, stride int, a []int16, step, pixels int, taps []int32, w []int16) {
	depthwise(acc, stride, a, step, pixels, taps, w)
}

// Requant is the output stage for 8-bit results: with v = acc+bias+add,
// r = (v*scale + 2^30) >> 31, then r / 2^shift with ties away from zero, plus
// zp, clamped. scale < 2^31, shift < 32; len(dst) is a multiple of 8.
func Requant(dst []byte, acc, bias []int32, add int32, scale, shift []int32, zp, lo, hi int32) {
	requant(dst, acc, bias, add, scale, shift, zp, lo, hi)
}
