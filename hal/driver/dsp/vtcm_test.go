package dsp

import (
	"testing"

	"github.com/nnsoc/nnsoc/bench"
)

// TestFetchBatches: a small network, whose constants VTCM holds, still does not wait
// for all of them at once. More than batchBytes come together only for one step.
func TestFetchBatches(t *testing.T) {
	l := lower1(t, device(t), bench.MobileNetV1Quarter())
	if n := len(l.vtcm.batches); n < 4 {
		t.Errorf("%d fetch jobs", n)
	}
	several := 0
	for _, b := range l.vtcm.batches {
		bytes, steps := uint32(0), map[*step]bool{}
		for _, r := range b.ranges {
			bytes += r.bytes
		}
		for j := b.job + 1; j < len(l.jobs) && l.jobs[j].Name != "fetch"; j++ {
			steps[l.jobStep[j]] = true
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

// TestStarves: a job's own constants are more than come while it computes, less what has
// been asked for, and those of later jobs do not count.
func TestStarves(t *testing.T) {
	l := &lowering{packets: []int{0, 100}}
	uses := []constUse{{job: 1, off: 1000, to: 4000}, {job: 1, off: 4000, to: 1000 + 100*askRate + 1}, {job: 2, off: 9000, to: 99000}}
	for _, c := range []struct {
		asked  uint32
		uses   []constUse
		starve bool
	}{
		{0, uses, true}, {1000, uses, true}, {1001, uses, false}, {99000, uses, false}, {0, uses[:1], false}, {0, uses[2:], false}, {0, nil, false},
	} {
		if got := l.starves(1, c.uses, c.asked); got != c.starve {
			t.Errorf("%d uses, asked up to %d: %v", len(c.uses), c.asked, got)
		}
	}
}
