// Package memory implements the memory instructions of RDNA2: the addresses of their lanes, and the transfers between
// registers and LDS, scratch and global memory. Bind derives an instruction from its mnemonic. The addresses stay in
// the machine, where the timing model reads them.
package memory

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Bind fills in the handler and unit of an LDS, global, scratch or scalar memory instruction whose operands are
// decoded, and adds to dep what the handler reads besides. The error names unmodelled features.
func Bind(p *state.Program, u *state.Op, dep *state.Deps) error {
	x := u.Details
	in, f := &x.Inst, x.Form
	name := f.Mnemonic.String()
	switch f.Format {
	case rdna2.SMEM:
		return bindScalarMemory(u, f.Mnemonic)
	case rdna2.MUBUF:
		if f.NumOps == 0 {
			u.Unit, u.Control, u.Handler = state.UnitControl, state.ControlInvalidate, nop
			return nil
		}
	}
	if f.Mnemonic == rdna2.M_DS_NOP {
		u.Unit, u.Handler = state.UnitControl, nop
		return nil
	}
	op, ok := parseMem(name)
	if !ok {
		return fmt.Errorf("%s is not modelled", name)
	}
	if f.Format != rdna2.DS {
		op.Returns = f.Sched == rdna2.SchedAtomic && f.Ops[0].Role == rdna2.RoleVDst
	}
	x.Access = &op
	u.Imm = in.Offset
	switch {
	case f.Format == rdna2.MUBUF:
		u.Unit, u.Handler = state.UnitVMEM, execBuffer
		op.OffEn, op.IdxEn = f.Has(rdna2.FlagOffEn), f.Has(rdna2.FlagIdxEn)
		if op.Atomic != nil && op.Returns {
			// The old value replaces the data.
			u.B, u.BFrom = u.Dst, state.SourceVGPR
			dep.ReadV(dep.VDst)
		}
	case op.Mode == state.AccessFlat:
		u.Unit, u.Handler = state.UnitVMEM, execFlat
	case op.Mode == state.AccessSwizzle || op.Mode == state.AccessPermute || op.Mode == state.AccessBpermute:
		u.Unit, u.Handler = state.UnitLDS, execPermute
	case op.LDS:
		u.Unit, u.Handler = state.UnitLDS, execLDS
	case op.Mode == state.AccessScratch:
		u.Unit, u.Handler = state.UnitVMEM, execScratch
		if p.ScratchBytes == 0 {
			return fmt.Errorf("scratch access in a kernel without scratch")
		}
	default:
		u.Unit, u.Handler = state.UnitVMEM, execGlobal
	}
	return nil
}

func bindScalarMemory(u *state.Op, m rdna2.Mnemonic) error {
	x := u.Details
	u.Unit = state.UnitSMEM
	switch m {
	case rdna2.M_S_LOAD_DWORD, rdna2.M_S_LOAD_DWORDX2, rdna2.M_S_LOAD_DWORDX4, rdna2.M_S_LOAD_DWORDX8, rdna2.M_S_LOAD_DWORDX16:
		n := int(x.Form.Ops[0].Regs)
		if int(x.Inst.Dst) != state.Null && int(x.Inst.Dst)+n > 108 {
			return fmt.Errorf("loads s%d..s%d beyond the scalar file", x.Inst.Dst, int(x.Inst.Dst)+n-1)
		}
		x.Access = &state.Access{Size: 4 * n}
		u.Handler = execSLoad
	case rdna2.M_S_BUFFER_LOAD_DWORD, rdna2.M_S_BUFFER_LOAD_DWORDX2, rdna2.M_S_BUFFER_LOAD_DWORDX4, rdna2.M_S_BUFFER_LOAD_DWORDX8, rdna2.M_S_BUFFER_LOAD_DWORDX16:
		if u.A > rdna2.TTMP0 {
			return fmt.Errorf("a buffer descriptor in s%d", u.A)
		}
		x.Access = &state.Access{Size: 4 * int(x.Form.Ops[0].Regs)}
		u.Handler = execSBufferLoad
	case rdna2.M_S_MEMTIME:
		x.Access = &state.Access{Size: 8, Mode: state.AccessClock}
		x.Clock = true
		u.Handler = execClock(0)
	case rdna2.M_S_MEMREALTIME:
		x.Access = &state.Access{Size: 8, Mode: state.AccessClock}
		x.Clock = true
		u.Handler = execClock(100_000_000) // the reference clock of RDNA2
	case rdna2.M_S_GL1_INV, rdna2.M_S_DCACHE_INV:
		u.Unit, u.Control, u.Handler = state.UnitControl, state.ControlInvalidate, nop
	default:
		return fmt.Errorf("%s is not modelled", m)
	}
	return nil
}

