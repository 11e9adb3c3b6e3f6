package build

// Code is a compiled function.
type Code struct {
	Name   string
	Groups []CodeGroup
	// Blocks are the indices of the first group of each block; a block without
	// instructions begins where the next one does.
	Blocks []int32
	// Used is the number of units of each register file in use: highest + 1.
	Used [MaxFiles]int
	// InOrder reports that the allocator only fitted with source-order scheduling.
	InOrder bool

	labels []int32
}

// CodeGroup is one issue group. The instructions are in scheduling order;
// their operands carry physical numbers.
type CodeGroup struct {
	Instrs []*Instr
	Block  int32
	// EndLoop has bit n set when hardware loop n ends with this group.
	EndLoop uint8
}

// LabelGroup is the index of the group at which label l begins; it may equal
// len(Groups) for a label at the end.
func (c *Code) LabelGroup(l Label) int { return int(c.Blocks[c.labels[l]]) }

// pressureSlack are the registers that successive attempts leave free in each
// file: aligned tuples do not use every gap, and how much that costs is only
// known after allocation.
var pressureSlack = [...]int{2, 4, 7, 11}

// Compile schedules and allocates. The Func must not be used afterwards.
func (f *Func) Compile() (*Code, error) {
	if err := f.resolve(); err != nil {
		return nil, err
	}
	live := f.liveness()
	var code *Code
	var err error
	for _, slack := range pressureSlack {
		code = f.schedule(live, slack, false)
		if err = f.allocate(code, live); err == nil {
			return code, nil
		}
	}
	code = f.schedule(live, 0, true)
	code.InOrder = true
	if err := f.allocate(code, live); err != nil {
		return nil, err
	}
	return code, nil
}
