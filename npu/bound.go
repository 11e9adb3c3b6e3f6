package npu

import "github.com/nnsoc/nnsoc/sim"

// Bound is a bottleneck of an NPU: a class of cycles of a StallTable.
type Bound uint8

// The classes, in the order of reports.
const (
	Compute      Bound = iota + 1 // the multipliers work
	WeightDecode                  // the array waits for decoded weights
	OutputUnit                    // the output unit works on an elementwise operation, or holds accumulators
	Scratchpad                    // memory on chip
	DRAM                          // memory off chip
	DMA                           // a copy
	Dependency                    // a kernel in front
	FillDrain                     // the pipeline fills or empties
	Commands                      // the command processor
	Launch                        // from the doorbell to the first command
	NumBounds
)

// String is the name in reports.
func (b Bound) String() string {
	return [NumBounds]string{"none", "compute", "weight decode", "output unit", "scratchpad", "DRAM", "DMA", "dependency", "fill and drain", "commands", "launch"}[b]
}

// boundOf is the class of each reason that an NPU charges; the reasons of other engines count as commands.
var boundOf = func() (of [sim.NumReasons]Bound) {
	for r := range of {
		of[r] = Commands
	}
	for r, b := range map[sim.Reason]Bound{
		sim.StallIssue: Compute, sim.StallWeightDecode: WeightDecode, sim.StallUnit: OutputUnit, sim.StallScratchpad: Scratchpad,
		sim.StallDRAM: DRAM, sim.StallSystemCache: DRAM, sim.StallDMA: DMA, sim.StallBarrier: Dependency, sim.StallQueue: Dependency,
		sim.StallDrain: FillDrain, sim.StallLaunch: Launch,
	} {
		of[r] = b
	}
	return of
}()

// Bounds is the cycles of each class; there is none with number 0. They add up to those of the table.
func Bounds(t *sim.StallTable) (b [NumBounds]int64) {
	for r, n := range t {
		b[boundOf[r]] += n
	}
	return b
}

// BoundBy is the class of most cycles, the first of equal ones.
func BoundBy(t *sim.StallTable) Bound {
	b, most := Bounds(t), Compute
	for i := range b {
		if b[i] > b[most] {
			most = Bound(i)
		}
	}
	return most
}
