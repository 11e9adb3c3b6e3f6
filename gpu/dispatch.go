package gpu

import (
	"encoding/binary"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// Layout of the private segment a dispatch's waves are pointed to.
const (
	queueBytes  = 256 // amd_queue_t, before argsWindow
	packetBytes = 64  // AQL kernel dispatch packet, at argsWindow

	// argumentGranule is the size of a page. A runtime takes arguments from a pool of whole
	// pages, which compilers rely on: a load that covers several arguments may read beyond
	// the last. The widest is widestScalarLoad.
	argumentGranule  = 4096
	widestScalarLoad = 64
)

// arguments builds that segment: queue, packet, kernel arguments.
func (m *machine) arguments(d *Dispatch) {
	size := packetBytes + len(d.Kernarg) + widestScalarLoad
	size = queueBytes + (size+argumentGranule-1)&^(argumentGranule-1)
	data := m.Args.Data
	if cap(data) < size {
		data = make([]byte, size)
	} else {
		data = data[:size]
		clear(data)
	}
	queue, b := data[:queueBytes], data[queueBytes:]
	le := binary.LittleEndian
	dims := 1
	for i := range 3 {
		if d.Grid[i] > 1 || d.Workgroup[i] > 1 {
			dims = i + 1
		}
		le.PutUint16(b[4+2*i:], uint16(max(d.Workgroup[i], 1)))
		le.PutUint32(b[12+4*i:], uint32(max(d.Grid[i], 1)))
	}
	le.PutUint32(b[24:], uint32(d.Kernel.ScratchBytes))
	le.PutUint32(b[28:], uint32(d.Kernel.LDSBytes))
	le.PutUint64(b[40:], m.kernarg())
	le.PutUint16(b[2:], uint16(dims))
	// amd_queue_t: the high halves of the apertures.
	le.PutUint32(queue[0x40:], SharedAperture>>32)
	le.PutUint32(queue[0x44:], PrivateAperture>>32)
	copy(b[packetBytes:], d.Kernarg)
	m.Args = mem.Segment{Name: "arguments", Base: QueueAddress, Data: data, ReadOnly: true}
}

func (m *machine) kernarg() uint64 {
	if m.d.KernargAddr != 0 {
		return m.d.KernargAddr
	}
	return state.ArgsWindow + packetBytes
}

// newWorkgroup makes the next work-group of the grid and its waves.
func (m *machine) newWorkgroup() *workgroup {
	n := m.next
	m.next++
	g := m.freeGroup()
	g.number = n
	g.ID[0] = int(n % int64(m.size[0]))
	g.ID[1] = int(n / int64(m.size[0]) % int64(m.size[1]))
	g.ID[2] = int(n / int64(m.size[0]) / int64(m.size[1]))
	if k := m.p.k.LDSBytes; cap(g.LDS) < k {
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
		w.start(dim, first, items)
		g.waves = append(g.waves, w)
	}
	g.live = len(g.waves)
	return g
}

// freeGroup takes a work-group from the pool.
func (m *machine) freeGroup() *workgroup {
	n := len(m.groups)
	if n == 0 {
		return &workgroup{}
	}
	g := m.groups[n-1]
	m.groups = m.groups[:n-1]
	g.arrived, g.cu, g.waves = 0, nil, g.waves[:0]
	return g
}

// newWave takes a wave from the pool, cleared.
func (m *machine) newWave(g *workgroup, id int) *wave {
	var w *wave
	if n := len(m.waves); n > 0 {
		w = m.waves[n-1]
		m.waves = m.waves[:n-1]
	} else {
		w = &wave{}
	}
	k := m.p.k
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
	w.Lanes = k.WaveSize
	w.High = 0
	if w.Lanes == 64 {
		w.High = 0xFFFFFFFF << 32
	}
	w.wg, w.machine, w.ID = g, m, id
	w.Machine, w.Group = &m.Machine, &g.Workgroup
	w.newScratch()
	w.S = [state.NumSGPRs]uint32{}
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

func (q *queue) reset() { q.head, q.n, q.scalars, q.last = 0, 0, 0, 0 }

// start sets the registers a wave begins with.
func (w *wave) start(dim [3]int, first, items int) {
	m := w.machine
	k := m.p.k
	user := k.User
	if user == 0 {
		user = UserKernargPtr
	}
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
		pair(state.ArgsWindow)
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

// retire gives a work-group and its waves back to the pool.
func (m *machine) retire(g *workgroup) {
	for _, w := range g.waves {
		w.freeScratch()
		w.wg, w.simd = nil, nil
		m.waves = append(m.waves, w)
	}
	m.groups = append(m.groups, g)
}

// drop forgets the waves of a dispatch that failed.
func (m *machine) drop() {
	for i := range m.simds {
		m.simds[i].waves = m.simds[i].waves[:0]
	}
	m.live = 0
	clear(m.slots)
}
