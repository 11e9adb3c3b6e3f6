package rdna2

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Errors of Decode, wrapped with the words that caused them.
var (
	ErrTruncated = errors.New("truncated instruction")
	ErrUnknown   = errors.New("unknown instruction")
	ErrReserved  = errors.New("reserved bits or registers")
)

// Decode reads the instruction at words[0] and returns its number of words. Bits that the instruction does not read may
// have any value; reserved ones must be as Encode sets them. With an error the number is what the encoding has, so that
// a listing stays in step: at least 1 unless there are no words.
func Decode(words []uint32) (Inst, int, error) {
	var in Inst
	if len(words) == 0 {
		return in, 0, fmt.Errorf("rdna2: %w", ErrTruncated)
	}
	w0 := words[0]
	format, opcode := pick(w0)
	var first Op
	if format != NoFormat {
		if ix := encodings[format].index; int(opcode) < len(ix) {
			first = ix[opcode]
		}
	}
	if first == 0 {
		return in, min(length(w0), len(words)), unknown(uint64(w0), false)
	}
	need := int(forms[first].Bytes) / 4
	if len(words) < need {
		return in, len(words), fmt.Errorf("rdna2: %s: %w", forms[first].Text, ErrTruncated)
	}
	w := uint64(w0)
	if need == 2 {
		w |= uint64(words[1]) << 32
	}
	in.Op = variant(first, w)
	if in.Op == 0 {
		return Inst{}, need, fmt.Errorf("rdna2: %w: %s with the modifiers of %016x is not supported", ErrUnknown, forms[first].Text, w)
	}
	f := &forms[in.Op]
	w = f.canonical(w)
	in.unpack(f, w)
	in.Size = f.Bytes
	if in.UsesLiteral() {
		if len(words) <= need {
			return Inst{}, need, fmt.Errorf("rdna2: %s: literal: %w", f.Text, ErrTruncated)
		}
		in.Literal = words[need]
		in.Size += 4
	}
	if back, err := in.pack(f); err != nil || back != w {
		if f.Format == MUBUF && (w>>16&1 == 1 || w>>55&1 == 1) {
			return Inst{}, need, fmt.Errorf("rdna2: %w: %s with lds or tfe is not supported", ErrUnknown, f.Text)
		}
		return Inst{}, int(in.Size) / 4, fmt.Errorf("rdna2: %s %016x: %w", f.Text, w, ErrReserved)
	}
	return in, int(in.Size) / 4, nil
}

// variant picks among the forms of one opcode by the fields that distinguish them: the scalar base of memory
// instructions and the return bit of atomics.
func variant(first Op, w uint64) Op {
	f := &forms[first]
	switch f.Format {
	case GLOBAL, SCRATCH:
		saddr := w >> 48 & 0x7f
		for op := first; op < NumOps && forms[op].Format == f.Format && forms[op].Opcode == f.Opcode; op++ {
			g := &forms[op]
			wantS, hasV := false, false
			for _, o := range g.Operands() {
				wantS = wantS || o.Role == RoleSAddr
				hasV = hasV || o.Role == RoleVAddr
			}
			switch {
			case wantS != (saddr != Null && saddr != scratchImm):
				continue
			case !wantS && hasV != (saddr == Null):
				continue
			case g.Sched == SchedAtomic && (g.Ops[0].Role == RoleVDst) != (w>>16&1 == 1):
				continue
			}
			return op
		}
		return 0
	case FLAT, MUBUF:
		for op := first; op < NumOps && forms[op].Format == f.Format && forms[op].Opcode == f.Opcode; op++ {
			g := &forms[op]
			returns := g.Ops[0].Role == RoleVDst
			switch {
			case f.Format == FLAT && g.Sched == SchedAtomic && returns != (w>>16&1 == 1),
				f.Format == MUBUF && g.Sched == SchedAtomic && returns != (w>>14&1 == 1),
				f.Format == MUBUF && (g.Has(FlagOffEn) != (w>>12&1 == 1) || g.Has(FlagIdxEn) != (w>>13&1 == 1)):
				continue
			}
			return op
		}
		return 0
	case SMEM:
		if f.NumOps < 2 {
			return first
		}
		soffset, offset := w>>57, w>>32&0x1fffff
		for op := first; op < NumOps && forms[op].Format == SMEM && forms[op].Opcode == f.Opcode; op++ {
			wantS, wantI := false, false
			for _, o := range forms[op].Operands() {
				wantS = wantS || o.Role == RoleSOffset
				wantI = wantI || o.Role == RoleOffset
			}
			if wantS == (soffset != Null) && (wantI == (offset != 0) || !wantS) {
				return op
			}
		}
		return 0
	}
	return first
}

// dst is an 8-bit destination field as a register code.
func (f *Form) dst(field uint16) uint16 {
	if f.NumOps > 0 && f.Ops[0].Class == ClassSGPR {
		return field
	}
	return field + VGPR0
}

// role reports whether the form has an operand of that role.
func (f *Form) role(r Role) bool {
	return slices.ContainsFunc(f.Operands(), func(o Operand) bool { return o.Role == r })
}

// normalize clears register fields that the form does not have, so that equal
// instructions are equal structs: absent scalar addresses become Null.
func (in *Inst) normalize(f *Form) {
	var have [4]bool
	dst := false
	for _, o := range f.Operands() {
		if s := o.slot(); s >= 0 {
			have[s] = true
		}
		dst = dst || o.Role == RoleVDst || o.Role == RoleSDst && o.Class != ClassMask
	}
	for i := range have {
		if !have[i] {
			in.Src[i] = 0
		}
	}
	if !dst {
		in.Dst = 0
	}
	switch f.Format {
	case FLAT, GLOBAL, SCRATCH:
		if !have[2] {
			in.Src[2] = Null
		}
	case SMEM:
		if f.NumOps > 1 && !have[1] {
			in.Src[1] = Null
		}
	}
}

// Decoded returns a program of the same code with the instructions read back from it. It
// is for programs that were kept as bytes: of these only Name, Code, Source and the
// resources are known.
func (p *Program) Decoded() (*Program, error) {
	d := *p
	d.Insts, d.Offset = nil, nil
	if len(p.Code)%4 != 0 {
		return nil, fmt.Errorf("rdna2: %s: %d bytes of code are no whole number of words", p.Name, len(p.Code))
	}
	words := make([]uint32, len(p.Code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(p.Code[4*i:])
	}
	for at := 0; at < len(words); {
		in, n, err := Decode(words[at:])
		if err != nil {
			return nil, fmt.Errorf("rdna2: %s: %w", p.Name, err)
		}
		d.Insts, d.Offset = append(d.Insts, in), append(d.Offset, int32(4*at))
		at += n
	}
	if len(d.Source) != len(d.Insts) {
		return nil, fmt.Errorf("rdna2: %s: sources of %d instructions for %d", p.Name, len(d.Source), len(d.Insts))
	}
	return &d, nil
}
