package gpu

import "github.com/nnsoc/nnsoc/gpu/internal/state"

// scratchGranule is the unit of a wave's scratch in bytes.
const scratchGranule = 1024

// scratchDescriptor describes the segment to buffer instructions: swizzled by
// lane in dwords, no bound.
func scratchDescriptor(lanes int) [4]uint32 {
	const (
		swizzle = 1 << 31
		addLane = 1 << 23
		raw     = 3 << 28
	)
	stride := uint32(2) // 32 lanes beside each other
	if lanes == 64 {
		stride = 3
	}
	return [4]uint32{state.ScratchWindow & 0xFFFFFFFF, state.ScratchWindow>>32 | swizzle, ^uint32(0), stride<<21 | addLane | raw}
}

// scratchDwords is the size of a lane's scratch, rounded up.
func (k *Kernel) scratchDwords() int { return (k.ScratchBytes + 3) / 4 }

// newScratch gives the wave zeroed scratch in the lowest free slot.
func (w *wave) newScratch() {
	m, k := w.machine, w.machine.p.k
	w.ScratchBase, w.FlatScratch = state.ScratchWindow, 0
	bytes := 4 * k.scratchDwords() * w.Lanes
	if cap(w.Scratch) < bytes {
		w.Scratch = make([]byte, bytes)
	} else {
		w.Scratch = w.Scratch[:bytes]
		clear(w.Scratch)
	}
	if bytes == 0 {
		return
	}
	slot := 0
	for slot < len(m.slots) && m.slots[slot] {
		slot++
	}
	if slot == len(m.slots) {
		m.slots = append(m.slots, false)
	}
	m.slots[slot] = true
	w.ScratchBase += uint64(slot) * uint64((bytes+scratchGranule-1)&^(scratchGranule-1))
	if user := k.User; user&(UserFlatScratch|UserSegmentBuffer) == 0 {
		// Programs of our own builder do not set FLAT_SCRATCH.
		w.FlatScratch = w.ScratchBase
	}
}

// freeScratch gives the slot back.
func (w *wave) freeScratch() {
	if bytes := len(w.Scratch); bytes > 0 {
		w.machine.slots[(w.ScratchBase-state.ScratchWindow)/uint64((bytes+scratchGranule-1)&^(scratchGranule-1))] = false
	}
}
