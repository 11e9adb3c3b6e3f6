package hvx

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Register files and classes of the Hexagon target.
const (
	FileR = iota
	FileV
	FileP
	FileQ
)

const (
	ClassR    codegen.Class = iota // r0..r28
	ClassR8                        // r0..r7, for operands of three bits
	ClassRR                        // even pairs
	ClassV                         // v0..v31
	ClassVV                        // even pairs
	ClassVVVV                      // four vectors, from a multiple of 4 on
	ClassP                         // p0..p3
	ClassQ                         // q0..q3
)

// target drives isa/codegen for Hexagon.
type target struct {
	classes  []codegen.ClassInfo
	interval int // cycles between packets of a thread
	slots    hexagon.SlotMemo
}

func newTarget(interval int) *target {
	// r29 to r31 are stack, frame and link register. High registers first keep
	// r0..r7 free for the operands that need them.
	var r, r8, rr, v, vv, vvvv, p []uint16
	for n := 28; n >= 0; n-- {
		r = append(r, uint16(n))
		if n < 8 {
			r8 = append(r8, uint16(n))
		}
	}
	for n := 0; n < 28; n += 2 {
		rr = append(rr, uint16(n))
	}
	for n := range 32 {
		v = append(v, uint16(n))
		if n%2 == 0 {
			vv = append(vv, uint16(n))
		}
		if n%4 == 0 {
			vvvv = append(vvvv, uint16(n))
		}
		if n < 4 {
			p = append(p, uint16(n))
		}
	}
	return &target{interval: interval, classes: []codegen.ClassInfo{
		ClassR:    {Name: "R", File: FileR, Width: 1, Alloc: r},
		ClassR8:   {Name: "R0-R7", File: FileR, Width: 1, Alloc: r8},
		ClassRR:   {Name: "R pair", File: FileR, Width: 2, Alloc: rr},
		ClassV:    {Name: "V", File: FileV, Width: 1, Alloc: v},
		ClassVV:   {Name: "V pair", File: FileV, Width: 2, Alloc: vv},
		ClassVVVV: {Name: "V quad", File: FileV, Width: 4, Alloc: vvvv},
		ClassP:    {Name: "P", File: FileP, Width: 1, Alloc: p},
		ClassQ:    {Name: "Q", File: FileQ, Width: 1, Alloc: p},
	}}
}

// Classes implements codegen.Target.
func (t *target) Classes() []codegen.ClassInfo { return t.classes }

// SlotsBetween is the distance of a packet that makes a value at a cycle of its pipeline
// from the first that can use it at another: vectors move on two cycles per packet,
// scalars with the core, whose packets of a thread are interval cycles apart.
func SlotsBetween(def, use uint8, vector bool, interval int) int {
	if vector {
		interval = 2
	}
	return max((int(def)-int(use)+interval-1)/interval, 1)
}

// Latency implements codegen.Target.
func (t *target) Latency(def *codegen.Instr, da int, use *codegen.Instr, ua int) int {
	df, uf := hexagon.Op(def.Op).Form(), hexagon.Op(use.Op).Form()
	da, ua = operand(def, da), operand(use, ua)
	if da < 0 || ua < 0 {
		return 1
	}
	d, u := &df.Operands[da], &uf.Operands[ua]
	vector := d.Kind == hexagon.KindV || d.Kind == hexagon.KindVV || d.Kind == hexagon.KindVVVV || d.Kind == hexagon.KindQ
	return SlotsBetween(d.DefCycle, u.UseCycle, vector, t.interval)
}

// IsMove implements codegen.Mover.
func (t *target) IsMove(in *codegen.Instr) bool {
	return in.Op == uint32(hexagon.A2_tfr) || in.Op == uint32(hexagon.V6_vassign)
}

// NewGroup implements codegen.Target.
func (t *target) NewGroup() codegen.Group { return &packet{slots: &t.slots} }

// packet is a codegen.Group: what fits into four words, slots and pipes.
type packet struct {
	slots *hexagon.SlotMemo
	state int32
	// Beside a load of the Z window only VTCM may be read: weights, beside products by the window.
	window, others bool
}

// Reset implements codegen.Group.
func (p *packet) Reset() { p.state, p.window, p.others = 0, false, false }

// TryAdd implements codegen.Group.
func (p *packet) TryAdd(in *codegen.Instr) bool {
	if in.Class == 0 {
		parts, n := instructions(in)
		in.Class = p.slots.Class(parts[:n], hexagon.Op(in.Op).Form().Has(hexagon.FlagSolo|hexagon.FlagOnlyALU))
	}
	class := hexagon.Op(in.Op).Form().Class
	window := class == hexagon.CVI_ZW
	other := in.Flags&codegen.Load != 0 && !window && class != hexagon.CVI_4SLOT_MPY
	if p.window && other || p.others && window {
		return false
	}
	next, ok := p.slots.Add(p.state, in.Class)
	if ok {
		p.state, p.window, p.others = next, p.window || window, p.others || other
	}
	return ok
}

// skeleton is the instruction whose operands begin at from, with its immediates and physical registers; the
// registers are 0 before allocation. Label operands stay 0. A hardware loop's start
// is often too far for its nine bits, so it always has an extender.
func skeleton(in *codegen.Instr, from int) hexagon.Inst {
	out := hexagon.Inst{Op: hexagon.Op(in.Op)}
	f := out.Op.Form()
	for i := range f.Operands {
		o := &f.Operands[i]
		a := &in.Args[from+i]
		if o.Kind == hexagon.KindImm {
			out.Imm[o.Index] = int32(a.Imm)
		} else {
			out.R[o.Index] = uint8(a.Phys)
		}
	}
	if f.Has(hexagon.FlagLoop) && in.Args[0].Kind == codegen.ArgLabel {
		out.Ext = true
	}
	return out
}
