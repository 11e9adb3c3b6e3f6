package hexagon

import "math/bits"

// rule is a packet rule that can be broken; ruleText has the words.
type rule uint8

const (
	ruleOK rule = iota
	ruleCount
	ruleWords
	ruleMemory
	ruleHVXLoads
	ruleHVXStores
	ruleZLoads
	ruleStores
	ruleStoreSingle
	ruleLoads
	ruleSlots
	rulePipes
	ruleBranches
	ruleBranchSlots
	ruleBranchAlone
	ruleBranchFirst
	ruleSolo
	ruleDoubleDef
	ruleNoProducer
	rulePredProducer
	rulePredicated
	rulePairProducer
	ruleFloatProducer
	ruleLoopBranch
	ruleLoopRegs
	ruleLoop0Words
	ruleTmpDef
	ruleReadOnly
	rulePredLate
	ruleOnlyALU
)

var ruleText = [...]string{
	ruleCount:         TooManyInsts,
	ruleWords:         TooManyWords,
	ruleMemory:        "two instructions need memory slot 0",
	ruleHVXLoads:      "two vector loads",
	ruleHVXStores:     "two vector stores",
	ruleZLoads:        "two loads of the Z window",
	ruleStores:        "too many stores: two stores need slot 0",
	ruleStoreSingle:   "read-modify-write of memory beside another store",
	ruleLoads:         "too many loads: slots 0 and 1 are taken",
	ruleSlots:         "no free slot can run every instruction",
	rulePipes:         "vector pipes oversubscribed",
	ruleBranches:      "more than two branches",
	ruleBranchSlots:   "two branches find no slots in their order",
	ruleBranchAlone:   "branch cannot share its packet with another branch",
	ruleBranchFirst:   "unconditional branch before another branch",
	ruleSolo:          "instruction must be alone in its packet",
	ruleDoubleDef:     "register written twice",
	ruleNoProducer:    ".new operand has no producer before it in the packet",
	rulePredProducer:  ".new predicate is not made in the packet",
	rulePredicated:    ".new producer runs under another predicate than its consumer",
	rulePairProducer:  ".new operand is half of a scalar register pair",
	ruleFloatProducer: "floating-point result is ready too late for a compare-and-jump on it",
	ruleLoopBranch:    "branch in a packet that ends a hardware loop",
	ruleLoopRegs:      "loop registers written in the packet that ends the loop",
	ruleLoop0Words:    "no room for the words a loop end needs",
	ruleTmpDef:        "instruction accumulates into a .tmp vector",
	ruleReadOnly:      "control register cannot be written",
	ruleOnlyALU:       "only ALU, shift and multiply instructions may share the packet",
	rulePredLate:      "predicate of this instruction is ready too late for .new",
}

// What packets may not exceed; an assembler finds some of it before there is a packet to check.
const (
	TooManyInsts = "a packet holds one to four instructions"
	TooManyWords = "more than four words"
)

func (r rule) String() string { return ruleText[r] }

// resource is the demand of one instruction on the packet.
type resource struct {
	slots  uint8  // slots that it may still use
	pipes  uint8  // number of pipes it can start in
	weight uint32 // ordering weight
	index  uint8  // position in the packet
}

// layout is the working state of slot assignment; it lives on the stack.
type layout struct {
	res      [4]resource
	n        int
	reserved uint8
	anyWords bool // do not count words: some may still be joined
	ordered  bool // memory accesses keep their order
}

// summary counts the inputs of the memory and branch rules.
type summary struct {
	loads, stores, memory, memops   int
	load0, store0, hvxLoad, hvxStor int
	zLoad                           int
	branches                        [4]uint8
	nbranch                         int
}

// SlotsOK reports whether the instructions fit one packet: words, slots, memory ports, vector pipes and branches. It does
// not look at registers, so a list scheduler can ask it for every candidate it adds; it does not allocate.
func SlotsOK(insts []Inst) bool {
	var l layout
	return l.assign(insts) == ruleOK
}

