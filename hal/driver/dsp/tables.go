package dsp

import "github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/datamove"

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
func (l *launcher) warm(src uint32, bytes int) error {
	k, err := l.linked(datamove.Warm{})
	if err != nil {
		return err
	}
	var args [][]uint32
	for _, r := range l.spread(bytes / vecBytes) {
		args = append(args, []uint32{src + uint32(r[0]*vecBytes), uint32(r[1] - r[0])})
	}
	l.launch(k, args).name = "warm"
	return nil
}
