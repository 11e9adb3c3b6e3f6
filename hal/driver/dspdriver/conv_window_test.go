package dspdriver

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestRandomWindow runs convolutions with the kernel of the Z window, whether or not it is the one chosen: inputs on vectors
// and between them, filter zero points above and below 128 and equal to it, vectors of one, two and four positions.
func TestRandomWindow(t *testing.T) {
	d := device(t)
	forms := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 35))
		b := newBuilder(r)
		n, h, w := 1+r.IntN(2), 4+r.IntN(9), 4+r.IntN(9)
		c := pick(r, 3, 8, 20, 32, 48, 64, 80, 128, 160, 256)
		k := pick(r, 8, 16, 24, 32, 40, 64, 96, 100, 128, 144, 200, 256, 300)
		kh, kw, sh, sw := 1, 1, 1, 1
		if r.IntN(2) == 0 {
			kh, kw, sh, sw = 1+r.IntN(3), 1+r.IntN(3), 1+r.IntN(2), 1+r.IntN(2)
		}
		x, what := b.conv(n, h, w, c, k, kh, kw, sh, sw)
		for _, name := range runCandidates(t, d, b, x, fmt.Sprintf("%d_%s", seed, what), "window") {
			kind, _, _ := strings.Cut(name, "_")
			if strings.Contains(name, "_s") { // it has window sums
				kind += " with sums"
			}
			forms[kind]++
		}
	}
	for _, kind := range []string{"window", "windowv", "window with sums", "windowv with sums", "windown with sums", "windowvn with sums"} {
		require.Check(t, forms[kind] > 1, "%d kernels of the form %q: %v", forms[kind], kind, forms)
	}
}
