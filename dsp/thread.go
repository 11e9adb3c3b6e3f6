package dsp

import "github.com/nnsoc/nnsoc/dsp/internal/state"

// thread is a hardware thread of a run: its state, and what the run and the timing model
// know of it.
type thread struct {
	state.Thread
	run     *run
	guest   *Guest // serves trap0 and has memory of its own; nil outside RunGuests
	origin  uint64 // of its memory in what the caches see: guests lie 4 GiB apart
	id      int
	vector  bool  // owns an HVX context
	packets int64 // executed in this run

	pipe   pipeline
	recent recentStores
}
