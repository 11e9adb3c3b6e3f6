package gpu

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// memOp says what a memory instruction does with each lane's bytes.
type memOp struct {
	size   int  // bytes per lane, of each of two accesses of ds_*2
	store  bool // the rest of the time a load, unless atomic
	atomic atomicFn
	ret    bool // an atomic that returns the old value
	wide   bool // 64-bit atomic
	cmp    bool // compare-and-swap: data is {new, compare} in global memory
	signed bool
	d16    uint8 // 0 none, 1 low half, 2 high half of the register
	two    int32 // ds_*2: stride of the offsets in bytes, else 0
	lds    bool
	mode   uint8 // accessing instructions that are not plain accesses
	offen  bool  // buffers: the vector address holds a byte offset,
	idxen  bool  // an index, or first the index
}

const (
	memPlain = iota
	memSwizzle
	memPermute
	memBpermute
	memScratch
	memFlat
	memClock
)

var accessSizes = map[string]memOp{
	"dword": {size: 4}, "dwordx2": {size: 8}, "dwordx3": {size: 12}, "dwordx4": {size: 16},
	"ubyte": {size: 1}, "sbyte": {size: 1, signed: true}, "ushort": {size: 2}, "sshort": {size: 2, signed: true},
	"byte": {size: 1}, "short": {size: 2},
	"b8": {size: 1}, "b16": {size: 2}, "b32": {size: 4}, "b64": {size: 8}, "b96": {size: 12}, "b128": {size: 16},
	"u8": {size: 1}, "i8": {size: 1, signed: true}, "u16": {size: 2}, "i16": {size: 2, signed: true},
}

// parseMem derives a memOp from a mnemonic, which spells it out.
func parseMem(name string) (memOp, bool) {
	d16 := uint8(0)
	if s, ok := strings.CutSuffix(name, "_d16_hi"); ok {
		name, d16 = s, 2
	} else if s, ok := strings.CutSuffix(name, "_d16"); ok {
		name, d16 = s, 1
	}
	part := strings.Split(name, "_")
	if len(part) < 3 {
		return memOp{}, false
	}
	op := memOp{}
	if part[0] == "ds" {
		op.lds = true
	} else if part[0] == "scratch" {
		op.mode = memScratch
	} else if part[0] == "flat" {
		op.mode = memFlat
	}
	verb, typ := part[1], part[len(part)-1]
	plain := func(store bool) (memOp, bool) {
		m, ok := accessSizes[typ]
		m.store, m.d16, m.lds, m.mode = store, d16, op.lds, op.mode
		return m, ok
	}
	switch verb {
	case "load", "read":
		return plain(false)
	case "store", "write":
		return plain(true)
	case "read2", "write2", "read2st64", "write2st64":
		m, ok := plain(verb[0] == 'w')
		m.two = int32(m.size)
		if strings.HasSuffix(verb, "st64") {
			m.two *= 64
		}
		return m, ok
	case "swizzle":
		return memOp{lds: true, size: 4, mode: memSwizzle}, true
	case "permute":
		return memOp{lds: true, size: 4, mode: memPermute}, true
	case "bpermute":
		return memOp{lds: true, size: 4, mode: memBpermute}, true
	case "atomic": // global_atomic_add[_x2]
		op.wide = typ == "x2"
		verb = part[2]
	default: // ds_add[_rtn]_u32
		if !op.lds {
			return op, false
		}
		op.ret = len(part) == 4 && part[2] == "rtn"
		op.wide = strings.HasSuffix(typ, "64")
		verb = dsAtomicName(verb, typ)
	}
	f, ok := atomicOps[verb]
	if !ok {
		return op, false
	}
	op.atomic = f(op.wide)
	op.cmp = strings.HasSuffix(verb, "cmpswap") || verb == "mskor" || verb == "wrap"
	op.size = 4
	if op.wide {
		op.size = 8
	}
	return op, true
}

