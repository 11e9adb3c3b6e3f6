package hexagon

// SlotMemo remembers which instructions fit into packets together (SlotsOK): a list scheduler requests the same few
// combinations over and over. A packet under construction is a state; the zero state is the empty packet. Instructions
// with the same demand are one class. The zero SlotMemo is ready to use, by one goroutine.
type SlotMemo struct {
	classes map[slotClass]int32
	list    []slotClass
	states  []slotState
}

// slotClass is the input of SlotsOK about instructions that are added to a packet together.
type slotClass struct {
	ops   [4]Op
	ext   uint8 // a bit for each one with an extender
	n     uint8
	alone bool // they share their packet with nothing
}

// slotState is a packet under construction.
type slotState struct {
	insts [4]Inst // operation and extender only
	n     int
	alone bool
	next  []int32 // by class: the state with it, noSlot, or 0 while unknown
}

const noSlot = -1

// maxSlotStates is how many packets a SlotMemo should remember: some 10 MB.
const maxSlotStates = 1 << 14

// Full reports whether the memo has become large. It works on; whoever uses it for long begins anew.
func (m *SlotMemo) Full() bool { return len(m.states) > maxSlotStates }

// Class is the class of one to four instructions that are added to a packet together, from 1 on. alone marks an
// instruction that the packet format or its flags leave alone in its packet.
func (m *SlotMemo) Class(insts []Inst, alone bool) int32 {
	c := slotClass{n: uint8(len(insts)), alone: alone}
	for i := range insts {
		c.ops[i] = insts[i].Op
		if insts[i].Extended() {
			c.ext |= 1 << i
		}
	}
	k, ok := m.classes[c]
	if !ok {
		if m.classes == nil {
			m.classes = map[slotClass]int32{}
		}
		m.list = append(m.list, c)
		k = int32(len(m.list))
		m.classes[c] = k
	}
	return k
}

// Add is the packet of a state with the instructions of a class added; ok is false when they do not fit.
func (m *SlotMemo) Add(state, class int32) (next int32, ok bool) {
	if len(m.states) == 0 {
		m.states = append(m.states, slotState{})
	}
	s := &m.states[state]
	if int(class) < len(s.next) && s.next[class] != 0 {
		next = s.next[class]
		return next, next != noSlot
	}
	next = m.add(s, &m.list[class-1])
	s = &m.states[state]
	if n := len(m.list) + 1; len(s.next) < n {
		s.next = append(s.next, make([]int32, n-len(s.next))...)
	}
	s.next[class] = next
	return next, next != noSlot
}

// add makes a state, or finds that there is no space.
func (m *SlotMemo) add(s *slotState, c *slotClass) int32 {
	if s.alone || c.alone && s.n > 0 || s.n+int(c.n) > len(s.insts) {
		return noSlot
	}
	t := slotState{insts: s.insts, n: s.n, alone: c.alone}
	for i, op := range c.ops[:c.n] {
		t.insts[t.n] = Inst{Op: op, Ext: c.ext>>i&1 != 0}
		t.n++
	}
	if !SlotsOK(t.insts[:t.n]) {
		return noSlot
	}
	m.states = append(m.states, t)
	return int32(len(m.states) - 1)
}
