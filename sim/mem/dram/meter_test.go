package dram_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// TestMeasure: reads that are requested at once count when the bus carries them, so that no span has more than the pins
// carry, and all of them together are the traffic, by master.
func TestMeasure(t *testing.T) {
	const span, blocks, block = 2 * sim.Microsecond, 400, 1024
	d := require.V(dram.New(memtest.LPDDR4X()))(t)
	cfg := d.Config()
	pins := float64(cfg.TransfersPerSec) * float64(cfg.Channels*cfg.BusBits/8) * span.Seconds()
	d.Measure(span, 0)
	for i := range uint64(blocks) {
		d.Master = int(i % 2)
		d.Access(0, i*block, block, mem.Read)
	}
	d.Elapse(3, 40*sim.Microsecond, 41*sim.Microsecond, 1000)
	var all dram.Moved
	spans, next := 0, sim.Time(0)
	sum := func(from, to sim.Time, bytes *dram.Moved) {
		if from != next || to != from+span {
			t.Errorf("span %d is from %v to %v behind %v", spans, from, to, next)
		}
		next = to
		spans++
		total := int64(0)
		for m, n := range bytes {
			all[m] += n
			total += n
		}
		if float64(total) > pins+float64(cfg.BurstBytes()*cfg.Channels) {
			t.Errorf("span %d: %d bytes through pins for %.0f", spans, total, pins)
		}
	}
	d.Measured(5*sim.Microsecond, sum)
	if next != 4*sim.Microsecond {
		t.Errorf("spans until %v have ended by 5 us", next)
	}
	d.Measured(sim.Never, sum)
	if want := (dram.Moved{blocks * block / 2, blocks * block / 2, 2: 0, 3: 1000}); all != want {
		t.Errorf("measured %v, moved %v", all, want)
	}
	if least := int(blocks * block / pins); spans < least {
		t.Errorf("%d spans, the pins need %d", spans, least)
	}
	d.Measure(0, 0)
	d.Access(0, 0, block, mem.Read)
	d.Measured(sim.Never, func(sim.Time, sim.Time, *dram.Moved) { t.Error("measured without a length") })
}
