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

// Compile schedules and allocates. The Func must not be used afterwards.
func (f *Func) Compile() (*Code, error) {
	if err := f.resolve(); err != nil {
		return nil, err
	}
	live := f.liveness()
	code := f.schedule(live, false)
	err := f.allocate(code, live)
	if err != nil {
		code = f.schedule(live, true)
		code.InOrder = true
		if e := f.allocate(code, live); e != nil {
			return nil, e
		}
	}
	return code, nil
}
