package npu

import (
	"runtime"
	"testing"
)

// TestAllocations: the second run on a state and all after it allocate their report, and nothing of what they work on.
func TestAllocations(t *testing.T) {
	c := mustCore(t, "pixel4")
	p, r := mobilenet(t, c.Spec())
	st, err := c.NewState(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {TimingOnly: true}, {Functional: true}} {
		o.State = st
		run := func() {
			if _, err := c.Run(p, r, o); err != nil {
				t.Fatal(err)
			}
		}
		run()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		run()
		runtime.ReadMemStats(&after)
		if n, bytes := after.Mallocs-before.Mallocs, after.TotalAlloc-before.TotalAlloc; n > 200 || bytes > 64<<10 {
			t.Errorf("timing only %v, functional %v: %d allocations of %d bytes", o.TimingOnly, o.Functional, n, bytes)
		}
	}
}
