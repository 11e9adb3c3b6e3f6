//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// Which assembly the processor runs: avx2, wide (AVX-512) or vnni
// (AVX-512 with byte dot products).
var (
	avx2 = cpu.X86.HasAVX2
	wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
	vnni = wide && cpu.X86.HasAVX512VNNI
)

func dotTile(dst *[TileRows * TileCols]int32, a []byte, lda int, b []int8, quads, rows, blocks int) {
	if !vnni {
		if avx2 {
			dotTileAVX2(dst, a, lda, b, quads, rows, blocks)
		} else {
			dotTileGo(dst, a, lda, b, quads, rows, blocks)
		}
		return
	}
	if rows == TileRows {
		d, x, w := &dst[0], &a[0], &b[0]
		switch blocks {
		case 1:
			dotTile4x1(d, x, lda, w, quads)
		case 2:
			dotTile4x2(d, x, lda, w, quads)
		case 3:
			dotTile4x3(d, x, lda, w, quads)
		default:
			dotTile4x4(d, x, lda, w, quads)
		}
		return
	}
	for r := range rows {
		d, x, w := &dst[r*TileCols], &a[r*lda], &b[0]
		switch blocks {
		case 1:
			dotTile1x1(d, x, lda, w, quads)
		case 2:
			dotTile1x2(d, x, lda, w, quads)
		case 3:
			dotTile1x3(d, x, lda, w, quads)
		default:
			dotTile1x4(d, x, lda, w, quads)
		}
	}
}

func floatTile(dst *[TileRows * TileCols]float32, a []float32, lda int, b []float32, k, rows, blocks int) {
	if !wide {
		if avx2 {
			floatTileAVX2(dst, a, lda, b, k, rows, blocks)
		} else {
			floatTileGo(dst, a, lda, b, k, rows, blocks)
		}
		return
	}
	if rows == TileRows {
		d, x, w := &dst[0], &a[0], &b[0]
		switch blocks {
		case 1:
			floatTile4x1(d, x, lda, w, k)
		case 2:
			floatTile4x2(d, x, lda, w, k)
		case 3:
			floatTile4x3(d, x, lda, w, k)
		default:
			floatTile4x4(d, x, lda, w, k)
		}
		return
	}
	for r := range rows {
		d, x, w := &dst[r*TileCols], &a[r*lda], &b[0]
		switch blocks {
		case 1:
			floatTile1x1(d, x, lda, w, k)
		case 2:
			floatTile1x2(d, x, lda, w, k)
		case 3:
			floatTile1x3(d, x, lda, w, k)
		default:
			floatTile1x4(d, x, lda, w, k)
		}
	}
}

// dotTileAVX2 computes a tile a block at a time.
func dotTileAVX2(dst *[TileRows * TileCols]int32, a []byte, lda int, b []int8, quads, rows, blocks int) {
	for blk := range blocks {
		w := &b[blk*quads*4*Block]
		if rows == TileRows {
			dotTileAVX2r4x1(&dst[blk*Block], &a[0], lda, w, quads)
			continue
		}
		for r := range rows {
			dotTileAVX2r1x1(&dst[r*TileCols+blk*Block], &a[r*lda], lda, w, quads)
		}
	}
}

// floatTileAVX2 computes a tile a block at a time.
func floatTileAVX2(dst *[TileRows * TileCols]float32, a []float32, lda int, b []float32, k, rows, blocks int) {
	for blk := range blocks {
		w := &b[blk*k*Block]
		if rows == TileRows {
			floatTileAVX2r4x1(&dst[blk*Block], &a[0], lda, w, k)
			continue
		}
		for r := range rows {
			floatTileAVX2r1x1(&dst[r*TileCols+blk*Block], &a[r*lda], lda, w, k)
		}
	}
}

func requantRow(dst []byte, acc, bias, m, left, right []int32, add, zero, lo, hi int32) {
	switch {
	case wide:
		requantAVX512(&dst[0], &acc[0], &bias[0], &m[0], &left[0], &right[0], len(dst), add, zero, lo, hi)
	case avx2:
		requantRowAVX2(dst, acc, bias, m, left, right, add, zero, lo, hi)
	default:
		requantRowGo(dst, acc, bias, m, left, right, add, zero, lo, hi)
	}
}

func requantRowAVX2(dst []byte, acc, bias, m, left, right []int32, add, zero, lo, hi int32) {
	n := len(dst) &^ 7
	if n > 0 {
		requantAVX2(&dst[0], &acc[0], &bias[0], &m[0], &left[0], &right[0], n, add, zero, lo, hi)
	}
	requantRowGo(dst[n:], acc[n:], bias[n:], m[n:], left[n:], right[n:], add, zero, lo, hi)
}

func depthwiseTaps(acc []int32, x []byte, w []int32, xOff, wOff []int, zero int32, n int) {
	switch {
	case n == 0 || len(xOff) == 0 || !avx2:
		depthwiseTapsGo(acc, x, w, xOff, wOff, zero, n)
	case wide:
		depthwiseAVX512(&acc[0], &x[0], &w[0], &xOff[0], &wOff[0], len(xOff), n, zero)
	default:
		depthwiseAVX2(&acc[0], &x[0], &w[0], &xOff[0], &wOff[0], len(xOff), n, zero)
	}
}

func depthwiseTapsF32(acc, x, w []float32, xOff, wOff []int, n int) {
	switch {
	case n == 0 || len(xOff) == 0 || !avx2:
		depthwiseTapsF32Go(acc, x, w, xOff, wOff, n)
	case wide:
		depthwiseFloatAVX512(&acc[0], &x[0], &w[0], &xOff[0], &wOff[0], len(xOff), n)
	default:
		depthwiseFloatAVX2(&acc[0], &x[0], &w[0], &xOff[0], &wOff[0], len(xOff), n)
	}
}

func sumBytes(a []byte) int32 {
	n := len(a) &^ 63
	s := int64(0)
	switch {
	case n == 0 || !avx2:
		n = 0
	case wide:
		s = sumBytesAVX512(&a[0], n)
	default:
		s = sumBytesAVX2(&a[0], n)
	}
	return int32(s) + sumBytesGo(a[n:])
}

func biasClamp(dst, acc, bias []float32, lo, hi float32) {
	n := len(dst) &^ (Block - 1)
	switch {
	case n == 0 || !avx2:
		n = 0
	case wide:
		biasClampAVX512(&dst[0], &acc[0], &bias[0], n, lo, hi)
	default:
		biasClampAVX2(&dst[0], &acc[0], &bias[0], n, lo, hi)
	}
	biasClampGo(dst[n:], acc[n:], bias[n:], lo, hi)
}
