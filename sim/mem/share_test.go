package mem_test

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// entries notes the order in which masters enter.
type entries struct{ log []string }

func (e *entries) Enter(t sim.Time, master int) { e.log = append(e.log, fmt.Sprint(master, "@", t)) }

// TestShare: every access of every port passes the arbiter, and a master that
// starts anew leaves the memory that others use alone.
func TestShare(t *testing.T) {
	d := newDRAM(t, nil)
	bus := newBus(t, d, 0)
	a, b := bus.Port("a"), bus.Port("b")
	var e entries
	bus.Share(&e)
	read(a, 5, 0, 64)
	write(b, 7, 0, 64)
	read(b, 9, 0, 4096)
	write(a, 11, 0, 4096)
	if got := fmt.Sprint(e.log); got != "[0@5 1@7 1@9 0@11]" {
		t.Errorf("entered %s", got)
	}
	a.Reset()
	if d.Counters()[mem.DRAMReadBurst].Value == 0 {
		t.Error("a port emptied the memory behind a shared bus")
	}
	bus.Reset()
	if d.Counters()[mem.DRAMReadBurst].Value != 0 {
		t.Error("the bus keeps its counters")
	}
	bus.Share(nil)
	read(a, 5, 0, 64)
	a.Reset()
	if d.Counters()[mem.DRAMReadBurst].Value != 0 || len(e.log) != 4 {
		t.Error("the bus is still shared")
	}
}
