package gpu

import (
	"cmp"
	"encoding/binary"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Layout of the private segment a dispatch's waves are pointed to.
const (
	queueBytes  = 256 // amd_queue_t, at QueueAddress
	packetBytes = 64  // AQL kernel dispatch packet, after the queue

	// argumentGranule is the size of a page. A runtime allocates arguments from a pool of whole pages, which compilers
	// rely on: a load that covers several arguments may read beyond the last. The widest is widestScalarLoad.
	argumentGranule  = 4096
	widestScalarLoad = 64
)

// arguments builds that segment: the queue, then for each dispatch its packet and arguments.
func (m *executor) arguments() {
	size := queueBytes
	for _, g := range m.grids {
		g.packet = QueueAddress + uint64(size)
		size += (packetBytes + len(g.d.Kernarg) + widestScalarLoad + argumentGranule - 1) &^ (argumentGranule - 1)
	}
	data := m.Args.Data
	if cap(data) < size {
		data = make([]byte, size)
	} else {
		data = data[:size]
		clear(data)
	}
	m.Args = mem.Segment{Name: "arguments", Base: QueueAddress, Data: data, ReadOnly: true}
	// amd_queue_t: the high halves of the apertures.
	le := binary.LittleEndian
	le.PutUint32(data[0x40:], SharedAperture>>32)
	le.PutUint32(data[0x44:], PrivateAperture>>32)
	for _, g := range m.grids {
		g.write(data[g.packet-QueueAddress:])
	}
}

// write fills in the packet of a dispatch and its arguments after it.
func (g *grid) write(b []byte) {
	d, le, dims := g.d, binary.LittleEndian, 1
	for i := range 3 {
		if d.Grid[i] > 1 || d.Workgroup[i] > 1 {
			dims = i + 1
		}
		le.PutUint16(b[4+2*i:], uint16(max(d.Workgroup[i], 1)))
		le.PutUint32(b[12+4*i:], uint32(max(d.Grid[i], 1)))
	}
	le.PutUint32(b[24:], uint32(d.Kernel.ScratchBytes))
	le.PutUint32(b[28:], uint32(d.Kernel.LDSBytes))
	le.PutUint64(b[40:], g.kernarg())
	le.PutUint16(b[2:], uint16(dims))
	copy(b[packetBytes:], d.Kernarg)
}

func (g *grid) kernarg() uint64 {
	if g.d.KernargAddr != 0 {
		return g.d.KernargAddr
	}
	return g.packet + packetBytes
}

// newWorkgroup makes the next work-group of the grid and its waves.
func (m *executor) newWorkgroup() *workgroup {
	n := m.next
	m.next++
	g := m.freeGroup()
	g.grid = m.grid
	g.number = n
	g.ID[0] = int(n % int64(m.size[0]))
	g.ID[1] = int(n / int64(m.size[0]) % int64(m.size[1]))
	g.ID[2] = int(n / int64(m.size[0]) / int64(m.size[1]))
	if k := m.p.k.LDSBytes; m.replays() {
		g.LDS = g.LDS[:0]
	} else if cap(g.LDS) < k {
		g.LDS = make([]byte, k)
	} else {
		g.LDS = g.LDS[:k]
		clear(g.LDS)
	}
	// The last work-group of a dimension may be smaller.
	var dim [3]int
	items := 1
	for i := range dim {
		w := max(m.d.Workgroup[i], 1)
		dim[i] = min(w, max(m.d.Grid[i], 1)-g.ID[i]*w)
		items *= dim[i]
	}
	size := m.p.k.WaveSize
	for first := 0; first < items; first += size {
		w := m.newWave(g, first/size)
		if m.replays() {
			w.at = int(m.tape.waves[m.tape.groups[n]+uint32(w.ID)])
		} else {
			w.start(dim, first, items)
		}
		g.waves = append(g.waves, w)
	}
	g.live = len(g.waves)
	return g
}

// freeGroup allocates a work-group from the pool.
func (m *executor) freeGroup() *workgroup {
	n := len(m.groups)
	if n == 0 {
		return &workgroup{}
	}
	g := m.groups[n-1]
	m.groups = m.groups[:n-1]
	g.arrived, g.cu, g.waves = 0, nil, g.waves[:0]
	return g
}

// newWave allocates a wave from the pool, cleared.
func (m *executor) newWave(g *workgroup, id int) *wave {
	var w *wave
	if n := len(m.waves); n > 0 {
		w = m.waves[n-1]
		m.waves = m.waves[:n-1]
	} else {
		w = &wave{}
	}
	k := m.p.k
	w.Lanes = k.WaveSize
	w.High = 0
	if w.Lanes == 64 {
		w.High = 0xFFFFFFFF << 32
	}
	w.wg, w.executor, w.ID = g, m, id
	w.Machine, w.Group = &m.Machine, &g.Workgroup
	if !m.replays() {
		w.newRegisters()
	}
	w.newScratch()
	w.at = 0
	w.PC, w.undone = m.p.Entry, m.p.Entry
	w.PendingV, w.PendingS = [4]uint64{}, [2]uint64{}
	w.dup, w.clear = false, false
	w.vm.reset()
	w.vs.reset()
	w.lgkm.reset()
	w.simd, w.done, w.atBarrier = nil, false, false
	w.vMax, w.sMax = 0, 0
	w.line = -1
	clear(w.vReady[:k.VGPRs])
	clear(w.sReady[:state.SCC+1])
	return w
}

// newRegisters allocates registers of the wave, all 0.
func (w *wave) newRegisters() {
	k := w.executor.p.k
	need := k.VGPRs*k.WaveSize + 32 + 16
	if cap(w.regs) < need {
		w.regs = make([]uint32, need)
	} else {
		w.regs = w.regs[:need]
		clear(w.regs)
	}
	off := uintptr(0)
	for uintptr(unsafe.Pointer(&w.regs[off]))&63 != 0 {
		off++
	}
	w.V = unsafe.Pointer(&w.regs[off])
	w.S = [state.NumSGPRs]uint32{}
}

func (q *queue) reset() { q.head, q.n, q.scalars, q.last = 0, 0, 0, 0 }

// start sets the registers a wave begins with.
func (w *wave) start(dim [3]int, first, items int) {
	m := w.executor
	k := m.p.k
	user := k.User
	user = cmp.Or(user, UserKernargPtr)
	at := uint32(0)
	pair := func(v uint64) {
		w.SetS64(at, v)
		at += 2
	}
	if user&UserSegmentBuffer != 0 {
		d := scratchDescriptor(w.Lanes)
		copy(w.S[:4], d[:])
		at = 4
	}
	if user&UserDispatchPtr != 0 {
		pair(m.packet)
	}
	if user&UserQueuePtr != 0 {
		pair(QueueAddress)
	}
	if user&UserKernargPtr != 0 {
		pair(m.kernarg())
	}
	if user&UserDispatchID != 0 {
		pair(0)
	}
	if user&UserFlatScratch != 0 {
		pair(state.ScratchWindow)
	}
	if user&UserSegmentSize != 0 {
		w.S[at] = uint32(k.ScratchBytes)
		at++
	}
	ids := k.WorkgroupID
	if ids == [3]bool{} && !k.NoWorkgroupID {
		ids = [3]bool{true, true, true}
	}
	for i, on := range ids {
		if on {
			w.S[at] = uint32(w.Group.ID[i])
			at++
		}
	}
	if k.GroupInfo {
		// First wave of the group, its number, the waves of the group.
		w.S[at] = uint32(w.ID)<<6 | uint32((items+w.Lanes-1)/w.Lanes)
		if w.ID == 0 {
			w.S[at] |= 1 << 31
		}
		at++
	}
	if k.ScratchOffset {
		w.S[at] = uint32(w.ScratchBase - state.ScratchWindow)
	}
	n := min(w.Lanes, items-first)
	mask := state.FullMask(n)
	w.S[state.EXEC], w.S[state.EXEC+1] = uint32(mask), uint32(mask>>32)
	for l := range n {
		i := first + l
		w.Reg(0)[l] = uint32(i % dim[0])
		if k.WorkItemIDs > 0 {
			w.Reg(1)[l] = uint32(i / dim[0] % dim[1])
		}
		if k.WorkItemIDs > 1 {
			w.Reg(2)[l] = uint32(i / dim[0] / dim[1])
		}
	}
}

// retire returns a work-group and its waves to the pool.
func (m *executor) retire(g *workgroup) {
	for _, w := range g.waves {
		w.freeScratch()
		w.wg, w.simd = nil, nil
		m.waves = append(m.waves, w)
	}
	m.groups = append(m.groups, g)
}

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

// scratchOf is the scratch allocated for a wave that declares so many bytes.
func scratchOf(bytes int) int { return (bytes + scratchGranule - 1) &^ (scratchGranule - 1) }

// scratchDwords is the size of a lane's scratch, rounded up.
func (k *Kernel) scratchDwords() int { return (k.ScratchBytes + 3) / 4 }

// newScratch allocates zeroed scratch for the wave in the lowest free slot.
func (w *wave) newScratch() {
	m, k := w.executor, w.executor.p.k
	w.ScratchBase, w.FlatScratch, w.Mode = state.ScratchWindow, 0, m.p.Mode
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
	w.ScratchBase += m.scratch + uint64(slot)*uint64(scratchOf(bytes))
	if user := k.User; user&(UserFlatScratch|UserSegmentBuffer) == 0 {
		// Programs of our own builder do not set FLAT_SCRATCH.
		w.FlatScratch = w.ScratchBase
	}
}

// freeScratch releases the slot.
func (w *wave) freeScratch() {
	if bytes := len(w.Scratch); bytes > 0 {
		g := w.wg.grid
		g.slots[(w.ScratchBase-state.ScratchWindow-g.scratch)/uint64(scratchOf(bytes))] = false
	}
}
