package gpu

import (
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim"
)

// queued is one operation a wait counter still counts.
type queued struct {
	done   int64 // cycle of its return
	from   sim.Reason
	scalar bool // dst is a scalar register
	dst    uint16
	regs   uint8
}

// queue is what one wait counter counts, oldest first.
type queue struct {
	q       [64]queued
	head, n int
	scalars int // scalar memory operations among them
	last    int64
}

func (q *queue) at(i int) *queued { return &q.q[(q.head+i)&63] }

func (q *queue) push(e queued) {
	q.q[(q.head+q.n)&63] = e
	q.n++
}

// wave is one resident wave and where it stands in time.
type wave struct {
	state.Wave

	machine *machine
	simd    *simd
	slot    int   // index in the SIMD's waves
	line    int32 // instruction cache line it last fetched from
	clear   bool  // no vector instruction up to the next of another kind touches the target of a load
	undone  int32 // first instruction that has issued and is not executed yet; those up to PC are like it

	next int64 // earliest issue of the instruction at pc
	vMax int64 // latest of vReady
	sMax int64
	why  sim.Reason
	dup  bool // one register is the target of two outstanding loads

	sReady [256]int64 // up to SCC; so long that a number of a register needs no check
	vReady [256]int64

	vm, vs, lgkm queue

	wg              *workgroup
	regs            []uint32
	done, atBarrier bool
	barrierPC       int32
}

// workgroup is one resident work-group.
type workgroup struct {
	state.Workgroup
	waves   []*wave
	arrived int
	live    int
	cu      *cu
	number  int64
}