// assign checks resources and narrows each instruction's slots to those the memory and branch rules leave it.
func (l *layout) assign(insts []Inst) rule {
	if len(insts) == 0 || len(insts) > 4 {
		return ruleCount
	}
	words, noStore1, onlyALU1 := len(insts), false, false
	for i := range insts {
		in := &insts[i]
		f := &forms[in.Op]
		if in.Extended() {
			words++
		}
		l.res[i] = resource{slots: f.Slots, pipes: uint8(len(pipes[f.Units])), index: uint8(i)}
		if f.Has(FlagBlocksSlot1) {
			l.reserved |= 2
		}
		noStore1 = noStore1 || f.Has(FlagNoStore1) || f.Has(FlagLoad) && f.IsHVX()
		onlyALU1 = onlyALU1 || f.Has(FlagSlot1ALU)
	}
	if words > MaxWords && !l.anyWords {
		return ruleWords
	}
	l.n = len(insts)
	if noStore1 || onlyALU1 {
		for i := range insts {
			f := &forms[insts[i].Op]
			if noStore1 && f.Has(FlagStore) || onlyALU1 && f.Class != ALU32 {
				l.res[i].slots &^= 2
			}
		}
	}
	var s summary
	s.count(insts)
	if s.load0 > 1 || s.store0 > 1 {
		return ruleMemory
	}
	if s.hvxLoad > 1 {
		return ruleHVXLoads
	}
	if s.hvxStor > 1 {
		return ruleHVXStores
	}
	if s.zLoad > 1 {
		return ruleZLoads
	}
	if r := l.memoryOrder(insts, &s); r != ruleOK {
		return r
	}
	if r := l.branchOrder(insts, &s); r != ruleOK {
		return r
	}
	l.preferSlot3(insts, &s)
	if !l.slotsExist() {
		return ruleSlots
	}
	if !pipesExist(insts) {
		return rulePipes
	}
	return ruleOK
}

func (s *summary) count(insts []Inst) {
	for i := range insts {
		f := &forms[insts[i].Op]
		load, store := f.Has(FlagLoad), f.Has(FlagStore)
		switch f.Class {
		case CVI_VM_LD, CVI_VM_TMP_LD, CVI_VM_VP_LDU, CVI_GATHER, CVI_GATHER_DV:
			s.hvxLoad++
			s.loads++
			s.memory++
			if f.Slots == 1 || f.Class == CVI_VM_VP_LDU {
				s.load0++
			}
		case CVI_ZW:
			s.zLoad++
			s.loads++
			s.memory++
		case CVI_VM_ST, CVI_VM_NEW_ST, CVI_VM_STU, CVI_SCATTER, CVI_SCATTER_DV, CVI_SCATTER_NEW_RST:
			s.hvxStor++
			s.stores++
			s.memory++
			s.store0++
		case LD:
			s.loads++
			s.memory++
			if f.Slots == 1 {
				s.load0++
			}
		case ST:
			s.stores++
			s.memory++
			if f.Slots == 1 {
				s.store0++
			}
		case V2LDST:
			s.memory++
			if load {
				s.loads++
				if f.Slots == 1 {
					s.load0++
				}
			} else if store {
				s.stores++
			}
		case V4LDST:
			s.loads++
			s.stores++
			s.memops++
			s.memory++
		case NCJ:
			s.memory++
		}
		if f.Has(FlagBranch) {
			s.branches[s.nbranch] = uint8(i)
			s.nbranch++
		}
	}
}

// memoryOrder pins loads and stores: a single memory access has slot 0 (a gather slot 1), two stores have slots 1 and 0
// in order; in an ordered packet any two accesses do, and a memory operation, which is two, fits none.
func (l *layout) memoryOrder(insts []Inst, s *summary) rule {
	next := uint8(2) // the highest slot still open
	for i := range l.res[:l.n] {
		f := &forms[insts[i].Op]
		r := &l.res[i]
		if f.Has(FlagLoad) && f.Slots != 2 && s.loads == 1 && s.loads == s.memory && s.memops == 0 {
			r.slots &= 1
		} else if f.Has(FlagLoad) && l.ordered {
			if next == 0 {
				return ruleLoads
			}
			r.slots &= next
			next >>= 1
		}
		if !f.Has(FlagStore) {
			continue
		}
		if s.store0 == 0 {
			if s.stores == 1 && (s.loads == 0 || !l.ordered && !othersOnlySlot0(l, i)) {
				r.slots &= 1
			} else if s.stores >= 1 {
				if next == 0 {
					return ruleStores
				}
				r.slots &= next
				next >>= 1
			}
		}
		if s.memops > 0 && s.stores > 1 {
			return ruleStoreSingle
		}
	}
	return ruleOK
}

