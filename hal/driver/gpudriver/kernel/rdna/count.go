package rdna

import (
	"strings"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Work is what waves execute.
type Work struct {
	Waves          int   // of 32 lanes
	Instructions   int64 // vector instructions
	Dots           int64 // of them: dot products
	Loads          int64 // vector loads
	ScatteredLines int64 // cache lines of loads whose lanes are apart, see Scattered
	Chain          int64 // of one wave: loads, scalar ones too, that wait for each other
	ReadBytes      int64 // by all lanes
	WriteBytes     int64
}

// counter counts instructions as they are emitted, those of a loop as often as it is repeated.
type counter struct {
	work  Work
	times int64                 // how often the next instructions are executed
	depth map[codegen.Reg]int64 // how many loads of the block, one behind the other, a register waits for
	chain int64                 // the largest depth of the block
}

// Emit appends an instruction.
func (a *Builder) Emit(op rdna2.Op, operands ...any) *codegen.Instr {
	in := a.Kernel.Emit(op, operands...)
	a.count(op.Form(), in)
	return in
}

func (c *counter) count(f *rdna2.Form, in *codegen.Instr) {
	depth, registers := int64(0), int64(0) // of what is loaded or stored
	for i, x := range in.Args {
		if x.Role&codegen.Use != 0 {
			depth = max(depth, c.depth[x.Reg.Full()])
		}
		if i < int(f.NumOps) && (f.Ops[i].Role == rdna2.RoleVDst || f.Ops[i].Role == rdna2.RoleSDst || f.Ops[i].Role == rdna2.RoleVData) {
			registers += int64(f.Ops[i].Regs)
		}
	}
	bytes := 4 * registers
	switch {
	case strings.HasSuffix(f.Text, "byte"):
		bytes = 1
	case strings.HasSuffix(f.Text, "short"):
		bytes = 2
	}
	n := &c.work
	switch {
	case f.Sched.IsVector():
		n.Instructions += c.times
		if f.Sched == rdna2.SchedDot {
			n.Dots += c.times
		}
	case f.Sched == rdna2.SchedLoad:
		n.Loads += c.times
		n.ReadBytes += 32 * bytes * c.times
		depth++
	case f.Sched == rdna2.SchedSMEM:
		n.ReadBytes += bytes * c.times
		depth++
	case f.Sched == rdna2.SchedStore:
		n.WriteBytes += 32 * bytes * c.times
	}
	c.chain = max(c.chain, depth)
	for _, x := range in.Args {
		if x.Role&codegen.Def != 0 && x.Reg.Valid() {
			c.depth[x.Reg.Full()] = depth
		}
	}
}

// block begins a block: what it loads waits for the blocks before it.
func (c *counter) block() {
	c.work.Chain += c.times * c.chain
	c.chain, c.depth = 0, map[codegen.Reg]int64{}
}

// Repeated emits the body of a loop that is executed n times, or about so often.
func (c *counter) Repeated(n int, body func()) {
	c.block()
	before := c.times
	c.times *= int64(n)
	body()
	c.block()
	c.times = before
}

// Scattered records that the lanes of the last load are spread over so many cache lines.
func (c *counter) Scattered(lines int) { c.work.ScatteredLines += c.times * int64(lines) }

// Distinct records that n of so many bytes that the instructions so far load and store are different ones.
func (c *counter) Distinct(n, of int) {
	c.work.ReadBytes = c.work.ReadBytes * int64(n) / int64(of)
	c.work.WriteBytes = c.work.WriteBytes * int64(n) / int64(of)
}

// Share emits a body that waves execute n of so many times, as lanes that are masked skip it.
func (c *counter) Share(n, of int, body func()) {
	before := c.times
	c.times = max(c.times*int64(n)/int64(of), 1)
	body()
	c.times = before
}

// Work is what a wave executes of the code.
func (c *counter) Work() Work {
	c.block()
	return c.work
}
