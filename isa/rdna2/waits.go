package rdna2

import "github.com/nnsoc/nnsoc/isa/codegen"

// The pass that inserts s_waitcnt. For every register it knows how many later
// operations of the same counter were issued after the one that will write it:
// its age. Vector loads and LDS operations return in order, so a register of
// age n is there once at most n operations are outstanding. Scalar loads return
// in any order: only a wait for none helps.

// noAge is the age of a register that nothing outstanding writes.
const noAge = 255

// waitState is the outstanding operations at one point of the program.
type waitState struct {
	vm   [256]uint8 // vector loads and atomics, per vector register
	lds  [256]uint8 // LDS operations, per vector register
	smem [128]bool  // scalar loads, per scalar register
	any  bool       // a scalar load is outstanding
	mem  bool       // an LDS operation without a result is outstanding
	vs   bool       // a store is outstanding
	seen bool       // the state has been reached
}

func (s *waitState) reset() {
	*s = waitState{seen: true}
	for i := range s.vm {
		s.vm[i], s.lds[i] = noAge, noAge
	}
}

// merge adds the outstanding operations of another path; it reports a change.
func (s *waitState) merge(o *waitState) bool {
	if !s.seen {
		*s = *o
		return true
	}
	changed := false
	for i := range s.vm {
		if o.vm[i] < s.vm[i] {
			s.vm[i], changed = o.vm[i], true
		}
		if o.lds[i] < s.lds[i] {
			s.lds[i], changed = o.lds[i], true
		}
	}
	for i := range s.smem {
		if o.smem[i] && !s.smem[i] {
			s.smem[i], changed = true, true
		}
	}
	for _, f := range [...]struct{ to, from *bool }{{&s.any, &o.any}, {&s.mem, &o.mem}, {&s.vs, &o.vs}} {
		if *f.from && !*f.to {
			*f.to, changed = true, true
		}
	}
	return changed
}

// need is the wait before an instruction; the maxima are no wait.
type need struct{ vm, lgkm, vs int }

// lookAhead is how many vector instructions behind one that must wait share its
// wait: a little more waiting at once for fewer instructions.
const lookAhead = 8

// step works out the wait that the first of vis needs and then issues it. The
// others follow it in the same block.
func (k *Kernel) step(s *waitState, vis []*codegen.Instr) need {
	n := need{MaxVM, MaxLGKM, MaxVS}
	vi := vis[0]
	f := Op(vi.Op).Form()
	if f.Op == S_WAITCNT { // one that the kernel itself requests
		w := splitWaitcnt(uint16(vi.Args[0].Imm))
		s.wait(need{w.VM, w.LGKM, MaxVS})
		return n
	}
	k.operands(s, vi, &n)
	if n.vm < MaxVM {
		for _, next := range vis[1:min(len(vis), lookAhead)] {
			if !Op(next.Op).Form().IsVALU() {
				break
			}
			ahead := need{MaxVM, MaxLGKM, MaxVS}
			k.operands(s, next, &ahead)
			n.vm = min(n.vm, ahead.vm)
		}
	}
	if f.Sched == SchedBarrier {
		if s.mem {
			n.lgkm = 0
		}
		if s.vs {
			n.vs = 0
		}
	}
	if n.lgkm < MaxLGKM && s.any {
		n.lgkm = 0
	}
	s.wait(n)
	s.issue(k, f, vi)
	return n
}

// operands adds to n the waits that the registers of vi need.
func (k *Kernel) operands(s *waitState, vi *codegen.Instr, n *need) {
	for i := range vi.Args {
		a := &vi.Args[i]
		if a.Kind != codegen.ArgReg || a.Implicit || a.Role == codegen.None {
			continue
		}
		info := &k.target.classes[a.Reg.Class()]
		for u := int(a.Phys); u < int(a.Phys)+info.Width; u++ {
			switch info.File {
			case FileV:
				if s.vm[u] != noAge {
					n.vm = min(n.vm, int(s.vm[u]))
				}
				if s.lds[u] != noAge {
					n.lgkm = min(n.lgkm, int(s.lds[u]))
				}
			case FileS:
				if s.smem[u] {
					n.lgkm = 0
				}
			}
		}
	}
}

func (s *waitState) wait(n need) {
	if n.vm < MaxVM {
		for i, age := range s.vm {
			if age != noAge && int(age) >= n.vm {
				s.vm[i] = noAge
			}
		}
	}
	if n.lgkm < MaxLGKM {
		for i, age := range s.lds {
			if age != noAge && int(age) >= n.lgkm {
				s.lds[i] = noAge
			}
		}
		if n.lgkm == 0 {
			s.smem, s.any, s.mem = [128]bool{}, false, false
		}
	}
	if n.vs == 0 {
		s.vs = false
	}
}

