// Package scalar has the semantics of the scalar instructions. Operand order is that of the
// assembly text; Arg[0] is the destination.
package scalar

import (
	"sync"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
)

// Table holds the semantics of the scalar instruction forms, indexed by operation.
// Forms that execute under a scalar predicate are not in it: they run the
// semantics of the form without the predicate behind a guard (hexagon.Form.Plain).
// It is never written to.
var Table = sync.OnceValue(func() *family.Table {
	return families(family.Of(aluRows, cabacRows, compoundRows, ctrlRows, dotRows, estimateRows, fieldRows, floatRows,
		halfRows, laneRows, memRows, mpyRows, polyRows, roundRows, shiftRows, systemRows))
})
