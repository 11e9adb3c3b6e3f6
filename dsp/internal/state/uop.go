package state

// Uop is one decoded instruction (or a copy that the decoder inserted): the operation and its operands in the thread.
// 64 bytes; assembly knows the layout.
type Uop struct {
	Asm    uintptr // entry of the assembly handler
	Fn     Semantic
	Arg    [6]uint16 // operands: byte offsets in thread, in the order of the text
	EA     uint16    // byte offset of the address slot of a memory operation
	Seg    uint16    // byte offset of the segment view used last
	Imm    int32
	Imm2   int32
	PC     uint32 // address of the packet
	NextPC uint32 // address of the packet after it
	Op     uint16 // hexagon.Op that supplies the semantics, without its guard
	Pred   uint16 // byte offset of the guarding predicate
	Guard  uint8  // guard: bit 0 of the predicate that lets the micro-op run
	_      byte
	Index  uint16  // place in the block
	Asm2   uintptr // behind a guard: the handler of the operation itself
}

// Semantic executes one micro-op: reads operands, writes results.
type Semantic func(t *Thread, u *Uop)

// Code is straight-line Code decoded once, as a thread executes it.
type Code struct {
	Ops      []Uop  // in an order that makes each packet parallel; one more after the last ends assembly
	Last     *Uop   // that one
	Slots    int    // memory operations
	Asm      bool   // the micro-ops have handlers
	Scratch  uint64 // a bit for each memory operation whose micro-op expects its address in the scratchpad
	Loop0    bool   // the last packet ends hardware loop 0 / 1
	Loop1    bool
	WritesP3 bool // that packet writes p3, which then is not set by the end of the loop
}

// Expect sets Scratch. After a round that no other has followed, it records which accesses were in the scratchpad: a
// micro-op that meets another segment expects that from then on. Accesses that a false predicate switched off may
// count, and those elsewhere never do if no segment is wholly inside the scratchpad.
func (c *Code) Expect() {
	c.Scratch = 0
	for i := range c.Ops {
		if u := &c.Ops[i]; u.EA != 0 && u.Seg == OffSeg {
			c.Scratch |= 1 << ((u.EA - OffEA) / 4)
		}
	}
}
