package plan

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/internal/require"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// boxes are the ranges that a job requests when it begins.
func (l *planner) boxes(j int) (list []prefetchRequest) {
	at := l.jobs[j].PrefetchArg
	if at == 0 {
		return nil
	}
	for _, a := range l.jobs[j].Args {
		lines, stride := a[at+1]&0xffff, max(a[at+2], layout.VectorBytes)
		if lines > 0 {
			list = append(list, prefetchRequest{src: a[at], bytes: (lines-1)*stride + layout.VectorBytes})
		}
	}
	return list
}

// TestAssignRequests: requests go to the last job before them that can prefetch, to the job
// itself when there is none, and never to one that runs before they are made.
func TestAssignRequests(t *testing.T) {
	jobs := func() *planner {
		l := &planner{Object: &step.Object{Machine: cost.Machine{LineBytes: layout.VectorBytes}}}
		for j := range 6 { // jobs 0, 2 and 4 can prefetch
			args := [][]uint32{make([]uint32, 4), make([]uint32, 4), make([]uint32, 4), make([]uint32, 4)}
			l.jobs = append(l.jobs, &step.Job{Args: args, Step: &step.Step{}, Kernel: &hvx.Linked{}, PrefetchArg: 1 - j%2})
		}
		return l
	}
	for _, c := range []struct {
		name string
		w    prefetchRequest
		by   int // -1: nobody
	}{
		{"before", prefetchRequest{job: 3, made: -1}, 2},
		{"two jobs before", prefetchRequest{job: 4, made: -1}, 2},
		{"made by the job before", prefetchRequest{job: 4, made: 3}, 4},
		{"made by the one that could ask", prefetchRequest{job: 3, made: 2}, -1},
		{"the first job", prefetchRequest{job: 0, made: -1}, 0},
		{"behind the last that can", prefetchRequest{job: 5, made: -1}, 4},
		{"behind a constant-bound one", prefetchRequest{job: 3, made: -1, code: true}, 0},
	} {
		l := jobs()
		l.jobs[2].ConstantBound = c.w.code
		c.w.src, c.w.bytes = 0x1000, 1000
		requests, by := []prefetchRequest{c.w}, -1
		for j := range l.jobs {
			_, requests = l.assignRequests(j, l.freePrefetchArgs(j), requests)
			for _, b := range l.boxes(j) {
				if b.src != c.w.src || b.bytes < c.w.bytes || by >= 0 {
					t.Errorf("%s: job %d asks for %#x and %d bytes", c.name, j, b.src, b.bytes)
				}
				by = j
			}
			if a := l.jobs[j].Args[0]; l.jobs[j].PrefetchArg > 0 && a[2] != 0 {
				t.Errorf("%s: the first thread of job %d has no box left for constants", c.name, j)
			}
		}
		require.Same(t, c.by, by, c.name, "job", "asks")
	}
	// Code of job 1 that comes too late, of a job that can still have its own, and of two behind each other.
	l := jobs()
	l.jobs[0].PrefetchArg = 0
	_, left := l.assignRequests(2, l.freePrefetchArgs(2), []prefetchRequest{
		{job: 1, made: -1, src: 0x1000, bytes: 0x180, lines: 3, code: true}, {job: 3, made: -1, src: 0x1180, bytes: 0x80, code: true}, {job: 4, made: -1, src: 0x1200, bytes: 0x100, code: true},
		{job: 4, made: 3, src: 0x1300, bytes: 0x100},
	})
	if list := l.boxes(2); len(list) != 1 || list[0].src != 0x1180 || list[0].bytes != 0x180 || len(left) != 1 || left[0].src != 0x1300 {
		t.Errorf("requests %+v, left %+v", list, left)
	}
	for i, want := range []cost.Job{1: {Code: 3 * layout.VectorBytes}, 2: {Ahead: 0x180}, 3: {Due: 0x80}, 4: {Due: 0x100}, 5: {}} {
		require.Same(t, want, l.jobs[i].Cost, "costs of job", i)
	}
}

// TestLinesRead: a thread waits for the lines of its share of what arguments point into, of all of what all threads
// have the same argument for, and of its share of what only records point to.
func TestLinesRead(t *testing.T) {
	const at = layout.ConstBase
	for _, c := range []struct {
		blocks []int
		to     int
		args   [][]uint32
		want   int
	}{
		{[]int{0}, 100, [][]uint32{{at}, {at + 50}}, 1}, {[]int{0}, 512, [][]uint32{{at}, {at + 256}}, 2}, {[]int{0}, 160, [][]uint32{{at}, {at + 40}, {at + 80}, {at + 120}}, 2},
		{[]int{0}, 512, [][]uint32{{at, 3}, {at, 4}}, 4}, {[]int{0, 128, 256, 384, 512}, 640, [][]uint32{{1, at + 512}, {2, at + 520}}, 3}, {[]int{0, 256, 512}, 512, nil, 4},
	} {
		l := &planner{Object: &step.Object{Machine: cost.Machine{LineBytes: layout.VectorBytes}, Blocks: c.blocks}}
		require.Same(t, c.want, l.linesRead(c.to, c.args), "lines of", c)
	}
}

// TestStarving: a job's own constants from L2 are more than come while it computes.
func TestStarving(t *testing.T) {
	l := &planner{
		jobs: []*step.Job{{Cost: cost.Job{Slots: 100}, PrefetchArg: 1}, {Cost: cost.Job{Slots: 100}, PrefetchArg: 1}, {Cost: cost.Job{Slots: 100}, PrefetchArg: 1}, {PrefetchArg: 1}, {}},
		constUses: []constUse{
			{job: 0, off: 0, to: 100 * prefetchRate, how: once},
			{job: 1, off: 4000, to: 4001, how: once}, {job: 1, off: 5000, to: 5000 + 100*prefetchRate, how: once},
			{job: 2, off: 9000, to: 99000, how: toVTCM},
			{job: 3, off: 99000, to: 99100, how: once}, {job: 4, off: 99100, to: 99200, how: once},
		},
	}
	l.markConstantBound()
	for j, want := range []bool{false, true, false, true, false} {
		if got := l.jobs[j].ConstantBound; got != want {
			t.Errorf("job %d: %t, want %t", j, got, want)
		}
	}
}
