//go:build !purego

package kernel

import (
	"bytes"
	"slices"
	"testing"
)

// TestAVX2 holds the AVX2 loops, which processors with AVX-512 do not choose,
// to the portable ones.
func TestAVX2(t *testing.T) {
	if !avx2 {
		t.Skip("skipped: needs AVX2")
	}
	r := rng()
	for range 200 {
		k, n, rows := 1+r.IntN(70), 1+r.IntN(TileCols), 1+r.IntN(TileRows)
		quads := Quads(k)
		a, w := randomBytes(r, rows*4*quads), randomBytes(r, n*k)
		b := make([]int8, PackedBytes(k, n))
		PackS8(b, w, n, k, 0)
		var got, want [TileRows * TileCols]int32
		dotTileAVX2(&got, a, 4*quads, b, quads, rows, Blocks(n))
		dotTileGo(&want, a, 4*quads, b, quads, rows, Blocks(n))
		if got != want {
			t.Fatalf("dot: k=%d n=%d rows=%d differs", k, n, rows)
		}
		af, wf := randomFloats(r, rows*k), randomFloats(r, n*k)
		bf := make([]float32, PackedFloats(k, n))
		PackF32(bf, wf, n, k)
		var gotF, wantF [TileRows * TileCols]float32
		floatTileAVX2(&gotF, af, k, bf, k, rows, Blocks(n))
		floatTileGo(&wantF, af, k, bf, k, rows, Blocks(n))
		if gotF != wantF {
			t.Fatalf("float: k=%d n=%d rows=%d differs", k, n, rows)
		}
		q := NewRequant(n)
		acc := make([]int32, Blocks(n)*Block)
		for i := range n {
			acc[i], q.Bias[i], q.M[i] = int32(r.Uint32())>>r.IntN(32), int32(r.Uint32())>>8, 1<<30+int32(r.Uint32()>>2)
			if r.IntN(3) == 0 {
				q.Left[i] = int32(r.IntN(32))
			} else {
				q.Right[i] = int32(r.IntN(32))
			}
		}
		for _, limits := range [][2]int32{{3, 255}, {-128, 127}} {
			x, y := make([]byte, n), make([]byte, n)
			requantRowAVX2(x, acc, q.Bias, q.M, q.Left, q.Right, 77, 5, limits[0], limits[1])
			requantRowGo(y, acc, q.Bias, q.M, q.Left, q.Right, 77, 5, limits[0], limits[1])
			if !bytes.Equal(x, y) {
				t.Fatalf("requantize: %v, portable %v", x, y)
			}
		}
		c, taps := Block*(1+r.IntN(6)), 1+r.IntN(9)
		x, xw := randomBytes(r, 4*c), make([]int32, 4*c)
		for i := range xw {
			xw[i] = int32(r.IntN(511)) - 255
		}
		xf, xwf := randomFloats(r, 4*c), randomFloats(r, 4*c)
		xOff, wOff := make([]int, taps), make([]int, taps)
		for i := range taps {
			xOff[i], wOff[i] = r.IntN(3*c+1), r.IntN(3*c+1)
		}
		d, e := make([]int32, c), make([]int32, c)
		depthwiseAVX2(&d[0], &x[0], &xw[0], &xOff[0], &wOff[0], taps, c, 99)
		depthwiseTapsGo(e, x, xw, xOff, wOff, 99, c)
		if !slices.Equal(d, e) {
			t.Fatalf("depthwise: n=%d taps=%d differs", c, taps)
		}
		df, ef := make([]float32, c), make([]float32, c)
		depthwiseFloatAVX2(&df[0], &xf[0], &xwf[0], &xOff[0], &wOff[0], taps, c)
		depthwiseTapsF32Go(ef, xf, xwf, xOff, wOff, c)
		if !slices.Equal(df, ef) {
			t.Fatalf("float depthwise: n=%d taps=%d differs", c, taps)
		}
		biasClampAVX2(&df[0], &ef[0], &xf[0], c, -1, 1)
		biasClampGo(ef, ef, xf[:c], -1, 1)
		if !slices.Equal(df, ef) {
			t.Fatalf("bias and clamp of %d differ", c)
		}
		if s := randomBytes(r, 32*(1+r.IntN(9))); sumBytesAVX2(&s[0], len(s)) != int64(sumBytesGo(s)) {
			t.Fatalf("sum of %d bytes differs", len(s))
		}
	}
}
