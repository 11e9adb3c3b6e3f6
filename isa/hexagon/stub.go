package hexagon

// Linux system calls of the Hexagon ABI: number in r6, arguments from r0, result in r0.
const (
	sysWrite     = 64
	sysExitGroup = 94
)

// RegValue is a scalar register and the value it gets before a call.
type RegValue struct {
	Reg   uint8
	Value uint32
}

// Call is a function the start stub calls: registers are loaded in order, then Entry is called (it returns through r31).
// Entry 0 is skipped.
type Call struct {
	Regs  []RegValue
	Entry uint32
}

// MemRange is a range of memory the start stub writes out.
type MemRange struct{ Addr, Len uint32 }

// Stub describes a start routine: it makes the calls one after the other, writes the ranges to standard output and exits
// with status 0, or 1 when a write fails.
type Stub struct {
	Calls []Call
	Dump  []MemRange
}

// Packets returns the routine's code at the given address.
func (s *Stub) Packets(addr uint32) ([]Packet, error) {
	var out []Packet
	var err error
	add := func(insts ...Inst) {
		p := Packet{Addr: addr, N: uint8(len(insts))}
		copy(p.Insts[:], insts)
		if e := p.Layout(); e != nil && err == nil {
			err = e
		}
		addr += 4 * uint32(p.Words)
		out = append(out, p)
	}
	set := func(r uint8, v uint32) Inst {
		return Inst{Op: A2_tfrsi, Ext: true, R: [4]uint8{r}, Imm: [2]int32{int32(v)}}
	}
	move := func(to, from uint8) Inst { return Inst{Op: A2_tfr, R: [4]uint8{to, from}} }
	for _, c := range s.Calls {
		for _, r := range c.Regs {
			add(set(r.Reg, r.Value))
		}
		if c.Entry != 0 {
			add(Inst{Op: J2_call, Ext: true, Imm: [2]int32{int32(c.Entry - addr)}})
		}
	}
	const ptr, left = 16, 17 // kept across the system call
	for _, d := range s.Dump {
		add(set(ptr, d.Addr), set(left, d.Len))
		loop := addr
		add(set(0, 1), set(6, sysWrite))
		add(move(1, ptr), move(2, left))
		add(Inst{Op: J2_trap0, Imm: [2]int32{1}})
		add(Inst{Op: C2_cmpgti, R: [4]uint8{0, 0}}) // p0 = r0 > 0
		fail := addr
		add(Inst{Op: J2_jumpf, R: [4]uint8{0}}) // patched below
		fix := len(out) - 1
		add(Inst{Op: A2_add, R: [4]uint8{ptr, ptr, 0}}, Inst{Op: A2_sub, R: [4]uint8{left, left, 0}})
		add(Inst{Op: C2_cmpgti, R: [4]uint8{0, left}})
		add(Inst{Op: J2_jumpt, R: [4]uint8{0}, Imm: [2]int32{int32(loop - addr)}})
		done := addr
		add(Inst{Op: J2_jump}) // over the failure exit
		over := len(out) - 1
		out[fix].Insts[0].Imm[0] = int32(addr - fail)
		add(set(6, sysExitGroup), set(0, 1))
		add(Inst{Op: J2_trap0, Imm: [2]int32{1}})
		out[over].Insts[0].Imm[0] = int32(addr - done)
	}
	add(set(6, sysExitGroup), set(0, 0))
	add(Inst{Op: J2_trap0, Imm: [2]int32{1}})
	return out, err
}

// Code returns the routine's memory bytes at the given address.
func (s *Stub) Code(addr uint32) ([]byte, error) {
	packets, err := s.Packets(addr)
	if err != nil {
		return nil, err
	}
	words, err := EncodeAll(nil, packets)
	if err != nil {
		return nil, err
	}
	return Bytes(words), nil
}
