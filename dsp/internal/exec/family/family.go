// Package family builds tables of semantics: forms whose tags consist of parts, each of which describes one property of
// the operation, are added by loops over the parts.
package family

import (
	"sync"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Table holds the semantics of instruction forms, indexed by operation.
type Table [hexagon.NumOps]state.Semantic

// Row is a form with its semantics.
type Row = struct {
	Op       hexagon.Op
	Semantic state.Semantic
}

// Of is the table of all rows. It panics where two are of one form.
func Of(lists ...[]Row) (t Table) {
	for _, rows := range lists {
		for _, r := range rows {
			if t[r.Op] != nil {
				panic(r.Op.Form().Name + " has two rows")
			}
			t[r.Op] = r.Semantic
		}
	}
	return t
}

// tags are the forms by LLVM's tag.
var tags = sync.OnceValue(func() map[string]hexagon.Op {
	m := map[string]hexagon.Op{}
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
		m[op.Form().Name] = op
	}
	return m
})

// Put sets the semantics of a member of a family: where the instruction set has the form, for no family is complete,
// and where the table has no row for it, as it has for forms of inner loops.
func (t *Table) Put(tag string, f state.Semantic) {
	if op := tags()[tag]; op != 0 && t[op] == nil {
		t[op] = f
	}
}
