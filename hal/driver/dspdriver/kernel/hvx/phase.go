package hvx

import "github.com/nnsoc/nnsoc/isa/codegen"

// Phase is what an instruction of a kernel is there for.
type Phase uint8

const (
	PhaseNone       Phase = iota // none of the others: loops, tables, addresses, copies
	PhaseProducts                // multiply-accumulates and the loads for them
	PhaseZeroPoint               // zero-point correction: window sums of the inputs
	PhaseRequantize              // 32-bit sums to bytes, and their stores
	NumPhases
)

var PhaseNames = [NumPhases]string{"other", "products", "zero point", "requantize"}

// SetPhase marks the instructions that follow.
func (b *Builder) SetPhase(p Phase) { b.Func.SetSource(int(p)) }

// PhaseShares divides a packet among phases: twelfths, by instructions.
type PhaseShares [NumPhases]int64

const PacketShare = 12

func sharesOf(g *codegen.CodeGroup) PhaseShares {
	var s PhaseShares
	all := int64(0)
	for _, in := range g.Instrs {
		_, n := instructions(in)
		s[max(in.Source, 0)] += int64(n)
		all += int64(n)
	}
	if all == 0 { // nothing but the end of a loop
		s[PhaseNone], all = 1, 1
	}
	for p := range s {
		s[p] *= PacketShare / all
	}
	return s
}
