package interconnect

import "slices"

// Lines are the lines that a system cache holds: for whom, in which order they were used, and
// which are dirty. The cache does not change them.
type Lines struct {
	sets   []lineSet
	ways   []lineWay
	joined []uint16
	print  uint64
}

// Lines is a copy of the lines that the cache holds.
func (c *SystemCache) Lines() *Lines {
	return &Lines{slices.Clone(c.sets), slices.Clone(c.ways), slices.Clone(c.joined), c.Fingerprint()}
}

// Put restores lines that were read from the cache. It is called before Quiesce.
func (c *SystemCache) Put(l *Lines) {
	copy(c.sets, l.sets)
	copy(c.ways, l.ways)
	copy(c.joined, l.joined)
	c.moved, c.changed, c.print = true, false, l.print
}
