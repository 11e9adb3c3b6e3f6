package coretest

import (
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Flat is a memory with the same latency for every access, which it counts. The latency of the zero value is 100 ns.
type Flat struct {
	Latency       sim.Time
	Reads, Writes int
	Bytes         int64
	Resets        int
	PJ, MW        float64 // of an access, and of waiting for one
}

// Energy implements mem.Powered.
func (f *Flat) Energy() (dynamicPJ, backgroundMW float64) {
	return f.PJ * float64(f.Reads+f.Writes), f.MW
}

// Access implements mem.Level.
func (f *Flat) Access(t sim.Time, _ uint64, bytes int, k mem.Kind) (sim.Time, sim.Reason) {
	if k == mem.Write {
		f.Writes++
	} else {
		f.Reads++
	}
	f.Bytes += int64(bytes)
	latency := f.Latency
	if latency == 0 {
		latency = 100 * sim.Nanosecond
	}
	return t + latency, sim.StallDRAM
}

// Reset implements mem.Level.
func (f *Flat) Reset() { f.Resets++ }
