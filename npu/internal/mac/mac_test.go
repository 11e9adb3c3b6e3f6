package mac

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func randomBytes(r *rand.Rand, n int) []byte {
	s := make([]byte, n)
	for i := range s {
		s[i] = byte(r.Uint32())
	}
	return s
}

// Every form of this machine computes the sums of the definition.
func TestDotU8(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ channels, runLen, runs int }{{16, 4, 1}, {5, 8, 3}, {33, 64, 1}, {64, 12, 3}, {130, 36, 2}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			depth := c.runLen * c.runs
			weights := make([]int16, c.channels*depth)
			for i := range weights {
				weights[i] = int16(r.IntN(256) - 128 + 7)
			}
			w := PackU8(weights, c.channels, c.runs, c.runLen, 7, false)
			padded := (c.channels + 15) / 16 * 16
			a := randomBytes(r, 4096)
			var pix [TileU8]int32
			for i := range pix {
				pix[i] = int32(r.IntN(1024))
			}
			var runs []int32
			for i := range c.runs {
				runs = append(runs, int32(i*200))
			}
			got, portable := make([]int32, TileU8*padded), make([]int32, TileU8*padded)
			for o := 0; o < padded; o += GroupU8 * VectorU8 {
				v := min(GroupU8, (padded-o)/VectorU8)
				DotU8(got[o:], padded, a, &pix, runs, c.runLen/4, w[o*depth:], v)
				dotU8(portable[o:], padded, a, &pix, runs, c.runLen/4, w[o*depth:], v)
			}
			for m := range pix {
				for o := range c.channels {
					var want int32
					for k := range depth {
						want += int32(a[pix[m]+runs[k/c.runLen]+int32(k%c.runLen)]) * int32(weights[o*depth+k]-7)
					}
					if got[m*padded+o] != want || portable[m*padded+o] != want {
						t.Fatalf("pixel %d channel %d: %d, portable %d, want %d", m, o, got[m*padded+o], portable[m*padded+o], want)
					}
				}
			}
		})
	}
}

func TestDotI16(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ channels, runLen, runs int }{{16, 4, 1}, {5, 8, 3}, {33, 64, 1}, {64, 12, 3}} {
		depth := c.runLen * c.runs
		weights := make([]int16, c.channels*depth)
		for i := range weights {
			weights[i] = int16(r.IntN(511) - 255)
		}
		w := PackI16(weights, c.channels, c.runs, c.runLen)
		padded := (c.channels + 15) / 16 * 16
		a := make([]int16, 4096)
		for i := range a {
			a[i] = int16(r.IntN(511) - 255)
		}
		var pix [TileI16]int32
		for i := range pix {
			pix[i] = int32(r.IntN(1024))
		}
		var runs []int32
		for i := range c.runs {
			runs = append(runs, int32(i*200))
		}
		got, portable := make([]int32, TileI16*padded), make([]int32, TileI16*padded)
		for o := 0; o < padded; o += WidthI16 {
			DotI16(got[o:], padded, a, &pix, runs, c.runLen/4, w[o*depth:])
			dotI16(portable[o:], padded, a, &pix, runs, c.runLen/4, w[o*depth:])
		}
		for m := range pix {
			for o := range c.channels {
				var want int32
				for k := range depth {
					want += int32(a[pix[m]+runs[k/c.runLen]+int32(k%c.runLen)]) * int32(weights[o*depth+k])
				}
				if got[m*padded+o] != want || portable[m*padded+o] != want {
					t.Fatalf("%v pixel %d channel %d: %d, portable %d, want %d", c, m, o, got[m*padded+o], portable[m*padded+o], want)
				}
			}
		}
	}
}

