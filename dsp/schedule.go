package dsp

import (
	"encoding/binary"
	"math/bits"

	"github.com/nnsoc/nnsoc/dsp/internal/decode"
)

// variant is the schedule of a block entered in one state: which results are
// still under way. Memory stalls freeze the thread, so they move the schedule
// but do not change it.
type variant struct {
	block   *block
	entry   int32
	period  int64
	cycles  int64 // from its first packet to the first of the next block: issue and operand
	issue   int64 // cycles of its packets, and of those that wait for the vector pipeline
	operand int64 // cycles of operand stalls
	mem     []timedOp
	ways    [waysOut]way
	queued  []int32 // slots that each packet waits for the vector pipeline
	stall   []int32 // slots that it waits for its operands after that
	cause   []uint8 // register that it waits for
	runs    int64   // since the last profile
}

// timedOp is a memory operation of a block in a schedule.
type timedOp struct {
	decode.MemOp
	cycle uint32 // from the start of the block
}

// way is a way out of a block.
type way struct {
	lost int64    // cycles
	exit int32    // state in which the next block is entered
	next *variant // the one entered last
	same *variant // the same block again
}

// pending is a result that the next packets may have to wait for.
type pending struct {
	res   uint8
	cycle uint8 // pipeline cycle in which it is ready
	hvx   bool
	age   uint8 // slots since its packet
}

// vectorPort is the resource of packets that use vectors: a thread's vector pipeline begins one per IssueInterval.
const vectorPort = 254

// maxAge bounds how long a result can be waited for; older ones are forgotten.
const maxAge = 96

// states numbers the sets of pending results.
type states struct {
	byKey map[string]int32
	list  [][]pending
	key   []byte // of the set requested last
}

func (s *states) init() {
	s.byKey = map[string]int32{"": 0}
	s.list = [][]pending{nil}
}

// number finds or adds a set; it must be in canonical order (by register).
func (s *states) number(set []pending) int32 {
	key := s.key[:0]
	for _, p := range set {
		h := uint16(p.cycle) << 1
		if p.hvx {
			h |= 1
		}
		key = append(key, p.res, p.age)
		key = binary.LittleEndian.AppendUint16(key, h)
	}
	s.key = key
	if n, ok := s.byKey[string(key)]; ok {
		return n
	}
	n := int32(len(s.list))
	s.byKey[string(key)] = n
	s.list = append(s.list, append([]pending(nil), set...))
	return n
}

// planner schedules the blocks of a job, each once per state in which a thread enters it. It knows no thread and no memory.
type planner struct {
	spec     *Spec
	period   int64 // cycles of a slot
	interval int64 // slots of an issue interval
	states   *states
	out      []pending // of the way out that is being planned
}

// pace sets the slots of a job of so many threads. IssueInterval passes from a packet of a thread to its next, or more
// where the threads share too few ports. Threads that can all issue in one cycle do so every AloneInterval: then
// IssueInterval passes only between two packets of vectors, and latencies, which count packets, are as long as before.
func (x *planner) pace(threads int) {
	s := x.spec
	x.period, x.interval = max(int64(s.IssueInterval), int64((threads+s.IssueWidth-1)/s.IssueWidth)), 1
	if threads <= s.IssueWidth {
		x.period = int64(s.AloneInterval)
		x.interval = (int64(s.IssueInterval) + x.period - 1) / x.period
	}
}

// plan is the schedule of b for a thread that enters in state.
func (x *planner) plan(b *block, state int32) *variant {
	v := x.planned(b, state)
	if v == nil {
		v = x.schedule(b, state)
		b.variants = append(b.variants, v)
	}
	return v
}

// planned is the plan that has been made, nil when none has.
func (x *planner) planned(b *block, state int32) *variant {
	for _, v := range b.variants {
		if v.entry == state && v.period == x.period {
			return v
		}
	}
	return nil
}

