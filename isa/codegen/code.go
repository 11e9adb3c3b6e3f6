package codegen

import (
	"math"
	"slices"
)

// Code is a compiled function.
type Code struct {
	Name   string
	Groups []CodeGroup
	// Blocks are the indices of the first group of each block; a block without
	// instructions begins where the next one does.
	Blocks []int32
	// Used is the number of units of each register file in use: highest + 1.
	Used [MaxFiles]int
	// Cost is an estimate of cycles in which a loop of unknown count runs ten times.
	Cost int
	// Sections are the cycles of one execution of the blocks of each section (Func.Section).
	Sections []int
	// InOrder reports that the allocator only fitted with source-order scheduling.
	InOrder bool

	labels []int32
	waits  []int32  // of each block: cycles in which nothing issues
	instrs []*Instr // of all groups
	place  []int32  // unit of each virtual register, nil before allocation
	// underPressure: instructions waited for registers, so another schedule may be shorter.
	underPressure bool
	cycles        [][]int32 // of the instructions of each block, for refine
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

// attempt is a way to schedule a function: slack registers are left free in each file (aligned tuples do not use every
// gap, and the cost of that is only known after allocation), and instructions overtake at most window others. Among
// ready instructions the choice is by the longest path, by the registers that they free (thrifty), by source order, or
// by another schedule (guided).
type attempt struct {
	slack, window int
	by            priority
}

type priority uint8

const (
	byPath priority = iota
	thrifty
	asWritten
	guided
)

// attempts are made from left to right until one fits; of the rows that fit the
// one with the shortest loops wins, the upper one of two alike. Where an attempt of the
// first row has registers for all, the others are not tried.
var attempts = [...][]attempt{
	{{2, farAhead, byPath}, {4, farAhead, byPath}, {7, farAhead, byPath}, {11, farAhead, byPath}},
	{{0, 96, byPath}, {2, 96, byPath}, {4, 96, byPath}, {6, 96, byPath}},
	{{0, 40, asWritten}, {2, 40, asWritten}, {4, 40, asWritten}, {6, 40, asWritten}},
	{{0, 20, asWritten}, {2, 20, asWritten}, {4, 20, asWritten}, {6, 20, asWritten}},
}

// inOrder is the first row that keeps the order of the source.
const inOrder = 2

// lastAttempts are made where none of those fits.
var lastAttempts = [...][]attempt{
	{{0, farAhead, thrifty}, {2, farAhead, thrifty}, {4, farAhead, thrifty}},
	{{0, 40, thrifty}, {2, 40, thrifty}},
}

const farAhead = 1 << 30

// Compile schedules and allocates. The Func must not be used afterwards.
func (f *Func) Compile() (*Code, error) {
	if err := f.resolve(); err != nil {
		return nil, err
	}
	live := f.liveness()
	live.makeGraphs()
	runs := f.blockRuns()
	best := f.compile(live, runs)
	if best == nil {
		best = f.schedule(live, attempt{window: 1}, limit{})
		best.InOrder = true
		if err := f.allocate(best, live); err != nil {
			return nil, err
		}
	}
	best.apply(f)
	best.Cost = best.cost(runs)
	best.addSections(f)
	return best, nil
}

// compile is the best code of several schedules, nil when none fits.
func (f *Func) compile(live *liveness, runs []int) *Code {
	var best *Code
	rows := attempts[:]
	if f.ordered {
		for rows = attempts[inOrder:]; best == nil && len(rows) > 0; rows = rows[1:] {
			best = f.best(rows[:1], live, runs)
		}
		rows = attempts[:inOrder]
	}
	if best == nil {
		best = f.best(rows, live, runs)
	}
	if best == nil {
		best = f.best(lastAttempts[:], live, runs)
	}
	if best != nil && f.refined {
		best = f.refine(best, live, runs)
	}
	return best
}

// best is the code of the best row, nil when none fits. Lower rows are tried first: they are faster to try, and a
// schedule is abandoned as soon as it costs more than the best.
func (f *Func) best(rows [][]attempt, live *liveness, runs []int) *Code {
	if len(rows) > 1 {
		if code := f.fit(rows[0], live, limit{uncrowded: true}); code != nil {
			return code
		}
	}
	var best *Code
	until := limit{runs: runs, cost: math.MaxInt}
	for _, row := range slices.Backward(rows) {
		if code := f.fit(row, live, until); code != nil {
			best, until.cost = code, code.cost(runs)
		}
	}
	return best
}

// limit is when a schedule is abandoned. The zero limit is never.
type limit struct {
	uncrowded bool  // when an instruction waits for a register
	runs      []int // how often each block runs; nil: whatever it costs
	cost      int   // when it costs more
}

// fit is the code of the first attempt that fits, nil when none does or the limit is
// reached: leaving more registers free hardly ever makes a schedule shorter.
func (f *Func) fit(row []attempt, live *liveness, l limit) *Code {
	for _, t := range row {
		code := f.schedule(live, t, l)
		if code == nil {
			break
		}
		if f.allocate(code, live) == nil {
			return code
		}
		if f.refined && code.underPressure && t.by == byPath && t.window == farAhead {
			break // rows that keep closer to the source fit sooner, and are as good
		}
	}
	return nil
}

const (
	unknownCount  = 10
	unlikelyRatio = 100  // times as often do other blocks run
	manyRuns      = 1e12 // beyond it counts are not distinguished
)

// blockRuns is how often each block runs: the product of the counts of the loops
// around it. Those are hardware loops and the ranges of blocks that a later one
// branches back over.
func (f *Func) blockRuns() []int {
	runs := make([]int, len(f.blocks))
	for i := range runs {
		runs[i] = 1
	}
	for i := range f.blocks {
		around := func(first int32, count int) {
			for b := int(first); b <= i; b++ {
				runs[b] = min(runs[b]*count, manyRuns)
			}
		}
		b := &f.blocks[i]
		heads := make([]int32, 0, len(b.loops))
		for _, loop := range b.loops {
			if loop.head >= 0 {
				heads = append(heads, f.labels[loop.head])
				around(f.labels[loop.head], loop.count)
			}
		}
		for _, s := range b.succ {
			if s >= 0 && int(s) <= i && !slices.Contains(heads, s) {
				around(s, unknownCount)
			}
		}
	}
	for i := range f.blocks {
		if f.blocks[i].unlikely {
			runs[i] = max(runs[i]/unlikelyRatio, 1)
		}
	}
	return runs
}

// cost is the number of cycles of the groups when blocks run so often.
func (c *Code) cost(runs []int) int {
	n := 0
	for i := range c.Blocks {
		n += runs[i] * c.blockCycles(i)
	}
	return n
}

// blockCycles is the number of cycles of one execution of block i.
func (c *Code) blockCycles(i int) int {
	last := len(c.Groups)
	if i+1 < len(c.Blocks) {
		last = int(c.Blocks[i+1])
	}
	return last - int(c.Blocks[i]) + int(c.waits[i])
}

// addSections adds up the blocks of each section.
func (c *Code) addSections(f *Func) {
	for i := range c.Blocks {
		n := f.blocks[i].section
		for len(c.Sections) <= int(n) {
			c.Sections = append(c.Sections, 0)
		}
		c.Sections[n] += c.blockCycles(i)
	}
}
