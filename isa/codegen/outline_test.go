package codegen

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestOutline: the estimate of a section equals its schedule, for the units of the machine, for a chain of operands,
// and in the sum over random functions.
func TestOutline(t *testing.T) {
	outlined := func(emit func(f *Func)) (outline, code []int) {
		f := New(newToy(30), "outline")
		emit(f)
		outline = require.V(f.Outline())(t)
		c := require.V(f.Compile())(t)
		return outline, c.Sections
	}
	for _, c := range []struct {
		name string
		emit func(f *Func)
	}{
		{"units", func(f *Func) { // one multiplier
			x := f.Reg(clsS, "x")
			f.Emit(opSet, Out(x), Imm(1))
			for range 9 {
				y := f.Reg(clsS, "y")
				f.Emit(opMul, Out(y), In(x), In(x))
				f.Emit(opAdd, Out(f.Reg(clsS, "z")), In(y), In(x))
			}
		}},
		{"a chain", func(f *Func) {
			x := f.Reg(clsS, "x")
			f.Emit(opSet, Out(x), Imm(1))
			for range 9 {
				f.Emit(opMul, Out(x), In(x), In(x))
			}
			f.Emit(opStore, Imm(0), In(x)).Stores(1)
		}},
		{"sections", func(f *Func) {
			v := f.Reg(clsS, "v")
			f.Emit(opSet, Out(v), Imm(1))
			f.Section(2, func() {
				head := f.Label("head")
				f.Bind(head)
				f.Emit(opAdd, Out(v), In(v), In(v))
				f.Emit(opAdd, Out(v), In(v), In(v))
				f.EndLoop(0, head, 0)
			})
			f.Emit(opStore, Imm(0), In(v)).Stores(1)
		}},
		{"memory", func(f *Func) { // stores of one class keep their order, a load waits for them
			v, w := f.Reg(clsS, "v"), f.Reg(clsS, "w")
			f.Emit(opSet, Out(v), Imm(1))
			for range 4 {
				f.Emit(opStore, Imm(0), In(v)).Stores(1)
			}
			f.Emit(opLoad, Out(w), Imm(0)).Loads(1)
			f.Emit(opStore, Imm(1), In(w)).Stores(2)
		}},
	} {
		if got, want := outlined(c.emit); !slices.Equal(got, want) {
			t.Errorf("%s: sections %v, its schedule has %v", c.name, got, want)
		}
	}
	var sum, scheduled int
	for seed := range uint64(60) {
		f := randomFunc(newToy(30), rand.New(rand.NewPCG(seed, 9)), 6)
		o := require.V(f.Outline())(t)
		c, err := f.Compile()
		if err != nil {
			continue
		}
		for i := range o {
			sum, scheduled = sum+o[i], scheduled+c.Sections[i]
		}
	}
	if ratio := float64(sum) / float64(scheduled); !(ratio > 0.9 && ratio < 1.1) {
		t.Errorf("random functions take %d cycles, their schedules %d", sum, scheduled)
	}
}
