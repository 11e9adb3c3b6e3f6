//go:build !purego

package mac

import "golang.org/x/sys/cpu"

// Which assembly this machine runs; fixed at start.
var (
	hasVNNI = cpu.X86.HasAVX512VNNI && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
	hasAVX2 = cpu.X86.HasAVX2
)

// FastU8 reports whether DotU8 is the faster of the two dot products here.
func FastU8() bool { return hasVNNI }

// DotU8 computes, for each of TileU8 pixels and vectors*16 output channels,
// acc[m*stride+o] = sum over runs r and k < 4*quads of
// a[pix[m]+runs[r]+k] * w(r*4*quads+k, o), with w as PackU8 lays it out.
func DotU8(acc []int32, stride int, a []byte, pix *[TileU8]int32, runs []int32, quads int, w []int8, vectors int) {
	if !hasVNNI || len(runs) == 0 || quads == 0 {
		dotU8(acc, stride, a, pix, runs, quads, w, vectors)
		return
	}
	_ = acc[(TileU8-1)*stride+vectors*VectorU8-1]
	_ = w[len(runs)*quads*4*vectors*VectorU8-1]
	checkReach(len(a), pix[:], runs, 4*quads)
	// Called by name: through a variable pix would escape to the heap.
	switch vectors {
	case 1:
		dotU8v1(&acc[0], stride, &a[0], &pix[0], &runs[0], len(runs), quads, &w[0])
	case 2:
		dotU8v2(&acc[0], stride, &a[0], &pix[0], &runs[0], len(runs), quads, &w[0])
	case 3:
		dotU8v3(&acc[0], stride, &a[0], &pix[0], &runs[0], len(runs), quads, &w[0])
	default:
		dotU8v4(&acc[0], stride, &a[0], &pix[0], &runs[0], len(runs), quads, &w[0])
	}
}

// DotI16 is DotU8 for 16-bit elements, TileI16 pixels and 16 output channels,
// with w as PackI16 lays it out.
func DotI16(acc []int32, stride int, a []int16, pix *[TileI16]int32, runs []int32, quads int, w []int16) {
	if !hasAVX2 || len(runs) == 0 || quads == 0 {
		dotI16(acc, stride, a, pix, runs, quads, w)
		return
	}
	_ = acc[(TileI16-1)*stride+WidthI16-1]
	_ = w[len(runs)*quads*4*WidthI16-1]
	checkReach(len(a), pix[:], runs, 4*quads)
	dotI16avx2(&acc[0], stride, &a[0], &pix[0], &runs[0], len(runs), quads, &w[0])
}

// checkReach panics, as an index would, when a tile reads outside its input.
func checkReach(n int, pix, runs []int32, length int) {
	lo, hi := pix[0], pix[0]
	for _, p := range pix[1:] {
		lo, hi = min(lo, p), max(hi, p)
	}
	first, last := runs[0], runs[len(runs)-1] // runs rise
	if lo < 0 || first < 0 || last < first || int(hi)+int(last)+length > n {
		panic("mac: tile reads outside its input")
	}
}

// Depthwise computes, for a row of pixels and 16 channels,
// acc[p*stride+c] = sum over taps t of a[p*step+taps[t]+c] * w(c, t), with w as
// PackDepthwise lays it out; the number of taps is even.
func Depthwise(acc []int32, stride int, a []int16, step, pixels int, taps []int32, w []int16) {
	if !hasAVX2 || pixels == 0 || len(taps) == 0 {
		depthwise(acc, stride, a, step, pixels, taps, w)
		return
	}
	_ = acc[(pixels-1)*stride+15]
	_ = w[len(taps)*16-1]
	_ = a[(pixels-1)*step+int(taps[len(taps)-1])+15]
	depthwiseAVX2(&acc[0], stride, &a[0], step, pixels, &taps[0], len(taps), &w[0])
}

// Requant is the output stage for 8-bit results: with v = acc+bias+add,
// r = (v*scale + 2^30) >> 31, then r / 2^shift with ties away from zero, plus
// zp, clamped. scale < 2^31, shift < 32; len(dst) is a multiple of 8.
func Requant(dst []byte, acc, bias []int32, add int32, scale, shift []int32, zp, lo, hi int32) {
	n := len(dst)
	if !hasAVX2 || n == 0 || n%8 != 0 {
		requant(dst, acc, bias, add, scale, shift, zp, lo, hi)
		return
	}
	_, _, _, _ = acc[n-1], bias[n-1], scale[n-1], shift[n-1]
	requantAVX2(&dst[0], n, &acc[0], &bias[0], add, &scale[0], &shift[0], zp, lo, hi)
}
