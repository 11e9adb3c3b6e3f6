package dram_test

import (
	"fmt"

	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// turns is a scheduler written outside the package: all row hits of the master that has the row may pass, those of
// other masters none.
type turns struct{ favoured int }

// Earliest implements dram.Scheduler: no order between banks.
func (turns) Earliest(r dram.Request, _ int64) int64 { return r.Enter }

// MayPass implements dram.Scheduler.
func (s turns) MayPass(r dram.Request, _ dram.Activation) bool { return r.Master == s.favoured }

func ExampleScheduler() {
	for _, s := range []dram.Scheduler{dram.FRFCFS{}, turns{favoured: 1}, dram.FCFS{}} {
		c := memtest.LPDDR4X()
		c.Scheduler = s
		d, err := dram.New(c)
		if err != nil {
			fmt.Println(err)
			return
		}
		// Two rows of a bank alternate: the third read finds the row of the first.
		var last sim.Time
		for i := range uint64(3) {
			done, _ := d.Access(0, i%2*memtest.BankSpan+i*32, 32, mem.Read)
			last = max(last, done)
		}
		fmt.Printf("%T: %d activates\n", s, d.Counters()[dram.Activate].Value)
	}
	// Output:
	// dram.FRFCFS: 2 activates
	// dram_test.turns: 3 activates
	// dram.FCFS: 3 activates
}
