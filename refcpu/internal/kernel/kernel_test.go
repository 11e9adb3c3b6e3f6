package kernel

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// These tests hold the loops that the build selects to their portable twins.

func rng() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func randomFloats(r *rand.Rand, n int) []float32 {
	f := make([]float32, n)
	for i := range f {
		f[i] = float32(r.NormFloat64())
	}
	return f
}

func TestDotTile(t *testing.T) {
	r := rng()
	for range 200 {
		k, n, rows := 1+r.IntN(70), 1+r.IntN(TileCols), 1+r.IntN(TileRows)
		quads := Quads(k)
		lda := 4*quads + r.IntN(5)
		a := randomBytes(r, rows*lda)
		w := randomBytes(r, n*k)
		b := make([]int8, PackedBytes(k, n))
		PackS8(b, w, n, k, 0x80)
		var got, want [TileRows * TileCols]int32
		DotTile(&got, a, lda, b, quads, rows, Blocks(n))
		dotTileGo(&want, a, lda, b, quads, rows, Blocks(n))
		for i := range rows {
			for c := range n {
				sum := int32(0)
				for j := range k {
					sum += int32(a[i*lda+j]) * int32(int8(w[c*k+j]^0x80))
				}
				if at := i*TileCols + c; got[at] != sum || want[at] != sum {
					t.Fatalf("k=%d n=%d rows=%d: [%d][%d] is %d, portable %d, plain %d", k, n, rows, i, c, got[at], want[at], sum)
				}
			}
		}
	}
}

func TestFloatTile(t *testing.T) {
	r := rng()
	for range 200 {
		k, n, rows := 1+r.IntN(70), 1+r.IntN(TileCols), 1+r.IntN(TileRows)
		a, w := randomFloats(r, rows*k), randomFloats(r, n*k)
		b := make([]float32, PackedFloats(k, n))
		PackF32(b, w, n, k)
		var got, want [TileRows * TileCols]float32
		FloatTile(&got, a, k, b, k, rows, Blocks(n))
		floatTileGo(&want, a, k, b, k, rows, Blocks(n))
		for i := range rows {
			for c := range n {
				sum := float32(0)
				for j := range k {
					sum += float32(a[i*k+j] * w[c*k+j])
				}
				if at := i*TileCols + c; got[at] != sum || want[at] != sum {
					t.Fatalf("k=%d n=%d rows=%d: [%d][%d] is %v, portable %v, plain %v", k, n, rows, i, c, got[at], want[at], sum)
				}
			}
		}
	}
}

func TestRequant(t *testing.T) {
	r := rng()
	edge := []int32{0, 1, -1, math.MaxInt32, math.MinInt32, 1 << 30, -1 << 30, 1<<30 + 1}
	for range 500 {
		n := 1 + r.IntN(50)
		q := NewRequant(n)
		acc := make([]int32, Blocks(n)*Block)
		for i := range n {
			acc[i] = int32(r.Uint32()) >> r.IntN(32)
			if r.IntN(8) == 0 {
				acc[i] = edge[r.IntN(len(edge))]
			}
			q.Bias[i] = int32(r.Uint32()) >> (8 + r.IntN(24))
			q.M[i] = 1<<30 + int32(r.Uint32()>>2)
			if r.IntN(3) == 0 {
				q.Left[i] = int32(r.IntN(32))
			} else {
				q.Right[i] = int32(r.IntN(32))
			}
		}
		add, zero, lo := int32(r.Uint32())>>r.IntN(32), int32(r.IntN(256)), int32(r.IntN(100))
		got, want := make([]byte, n+1), make([]byte, n+1)
		q.Row(got[:n], acc, 0, add, zero, lo, 200)
		requantRowGo(want[:n], acc, q.Bias, q.M, q.Left, q.Right, add, zero, lo, 200)
		if !bytes.Equal(got, want) {
			t.Fatalf("n=%d: %v, portable %v", n, got, want)
		}
	}
}