// storeThenLoad reports whether all that touches memory is a scalar store that can run in slot 1 and a scalar load
// behind it.
func storeThenLoad(insts []Inst) bool {
	n := 0
	for i := range insts {
		f := &forms[insts[i].Op]
		if !f.Has(FlagLoad | FlagStore) {
			continue
		}
		if n == 2 || f.IsHVX() || f.Has(FlagLoad) != (n == 1) || f.Has(FlagStore) != (n == 0) || n == 0 && f.Slots&2 == 0 {
			return false
		}
		n++
	}
	return n == 2
}

// othersOnlySlot0 reports whether another instruction can run in slot 0 only.
func othersOnlySlot0(l *layout, i int) bool {
	for j := range l.res[:l.n] {
		if j != i && l.res[j].slots == 1 {
			return true
		}
	}
	return false
}

// branchOrder assigns two branches descending slots in program order.
func (l *layout) branchOrder(insts []Inst, s *summary) rule {
	if s.nbranch < 2 {
		return ruleOK
	}
	if s.nbranch > 2 {
		return ruleBranches
	}
	for k := range 2 {
		f := &forms[insts[s.branches[k]].Op]
		switch {
		case f.Has(FlagIndirect | FlagNewJump):
			return ruleBranchAlone
		case k == 0 && !f.conditional() && !f.Has(FlagHint):
			return ruleBranchFirst
		}
	}
	a, b := &l.res[s.branches[0]], &l.res[s.branches[1]]
	sa, sb := a.slots, b.slots
	for _, pair := range [...][2]uint8{{8, 4}, {8, 2}, {8, 1}, {4, 2}, {4, 1}, {2, 1}} {
		if sa&pair[0] == 0 || sb&pair[1] == 0 {
			continue
		}
		a.slots, b.slots = pair[0], pair[1]
		if l.slotsExist() {
			return ruleOK
		}
	}
	return ruleBranchSlots
}

// preferSlot3 pins the one instruction that prefers slot 3 there, if the others still fit.
func (l *layout) preferSlot3(insts []Inst, s *summary) {
	want, count := -1, 0
	for i := range insts {
		if l.res[i].slots == 8 {
			return
		}
		if forms[insts[i].Op].Has(FlagPreferSlot3) {
			want = i
			count++
		}
	}
	if count != 1 || s.nbranch > 1 {
		return
	}
	save := l.res[want].slots
	l.res[want].slots &= 8
	if !l.slotsExist() {
		l.res[want].slots = save
	}
}

// slotsExist reports whether every instruction can have its own slot.
func (l *layout) slotsExist() bool {
	return fitSlots(l.res[:l.n], l.reserved)
}

func fitSlots(res []resource, taken uint8) bool {
	if len(res) == 0 {
		return true
	}
	for m := res[0].slots &^ taken; m != 0; m &= m - 1 {
		if fitSlots(res[1:], taken|m&-m) {
			return true
		}
	}
	return false
}

// pipes lists, for each Units value, the alternative sets of pipes (MPY0 1, MPY1 2, SHIFT 4, XLANE 8); forms that can
// run in any leave the multipliers to others.
var pipes = [...][]uint8{
	UnitsNone: nil, UnitsAny1: {8, 4, 2, 1}, UnitsMpy1: {1, 2}, UnitsMpy01: {3}, UnitsDV: {3, 12}, UnitsShift: {4}, UnitsXlane: {8},
	UnitsXlShf: {12}, UnitsLd1: {8, 4, 2, 1}, UnitsLd: nil, UnitsLdXlane: {8}, UnitsSt1: {8, 4, 2, 1}, UnitsSt: nil, UnitsStXlane: {8},
	UnitsMpy1ShXl: {4, 8}, // as llvm-mc, which looks at the second of the two stages only
	UnitsAll:      {15}, UnitsLdDV: {12, 3}, UnitsStDV: {12, 3}, UnitsZW: nil,
}

// VectorPipes is the number of vector pipes of a packet.
const VectorPipes = 4

// Pipes is the number of occupied vector pipes.
func (u Units) Pipes() int {
	if p := pipes[u]; len(p) > 0 {
		return bits.OnesCount8(p[0])
	}
	return 0
}

// pipesExist reports whether the vector instructions can share the four pipes.
func pipesExist(insts []Inst) bool { return fitPipes(insts, 0) }

func fitPipes(insts []Inst, taken uint8) bool {
	for len(insts) > 0 && pipes[forms[insts[0].Op].Units] == nil {
		insts = insts[1:]
	}
	if len(insts) == 0 {
		return true
	}
	for _, m := range pipes[forms[insts[0].Op].Units] {
		if m&taken == 0 && fitPipes(insts[1:], taken|m) {
			return true
		}
	}
	return false
}
