package rdna2

import (
	"fmt"
	"io"

	"github.com/nnsoc/nnsoc/isa/codegen"
)

// Program is a linked kernel: instructions in order with their bytes.
type Program struct {
	Name        string
	Code        []byte
	VGPRs       int // registers per lane
	SGPRs       int
	LDSBytes    int
	Registers   int  // vector registers that a lane occupies, where more than VGPRs
	WGP         bool // waves of a work-group may be in all compute units of a cluster
	WorkItemIDs int  // 0: v0 = x; 1: v1 = y too; 2: v2 = z too
	Insts       []Inst
	Source      []int32 // operation of the model per instruction, -1 none
	Offset      []int32 // byte offset of each instruction
}

// Link ends the kernel with s_endpgm, runs the passes of isa/codegen, inserts
// s_waitcnt where a result of memory is needed and encodes.
func (k *Kernel) Link() (*Program, error) {
	k.F.Bind(k.end)
	k.Emit(S_ENDPGM, 0)
	if k.err != nil {
		return nil, k.err
	}
	code, err := k.F.Compile()
	if err != nil {
		return nil, fmt.Errorf("rdna2: kernel %s: %w", k.Name, err)
	}
	p := &Program{Name: k.Name, VGPRs: max(code.Used[FileV], k.dims), SGPRs: max(code.Used[FileS], 5), LDSBytes: k.LDSBytes, Registers: k.Registers, WGP: k.WGP, WorkItemIDs: k.dims - 1}
	waits := k.placeWaits(code)
	at := make([]int32, len(code.Groups)+1) // index into Insts of each group, its waits first
	type fixup struct {
		inst  int
		group int
	}
	var fixups []fixup
	for g := range code.Groups {
		at[g] = int32(len(p.Insts))
		for _, w := range waits[g] {
			p.add(w, k.source(code, g))
		}
		for _, vi := range code.Groups[g].Instrs {
			in, err := k.lower(vi)
			if err != nil {
				return nil, fmt.Errorf("rdna2: kernel %s: %w", k.Name, err)
			}
			for i := range vi.Args {
				if vi.Args[i].Kind == codegen.ArgLabel {
					fixups = append(fixups, fixup{len(p.Insts), code.LabelGroup(vi.Args[i].Label)})
				}
			}
			p.add(in, vi.Source)
		}
	}
	at[len(code.Groups)] = int32(len(p.Insts))
	pc := int32(0)
	for i := range p.Insts {
		p.Offset = append(p.Offset, pc)
		p.Insts[i].Size = uint8(p.Insts[i].Bytes())
		pc += int32(p.Insts[i].Size)
	}
	for _, f := range fixups {
		to := pc
		if i := at[f.group]; int(i) < len(p.Insts) {
			to = p.Offset[i]
		}
		d := (to - p.Offset[f.inst] - 4) / 4
		if d < -32768 || d > 32767 {
			return nil, fmt.Errorf("rdna2: kernel %s: branch over %d words", k.Name, d)
		}
		p.Insts[f.inst].Simm16 = uint16(d)
	}
	for i := range p.Insts {
		if p.Code, err = p.Insts[i].Encode(p.Code); err != nil {
			return nil, fmt.Errorf("rdna2: kernel %s: instruction %d: %w", k.Name, i, err)
		}
	}
	return p, nil
}

func (k *Kernel) source(code *codegen.Code, g int) int32 {
	if ins := code.Groups[g].Instrs; len(ins) > 0 {
		return ins[0].Source
	}
	return -1
}

func (p *Program) add(in Inst, source int32) {
	p.Insts = append(p.Insts, in)
	p.Source = append(p.Source, source)
}

// lower converts an instruction with allocated registers to an Inst.
func (k *Kernel) lower(vi *codegen.Instr) (Inst, error) {
	in := Inst{Op: Op(vi.Op)}
	f := in.Form()
	in.setMods(vi.Aux)
	literals := 0
	for i, o := range f.Operands() {
		a := &vi.Args[i]
		if o.Class == ClassImm {
			in.setImmediate(o, a.Imm)
			continue
		}
		var code uint16
		if a.Kind == codegen.ArgImm {
			var lit uint32
			code, lit = constantCode(o.Kind, a.Imm)
			if code == LiteralK {
				if literals > 0 && in.Literal != lit {
					return in, fmt.Errorf("%s: two literals", f.Text)
				}
				literals++
				in.Literal = lit
			}
		} else {
			code = k.regCode(a)
		}
		switch {
		case o.Role == RoleVDst, o.Role == RoleSDst && o.Class != ClassMask:
			in.Dst = code
		case o.Role == RoleSDst:
			in.SDst = code
		default:
			in.Src[o.slot()] = code
		}
	}
	in.normalize(f)
	return in, nil
}

// regCode is the operand code of an allocated register.
func (k *Kernel) regCode(a *codegen.Arg) uint16 {
	switch file := k.target.classes[a.Reg.Class()].File; file {
	case FileS:
		return a.Phys
	case FileV:
		return VGPR0 + a.Phys
	default:
		return singleCodes[file]
	}
}

func (in *Inst) setImmediate(o Operand, v int64) {
	switch o.Role {
	case RoleOffset, RoleOffset0:
		in.Offset = int32(v)
	case RoleOffset1:
		in.Offset1 = uint8(v)
	case RoleSImm16:
		in.Simm16 = uint16(v)
	case RoleImm:
		in.Literal = uint32(v)
	}
}

// constantCode is the operand code for a constant's bits.
func constantCode(kind Kind, v int64) (code uint16, lit uint32) {
	switch kind {
	case F16, B16:
		if c, ok := Int(int(int16(v))); ok {
			return c, 0
		}
		for i, h := range half {
			if kind == F16 && uint16(v) == h {
				return uint16(ConstHalf + i), 0
			}
		}
		return LiteralK, uint32(uint16(v))
	case B64, F64, V2B16, V2F16:
		if c, ok := Int(int(v)); ok {
			return c, 0
		}
		return LiteralK, uint32(v)
	}
	if c, ok := inline32(uint32(v)); ok {
		return c, 0
	}
	return LiteralK, uint32(v)
}

// IssueCycles is how long a wave32 keeps its units busy when every instruction
// of the program issues once.
func (p *Program) IssueCycles() int {
	n := 0
	for i := range p.Insts {
		n += p.Insts[i].Form().Sched.Cost().Issue
	}
	return n
}

// WriteListing prints the program, one instruction per line: byte offset,
// cycles that a wave32 keeps its unit busy, source operation, text.
func (p *Program) WriteListing(w io.Writer) error {
	for i := range p.Insts {
		src := "  -"
		if p.Source[i] >= 0 {
			src = fmt.Sprintf("%3d", p.Source[i])
		}
		if _, err := fmt.Fprintf(w, "  %05x  %2d  op %s  %s\n", p.Offset[i], p.Insts[i].Form().Sched.Cost().Issue, src, p.Insts[i].Text(false)); err != nil {
			return err
		}
	}
	return nil
}
