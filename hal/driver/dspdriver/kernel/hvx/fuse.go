package hvx

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// A vector that is read in one packet only need not be loaded into a register: a
// load for the packet alone (.tmp) uses no pipe, and its register is free again
// in the next one. The load and the one or two instructions that read it are one
// instruction to the scheduler and the allocator, and two or three to the packet
// and the encoder. Its operands are those of the readers, then the load's base
// and offset; its modifiers select the loaded one, and how many operands a reader
// has where there are two.

// OpLoading emits an instruction whose operand n, a vector register, is the vector at
// base plus off vectors, loaded for its packet alone.
func (b *Builder) OpLoading(alias uint16, n int, base codegen.Reg, off int, op hexagon.Op, args ...any) {
	in := b.Op(op, args...)
	in.Args[n].Role = codegen.EarlyDef // a register of its own within the packet
	in.Args = append(in.Args, codegen.Hidden(codegen.In(base)), codegen.Hidden(codegen.Imm(int64(off))))
	in.Loads(alias).Mods(uint64(n + 1))
}

// OpsLoading emits two instructions of one packet that read the same vector as their
// last operand.
func (b *Builder) OpsLoading(alias uint16, base codegen.Reg, off int, op hexagon.Op, to, x [2]codegen.Reg) {
	f, v := op.Form(), b.V("loaded")
	in := b.Op(op, to[0], x[0], v)
	n := len(in.Args)
	second := [...]codegen.Arg{{Reg: to[1], Role: codegen.Role(f.Operands[0].Role)}, {Reg: x[1], Role: codegen.Role(f.Operands[1].Role)}, {Reg: v}}
	in.Args[n-1].Role = codegen.EarlyDef
	in.Args = append(append(in.Args, second[:]...), codegen.Hidden(codegen.In(base)), codegen.Hidden(codegen.Imm(int64(off))))
	in.Loads(alias).Mods(uint64(n) | uint64(n)<<8)
}

// A result that is only stored need not wait for its register: a store in the packet
// that makes it (.new) uses no pipe either. It is one instruction with its producer.
const storesResult = 1 << 16

// StoreResult stores the vector that in makes, its first operand, at base plus off vectors.
func (b *Builder) StoreResult(in *codegen.Instr, alias uint16, base codegen.Reg, off int) {
	in.Args = append(in.Args, codegen.Hidden(codegen.In(base)), codegen.Hidden(codegen.Imm(int64(off))))
	in.Stores(alias).Mods(storesResult)
}

// operand is which operand of its form argument n of an instruction is, -1 for
// those of the load.
func operand(in *codegen.Instr, n int) int {
	f := hexagon.Op(in.Op).Form()
	if twin := int(in.Aux >> 8 & 0xff); twin > 0 && n >= twin && n < 2*twin {
		return n - twin
	}
	if n >= len(f.Operands) {
		return -1
	}
	return n
}

// instructions are what an instruction of the scheduler becomes.
func instructions(in *codegen.Instr) (insts [3]hexagon.Inst, n int) {
	insts[0] = skeleton(in, 0)
	if in.Aux == 0 {
		return insts, 1
	}
	if in.Aux == storesResult {
		store, base := &insts[1], len(in.Args)-2
		store.Op = hexagon.V6_vS32b_new_ai
		for _, o := range store.Op.Form().Operands {
			switch o.Kind {
			case hexagon.KindImm:
				store.Imm[o.Index] = int32(in.Args[base+1].Imm)
			case hexagon.KindR:
				store.R[o.Index] = uint8(in.Args[base].Phys)
			default:
				store.R[o.Index] = uint8(in.Args[0].Phys)
			}
		}
		return insts, 2
	}
	n = 1
	if twin := int(in.Aux >> 8); twin > 0 {
		insts[1] = skeleton(in, twin)
		n = 2
	}
	load := &insts[n]
	load.Op = hexagon.V6_vL32b_tmp_ai
	args := [...]*codegen.Arg{&in.Args[in.Aux&0xff-1], &in.Args[len(in.Args)-2], &in.Args[len(in.Args)-1]}
	for i, o := range load.Op.Form().Operands {
		if o.Kind == hexagon.KindImm {
			load.Imm[o.Index] = int32(args[i].Imm)
		} else {
			load.R[o.Index] = uint8(args[i].Phys)
		}
	}
	return insts, n + 1
}
