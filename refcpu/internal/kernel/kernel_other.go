//go:build !amd64 || purego

package kernel

func dotTile(dst *[TileRows * TileCols]int32, a []byte, lda int, b []int8, quads, rows, blocks int) {
	dotTileGo(dst, a, lda, b, quads, rows, blocks)
}

func floatTile(dst *[TileRows * TileCols]float32, a []float32, lda int, b []float32, k, rows, blocks int) {
	floatTileGo(dst, a, lda, b, k, rows, blocks)
}

func requantRow(dst []byte, acc, bias, m, left, right []int32, add, zero, lo, hi int32) {
	requantRowGo(dst, acc, bias, m, left, right, add, zero, lo, hi)
}

func depthwiseTaps(acc []int32, x []byte, w []int32, xOff, wOff []int, zero int32, n int) {
	depthwiseTapsGo(acc, x, w, xOff, wOff, zero, n)
}

func depthwiseTapsF32(acc, x, w []float32, xOff, wOff []int, n int) {
	depthwiseTapsF32Go(acc, x, w, xOff, wOff, n)
}

func sumBytes(a []byte) int32 { return sumBytesGo(a) }

func biasClamp(dst, acc, bias []float32, lo, hi float32) { biasClampGo(dst, acc, bias, lo, hi) }
