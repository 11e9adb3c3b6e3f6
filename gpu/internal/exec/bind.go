// Package exec is what the instructions of RDNA2 do to the state of a wave. Bind gives a decoded instruction
// its handler out of the tables of this package: vector_table.go for results of 32 bits, wide.go for those of
// 64, compare.go, mask.go for what crosses lanes and scalar.go; those of memory instructions come from package
// memory. A table's entry is the definition of one lane; routines of package asm that do whole rows agree with
// it bit for bit. What the definitions must give stands in testdata/values.
package exec

import (
	"github.com/nnsoc/nnsoc/gpu/internal/memory"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Bind gives an instruction whose operands are decoded its handler, its unit and its class. What the
// handler reads or writes besides goes to dep. The error names what is not modelled.
func Bind(p *state.Program, u *state.Op, dep *state.Deps) error {
	switch f := u.Details.Form; {
	case f.IsVALU():
		err := bindPrepared(p, u, dep)
		if u.Class == state.ClassTrans {
			u.Unit = state.UnitTrans
		}
		return err
	case f.Format >= rdna2.SOP2 && f.Format <= rdna2.SOPP:
		return bindScalar(p, u, dep)
	}
	return memory.Bind(p, u, dep)
}

// Faulting is an instruction that ends the program with an error when it is reached.
func Faulting(err error) state.Op {
	return state.Op{Handler: execBad, Unit: state.UnitControl, Class: state.ClassBranch, Details: &state.Details{Err: err}}
}

func execBad(w *state.Wave, u *state.Op) { w.Fail(u.Details.Err) }

func execNop(*state.Wave, *state.Op) {}