func TestDepthwise(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct{ channels, taps, pixels, step int }{{16, 9, 1, 16}, {32, 9, 7, 32}, {24, 4, 13, 64}, {16, 25, 4, 32}} {
		groups := (c.channels + 15) / 16
		weights := make([]int16, c.channels*c.taps)
		for i := range weights {
			weights[i] = int16(r.IntN(511) - 255)
		}
		w := PackDepthwise(c.channels, c.taps, func(ch, tap int) int16 { return weights[ch*c.taps+tap] })
		if n := groups * ((c.taps + 1) / 2) * 32; len(w) != n {
			t.Errorf("%v: %d weights, want %d", c, len(w), n)
		}
		a := make([]int16, 8192)
		for i := range a {
			a[i] = int16(r.IntN(511) - 255)
		}
		var taps []int32
		for i := range c.taps {
			taps = append(taps, int32(i*groups*16))
		}
		padded := slices.Clone(taps)
		if len(padded)&1 == 1 {
			padded = append(padded, padded[len(padded)-1])
		}
		stride := groups * 16
		got, portable := make([]int32, c.pixels*stride), make([]int32, c.pixels*stride)
		for g := range groups {
			block := w[g*len(padded)*16:]
			Depthwise(got[g*16:], stride, a[g*16:], c.step, c.pixels, padded, block)
			depthwise(portable[g*16:], stride, a[g*16:], c.step, c.pixels, padded, block)
		}
		for p := range c.pixels {
			for ch := range c.channels {
				var want int32
				for i, tap := range taps {
					want += int32(a[p*c.step+int(tap)+ch]) * int32(weights[ch*c.taps+i])
				}
				if got[p*stride+ch] != want || portable[p*stride+ch] != want {
					t.Fatalf("%v pixel %d channel %d: %d, portable %d, want %d", c, p, ch, got[p*stride+ch], portable[p*stride+ch], want)
				}
			}
		}
	}
}

// TestReach: a tile may read up to the last element of its input; one element less, a run or
// a pixel further on, and the loops panic, as an index would.
func TestReach(t *testing.T) {
	const stride, quads = 64, 2
	pixels := func(last int32) (p [TileU8]int32) { p[TileU8-1] = last; return p }
	words := func(last int32) (p [TileI16]int32) { p[TileI16-1] = last; return p }
	runs := []int32{1, 9}
	for _, c := range []struct {
		name string
		run  func(less int, last int32, runs []int32)
	}{
		{"DotU8", func(less int, last int32, runs []int32) {
			pix := pixels(last)
			DotU8(make([]int32, TileU8*stride), stride, make([]byte, 5+9+4*quads-less), &pix, runs, quads, make([]int8, 2*quads*4*VectorU8), 1)
		}},
		{"DotI16", func(less int, last int32, runs []int32) {
			pix := words(last)
			DotI16(make([]int32, TileI16*stride), stride, make([]int16, 5+9+4*quads-less), &pix, runs, quads, make([]int16, 2*quads*4*WidthI16))
		}},
		{"Depthwise", func(less int, last int32, runs []int32) {
			Depthwise(make([]int32, 3*stride), stride, make([]int16, 2*int(last)+9+16-less), int(last), 3, runs, make([]int16, 2*16))
		}},
	} {
		panics := func(less int, last int32, runs []int32) (yes bool) {
			defer func() { yes = recover() != nil }()
			c.run(less, last, runs)
			return false
		}
		if panics(0, 5, runs) {
			t.Errorf("%s: a tile within its input panics", c.name)
		}
		if !panics(1, 5, runs) || !panics(0, 5, []int32{1, 10}) || c.name != "Depthwise" && !(panics(0, 6, runs) && panics(0, 5, []int32{-1, 9})) {
			t.Errorf("%s: a tile reads outside its input", c.name)
		}
	}
}

