package kernel

import "golang.org/x/sys/cpu"

// wide says that the processor has the AVX-512 that the assembly uses, vnni
// that it also has byte dot products.
var (
	wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
	vnni = wide && cpu.X86.HasAVX512VNNI
)

func dotTile(dst *[TileRows * TileCols]int32, a []byte, lda int, b []int8, quads, rows, blocks int) {
	if !vnni {
		dotTileGo(dst, a, lda, b, quads, rows, blocks)
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
		floatTileGo(dst, a, lda, b, k, rows, blocks)
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

func requantRow(dst []byte, acc, bias, m, left, right []int32, add, zero, lo, hi int32) {
	if !wide {
		requantRowGo(dst, acc, bias, m, left, right, add, zero, lo, hi)
		return
	}
	requantAVX512(&dst[0], &acc[0], &bias[0], &m[0], &left[0], &right[0], len(dst), add, zero, lo, hi)
}

func depthwiseTaps(acc []int32, x []byte, w []int32, xOff, wOff []int, zero int32, n int) {
	if !wide || n == 0 || len(xOff) == 0 {
		depthwiseTapsGo(acc, x, w, xOff, wOff, zero, n)
		return
	}
	depthwiseAVX512(&acc[0], &x[0], &w[0], &xOff[0], &wOff[0], len(xOff), n, zero)
}

func depthwiseTapsF32(acc, x, w []float32, xOff, wOff []int, n int) {
	if !wide || n == 0 || len(xOff) == 0 {
		depthwiseTapsF32Go(acc, x, w, xOff, wOff, n)
		return
	}
	depthwiseFloatAVX512(&acc[0], &x[0], &w[0], &xOff[0], &wOff[0], len(xOff), n)
}

func sumBytes(a []byte) int32 {
	n := 0
	s := int64(0)
	if wide && len(a) >= 64 {
		n = len(a) &^ 63
		s = sumBytesAVX512(&a[0], n)
	}
	return int32(s) + sumBytesGo(a[n:])
}

func biasClamp(dst, acc, bias []float32, lo, hi float32) {
	n := 0
	if wide && len(dst) >= Block {
		n = len(dst) &^ (Block - 1)
		biasClampAVX512(&dst[0], &acc[0], &bias[0], n, lo, hi)
	}
	biasClampGo(dst[n:], acc[n:], bias[n:], lo, hi)
}
