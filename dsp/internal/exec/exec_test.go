package exec

import (
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/exec/hvx"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/scalar"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// TestTables: an operation is in the table of its unit alone, and every form that a program may use has semantics, its
// own or those of the form without the predicate.
func TestTables(t *testing.T) {
	if Of(0) != nil || scalar.Table()[0] != nil || hvx.Table()[0] != nil {
		t.Error("no form has semantics")
	}
	vectors := 0
	for op := hexagon.Op(1); int(op) < hexagon.NumOps; op++ {
		f := op.Form()
		own := scalar.Table()[op] != nil
		other := hvx.Table()[op] != nil
		if f.IsHVX() {
			own, other = other, own
			vectors++
		}
		if other {
			t.Errorf("%s is in the table of the other unit", f.Name)
		}
		if own != (Of(op) != nil) {
			t.Errorf("%s: in the table of its unit %v, in the joined one %v", f.Name, own, !own)
		}
		if !own && !f.Has(hexagon.FlagSupervisor|hexagon.FlagUndefined) && (f.Plain == 0 || Of(f.Plain) == nil) {
			t.Errorf("%s has no semantics", f.Name)
		}
	}
	if vectors < 100 || vectors > hexagon.NumOps-100 {
		t.Errorf("%d of %d forms are of the vector unit", vectors, hexagon.NumOps)
	}
}