// TestFits: loops write the last sum and read the last weight that there is; one less of either, and they panic.
func TestFits(t *testing.T) {
	const stride, quads = 100, 2
	runs := []int32{0, 9}
	a, words := make([]byte, 64), make([]int16, 64)
	for vectors := 1; vectors <= 4; vectors++ {
		sums, weights := (TileU8-1)*stride+vectors*VectorU8, len(runs)*quads*4*vectors*VectorU8
		for _, c := range []struct{ sums, weights int }{{0, 0}, {1, 0}, {0, 1}} {
			panics := func() (yes bool) {
				defer func() { yes = recover() != nil }()
				DotU8(make([]int32, sums-c.sums), stride, a, new([TileU8]int32), runs, quads, make([]int8, weights-c.weights), vectors)
				return
			}()
			if panics != (c.sums+c.weights > 0) {
				t.Errorf("DotU8 of %d vectors without %d sums and %d weights panics: %t", vectors, c.sums, c.weights, panics)
			}
		}
	}
	sums, weights := (TileI16-1)*stride+WidthI16, len(runs)*quads*4*WidthI16
	for _, c := range []struct{ sums, weights int }{{0, 0}, {1, 0}, {0, 1}} {
		panics := func() (yes bool) {
			defer func() { yes = recover() != nil }()
			DotI16(make([]int32, sums-c.sums), stride, words, new([TileI16]int32), runs, quads, make([]int16, weights-c.weights))
			return
		}()
		if panics != (c.sums+c.weights > 0) {
			t.Errorf("DotI16 without %d sums and %d weights panics: %t", c.sums, c.weights, panics)
		}
	}
}

func TestRequant(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 1 << 14
	acc, bias := make([]int32, n), make([]int32, n)
	scale, shift := make([]int32, n), make([]int32, n)
	for i := range acc {
		acc[i] = int32(r.Uint32()) >> (r.IntN(20) + 2)
		bias[i] = int32(r.Uint32()) >> 8
		scale[i] = int32(r.Uint32() >> 1)
		shift[i] = int32(r.IntN(31))
		if i%5 == 0 { // ties
			acc[i], bias[i], scale[i] = acc[i]&^1<<1|int32(i&1), -3, 1<<30
			shift[i] = 1
		}
	}
	for _, c := range [][3]int32{{0, -128, 127}, {-128, -128, 127}, {3, 0, 255}, {128, 10, 200}} {
		got, want := make([]byte, n), make([]byte, n)
		Requant(got, acc, bias, 3, scale, shift, c[0], c[1], c[2])
		requant(want, acc, bias, 3, scale, shift, c[0], c[1], c[2])
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%v element %d: %d, want %d (acc %d bias %d scale %d shift %d)", c, i, got[i], want[i], acc[i], bias[i], scale[i], shift[i])
			}
		}
	}
}

func BenchmarkDotU8(b *testing.B) {
	const channels, depth = 64, 512
	w := make([]int8, channels*depth)
	a := make([]byte, 6*depth)
	acc := make([]int32, TileU8*channels)
	var pix [TileU8]int32
	for i := range pix {
		pix[i] = int32(i * depth)
	}
	runs := []int32{0}
	for b.Loop() {
		DotU8(acc, channels, a, &pix, runs, depth/4, w, 4)
	}
	b.ReportMetric(float64(TileU8*channels*depth)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
}

// The committed assembly is the output of its generator.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a test without -short, since it runs the generator")
	}
	dir := t.TempDir()
	names := []string{"zmac_amd64.s", "zmac_amd64.go"}
	out, err := exec.Command("go", "run", "./gen", "-out", filepath.Join(dir, names[0]), "-stubs", filepath.Join(dir, names[1]), "-pkg", "mac").CombinedOutput()
	if err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	// The first line holds the command, which names the files.
	body := func(path string) []byte {
		b := require.File(t, path)
		_, b, _ = bytes.Cut(b, []byte("\n"))
		return b
	}
	for _, n := range names {
		if !bytes.Equal(body(filepath.Join(dir, n)), body(n)) {
			t.Errorf("%s is not what the generator writes: run go generate ./npu/...", n)
		}
	}
}
