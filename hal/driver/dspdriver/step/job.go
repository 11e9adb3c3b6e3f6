package step

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
)

// Job is a launch of a kernel on the threads, with its data for planning.
type Job struct {
	Step          *Step
	Name          string
	Kernel        *hvx.Linked
	Args          [][]uint32 // of each thread of the job
	PrefetchArg   int        // index of the prefetch arguments, 0 when it has none
	Cost          cost.Job   // estimated
	Traffic       Traffic    // in L2
	Unfetched     int        // bytes of inputs that a kernel that fetches others leaves to its loads
	ConstantBound bool       // it waits for its own constants longer than it computes
}

// Traffic is what the tensors of a job add to L2.
type Traffic struct{ Reads, Writes int }

// FetchFirst lets thread t fetch a range of its inputs when it begins, by the prefetch
// arguments at at.
func (j *Job) FetchFirst(at, t int, from, to uint32) {
	args := j.Args[t]
	args[at], args[at+1], args[at+2] = from, Box(to-from+layout.VectorBytes-1), layout.VectorBytes
}