var accessSizes = map[string]state.Access{
	"dword": {Size: 4}, "dwordx2": {Size: 8}, "dwordx3": {Size: 12}, "dwordx4": {Size: 16},
	"ubyte": {Size: 1}, "sbyte": {Size: 1, Signed: true}, "ushort": {Size: 2}, "sshort": {Size: 2, Signed: true},
	"byte": {Size: 1}, "short": {Size: 2},
	"b8": {Size: 1}, "b16": {Size: 2}, "b32": {Size: 4}, "b64": {Size: 8}, "b96": {Size: 12}, "b128": {Size: 16},
	"u8": {Size: 1}, "i8": {Size: 1, Signed: true}, "u16": {Size: 2}, "i16": {Size: 2, Signed: true},
}

// parseMem derives an Access from a mnemonic, which spells it out.
func parseMem(name string) (state.Access, bool) {
	d16 := uint8(0)
	if s, ok := strings.CutSuffix(name, "_d16_hi"); ok {
		name, d16 = s, 2
	} else if s, ok := strings.CutSuffix(name, "_d16"); ok {
		name, d16 = s, 1
	}
	part := strings.Split(name, "_")
	if len(part) < 3 {
		return state.Access{}, false
	}
	op := state.Access{}
	if part[0] == "ds" {
		op.LDS = true
	} else if part[0] == "scratch" {
		op.Mode = state.AccessScratch
	} else if part[0] == "flat" {
		op.Mode = state.AccessFlat
	}
	verb, typ := part[1], part[len(part)-1]
	plain := func(store bool) (state.Access, bool) {
		m, ok := accessSizes[typ]
		m.Store, m.D16, m.LDS, m.Mode = store, d16, op.LDS, op.Mode
		return m, ok
	}
	switch verb {
	case "load", "read":
		return plain(false)
	case "store", "write":
		return plain(true)
	case "read2", "write2", "read2st64", "write2st64":
		m, ok := plain(verb[0] == 'w')
		m.Pair = int32(m.Size)
		if strings.HasSuffix(verb, "st64") {
			m.Pair *= 64
		}
		return m, ok
	case "swizzle":
		return state.Access{LDS: true, Mode: state.AccessSwizzle}, true
	case "permute":
		return state.Access{LDS: true, Mode: state.AccessPermute}, true
	case "bpermute":
		return state.Access{LDS: true, Mode: state.AccessBpermute}, true
	case "atomic": // global_atomic_add[_x2]
		op.Wide = typ == "x2"
		verb = part[2]
	default: // ds_add[_rtn]_u32
		if !op.LDS {
			return op, false
		}
		op.Returns = len(part) == 4 && part[2] == "rtn"
		op.Wide = strings.HasSuffix(typ, "64")
		verb = dsAtomicName(verb, typ)
	}
	f, ok := atomicOps[verb]
	if !ok {
		return op, false
	}
	op.Atomic = f(op.Wide)
	op.Compares = strings.HasSuffix(verb, "cmpswap") || verb == "mskor" || verb == "wrap"
	op.Size = 4
	if op.Wide {
		op.Size = 8
	}
	return op, true
}

func nop(*state.Wave, *state.Op) {}
