package kernel

// Block is the number of columns of one packed block.
const Block = 16

// TileCols is the number of columns that a tile product computes at most.
const TileCols = 4 * Block

// TileRows is the number of rows that a tile product computes at most.
const TileRows = 4

// Quads is the number of groups of 4 that hold k values.
func Quads(k int) int { return (k + 3) / 4 }

// Blocks is the number of blocks that hold n columns.
func Blocks(n int) int { return (n + Block - 1) / Block }

// PackedBytes is the size of PackS8's result.
func PackedBytes(k, n int) int { return Blocks(n) * Quads(k) * 4 * Block }

// PackS8 packs weights w [n][k] (bytes of int8 after flipping the bits of
// flip) for DotTile: blocks of 16 columns, each [k/4][16][4]. Padding is 0.
func PackS8(dst []int8, w []byte, n, k int, flip byte) {
	quads := Quads(k)
	clear(dst[:PackedBytes(k, n)])
	for c := range n {
		base := (c/Block)*quads*4*Block + c%Block*4
		row := w[c*k : c*k+k]
		for i, b := range row {
			dst[base+i/4*4*Block+i%4] = int8(b ^ flip)
		}
	}
}

// DotTile computes dst[r][c] = sum over k of a[r][k] * b[k][c] for rows <= 4
// rows and blocks <= 4 blocks. a has lda bytes per row of which 4*quads are
// read; dst has TileCols columns per row; b is as PackS8 lays it out, from the
// first block wanted.
func DotTile(dst *[TileRows * TileCols]int32, a []byte, lda int, b []int8, quads, rows, blocks int) {
	if quads == 0 {
		clear(dst[:])
		return
	}
	_ = a[(rows-1)*lda+4*quads-1]
	_ = b[blocks*quads*4*Block-1]
	dotTile(dst, a, lda, b, quads, rows, blocks)
}

func dotTileGo(dst *[TileRows * TileCols]int32, a []byte, lda int, b []int8, quads, rows, blocks int) {
	for r := range rows {
		ar := a[r*lda : r*lda+4*quads]
		for blk := range blocks {
			var acc [Block]int32
			bb := b[blk*quads*4*Block : (blk+1)*quads*4*Block]
			for q := range quads {
				a0, a1, a2, a3 := int32(ar[4*q]), int32(ar[4*q+1]), int32(ar[4*q+2]), int32(ar[4*q+3])
				p := (*[4 * Block]int8)(bb[q*4*Block:])
				for c := range Block {
					acc[c] += a0*int32(p[4*c]) + a1*int32(p[4*c+1]) + a2*int32(p[4*c+2]) + a3*int32(p[4*c+3])
				}
			}
			copy(dst[r*TileCols+blk*Block:], acc[:])
		}
	}
}

// SumBytes is the sum of a row of unsigned bytes.
func SumBytes(a []byte) int32 { return sumBytes(a) }

func sumBytesGo(a []byte) int32 {
	s := int32(0)
	for _, b := range a {
		s += int32(b)
	}
	return s
}

// PackedFloats is the size of PackF32's result.
func PackedFloats(k, n int) int { return Blocks(n) * k * Block }

// PackF32 packs weights w [n][k] for FloatTile: blocks of 16 columns, each
// [k][16]. Padding is 0.
func PackF32(dst, w []float32, n, k int) {
	clear(dst[:PackedFloats(k, n)])
	for c := range n {
		base := (c/Block)*k*Block + c%Block
		for i, v := range w[c*k : c*k+k] {
			dst[base+i*Block] = v
		}
	}
}

// FloatTile computes dst[r][c] = sum over k, in ascending order from 0, of
// a[r][k] * b[k][c] for rows <= 4 rows and blocks <= 4 blocks; products and
// sums round separately. a has lda values per row; dst has TileCols columns
// per row.
func FloatTile(dst *[TileRows * TileCols]float32, a []float32, lda int, b []float32, k, rows, blocks int) {
	if k == 0 {
		clear(dst[:])
		return
	}
	_ = a[(rows-1)*lda+k-1]
	_ = b[blocks*k*Block-1]
	floatTile(dst, a, lda, b, k, rows, blocks)
}

func floatTileGo(dst *[TileRows * TileCols]float32, a []float32, lda int, b []float32, k, rows, blocks int) {
	for r := range rows {
		ar := a[r*lda : r*lda+k]
		for blk := range blocks {
			var acc [Block]float32
			bb := b[blk*k*Block : (blk+1)*k*Block]
			for i, x := range ar {
				p := (*[Block]float32)(bb[i*Block:])
				for c := range acc {
					acc[c] += float32(x * p[c])
				}
			}
			copy(dst[r*TileCols+blk*Block:], acc[:])
		}
	}
}
