package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
)

// boxes are the ranges that a job asks for when it begins.
func (l *planner) boxes(j int) (list []prefetchRequest) {
	at := l.jobs[j].prefetchArg
	if at == 0 {
		return nil
	}
	for _, a := range l.jobs[j].args {
		lines, stride := a[at+1]&0xffff, max(a[at+2], vecBytes)
		if lines > 0 {
			list = append(list, prefetchRequest{src: a[at], bytes: (lines-1)*stride + vecBytes})
		}
	}
	return list
}

// TestCodeIsPrefetched: the code of every kernel comes to L2 before it runs, or as it
// begins, once a job that can prefetch has run.
func TestCodeIsPrefetched(t *testing.T) {
	p, err := device(t).PrepareModel(zoo.MustBuild("mobilenet_v1_0.25_224_quant"), hal.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l := planned(t, base.Programs(p)[0][0].(*plan))
	asked := map[uint32]bool{} // lines
	seen, began, checked := map[*hvx.Linked]bool{}, false, 0
	for j := range l.jobs {
		k := l.jobs[j].kernel
		for _, b := range l.boxes(j) {
			for line := b.src &^ (vecBytes - 1); line < b.src+b.bytes && b.src < constBase; line += vecBytes {
				asked[line] = true
			}
		}
		if began && !seen[k] {
			checked++
			last := &k.Packets[len(k.Packets)-1]
			for line := k.Entry &^ (vecBytes - 1); line <= last.Addr; line += vecBytes {
				if !asked[line] {
					t.Errorf("job %d: line %#x of kernel %s has not been asked for", j, line, k.Name)
					break
				}
			}
		}
		seen[k] = true
		began = began || l.jobs[j].prefetchArg > 0
	}
	if checked < 10 {
		t.Errorf("only %d kernels", checked)
	}
}

// TestAssignRequests: requests go to the last job before them that can prefetch, to the job
// itself when there is none, and never to one that runs before they are made.
func TestAssignRequests(t *testing.T) {
	jobs := func() *planner {
		l := &planner{}
		for j := range 6 { // jobs 0, 2 and 4 can prefetch
			args := [][]uint32{make([]uint32, 4), make([]uint32, 4), make([]uint32, 4), make([]uint32, 4)}
			l.jobs = append(l.jobs, &job{args: args, step: &step{}, prefetchArg: 1 - j%2})
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
		l.jobs[2].constantBound = c.w.code
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
			if a := l.jobs[j].args[0]; l.jobs[j].prefetchArg > 0 && a[2] != 0 {
				t.Errorf("%s: the first thread of job %d has no box left for constants", c.name, j)
			}
		}
		if by != c.by {
			t.Errorf("%s: job %d asks, want %d", c.name, by, c.by)
		}
	}
}
