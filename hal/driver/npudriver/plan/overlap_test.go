package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
)

// touched is the bytes that block i of a kernel reads and writes, one by one.
func touched(k *kernel.Kernel, i int) (reads, writes map[int]bool) {
	reads, writes = map[int]bool{}, map[int]bool{}
	depths, columns := divideUp(k.OFM.C, k.Block.D), divideUp(k.OFM.W, k.Block.W)
	z, x, y := i%depths*k.Block.D, i/depths%columns*k.Block.W, i/depths/columns*k.Block.H
	address := func(f *layout.FeatureMap, y, x, c int) int {
		row := y + f.Row
		if f.Ring > 0 {
			row %= f.Ring
		}
		return f.Addr + row*f.StrideY + x*f.StrideX + c
	}
	for oy := y; oy < min(y+k.Block.H, k.OFM.H); oy++ {
		for ox := x; ox < min(x+k.Block.W, k.OFM.W); ox++ {
			for oz := z; oz < min(z+k.Block.D, k.OFM.C); oz++ {
				writes[address(&k.OFM.FeatureMap, oy, ox, oz)] = true
			}
			if f := k.IFM2; f != nil {
				for c := range f.C {
					reads[address(&f.FeatureMap, min(oy, f.H-1), ox, c)] = true
				}
			}
			for ky := range k.KH {
				for kx := range k.KW {
					iy, ix := oy*k.SY+ky*k.DY-k.Top, ox*k.SX+kx*k.DX-k.Left
					for c := 0; c < k.IFM.C && iy >= 0 && iy < k.IFM.H && ix >= 0 && ix < k.IFM.W; c++ {
						reads[address(&k.IFM.FeatureMap, iy, ix, c)] = true
					}
				}
			}
		}
	}
	return reads, writes
}

func common(a, b map[int]bool) bool {
	for x := range a {
		if b[x] {
			return true
		}
	}
	return false
}

// TestApartBlocks: of random pairs of kernels in little memory no blocks that may be in flight at a time
// share a byte that one of them writes, and where nothing is shared all may be.
func TestApartBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	seen := map[int]int{}
	for range 3000 {
		draw := func() *kernel.Kernel {
			k := window(2+r.IntN(10), 1+r.IntN(3), 1+r.IntN(2), 1, 0, r.IntN(2))
			if k.OFM.H < 1 {
				return nil
			}
			k.IFM.FeatureMap = layout.Dense(16*r.IntN(40), k.IFM.H, 4, 2, 1, false)
			k.OFM.FeatureMap = layout.Dense(16*r.IntN(40), k.OFM.H, 4, 4, 1, false)
			if r.IntN(3) == 0 {
				ring := k.OFM.H + r.IntN(3)
				k.OFM.FeatureMap = k.OFM.Rolled(ring, r.IntN(ring), k.OFM.H)
			}
			if r.IntN(3) == 0 {
				ring := k.IFM.H + r.IntN(3)
				k.IFM.FeatureMap = k.IFM.Rolled(ring, 0, k.IFM.H)
				k.IFM.Row = r.IntN(ring)
			}
			if r.IntN(4) == 0 { // a second input, of all rows or of one for all
				second := layout.Ref{FeatureMap: layout.Dense(16*r.IntN(40), []int{1, k.OFM.H}[r.IntN(2)], 4, 4, 1, false)}
				k.IFM2 = &second
			}
			k.Block = kernel.Block{H: 1 + r.IntN(3), W: 1 + r.IntN(4), D: 1 + r.IntN(4)}
			return k
		}
		a, b := draw(), draw()
		if a == nil || b == nil {
			continue
		}
		n := independentBlocks(a, b)
		seen[n]++
		if n == 0 && !sharesBytes(a, b) {
			t.Fatal("nothing is shared, no block may be in flight")
		}
		one := n == maxBlockDep // with a block more, two meet by their rows
		for i := 0; i < min(n+1, blockCount(b)); i++ {
			for back := 0; back < min(n-i, blockCount(a)); back++ {
				one = one || conflict(a, blockCount(a)-1-back, b, i)
			}
		}
		if !one {
			t.Fatalf("%d in flight, of %+v and %+v one more may be", n, a, b)
		}
		for i := 0; i < min(n, blockCount(b)); i++ {
			for back := 0; back < min(n-1-i, blockCount(a)); back++ {
				readA, writeA := touched(a, blockCount(a)-1-back)
				readB, writeB := touched(b, i)
				if common(writeA, writeB) || common(writeA, readB) || common(readA, writeB) {
					t.Fatalf("%d in flight: block %d of %+v and the last but %d of %+v meet", n, i, b, back, a)
				}
			}
		}
	}
	for n := 1; n <= maxBlockDep; n++ {
		if seen[n] < 10 {
			t.Errorf("%d pairs with %d blocks in flight", seen[n], n)
		}
	}
}
