package codegen

// Target describes an instruction set to the passes. Its methods do not change it.
type Target interface {
	// Classes lists the register classes; Class values index it.
	Classes() []ClassInfo
	// Latency is the number of groups from the group of def to the first one in
	// which use sees the result of operand da as its operand ua without waiting:
	// 1 is the next group. 0 allows the same group (forwarding within a packet).
	Latency(def *Instr, da int, use *Instr, ua int) int
	// NewGroup makes an empty issue group that the scheduler reuses.
	NewGroup() Group
}

// Group decides which instructions issue together.
type Group interface {
	// Reset empties the group.
	Reset()
	// TryAdd adds the instruction when it fits; otherwise the group is unchanged.
	// The operands' physical numbers are not known yet. Last-of-block branches
	// arrive after everything else of their block.
	TryAdd(in *Instr) bool
}

// Mover is implemented by a Target whose plain register copies may be removed
// when both sides got the same register.
type Mover interface {
	// IsMove reports whether the instruction only copies operand 1 to operand 0.
	IsMove(in *Instr) bool
}