func TestDepthwise(t *testing.T) {
	r := rng()
	for range 200 {
		n, taps := Block*(1+r.IntN(9)), r.IntN(10)
		x, w := randomBytes(r, 4*n), make([]int32, 4*n)
		for i := range w {
			w[i] = int32(r.IntN(511)) - 255
		}
		xf, wf := randomFloats(r, 4*n), randomFloats(r, 4*n)
		xOff, wOff := make([]int, taps), make([]int, taps)
		for i := range taps {
			xOff[i], wOff[i] = r.IntN(3*n+1), r.IntN(3*n+1)
		}
		got, want := make([]int32, n), make([]int32, n)
		DepthwiseTaps(got, x, w, xOff, wOff, 77, n)
		depthwiseTapsGo(want, x, w, xOff, wOff, 77, n)
		if !slices.Equal(got, want) {
			t.Fatalf("n=%d taps=%d: %v, portable %v", n, taps, got, want)
		}
		gotF, wantF := make([]float32, n), make([]float32, n)
		DepthwiseTapsF32(gotF, xf, wf, xOff, wOff, n)
		depthwiseTapsF32Go(wantF, xf, wf, xOff, wOff, n)
		if !slices.Equal(gotF, wantF) {
			t.Fatalf("float: n=%d taps=%d: %v, portable %v", n, taps, gotF, wantF)
		}
	}
}

func TestTapOutside(t *testing.T) {
	defer func() {
		require.Check(t, recover() != nil, "a tap outside its operand was read")
	}()
	DepthwiseTaps(make([]int32, 16), make([]byte, 16), make([]int32, 16), []int{1}, []int{0}, 0, 16)
}

func TestSumFlipBias(t *testing.T) {
	r := rng()
	nan := float32(math.NaN())
	for range 200 {
		b := randomBytes(r, r.IntN(300))
		sum := int32(0)
		for _, v := range b {
			sum += int32(v)
		}
		if got := SumBytes(b); got != sum {
			t.Fatalf("sum of %d bytes is %d, want %d", len(b), got, sum)
		}
		f := make([]byte, len(b))
		Flip(f, b)
		for i := range f {
			if f[i] != b[i]^0x80 {
				t.Fatalf("byte %d of %d is %#x, want %#x", i, len(b), f[i], b[i]^0x80)
			}
		}
		n := 1 + r.IntN(60)
		acc, bias := randomFloats(r, n), randomFloats(r, n)
		acc[r.IntN(n)] = nan
		acc[r.IntN(n)] = float32(math.Inf(1))
		got, want := make([]float32, n), make([]float32, n)
		BiasClamp(got, acc, bias, 0, 1)
		biasClampGo(want, acc, bias, 0, 1)
		for i := range got {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) && !(got[i] != got[i] && want[i] != want[i]) {
				t.Fatalf("element %d of %d is %v, portable %v", i, n, got[i], want[i])
			}
		}
	}
}

// TestGenerated runs the generator and compares with the committed files,
// except for the first line, which holds the command.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a test without -short")
	}
	dir := t.TempDir()
	s, g := filepath.Join(dir, "k.s"), filepath.Join(dir, "k.go")
	if out, err := exec.Command("go", "run", "./gen", "-out", s, "-stubs", g, "-pkg", "kernel").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range [][2]string{{s, "zkernel_amd64.s"}, {g, "zkernel_amd64.go"}} {
		got := require.File(t, p[0])
		want := require.File(t, p[1])
		_, got, _ = bytes.Cut(got, []byte("\n"))
		_, want, _ = bytes.Cut(want, []byte("\n"))
		require.Check(t, bytes.Equal(got, want), "%s is not what the generator writes: run go generate", p[1])
	}
}

func BenchmarkDotTile(b *testing.B) {
	const k = 512
	a := make([]byte, TileRows*k)
	w := make([]int8, PackedBytes(k, TileCols))
	var dst [TileRows * TileCols]int32
	for b.Loop() {
		DotTile(&dst, a, k, w, k/4, TileRows, 4)
	}
	b.ReportMetric(float64(b.N)*k*TileRows*TileCols/b.Elapsed().Seconds()/1e9, "GMAC/s")
}

func BenchmarkFloatTile(b *testing.B) {
	const k = 512
	a := make([]float32, TileRows*k)
	w := make([]float32, PackedFloats(k, TileCols))
	var dst [TileRows * TileCols]float32
	for b.Loop() {
		FloatTile(&dst, a, k, w, k, TileRows, 4)
	}
	b.ReportMetric(float64(b.N)*k*TileRows*TileCols/b.Elapsed().Seconds()/1e9, "GMAC/s")
}
