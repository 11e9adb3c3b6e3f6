// Command asmgen writes the assembly of the vector unit's hot operations, for
// AVX-512 and for AVX2, from one description of each.
//
// Every routine handles whole rows: for the lanes i of mask m it computes d[i] = f(a[i], b[i], c[i]) and returns the
// lanes left undone: those of a block whose result needs care (a NaN), and with AVX2 all lanes when m is not full. The
// caller finishes them with the portable code.
//
// A batch does the same for consecutive operations, whose registers are passed as offsets.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("amd64,!purego")
	for _, o := range ops {
		emit(o, true, false)
		emit(o, false, false)
	}
	for _, o := range ops {
		if spreads[o.name] {
			emit(o, true, true)
			emit(o, false, true)
		}
	}
	for _, o := range ops {
		for i := range 4 {
			if batched[o.name] {
				emitBatch(o, i&1 == 0, i&2 != 0)
			}
		}
	}
	for _, wide := range []bool{true, false} {
		for _, typ := range []string{"I", "U", "F"} {
			emitCompare(typ, wide)
		}
		emitSplat(wide)
		emitSelect(wide, false)
		emitSelect(wide, true)
	}
	emitRegular()
	emitDeinterleave(false)
	emitDeinterleave(true)
	emitGather()
	emitAddresses()
	emitNeighbours()
	emitApart()
	Generate()
}
