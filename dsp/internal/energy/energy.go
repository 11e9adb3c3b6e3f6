// Package energy counts the events of the core that cost energy.
package energy

import "github.com/nnsoc/nnsoc/isa/hexagon"

// Events that cost energy, counted per executed block or memory access.
const (
	Packet = iota
	Scalar
	VectorALU
	VectorMultiply
	Permute
	VectorLoad
	VectorStore
	L1
	L2
	VTCM
	numEvents
)

// Names are the rows of the energy table, in order.
var Names = [numEvents]string{
	"packet", "scalar", "vector_alu", "vector_multiply", "permute", "vector_load", "vector_store", "l1", "l2", "vtcm",
}

// Events is how often each happened.
type Events [numEvents]int64

// Add adds so many times the events of o.
func (e *Events) Add(o *Events, times int64) {
	for i, n := range o {
		e[i] += n * times
	}
}

// Count adds the events of one instruction.
func Count(e *Events, f *hexagon.Form) {
	switch f.Class {
	case hexagon.CVI_VX, hexagon.CVI_VX_DV, hexagon.CVI_VX_LATE:
		e[VectorMultiply]++
	case hexagon.CVI_VS, hexagon.CVI_VP, hexagon.CVI_VP_VS:
		e[Permute]++
	case hexagon.CVI_VA, hexagon.CVI_VA_DV:
		e[VectorALU]++
	case hexagon.CVI_VS_VX:
		e[VectorMultiply]++
		e[Permute]++
	case hexagon.CVI_4SLOT_MPY: // the products of four vrmpy
		e[VectorMultiply] += 4
	case hexagon.CVI_HIST: // all four pipes
		e[VectorALU] += 4
	case hexagon.CVI_VM_LD, hexagon.CVI_VM_TMP_LD, hexagon.CVI_VM_VP_LDU, hexagon.CVI_GATHER, hexagon.CVI_GATHER_DV, hexagon.CVI_ZW:
		e[VectorLoad]++
	case hexagon.CVI_VM_ST, hexagon.CVI_VM_NEW_ST, hexagon.CVI_VM_STU, hexagon.CVI_SCATTER, hexagon.CVI_SCATTER_DV:
		e[VectorStore]++
	default:
		if f.Op != hexagon.A2_nop {
			e[Scalar]++
		}
	}
	if f.MemBytes > 0 && f.MemBytes < 128 {
		e[L1]++
	}
}
