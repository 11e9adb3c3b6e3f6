package platform

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// TestObserveDRAMEnds: who observes the DRAM sees every byte in spans of 50 us until it ends that; the last to end it
// ends the count.
func TestObserveDRAMEnds(t *testing.T) {
	m := require.V(NewMachine(pixel4(t)))(t)
	const bytes = 4 << 20
	execute := func() {
		t.Helper()
		_, err := m.Execute(Request{Engine: soc.EngineNPU, Buffers: 1}, func(k Conditions) (Outcome, error) {
			last := sim.Time(0)
			for at := uint64(0); at < bytes; at += 64 << 10 {
				last, _ = k.Memory.Access(last, at, 64<<10, mem.Read)
			}
			return Outcome{Time: last}, nil
		})
		require.NoError(t, err)
	}
	var seen, both int64
	end := m.ObserveDRAM(func(x *DRAMUse) {
		if seen += x.Bytes; x.To-x.From != 50*sim.Microsecond || x.Engine != soc.EngineNPU || x.Bytes <= 0 {
			t.Errorf("%+v", *x)
		}
	})
	execute()
	if seen != bytes {
		t.Errorf("%d bytes seen of %d", seen, bytes)
	}
	endBoth := m.ObserveDRAM(func(x *DRAMUse) { both += x.Bytes })
	end()
	m.memory.Cache.Reset()
	execute()
	if seen != bytes || both != bytes {
		t.Errorf("%d and %d bytes seen of %d", seen, both, bytes)
	}
	endBoth()
	m.memory.DRAM.Read(0, 1<<30, 64)
	m.memory.DRAM.Measured(sim.Never, func(from, to sim.Time, _ *dram.Moved) { t.Fatalf("%v to %v is measured", from, to) })
}
