package dsp

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// thread is a hardware thread of a run: its architectural state, and that of the run and the timing model.
type thread struct {
	state.Thread
	run     *run
	guest   *Guest // serves trap0 and has its own memory; nil outside RunGuests
	vector  bool   // owns an HVX context
	packets int64  // executed in this run

	pipe pipeline
	client
}

// UTIMERHz is the rate of the timer in c31:30, the SoC's always-on 19.2 MHz.
const UTIMERHz = 19_200_000

// setCounters sets the counting registers as the next packet of t reads them:
//
//	c15:14 upcycle   cycles of the core since the run began, at which the packet issues
//	c19:18 pktcount  packets that the thread has executed before
//	c31:30 utimer    the simulated time of that cycle, in ticks of 19.2 MHz
//
// Without the timing model a packet costs one cycle of its thread alone.
func (r *run) setCounters(t *thread) {
	cycle := t.packets
	if r.timing != nil {
		p := &t.pipe
		cycle = p.start + p.extra + p.plan.operand
	}
	now := sim.Clock{Hz: r.spec.ClockHz}.At(cycle)
	hi, lo := bits.Mul64(uint64(now), UTIMERHz)
	ticks, _ := bits.Div64(hi, lo, uint64(sim.Second))
	t.setCounter(state.UPCYCLE, uint64(cycle))
	t.setCounter(state.PKTCOUNT, uint64(t.packets))
	t.setCounter(state.UTIMER, ticks)
}

func (t *thread) setCounter(c int, v uint64) { t.C[c], t.C[c+1] = uint32(v), uint32(v>>32) }