func (s *waitState) issue(k *Kernel, f *Form, vi *codegen.Instr) {
	older := func(t *[256]uint8) {
		for i, age := range t {
			if age < MaxVM-1 { // a counter at its maximum is no wait
				t[i]++
			}
		}
	}
	write := func(mark func(file uint8, u int)) {
		for i := range vi.Args {
			a := &vi.Args[i]
			if a.Kind != codegen.ArgReg || a.Implicit || a.Role&codegen.Def == 0 {
				continue
			}
			info := &k.target.classes[a.Reg.Class()]
			for u := int(a.Phys); u < int(a.Phys)+info.Width; u++ {
				mark(info.File, u)
			}
		}
	}
	switch {
	case f.Counters&CntVM != 0:
		older(&s.vm)
		write(func(_ uint8, u int) { s.vm[u] = 0 })
	case f.Counters&CntVS != 0:
		s.vs = true
	case f.Sched == SchedLDS:
		older(&s.lds)
		s.mem = true
		write(func(_ uint8, u int) { s.lds[u] = 0 })
	case f.Sched == SchedSMEM:
		s.any = true
		write(func(file uint8, u int) {
			if file == FileS {
				s.smem[u] = true
			}
		})
	}
}

// placeWaits solves the forward data-flow problem and returns the waits before each group.
func (k *Kernel) placeWaits(code *codegen.Code) [][]Inst {
	nb := len(code.Blocks)
	if nb == 0 {
		return nil
	}
	in := make([]waitState, nb)
	in[0].reset()
	end := func(b int) int {
		if b+1 < nb {
			return int(code.Blocks[b+1])
		}
		return len(code.Groups)
	}
	seq := make([]*codegen.Instr, len(code.Groups)) // a group has one instruction
	for g := range code.Groups {
		seq[g] = code.Groups[g].Instrs[0]
	}
	blockOf := make([]int, len(code.Groups)+1)
	for b := nb - 1; b >= 0; b-- { // the first block that begins at a group wins
		blockOf[code.Blocks[b]] = b
	}
	work := []int{0}
	var s waitState
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		s = in[b]
		falls := true
		push := func(to int) {
			if to < nb && in[to].merge(&s) {
				work = append(work, to)
			}
		}
		for g := int(code.Blocks[b]); g < end(b); g++ {
			for _, vi := range code.Groups[g].Instrs {
				k.step(&s, seq[g:end(b)])
				for i := range vi.Args {
					if vi.Args[i].Kind == codegen.ArgLabel {
						push(blockOf[code.LabelGroup(vi.Args[i].Label)])
					}
				}
				if vi.Flags&codegen.NoFall != 0 {
					falls = false
				}
			}
		}
		if falls {
			push(b + 1)
		}
	}
	waits := make([][]Inst, len(code.Groups))
	for b := range nb {
		if !in[b].seen {
			in[b].reset()
		}
		s = in[b]
		for g := int(code.Blocks[b]); g < end(b); g++ {
			for range code.Groups[g].Instrs {
				n := k.step(&s, seq[g:end(b)])
				if n.vm < MaxVM || n.lgkm < MaxLGKM {
					w := Waitcnt{VM: n.vm, Exp: MaxExp, LGKM: n.lgkm}
					waits[g] = append(waits[g], Inst{Op: S_WAITCNT, Simm16: w.Simm16()})
				}
				if n.vs == 0 {
					waits[g] = append(waits[g], Inst{Op: S_WAITCNT_VSCNT, Src: [4]uint16{Null}})
				}
			}
		}
	}
	return waits
}

// Largest values of the wait counters, which mean no wait.
const (
	MaxVM   = 63
	MaxExp  = 7
	MaxLGKM = 63
	MaxVS   = 63
)

// Waitcnt are the counters of s_waitcnt: the instruction waits until at most
// so many operations of each kind are outstanding.
type Waitcnt struct{ VM, Exp, LGKM int }

// splitWaitcnt unpacks the immediate of s_waitcnt.
func splitWaitcnt(simm16 uint16) Waitcnt {
	return Waitcnt{
		VM:   int(simm16&15 | simm16>>10&0x30),
		Exp:  int(simm16 >> 4 & 7),
		LGKM: int(simm16 >> 8 & 63),
	}
}

// Simm16 packs the counters; larger values than fit are no wait.
func (w Waitcnt) Simm16() uint16 {
	vm, exp, lgkm := uint16(min(w.VM, MaxVM)), uint16(min(w.Exp, MaxExp)), uint16(min(w.LGKM, MaxLGKM))
	return vm&15 | vm>>4<<14 | exp<<4 | lgkm<<8
}

// Hwreg packs the immediate of s_getreg and s_setreg: size bits from offset of
// hardware register id.
func Hwreg(id, offset, size int) uint16 { return uint16(id&63 | offset&31<<6 | (size-1)&31<<11) }

// Hardware registers.
const (
	HwMode         = 1
	HwStatus       = 2
	HwFlatScrLo    = 20
	HwFlatScrHi    = 21
	HwShaderCycles = 29
)

// hwregNames are the registers that gfx1030 names, without HW_REG_.
var hwregNames = [64]string{
	HwMode: "MODE", HwStatus: "STATUS", 3: "TRAPSTS", 5: "GPR_ALLOC", 6: "LDS_ALLOC", 7: "IB_STS", 15: "SH_MEM_BASES",
	16: "TBA_LO", 17: "TBA_HI", 18: "TMA_LO", 19: "TMA_HI", HwFlatScrLo: "FLAT_SCR_LO", HwFlatScrHi: "FLAT_SCR_HI",
	23: "HW_ID1", 24: "HW_ID2", 25: "POPS_PACKER", HwShaderCycles: "SHADER_CYCLES",
}