// memory fills in an LDS, global, scratch or scalar memory instruction.
func (d *decoder) memory(u *uop, dep *deps) error {
	x := u.x
	in, f := &x.in, x.form
	name := f.Mnemonic.String()
	switch f.Format {
	case rdna2.SMEM:
		return d.smem(u, f.Mnemonic)
	case rdna2.MUBUF:
		if f.NumOps == 0 {
			u.unit, u.class, u.fn = unitControl, ClassBranch, execInvalidate
			return nil
		}
	}
	if f.Mnemonic == rdna2.M_DS_NOP {
		u.unit, u.class, u.fn = unitControl, ClassLDS, execNop
		return nil
	}
	op, ok := parseMem(name)
	if !ok {
		return fmt.Errorf("%s is not modelled", name)
	}
	if f.Format != rdna2.DS {
		op.ret = f.Sched == rdna2.SchedAtomic && f.Ops[0].Role == rdna2.RoleVDst
	}
	x.mem = &op
	u.imm = in.Offset
	switch {
	case f.Format == rdna2.MUBUF:
		u.unit, u.class, u.fn = unitVMEM, ClassVMEM, execBuffer
		op.offen, op.idxen = f.Has(rdna2.FlagOffEn), f.Has(rdna2.FlagIdxEn)
		if op.atomic != nil && op.ret {
			// The old value replaces the data.
			u.b, u.bk = u.dst, srcV
			dep.readV(dep.vw)
		}
	case op.mode == memFlat:
		u.unit, u.class, u.fn = unitVMEM, ClassVMEM, execFlat
	case op.mode == memSwizzle || op.mode == memPermute || op.mode == memBpermute:
		u.unit, u.class, u.fn = unitLDS, ClassLDS, execPermute
	case op.lds:
		u.unit, u.class, u.fn = unitLDS, ClassLDS, execLDS
	case op.mode == memScratch:
		u.unit, u.class, u.fn = unitVMEM, ClassVMEM, execScratch
		if d.p.k.ScratchBytes == 0 {
			return fmt.Errorf("scratch access in a kernel without scratch")
		}
	default:
		u.unit, u.class, u.fn = unitVMEM, ClassVMEM, execGlobal
	}
	return nil
}

func (d *decoder) smem(u *uop, m rdna2.Mnemonic) error {
	x := u.x
	u.unit, u.class = unitSMEM, ClassSMEM
	switch m {
	case rdna2.M_S_LOAD_DWORD, rdna2.M_S_LOAD_DWORDX2, rdna2.M_S_LOAD_DWORDX4, rdna2.M_S_LOAD_DWORDX8, rdna2.M_S_LOAD_DWORDX16:
		n := int(x.form.Ops[0].Regs)
		if int(x.in.Dst) != sNull && int(x.in.Dst)+n > 108 {
			return fmt.Errorf("loads s%d..s%d beyond the scalar file", x.in.Dst, int(x.in.Dst)+n-1)
		}
		x.mem = &memOp{size: 4 * n}
		u.fn = execSLoad
	case rdna2.M_S_BUFFER_LOAD_DWORD, rdna2.M_S_BUFFER_LOAD_DWORDX2, rdna2.M_S_BUFFER_LOAD_DWORDX4, rdna2.M_S_BUFFER_LOAD_DWORDX8, rdna2.M_S_BUFFER_LOAD_DWORDX16:
		if u.a > rdna2.TTMP0 {
			return fmt.Errorf("a buffer descriptor in s%d", u.a)
		}
		x.mem = &memOp{size: 4 * int(x.form.Ops[0].Regs)}
		u.fn = execSBufferLoad
	case rdna2.M_S_MEMTIME:
		x.mem = &memOp{size: 8, mode: memClock}
		u.fn = execClock(0)
	case rdna2.M_S_MEMREALTIME:
		x.mem = &memOp{size: 8, mode: memClock}
		u.fn = execClock(100_000_000) // the reference clock of RDNA2
	case rdna2.M_S_GL1_INV, rdna2.M_S_DCACHE_INV:
		u.unit, u.class, u.fn = unitControl, ClassBranch, execInvalidate
	default:
		return fmt.Errorf("%s is not modelled", m)
	}
	return nil
}
