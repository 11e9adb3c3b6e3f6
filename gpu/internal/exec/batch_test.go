package exec

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/float/floattest"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// TestBatches compares every batch with the portable lane function, operation by operation, on registers
// that operations share.
func TestBatches(t *testing.T) {
	if !asm.HasAVX2 {
		t.Skip("skipped: needs AVX2")
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range asm.Batches {
		b := &asm.Batches[i]
		at := slices.IndexFunc(vectorTable, func(s sem) bool { return s.name == b.Mnemonic })
		if at < 0 {
			t.Errorf("%s: no lane function", b.Mnemonic)
			continue
		}
		twin := laneRow(vectorTable[at].f)
		for round := range 400 {
			if !sameAsTwin(t, r, b.Func, twin, b.Spread, round) {
				t.Fatalf("%s, spread %v, round %d: registers differ", b.Mnemonic, b.Spread, round)
			}
		}
	}
}

// sameAsTwin runs some operations as a batch and one by one.
func sameAsTwin(t *testing.T, r *rand.Rand, fn asm.BatchFunc, twin state.RowFunc, spread bool, round int) bool {
	const regs = 8
	n := 32 << (round & 1)
	m := state.FullMask(n)
	if round%3 == 0 {
		m &= r.Uint64()
	}
	var got [regs*64 + 32]uint32
	for i := range got {
		got[i] = floattest.Value(r)
		if round%8 < 4 {
			got[i] &= 0xBFFFBFFF // few results are NaNs
		}
	}
	want := got
	row := func(f *[len(got)]uint32, bytes uint16) *state.Row { return (*state.Row)(unsafe.Pointer(&f[bytes/4])) }
	ops := make([]state.Packed, 1+r.IntN(9))
	for i := range ops {
		for j := range ops[i] {
			ops[i][j] = uint16(4 * n * r.IntN(regs))
		}
		if round&2 != 0 {
			ops[i][3] = ops[i][0] // accumulates
		}
	}
	scalars := want // the scalar file, which no operation writes
	source := func(f *[len(got)]uint32, bytes uint16) *state.Row {
		if !spread {
			return row(f, bytes)
		}
		var s state.Row
		asm.SplatLanes(&s, scalars[bytes/4], 64)
		return &s
	}
	one := func(f *[len(got)]uint32, i int, m uint64) {
		twin(row(f, ops[i][0]), source(f, ops[i][1]), row(f, ops[i][2]), row(f, ops[i][3]), m, n)
	}
	for i := range ops {
		one(&want, i, m)
	}
	for i := 0; i < len(ops); {
		from := &got[0]
		if spread {
			from = &scalars[0]
		}
		done, rest := fn(&got[0], from, &ops[i], len(ops)-i, m, n)
		if i += done; rest == 0 {
			break
		}
		if i >= len(ops) || rest&^m != 0 {
			t.Fatalf("%d operations of %d done, lanes %#x of %#x left", i, len(ops), rest, m)
		}
		one(&got, i, rest)
		i++
	}
	return got == want
}
