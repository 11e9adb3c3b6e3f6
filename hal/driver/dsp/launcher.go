package dsp

import "github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"

// planning is what steps ask of the plan that they become a part of.
type planning interface {
	// AddJob appends a job that runs a kernel: args[t] are the arguments of thread t.
	AddJob(s *step, k *hvx.Linked, args [][]uint32) *job
	// Fetch makes constants available in VTCM for the jobs that a step launches from now
	// on, and returns their address there. What earlier steps fetched may be lost.
	Fetch(s *step, src uint32, bytes int) (uint32, error)
	// Seal has the next fetch be a job of its own, behind those launched so far.
	Seal()
	// Room is how many bytes of VTCM a single step can use.
	Room() int
	// DMA reports whether the core has user DMA.
	DMA() bool
	// Cold reports whether a tensor is likely not in L2 when the step being launched
	// reads it.
	Cold(t *tensor) bool
	// Streams reports whether a kernel that can prefetch should fetch its input itself,
	// part by part: the input is likely not in L2, and too large to be prefetched as a
	// whole before.
	Streams(t *tensor) bool
}

// launcher is what a step makes its jobs with: the code and the constants of the program,
// and the plan.
type launcher struct {
	*object
	planning
	step *step
}

// linked returns the code of a kernel in the program.
func (l *launcher) linked(k hvx.Kernel) (*hvx.Linked, error) { return l.image.Kernel(k, l.step.op) }

// launch appends a job: args[t] are the arguments of thread t.
func (l *launcher) launch(k *hvx.Linked, args [][]uint32) *job { return l.AddJob(l.step, k, args) }

// Resident fetches constants into VTCM and returns their address there.
func (l *launcher) Resident(src uint32, bytes int) (uint32, error) {
	return l.Fetch(l.step, src, bytes)
}

// launchTable is the launch of a kernel that walks a table of entries: its
// first arguments are the address of the thread's first entry and their
// number, the others are the same for all threads. There is no job, and nil is returned,
// for an empty table.
func (l *launcher) launchTable(k *hvx.Linked, table []uint32, entryWords int, rest ...uint32) *job {
	n := len(table) / entryWords
	if n == 0 {
		return nil
	}
	addr := l.constWords(table)
	var args [][]uint32
	for _, r := range l.spread(n) {
		args = append(args, append([]uint32{addr + uint32(4*entryWords*r[0]), uint32(r[1] - r[0])}, rest...))
	}
	return l.launch(k, args)
}
