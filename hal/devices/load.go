package devices

import "github.com/nnsoc/nnsoc/sim"

// measured is what package runtime/partition/cost knows of an operation, times in femtoseconds.
type measured = struct{ TimeFs, Cycles, EnergyPJ, DRAMBytes, Waits float64 }

// LoadOf is a measured load as an engine of an outline has it.
func LoadOf[W ~struct{ TimeFs, Cycles, EnergyPJ, DRAMBytes, Waits float64 }](at func(hz, memoryHz int64) ([]W, error)) Load {
	return Load{At: func(hz, memoryHz int64) ([]Work, error) {
		list, err := at(hz, memoryHz)
		works := make([]Work, len(list))
		for i, x := range list {
			w := measured(x)
			works[i] = Work{Time: sim.Time(w.TimeFs), Cycles: int64(w.Cycles), EnergyPJ: w.EnergyPJ, DRAMBytes: int64(w.DRAMBytes), Waits: w.Waits}
		}
		return works, err
	}}
}
