package nnrt

import "github.com/nnsoc/nnsoc/nn"

// temporaryAlignment is where temporaries begin in their pool, and what their sizes are
// rounded up to: what AOSP's CPU prefers.
const temporaryAlignment = 64

// place is the location of an operand in the pool of temporaries.
type place struct {
	offset, bytes int64 // bytes is 0 for an operand outside the pool
}

// placeTemporaries gives each temporary that goes from step to step a place in one pool
// of memory, as AOSP's runtime does: places do not overlap, whatever their lifetimes.
// Those of unknown size, and those that stay in memory of a device, have none.
func (c *Compilation) placeTemporaries() {
	c.poolBytes = 0
	defer c.placeRoots()
	for i := range c.sources {
		c.sources[i].places = make([]place, len(c.sources[i].values))
	}
	onDevice := map[uint32]bool{}
	for _, h := range c.handovers {
		onDevice[h.operand] = true
	}
	for i := range c.steps {
		s := &c.steps[i]
		of := &c.sources[s.source]
		for _, x := range s.outputs {
			o := &of.model.Main.Operands[x]
			if o.Lifetime != nn.TemporaryVariable || !o.Known() || s.source == 0 && (onDevice[x] || c.placed(x)) {
				continue
			}
			c.place(s.source, x)
		}
	}
}

// place gives an operand the next place in the pool.
func (c *Compilation) place(source int, operand uint32) {
	n := c.sources[source].model.Main.Operands[operand].Bytes()
	c.sources[source].places[operand] = place{c.poolBytes, n}
	c.poolBytes += (n + temporaryAlignment - 1) &^ (temporaryAlignment - 1)
}
