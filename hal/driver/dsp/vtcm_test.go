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
