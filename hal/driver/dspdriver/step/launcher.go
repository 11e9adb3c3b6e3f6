package step

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/internal/try"
)

// Planner is what steps require of the plan that they become a part of.
type Planner interface {
	// AddJob appends a job that runs a kernel: args[t] are the arguments of thread t.
	AddJob(s *Step, k *hvx.Linked, args [][]uint32) *Job
	// Fetch makes constants available in VTCM for the jobs that a step launches from now
	// on, and returns their address there. What earlier steps fetched may be lost.
	Fetch(s *Step, src uint32, bytes int) uint32
	// Seal has the next fetch be a job of its own, behind those launched so far.
	Seal()
	// Cold reports whether a tensor is likely not in L2 when the step being launched
	// reads it.
	Cold(t *layout.Tensor) bool
	// Streams reports whether a kernel that can prefetch should fetch its input itself,
	// part by part: the input is likely not in L2, and too large to be prefetched as a
	// whole before.
	Streams(t *layout.Tensor) bool
}

// Launcher is what a step makes its jobs with: the code and the constants of the program,
// and the plan.
type Launcher struct {
	*Object
	Planner
	Step    *Step
	IsTrial bool // what is launched is thrown away
	Sample  Rows // that a trial launches
}

// Fail ends the launch, and with it the plan, with an error that names the operation.
func (l *Launcher) Fail(err error) { try.E(fmt.Errorf("operation %d: %w", l.Step.Op, err)) }

// Kernel returns the code of a kernel in the program. It fails where there are not enough registers.
func (l *Launcher) Kernel(k hvx.Kernel) *hvx.Linked {
	linked, err := l.Image.Kernel(k, l.Step.Op)
	if err != nil {
		l.Fail(err)
	}
	return linked
}

// Launch appends a job: args[t] are the arguments of thread t.
func (l *Launcher) Launch(k *hvx.Linked, args [][]uint32) *Job { return l.AddJob(l.Step, k, args) }

// Resident fetches constants into VTCM and returns their address there.
func (l *Launcher) Resident(src uint32, bytes int) uint32 { return l.Fetch(l.Step, src, bytes) }

// LaunchTable is the launch of a kernel that walks a table of entries: its
// first arguments are the address of the thread's first entry and their
// number, the others are the same for all threads. There is no job, and nil is returned,
// for an empty table.
func (l *Launcher) LaunchTable(k *hvx.Linked, table []uint32, entryWords int, rest ...uint32) *Job {
	n := len(table) / entryWords
	if n == 0 {
		return nil
	}
	addr := l.Words(table)
	var args [][]uint32
	for _, r := range l.Spread(n) {
		args = append(args, append([]uint32{addr + uint32(4*entryWords*r[0]), uint32(r[1] - r[0])}, rest...))
	}
	return l.Launch(k, args)
}

// LaunchShares is LaunchTable for entries of different costs: each thread gets
// consecutive ones of about the same sum.
func (l *Launcher) LaunchShares(k *hvx.Linked, table []uint32, entryWords int, costs []int, rest ...uint32) *Job {
	addr := l.Words(table)
	var args [][]uint32
	for _, r := range Shares(costs, l.Threads) {
		args = append(args, append([]uint32{addr + uint32(4*entryWords*r[0]), uint32(r[1] - r[0])}, rest...))
	}
	if len(args) == 0 {
		return nil
	}
	return l.Launch(k, args)
}

// Shares cuts a list of costs into at most n consecutive parts of about equal sums.
func Shares(costs []int, n int) [][2]int {
	total := 0
	for _, c := range costs {
		total += c
	}
	var out [][2]int
	from, sum := 0, 0
	for i, c := range costs {
		sum += c
		// A part ends where the next entry would move it further from its share.
		if i+1 == len(costs) || sum+costs[i+1]/2 >= total*(len(out)+1)/n && len(out) < n-1 {
			out = append(out, [2]int{from, i + 1})
			from = i + 1
		}
	}
	return out
}
