package statistics

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim"
)

// TestJoin: the rows of operations become one whose reasons add up, transfers stay a row of their own.
func TestJoin(t *testing.T) {
	less, most := sim.StallLaunch.String(), sim.Reason(0).String()
	row := func(index int, cycles, macs int64, reason string) hal.OperationStats {
		return hal.OperationStats{Index: index, Cycles: cycles, MACs: macs, Stalls: []hal.StallCycles{{Reason: reason, Cycles: cycles}}}
	}
	s := hal.Stats{Operations: []hal.OperationStats{row(2, 10, 5, less), row(hal.TransferIndex, 4, 0, most), row(0, 30, 7, most)}}
	Join(&s, 6)
	if len(s.Operations) != 2 || s.Operations[0].Index != hal.TransferIndex || s.Operations[0].Cycles != 4 {
		t.Fatalf("%+v", s.Operations)
	}
	o := s.Operations[1]
	var sum int64
	for _, x := range o.Stalls {
		sum += x.Cycles
	}
	if o.Index != 6 || o.Cycles != 40 || o.MACs != 12 || sum != 40 || o.BoundBy != most {
		t.Errorf("%+v", o)
	}
	none := hal.Stats{Operations: []hal.OperationStats{row(hal.TransferIndex, 4, 0, most)}}
	if Join(&none, 1); len(none.Operations) != 1 {
		t.Errorf("%+v", none.Operations)
	}
}
