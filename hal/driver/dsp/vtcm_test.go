package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
)

// TestFetchBatches: a small network, whose constants VTCM holds, still does not wait
// for all of them at once. More than batchBytes come together only for one step.
func TestFetchBatches(t *testing.T) {
	l := lower1(t, device(t), zoo.MustBuild("mobilenet_v1_0.25_224_quant"))
	if n := len(l.vtcm.batches); n < 4 {
		t.Errorf("%d fetch jobs", n)
	}
	several := 0
	for _, b := range l.vtcm.batches {
		bytes, steps := uint32(0), map[*step]bool{}
		for _, r := range b.ranges {
			bytes += r.bytes
		}
		for j := b.job + 1; j < len(l.jobs) && l.jobs[j].name != "fetch"; j++ {
			steps[l.jobs[j].step] = true
		}
		if bytes > batchBytes && len(b.ranges) > 3 {
			t.Errorf("job %d fetches %d bytes in %d ranges", b.job, bytes, len(b.ranges))
		}
		if len(b.ranges) > 1 && len(steps) > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no fetch job is for several steps")
	}
}

// TestStarving: a job's own constants from L2 are more than come while it computes.
func TestStarving(t *testing.T) {
	l := &planner{
		jobs: []*job{{packets: 100, prefetchArg: 1}, {packets: 100, prefetchArg: 1}, {packets: 100, prefetchArg: 1}, {prefetchArg: 1}, {}},
		constUses: []constUse{
			{job: 0, off: 0, to: 100 * prefetchRate},
			{job: 1, off: 4000, to: 4001}, {job: 1, off: 5000, to: 5000 + 100*prefetchRate},
			{job: 2, off: 9000, to: 99000, how: toVTCM},
			{job: 3, off: 99000, to: 99100}, {job: 4, off: 99100, to: 99200},
		},
	}
	l.markConstantBound()
	for j, want := range []bool{false, true, false, true, false} {
		if got := l.jobs[j].constantBound; got != want {
			t.Errorf("job %d: %t, want %t", j, got, want)
		}
	}
}
