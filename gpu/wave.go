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

// wave is one resident wave and where it stands in time. What every issue looks at comes first.
type wave struct {
	machine *machine
	simd    *simd
	next    int64 // earliest issue of the instruction at pc
	vMax    int64 // latest of vReady
	sMax    int64
	slot    int   // index in the SIMD's waves
	line    int32 // instruction cache line it last fetched from
	at      int   // where the recording of the wave goes on
	undone  int32 // first instruction that has issued and is not executed yet; those up to PC are like it
	why     sim.Reason
	clear   bool // no vector instruction up to the next of another kind touches the target of a load
	dup     bool // one register is the target of two outstanding loads

	state.Wave

	vReady [256]int64
	sReady [256]int64 // up to SCC; so long that a number of a register needs no check
	vm, vs queue
	lgkm   queue

	wg              *workgroup
	regs            []uint32
	done, atBarrier bool
	barrierPC       int32
	born            int64 // cycle of its launch
}

// workgroup is one resident work-group.
type workgroup struct {
	state.Workgroup
	grid    *grid
	waves   []*wave
	arrived int
	live    int
	cu      *cu
	number  int64
}
