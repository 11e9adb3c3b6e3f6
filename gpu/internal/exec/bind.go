// Package exec implements the instructions of RDNA2 on the state of a wave. Bind selects the handler of a decoded
// instruction from the tables of this package: vector_table.go for results of 32 bits, wide.go for those of 64,
// compare.go, mask.go for cross-lane operations and scalar.go; handlers of memory instructions are in package memory. A
// table's entry is the definition of one lane; whole-row routines of package asm agree with it bit for bit. The
// expected values of the definitions are in testdata/values.
package exec

import (
	"github.com/nnsoc/nnsoc/gpu/internal/memory"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Bind sets the handler and the unit of an instruction whose operands are decoded, and adds to dep what the
// handler reads or writes besides. The error names unmodelled features.
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
