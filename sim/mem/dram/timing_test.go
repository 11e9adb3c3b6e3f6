package dram_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// clockCourse applies a sequence of configurations to a DRAM.
type clockCourse struct {
	at    []sim.Time
	to    []dram.Config
	bytes []int64
}

func (c *clockCourse) Clock(at sim.Time, bytes int64) (to *dram.Config, next sim.Time) {
	c.bytes = append(c.bytes, bytes)
	for i, x := range c.at {
		if x == at && i < len(c.to) {
			to = &c.to[i]
		}
		if x > at {
			return to, x
		}
	}
	return to, sim.Never
}

// TestClockChange: a read that arrives when the clock has just changed waits until the end of all that was planned and
// for SwitchTime, then has the latency of a memory at the new clock from the beginning; nothing that was written is
// lost; Start begins again.
func TestClockChange(t *testing.T) {
	const at = 10 * sim.Microsecond
	fast := memtest.LPDDR4X()
	fast.SwitchTime = sim.Microsecond
	slow := fast
	slow.TransfersPerSec /= 4
	alone := func(c dram.Config) sim.Time {
		d := require.V(dram.New(c))(t)
		done, _ := d.Access(sim.Microsecond, 0, 64, mem.Read)
		return done - sim.Microsecond
	}
	d := require.V(dram.New(fast))(t)
	for range 2 {
		d.Start(&fast)
		c := &clockCourse{at: []sim.Time{at, 2 * at}, to: []dram.Config{slow, fast}}
		d.SetClocking(c, at)
		if done, _ := d.Access(sim.Microsecond, 0, 64, mem.Read); done-sim.Microsecond != alone(fast) {
			t.Errorf("before: %v, want %v", done-sim.Microsecond, alone(fast))
		}
		d.Access(at-sim.Nanosecond, 1<<20, 64, mem.Write)
		done, _ := d.Access(at, 0, 64, mem.Read)
		if wait := done - at - fast.SwitchTime - alone(slow); wait < 0 || wait > 200*sim.Nanosecond {
			t.Errorf("at the change: %v us, of which %v us more than change and access", (done - at).Microseconds(), wait.Microseconds())
		}
		quiet := at + 5*sim.Microsecond
		if done, _ := d.Access(quiet, 8<<10, 64, mem.Read); done-quiet != alone(slow) {
			t.Errorf("at the lower clock: %v, want %v", done-quiet, alone(slow))
		}
		quiet = 2*at + 5*sim.Microsecond
		if done, _ := d.Access(quiet, 1<<22, 64, mem.Read); done-quiet != alone(fast) {
			t.Errorf("at the higher clock: %v, want %v", done-quiet, alone(fast))
		}
		d.Flush(quiet + sim.Microsecond)
		if c.bytes[0] != 64 || c.bytes[1] != 256 || d.Bytes() != 5*64 {
			t.Errorf("bytes %v and %d in the end", c.bytes, d.Bytes())
		}
	}
}

// TestClockStays: querying the clock changes nothing where the result is none, or the present one.
func TestClockStays(t *testing.T) {
	type answer struct {
		done sim.Time
		kept string
	}
	same := memtest.LPDDR4X()
	same.SwitchTime = sim.Microsecond
	run := func(clocking dram.Clocking) (all []answer) {
		d := require.V(dram.New(same))(t)
		if clocking != nil {
			d.SetClocking(clocking, 400*sim.Nanosecond)
		}
		for i := range sim.Time(40) {
			done, _ := d.Access(100*i*sim.Nanosecond, uint64(i)*64, 64, mem.Kind(i%2))
			all = append(all, answer{done, fmt.Sprint(d.Counters())})
		}
		return all
	}
	want := run(nil)
	for name, c := range map[string]*clockCourse{
		"none": {at: []sim.Time{400 * sim.Nanosecond, 2 * sim.Microsecond}},
		"same": {at: []sim.Time{400 * sim.Nanosecond, 2 * sim.Microsecond}, to: []dram.Config{same, same}},
	} {
		got := run(c)
		require.Same(t, 2, len(c.bytes), name, "asked", "times")
		require.Equal(t, want, got, name)
	}
}

// TestElapse: bytes that are stated for a span count evenly at the instants that fall into it,
// like those that are accessed, until Reset.
func TestElapse(t *testing.T) {
	d := memtest.NewDRAM(t, nil)
	c := &clockCourse{at: []sim.Time{100, 200, 300}, to: slices.Repeat([]dram.Config{memtest.LPDDR4X()}, 3)}
	d.SetClocking(c, 100)
	d.Elapse(0, 0, 50, 500)
	d.Elapse(0, 50, 250, 4000)
	d.Elapse(0, 250, 250, 7)
	d.Elapse(0, 250, 400, 0)
	if fmt.Sprint(c.bytes) != "[1500 3500 4507]" || d.Bytes() != 4507 {
		t.Errorf("%v bytes, %d in the end", c.bytes, d.Bytes())
	}
	if d.Reset(); d.Bytes() != 0 {
		t.Errorf("%d bytes after Reset", d.Bytes())
	}
}
