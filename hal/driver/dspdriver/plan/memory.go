package plan

import (
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Memory is what an execution writes: the arena between two guards, VTCM, and a copy of the DMA
// descriptors, which the engines mark done.
type Memory struct {
	Arena, VTCM, DMADescriptors []byte
}

// NewMemory makes the memory of a program with so many bytes of arena, guards included.
func NewMemory(s *dsp.Spec, arena int, descriptors []byte) Memory {
	return Memory{make([]byte, arena), make([]byte, s.VTCMBytes), append([]byte(nil), descriptors...)}
}

// Offset is where the bytes of a placed tensor begin in Arena.
func Offset(t *layout.Tensor) int { return int(t.Addr-layout.ArenaBase) + layout.EndGuard }

// Space maps the memory and a program's constants.
func (m *Memory) Space(s *dsp.Spec, consts []byte) (*mem.Space, error) {
	space := &mem.Space{}
	for _, x := range []mem.Segment{
		{Name: "constants", Base: layout.ConstBase, Data: consts, ReadOnly: true},
		{Name: "vtcm", Base: uint64(s.VTCMBase), Data: m.VTCM},
		{Name: "chains", Base: dmaChainBase, Data: m.DMADescriptors},
		{Name: "arena", Base: layout.ArenaBase - layout.EndGuard, Data: m.Arena},
	} {
		if len(x.Data) == 0 {
			continue
		}
		if err := space.Map(x); err != nil {
			return nil, err
		}
	}
	return space, nil
}
