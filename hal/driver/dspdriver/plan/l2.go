package plan

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
)

// cacheState is what is known of the contents of L2 between two steps: bytes that went
// through it, and when each tensor did.
type cacheState struct {
	size    int
	passed  int                     // bytes that steps have brought into L2
	touched map[*layout.Tensor]int  // bytes that had passed when a tensor was used last
	flow    int                     // of the group being launched
	hot     map[*layout.Tensor]bool // its tensors
}

// cold reports whether a tensor is likely not in L2 when the step being launched
// reads it: it comes from the client, or too much has passed since it was used.
func (c *cacheState) cold(t *layout.Tensor) bool {
	at := c.touched[t]
	return !c.hot[t] && (at == 0 || c.passed+c.flow+t.Bytes()-at > c.size*3/4)
}

// pass counts what the jobs of a step have brought into L2: its tensors and consts bytes of
// constants.
func (c *cacheState) pass(s *step.Step, jobs, consts int) {
	now := c.passed
	c.passed += consts
	for i, list := range [2][]*layout.Tensor{s.Reads, s.Writes} {
		for _, t := range list {
			if i == 1 || c.cold(t) {
				c.passed += t.Bytes()
			}
		}
	}
	for _, t := range s.Writes {
		c.touched[t] = max(now, 1)
	}
	for _, t := range s.Reads { // by the last job, too
		c.touched[t] = max(c.passed-(c.passed-now)/max(jobs, 1), 1)
	}
}

// passGroup counts what the steps of a group have brought into L2, whose tensors flow
// through it band by band.
func (c *cacheState) passGroup(steps []*step.Step, flow, consts int) {
	now := c.passed
	c.passed += flow + consts
	for _, s := range steps {
		for _, list := range [2][]*layout.Tensor{s.Reads, s.Writes} {
			for _, t := range list {
				c.touched[t] = max(now, 1)
			}
		}
	}
}
