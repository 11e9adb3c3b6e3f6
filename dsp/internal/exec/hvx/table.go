// Package hvx has the semantics of the vector instructions. Operand order is that of the
// assembly text; Arg[0] is the destination.
package hvx

import (
	"sync"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
)

// Table holds the semantics of the vector instruction forms, indexed by operation.
// It is never written to.
var Table = sync.OnceValue(func() *family.Table {
	return families(family.Of(aluRows, carryRows, cmpRows, dotRows, gatherRows, histRows, lanesRows, mulRows, permRows, shiftRows))
})
