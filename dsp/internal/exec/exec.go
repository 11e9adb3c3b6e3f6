// Package exec is the semantics of instructions: one function per operation, the scalar ones in exec/scalar, those of
// the vector unit in exec/hvx, each package with its part of the table. Package dsp/internal/asm has assembly twins for
// the operations of inner loops.
package exec

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/hvx"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/scalar"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"sync"
)

// table holds the semantics of every instruction form: those of the scalar and of the vector
// unit. Forms that execute under a scalar predicate are not in it, see Guarded. The first call
// of Of fills it: processes without a DSP have none.
var (
	table  family.Table
	filled sync.Once
)

func fill() {
	for _, part := range []*family.Table{scalar.Table(), hvx.Table()} {
		for op, f := range part {
			if f != nil {
				table[op] = f
			}
		}
	}
}

// Of is the semantics of an operation, nil when it has none of its own.
func Of(op hexagon.Op) state.Semantic {
	filled.Do(fill)
	return table[op]
}

// Guarded runs an operation, one that Of was called for, when the low bit of its predicate has the required value; a
// memory operation that does not run is marked for the timing model.
func Guarded(t *state.Thread, u *state.Uop) {
	if *t.P(u.Pred)&1 == u.Guard {
		table[u.Op](t, u)
	} else if u.EA != 0 {
		*t.R(u.EA) = state.Skipped
	}
}
