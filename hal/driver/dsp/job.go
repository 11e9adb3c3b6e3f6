package dsp

import "github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"

// job is a launch of a kernel on the threads, with what planning knows of it.
type job struct {
	step          *step
	name          string
	kernel        *hvx.Linked
	args          [][]uint32 // of each thread that takes part
	prefetchArg   int        // index of the prefetch arguments, 0 when it has none
	packets       int        // of the longest thread, estimated; 0 when not known
	traffic       traffic    // in L2
	constantBound bool       // see markConstantBound
}

// traffic is what the tensors of a job add to L2.
type traffic struct{ reads, writes int }

// fetchFirst lets thread t fetch a range of its inputs when it begins, by the prefetch
// arguments at at.
func (j *job) fetchFirst(at, t int, from, to uint32) {
	args := j.args[t]
	args[at], args[at+1], args[at+2] = from, boxOf(to-from+vecBytes-1), vecBytes
}
