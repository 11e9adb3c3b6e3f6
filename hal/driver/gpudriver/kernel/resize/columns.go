package resize

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/rdna"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// A lane of the form with windows computes four neighbouring bytes of a row of the output. What it reads of a row of the
// input lies close together: it loads windows of eight bytes and picks its own by V_PERM_B32, whose selectors a table
// has, as they depend on the column. Three channels, twice as many columns, bytes 4 to 7 of the output:
//
//	output   p1.b   p1.r  p2.r  p2.g     of columns 1, 1, 2, 2
//	left     q0.b   ...                  a window from the least of their bytes on, so does right
//
// One window has the bytes of the left and of the right column, or each has its own.

// Elements of a lane, bytes of a window.
const (
	perLane     = 4
	windowBytes = 8
)

// reach is the bytes that a lane reads of a row of the input, of the left and of the right column.
func (k *Kernel) reach(lane int) (at [2][perLane]int) {
	start := min(perLane*lane, k.OutW*k.C-perLane)
	for i := range perLane {
		lo, hi, _, _ := position(&k.X, (start+i)/k.C)
		at[0][i], at[1][i] = lo*k.C+(start+i)%k.C, hi*k.C+(start+i)%k.C
	}
	return at
}

// window begins at the least of some bytes, or so that it ends with the row; it reports whether it has all of them.
func (k *Kernel) window(at ...int) (base int, all bool) {
	least, most := at[0], at[0]
	for _, x := range at {
		least, most = min(least, x), max(most, x)
	}
	base = max(min(least, k.W*k.C-windowBytes), 0)
	return base, most-base < windowBytes
}

// windows are the windows of a lane that has so many: where they begin, and whether they have its bytes.
func (k *Kernel) windows(lane, n int) (base [2]int, ok bool) {
	at := k.reach(lane)
	switch {
	case !k.Bilinear:
		base[0], ok = k.window(at[0][:]...)
	case n == 1:
		base[0], ok = k.window(append(at[0][:], at[1][:]...)...)
		base[1] = base[0]
	default:
		var right bool
		base[0], ok = k.window(at[0][:]...)
		base[1], right = k.window(at[1][:]...)
		ok = ok && right
	}
	return base, ok
}

// fewestWindows are the windows that the lanes of a row need; 0 where they have none.
func (k *Kernel) fewestWindows() int {
	if k.In.Elem.Bytes() > 1 || k.OutW*k.C < perLane {
		return 0
	}
	for n := 1; n <= 2; n++ {
		fits, lane := true, 0
		for own := (Form{Windows: n}); fits && lane < k.with(own).lanes(); lane++ {
			_, fits = k.windows(lane, n)
		}
		if fits {
			return n
		}
	}
	return 0
}

// windowTable are records of lanes: where the windows begin and the selectors of the bytes of the left and of the
// right column, and behind them the weights of the right one for each byte.
func (k *Kernel) windowTable() (w []uint32) {
	for lane := range k.lanes() {
		at := k.reach(lane)
		base, _ := k.windows(lane, k.Windows)
		var picks [2]uint32
		for side := range at {
			for i, x := range at[side] {
				picks[side] |= uint32(x-base[side]) << (8 * i)
			}
		}
		if w = append(w, uint32(base[0]), picks[0]); !k.Bilinear {
			continue
		}
		w = append(w, uint32(base[1]), picks[1])
		start := min(perLane*lane, k.OutW*k.C-perLane)
		for i := range perLane {
			_, _, _, far := position(&k.X, (start+i)/k.C)
			w = append(w, math.Float32bits(far))
		}
	}
	return w
}

// placeWindows loads a lane's record, and is its place in a row of the output.
func (g *generator) placeWindows(lane codegen.Reg) codegen.Reg {
	table := g.Pointer(layout.Consts, g.x, "windows")
	place := g.ShiftLeft(lane, 2, "place")
	if g.OutW*g.C%perLane != 0 {
		place = g.Least(place, g.OutW*g.C-perLane)
	}
	if !g.Bilinear {
		record := g.LoadQuad(layout.F16, table, g.ShiftLeft(lane, 3, "record"), 0) // two words
		g.left[0], g.picks[0] = rdna.At(record, 0), rdna.At(record, 1)
		return place
	}
	off := g.ShiftLeft(lane, 5, "record")
	record, far := g.LoadQuad(layout.F32, table, off, 0), g.LoadQuad(layout.F32, table, off, 16)
	for side := range 2 {
		g.left[side], g.picks[side] = rdna.At(record, 2*side), rdna.At(record, 2*side+1)
	}
	for i := range perLane {
		g.across[1][i] = rdna.At(far, i)
		g.across[0][i] = g.Op2(rdna2.V_SUB_F32_E32, g.V("near"), float32(1), g.across[1][i])
	}
	return place
}

// pick takes the bytes of a corner from a window.
func (g *generator) pick(corner int, window codegen.Reg) {
	g.Op3(rdna2.V_PERM_B32, g.corners[corner], rdna.At(window, 1), rdna.At(window, 0), g.picks[corner%2])
}
