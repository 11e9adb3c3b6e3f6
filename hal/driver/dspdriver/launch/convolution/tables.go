package convolution

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// padTable repeats the last entry, for kernels that look n entries ahead.
func padTable(table []uint32, entryWords, n int) []uint32 {
	for range n {
		table = append(table, table[len(table)-entryWords:]...)
	}
	return table
}

// warm launches a job that brings constants into L2: the threads of a kernel
// that prefetches its inputs would replace each other's boxes and wait for the
// same lines.
func warm(l *step.Launcher, src uint32, bytes int) {
	var args [][]uint32
	for _, r := range l.Spread(bytes / layout.VectorBytes) {
		args = append(args, []uint32{src + uint32(r[0]*layout.VectorBytes), uint32(r[1] - r[0])})
	}
	job := l.Launch(l.Kernel(datamove.Warm{}), args)
	job.Name = "warm"
	if l.IsTrial { // a plan charges what no job before it requests
		job.Cost.Streamed = bytes
	}
}
