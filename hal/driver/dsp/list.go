package dsp

// lowered is a lowered graph: steps, and where the client's data lies.
type lowered struct {
	*object
	steps   []*step
	tensors []*tensor
	inputs  []*tensor // dense, in model order; nil for one that the program does not read
	outputs []*tensor
	faults  []fault
	extents map[uint32]*tensor // a word with the entries of an output along dimension 0, by operand
}

// fault is a word that a program leaves at something other than 0 when a value
// that only an execution knows is not valid.
type fault struct {
	op     int
	t      *tensor
	reason string
}
