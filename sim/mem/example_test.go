package mem_test

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// turns is a scheduler written outside the package: as many row hits of the master
// that has the row pass as it takes, none of another.
type turns struct{ favoured int }

// Earliest implements mem.Scheduler: no order between banks.
func (turns) Earliest(r mem.Request, _ int64) int64 { return r.Enter }

// MayPass implements mem.Scheduler.
func (s turns) MayPass(r mem.Request, _ mem.Activation) bool { return r.Master == s.favoured }

func ExampleScheduler() {
	for _, s := range []mem.Scheduler{mem.FRFCFS{}, turns{favoured: 1}, mem.FCFS{}} {
		c := lpddr4x()
		c.Scheduler = s
		d, err := mem.NewDRAM(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		// Two rows of a bank in turn: the third read finds the row of the first.
		var last sim.Time
		for i := range uint64(3) {
			done, _ := d.Access(0, i%2*bankSpan+i*32, 32, mem.Read)
			last = max(last, done)
		}
		fmt.Printf("%T: %d activates\n", s, d.Counters()[mem.DRAMActivate].Value)
	}
	// Output:
	// mem.FRFCFS: 2 activates
	// mem_test.turns: 3 activates
	// mem.FCFS: 3 activates
}
