package decode

import (
	"fmt"

	"github.com/nnsoc/nnsoc/dsp/internal/energy"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Block is straight-line code decoded once: packets up to and including one
// that may leave the sequence.
type Block struct {
	state.Code
	Addr        uint32 // first packet
	End         uint32 // after the last packet
	Packets     []Packet
	Mem         []MemOp
	Loads       uint64 // a bit for each of Mem that is a vector load without a predicate
	Beside      []Beside
	Elements    bool // scatters or gathers
	Vector      bool // uses HVX
	Extracts    bool // moves a vector's element to a scalar register
	Branches    bool
	HintTaken   bool   // a conditional branch of the last packet is hinted to be taken
	Indirect    bool   // a branch of the last packet has its target in a register
	Conditional bool   // a branch of the last packet is conditional
	ends        bool   // the last packet needs service by the driver of the thread
	Counts      bool   // the only packet reads counters, which are set before it runs
	Rounds      uint16 // how often it may run in one go
	Events      energy.Events
	Insts       int64
}

// MemOp is a memory operation of a block as the timing model sees it.
type MemOp struct {
	Kind   MemKind
	Bytes  uint8
	Packet uint16
}

// Beside is a load in the packet of a load of the Z window, which may read nothing but VTCM. Both are indexes of Mem.
type Beside struct{ Z, Load uint8 }

// MemKind is the kind of a memory operation's request.
type MemKind uint8

// Kinds of memory operations.
const (
	ScalarLoad MemKind = iota + 1
	ScalarStore
	ScalarUpdate // read-modify-write
	VectorLoad
	VectorStore
	PrefetchL1
	PrefetchL2
	ScatterElements // start in the background; Bytes holds the number of elements
	GatherElements
	ScatterWait // until the thread's scatters and gathers are done
	WaitStores  // until the stores of the thread are done
	WaitCycles  // as many as the address slot holds
)

// Use is a register read or written by a packet, with its pipeline cycle.
type Use struct {
	Res   uint8
	Cycle uint8
	HVX   bool
}

// Packet is the input of the interlock analysis about a packet.
type Packet struct {
	Addr   uint32
	Vector bool // uses HVX
	Uses   []Use
	Defs   []Use
}

// Resources of the hazard and interlock analysis: one number per register.
const (
	resR = 0
	ResV = 32
	resP = 64
	resQ = 68
	resC = 72
	// resFlags is the floating-point flags of usr; c31 counts and has no resource.
	resFlags = resC + 31
	resZ     = 104 // the Z window
	resT     = 105 // temporaries made by the decoder
	// noRes is a read that a copy has removed from the analysis.
	noRes = 255
)

// RegisterName is the name of a resource of the interlock analysis.
func RegisterName(res uint8) string {
	switch {
	case res < ResV:
		return fmt.Sprintf("r%d", res)
	case res < resP:
		return fmt.Sprintf("v%d", res-ResV)
	case res < resQ:
		return fmt.Sprintf("p%d", res-resP)
	case res < resC:
		return fmt.Sprintf("q%d", res-resQ)
	case res == resFlags:
		return "usr"
	case res == resZ:
		return "z"
	case res < resT:
		return hexagon.ControlName(res - resC)
	}
	return "temporary"
}

// repeats is how many rounds of a decoded block may run at once, 1 when it is not the whole body of a hardware loop or
// has an event that ends a round.
func (b *Block) repeats() uint16 {
	if !b.Loop0 || b.Loop1 || b.Branches || b.Extracts || b.ends || b.Counts {
		return 1
	}
	n := maxRounds
	if len(b.Mem) > 0 {
		n = min(n, state.MaxRoundOps/len(b.Mem))
	}
	for i := range b.Mem {
		if b.Mem[i].Kind > PrefetchL1 {
			return 1
		}
	}
	for i := range b.Ops {
		switch hexagon.Op(b.Ops[i].Op) {
		case hexagon.A2_tfrcrr, hexagon.A4_tfrcpp: // may read the loop count
			return 1
		}
	}
	return uint16(n)
}
