package interconnect_test

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
	"github.com/nnsoc/nnsoc/sim/mem/dram"
	"github.com/nnsoc/nnsoc/sim/mem/interconnect"
	"github.com/nnsoc/nnsoc/sim/mem/memtest"
)

// entries notes the order in which masters enter.
type entries struct{ log []string }

func (e *entries) Enter(t sim.Time, master int) { e.log = append(e.log, fmt.Sprint(master, "@", t)) }

// TestShare: every access of every port passes the arbiter, and a master that
// starts anew leaves the memory that others use alone.
func TestShare(t *testing.T) {
	d := memtest.NewDRAM(t, nil)
	bus := memtest.NewBus(t, d, 0)
	a, b := bus.Port("a"), bus.Port("b")
	var e entries
	bus.Share(&e)
	memtest.Read(a, 5, 0, 64)
	memtest.Write(b, 7, 0, 64)
	memtest.Read(b, 9, 0, 4096)
	memtest.Write(a, 11, 0, 4096)
	require.Same(t, "[0@5 1@7 1@9 0@11]", fmt.Sprint(e.log), "entered")
	pj, _ := a.Energy()
	a.Disown(5)
	less, _ := a.Energy()
	bus.Quiesce()
	if all, _ := a.Energy(); less != pj-5 || all != pj {
		t.Errorf("%g pJ without 5 of %g, %g again", less, pj, all)
	}
	a.Reset()
	if d.Counters()[dram.ReadBurst].Value == 0 {
		t.Error("a port emptied the memory behind a shared bus")
	}
	bus.Reset()
	if d.Counters()[dram.ReadBurst].Value != 0 {
		t.Error("the bus keeps its counters")
	}
	bus.Share(nil)
	memtest.Read(a, 5, 0, 64)
	a.Reset()
	if d.Counters()[dram.ReadBurst].Value != 0 || len(e.log) != 4 {
		t.Error("the bus is still shared")
	}
}

// masters is a scheduler that records the masters of requests.
type masters struct{ seen *[]int }

func (m masters) Earliest(r dram.Request, _ int64) int64 {
	*m.seen = append(*m.seen, r.Master)
	return r.Enter
}

func (masters) MayPass(dram.Request, dram.Activation) bool { return true }

// TestMasters: a scheduler sees the port of a request.
func TestMasters(t *testing.T) {
	var seen []int
	bus := memtest.NewBus(t, memtest.NewDRAM(t, func(c *dram.Config) { c.Scheduler = masters{&seen} }), 0)
	a, b := bus.Port("a"), bus.Port("b")
	memtest.Read(a, 0, 0, 32)
	memtest.Read(b, 0, 32, 32)
	memtest.Read(b, 0, 64, 32)
	memtest.Read(a, 0, 96, 32)
	require.Same(t, "[0 1 1 0]", fmt.Sprint(seen), "masters")
}

// TestTwoStreams: two engines that stream share the bandwidth of one alone, in equal parts, whichever port is first.
func TestTwoStreams(t *testing.T) {
	stream := func(engines int, swapped bool) []float64 {
		d := memtest.NewDRAM(t, func(c *dram.Config) { memtest.Bare(c); c.Refresh, c.XORBanks = dram.RefreshAllBanks, true })
		bus := require.V(interconnect.NewBus(interconnect.BusConfig{Name: "noc", Hz: 2_000_000_000, BytesPerCycle: 64}, d))(t)
		type engine struct {
			port   *interconnect.Port
			flight [64]sim.Time // completions, a ring
			n      int
		}
		list := make([]engine, engines)
		for i := range list {
			list[i].port = bus.Port(fmt.Sprint("e", i))
		}
		// An engine issues a request as soon as its window allows; the earliest enters first.
		const end = 200 * sim.Microsecond
		for {
			next := 0
			for i := range list {
				ti, tn := list[i].flight[list[i].n%64], list[next].flight[list[next].n%64]
				if ti < tn || ti == tn && swapped {
					next = i
				}
			}
			e := &list[next]
			at := e.flight[e.n%64]
			if at >= end {
				break
			}
			base := uint64(next)*(64<<20) + uint64(next)*8192
			e.flight[e.n%64] = memtest.Read(e.port, at, base+uint64(e.n)*128, 128)
			e.n++
		}
		var rates []float64
		for i := range list {
			rates = append(rates, float64(list[i].n)*128/end.Seconds()/1e9)
		}
		return rates
	}
	alone := stream(1, false)[0]
	if alone < 29 || alone > 31.5 {
		t.Errorf("one stream: %.1f GB/s, want nearly 30", alone)
	}
	for _, swapped := range []bool{false, true} {
		both := stream(2, swapped)
		if sum := both[0] + both[1]; sum < 0.85*alone || sum > 1.02*alone || both[0] < 0.9*both[1] || both[1] < 0.9*both[0] {
			t.Errorf("two streams: %.1f GB/s each, alone %.1f", both, alone)
		}
		t.Logf("alone %.1f GB/s, together %.1f", alone, both)
	}
}