// latency is the number of slots from a producing packet to the first packet
// that can use the result: whole issue intervals, one at least. Operand cycles
// are half packets for vector results, which move through the vector pipeline
// at one packet per two cycles, and core cycles for scalar results.
func (x *planner) latency(def *pending, u *decode.Use) int64 {
	if def.res == vectorPort {
		return x.interval
	}
	d := int64(def.cycle) - int64(u.Cycle)
	if def.hvx && def.res >= decode.ResV {
		return max(1, (d+1)/2) * x.interval
	}
	cycles := x.period * x.interval
	return max(1, (d+cycles-1)/cycles) * x.interval
}

func (x *planner) schedule(b *block, state int32) *variant {
	v := &variant{block: b, entry: state, period: x.period, queued: make([]int32, len(b.Packets)), stall: make([]int32, len(b.Packets)), cause: make([]uint8, len(b.Packets)), mem: make([]timedOp, len(b.Mem))}
	// issued is the slot of the packet that defines a register last, as if it
	// were before the block for those pending at entry.
	type def struct {
		pending
		slot int64
	}
	var regs [256]def
	var defined [256 / 64]uint64 // a bit for each of regs
	define := func(p pending, slot int64) {
		regs[p.res] = def{p, slot}
		defined[p.res/64] |= 1 << (p.res % 64)
	}
	for _, p := range x.states.list[state] {
		define(p, -int64(p.age))
	}
	next, issue, mem := int64(0), int64(len(b.Packets)), 0
	for i := range b.Packets {
		pk := &b.Packets[i]
		if pk.Vector && defined[vectorPort/64]>>(vectorPort%64)&1 != 0 {
			free := max(next, regs[vectorPort].slot+x.interval)
			v.queued[i] = int32(free - next)
			issue += free - next
			next = free
		}
		slot := next
		for k := range pk.Uses {
			if res := pk.Uses[k].Res; defined[res/64]>>(res%64)&1 != 0 {
				d := &regs[res]
				if ready := d.slot + x.latency(&d.pending, &pk.Uses[k]); ready > slot {
					slot, v.cause[i] = ready, d.res
				}
			}
		}
		v.stall[i] = int32(slot - next)
		for _, d := range pk.Defs {
			define(pending{res: d.Res, cycle: d.Cycle, hvx: d.HVX}, slot)
		}
		if pk.Vector {
			define(pending{res: vectorPort}, slot)
		}
		for ; mem < len(b.Mem) && int(b.Mem[mem].Packet) == i; mem++ {
			v.mem[mem] = timedOp{b.Mem[mem], uint32(slot * x.period)}
		}
		next = slot + 1
	}
	v.cycles = next * x.period
	v.issue = issue * x.period
	v.operand = v.cycles - v.issue
	for how := range v.ways {
		end := next + x.exitSlots(how)
		out := x.out[:0]
		for i, set := range defined {
			for ; set != 0; set &= set - 1 {
				d := &regs[64*i+bits.TrailingZeros64(set)]
				// Age 1 is the packet just issued: its dependents wait latency-1 slots.
				if age := end - d.slot; age < maxAge {
					d.pending.age = uint8(age)
					if x.matters(&d.pending) {
						out = append(out, d.pending)
					}
				}
			}
		}
		x.out = out
		v.ways[how] = way{lost: x.exitSlots(how) * x.period, exit: x.states.number(out)}
	}
	return v
}

// matters reports whether a result of this age can still delay a packet: the
// earliest use is in cycle 0.
func (x *planner) matters(p *pending) bool {
	return x.latency(p, &decode.Use{}) > int64(p.age)
}

// exitSlots is the number of slots that a thread loses on each way out of a block.
func (x *planner) exitSlots(how int) int64 {
	switch how {
	case wayLate:
		return int64(x.spec.BranchSlots) * x.interval
	case wayWrong:
		return int64(x.spec.MispredictSlots) * x.interval
	}
	return 0
}
