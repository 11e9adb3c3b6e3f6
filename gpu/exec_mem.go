package gpu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
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
}

const (
	memPlain = iota
	memSwizzle
	memPermute
	memBpermute
	memScratch
)

type atomicFn func(old, data, cmp uint64) uint64

// atomicOps by the word in the mnemonic. 32-bit operands are zero-extended,
// sign-extended for the signed ones.
var atomicOps = map[string]func(wide bool) atomicFn{
	"swap":   plainAtomic(func(_, d uint64) uint64 { return d }),
	"wrxchg": plainAtomic(func(_, d uint64) uint64 { return d }),
	"add":    plainAtomic(func(o, d uint64) uint64 { return o + d }),
	"sub":    plainAtomic(func(o, d uint64) uint64 { return o - d }),
	"rsub":   plainAtomic(func(o, d uint64) uint64 { return d - o }),
	"and":    plainAtomic(func(o, d uint64) uint64 { return o & d }),
	"or":     plainAtomic(func(o, d uint64) uint64 { return o | d }),
	"xor":    plainAtomic(func(o, d uint64) uint64 { return o ^ d }),
	"umin":   plainAtomic(func(o, d uint64) uint64 { return min(o, d) }),
	"umax":   plainAtomic(func(o, d uint64) uint64 { return max(o, d) }),
	"smin":   signedAtomic(func(o, d int64) bool { return d < o }),
	"smax":   signedAtomic(func(o, d int64) bool { return d > o }),
	"inc": plainAtomic(func(o, d uint64) uint64 {
		if o >= d {
			return 0
		}
		return o + 1
	}),
	"dec": plainAtomic(func(o, d uint64) uint64 {
		if o == 0 || o > d {
			return d
		}
		return o - 1
	}),
	"fmin": func(wide bool) atomicFn {
		if wide {
			return func(o, d, _ uint64) uint64 { return fmin64(o, d) }
		}
		return func(o, d, _ uint64) uint64 { return uint64(fmin32(uint32(o), uint32(d))) }
	},
	"fmax": func(wide bool) atomicFn {
		if wide {
			return func(o, d, _ uint64) uint64 { return fmax64(o, d) }
		}
		return func(o, d, _ uint64) uint64 { return uint64(fmax32(uint32(o), uint32(d))) }
	},
	"fadd": func(bool) atomicFn {
		return func(o, d, _ uint64) uint64 { return uint64(fadd(uint32(o), uint32(d))) }
	},
	"cmpswap": func(bool) atomicFn {
		return func(o, d, c uint64) uint64 {
			if o == c {
				return d
			}
			return o
		}
	},
	"fcmpswap": func(wide bool) atomicFn {
		return func(o, d, c uint64) uint64 {
			eq := f32(uint32(o)) == f32(uint32(c))
			if wide {
				eq = f64(o) == f64(c)
			}
			if eq {
				return d
			}
			return o
		}
	},
}

func plainAtomic(f func(o, d uint64) uint64) func(bool) atomicFn {
	return func(bool) atomicFn { return func(o, d, _ uint64) uint64 { return f(o, d) } }
}

func signedAtomic(take func(o, d int64) bool) func(bool) atomicFn {
	return func(wide bool) atomicFn {
		return func(o, d, _ uint64) uint64 {
			a, b := int64(o), int64(d)
			if !wide {
				a, b = asI64(o), asI64(d)
			}
			if take(a, b) {
				return d
			}
			return o
		}
	}
}

// dsAtomicName maps an LDS mnemonic's word and type to a name of atomicOps.
func dsAtomicName(op, typ string) string {
	switch {
	case op == "cmpst":
		return "cmpswap"
	case typ[0] == 'f':
		return "f" + op
	case op != "min" && op != "max":
		return op
	case typ[0] == 'i':
		return "s" + op
	}
	return "u" + op
}

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
	op.cmp = strings.HasSuffix(verb, "cmpswap")
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
		u.unit, u.class, u.fn = unitControl, ClassBranch, execInvalidate
		return nil
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
	case rdna2.M_S_GL1_INV, rdna2.M_S_DCACHE_INV:
		u.unit, u.class, u.fn = unitControl, ClassBranch, execInvalidate
	default:
		return fmt.Errorf("%s is not modelled", m)
	}
	return nil
}

// execInvalidate: memory is coherent functionally; timing drops the lines.
func execInvalidate(w *wave, u *uop) {
	if w.simd != nil {
		w.simd.cu.invalidate(u.x.form.Mnemonic)
	}
}

func execSLoad(w *wave, u *uop) {
	base := w.s64(u.a)
	off := int64(u.x.in.Offset)
	if u.bk == srcS && u.b != sNull {
		off += int64(w.s[u.b])
	}
	addr := (base + uint64(off)) &^ 3
	n := u.x.mem.size
	b := w.m.bytes(addr, n, false)
	if b == nil {
		w.m.fail(w, fmt.Errorf("scalar load of %d bytes at %#x: not mapped", n, addr))
		return
	}
	for i := 0; i < n; i += 4 {
		w.s[u.dst+uint32(i/4)] = binary.LittleEndian.Uint32(b[i:])
	}
	w.m.scalarAddr = addr
}

// execGlobal computes the lane addresses into the machine's address row, where
// timing finds them, and moves the bytes.
func execGlobal(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	addr := &w.m.addr
	lo := w.at(u.a)
	imm := uint64(int64(u.imm))
	n := w.n
	var first, last uint64
	if u.ck == srcS {
		base := w.s64(u.c) + imm
		low, high := ^uint32(0), uint32(0)
		if m == w.full() {
			for l := range n {
				v := lo[l&63]
				addr[l&63] = base + uint64(v)
				low, high = min(low, v), max(high, v)
			}
		} else {
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				v := lo[l]
				addr[l] = base + uint64(v)
				low, high = min(low, v), max(high, v)
			}
		}
		first, last = base+uint64(low), base+uint64(high)
	} else {
		hi := w.at(u.a + uint32(n))
		first, last = ^uint64(0), 0
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			a := uint64(lo[l]) | uint64(hi[l])<<32
			a += imm
			addr[l] = a
			first, last = min(first, a), max(last, a)
		}
	}
	op := u.x.mem
	write := op.store || op.atomic != nil
	size := op.size
	if last-first < 1<<40 {
		if b := w.m.bytes(first, int(last-first)+size, write); b != nil {
			w.access(u, op, m, b, first)
			return
		}
	}
	// Lanes in different segments, or an address that is not mapped.
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		b := w.m.bytes(addr[l], size, write)
		if b == nil {
			verb := "load"
			if write {
				verb = "store"
			}
			w.m.fail(w, fmt.Errorf("lane %d: %s of %d bytes at %#x: %s", l, verb, size, addr[l], w.m.why(addr[l], size)))
			return
		}
		w.access(u, op, 1<<l, b, addr[l])
	}
}

// access moves the bytes of the lanes of m; b begins at address base.
func (w *wave) access(u *uop, op *memOp, m uint64, b []byte, base uint64) {
	addr := &w.m.addr
	n := uint32(w.n)
	switch {
	case op.atomic != nil:
		w.atomics(u, op, m, b, base)
	case op.store && op.size >= 4:
		for j := uint32(0); j < uint32(op.size)/4; j++ {
			d := w.at(u.b + j*n)
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				binary.LittleEndian.PutUint32(b[addr[l]-base+uint64(4*j):], d[l])
			}
		}
	case op.store:
		d := w.at(u.b)
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			v := d[l]
			if op.d16 == 2 {
				v >>= 16
			}
			o := addr[l] - base
			b[o] = byte(v)
			if op.size == 2 {
				b[o+1] = byte(v >> 8)
			}
		}
	case op.size >= 4:
		full := m == w.full()
		for j := uint32(0); j < uint32(op.size)/4; j++ {
			d := w.at(u.dst + j*n)
			if full {
				for l := range w.n {
					d[l&63] = binary.LittleEndian.Uint32(b[addr[l&63]-base+uint64(4*j):])
				}
				continue
			}
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				d[l] = binary.LittleEndian.Uint32(b[addr[l]-base+uint64(4*j):])
			}
		}
	default:
		d := w.at(u.dst)
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			o := addr[l] - base
			v := uint32(b[o])
			if op.size == 2 {
				v |= uint32(b[o+1]) << 8
			}
			d[l] = op.extend(v, d[l])
		}
	}
}

// extend widens a loaded byte or half and places it in the register.
func (op *memOp) extend(v, old uint32) uint32 {
	if op.signed {
		sh := uint(32 - 8*op.size)
		v = uint32(int32(v<<sh) >> sh)
	}
	switch op.d16 {
	case 1:
		return old&^0xFFFF | v&0xFFFF
	case 2:
		return old&0xFFFF | v<<16
	}
	return v
}

// atomics executes in lane order, which makes results reproducible.
func (w *wave) atomics(u *uop, op *memOp, m uint64, b []byte, base uint64) {
	n := uint32(w.n)
	read := func(off uint32, l int) uint64 {
		v := uint64(w.at(off)[l])
		if op.wide {
			v |= uint64(w.at(off + n)[l]) << 32
		}
		return v
	}
	words := uint32(op.size / 4)
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		p := b[w.m.addr[l]-base:]
		data, cmp := read(u.b, l), uint64(0)
		if op.cmp {
			if op.lds {
				// LDS: data0 is the comparand, data1 the new value.
				cmp, data = data, read(u.c, l)
			} else {
				cmp = read(u.b+words*n, l)
			}
		}
		var old uint64
		if op.wide {
			old = binary.LittleEndian.Uint64(p)
			binary.LittleEndian.PutUint64(p, op.atomic(old, data, cmp))
		} else {
			old = uint64(binary.LittleEndian.Uint32(p))
			binary.LittleEndian.PutUint32(p, uint32(op.atomic(old, data, cmp)))
		}
		if op.ret {
			w.at(u.dst)[l] = uint32(old)
			if op.wide {
				w.at(u.dst + n)[l] = uint32(old >> 32)
			}
		}
	}
}

// execScratch: each lane has its own bytes.
func execScratch(w *wave, u *uop) {
	m := w.mask()
	op := u.x.mem
	size := w.m.p.k.ScratchBytes
	base := int64(u.imm)
	if u.ck == srcS && u.c != sNull {
		base += int64(w.s[u.c])
	}
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		off := base
		if u.ak == srcV {
			off += int64(int32(w.at(u.a)[l]))
		}
		if off < 0 || off+int64(op.size) > int64(size) {
			w.m.fail(w, fmt.Errorf("lane %d: scratch offset %d, the lane has %d bytes", l, off, size))
			return
		}
		w.m.addr[l] = uint64(off)
		w.access(u, op, 1<<l, w.scratch[l*size+int(off):], uint64(off))
		// For timing: dwords of the lanes of a wave lie side by side.
		w.m.addr[l] = scratchWindow + uint64(w.id)<<20 + uint64(off)/4*uint64(4*w.n) + uint64(4*l)
	}
}

// execPermute: ds_swizzle, ds_permute, ds_bpermute move data between lanes of
// a group of 32 without touching LDS.
func execPermute(w *wave, u *uop) {
	m := w.mask()
	op := u.x.mem
	d := w.at(u.dst)
	var out [64]uint32
	switch op.mode {
	case memSwizzle:
		a := w.at(u.a)
		imm := uint32(u.imm)
		for l := range w.n {
			i := uint32(l & 31)
			s := i&^3 | imm>>(2*(i&3))&3
			if imm&0x8000 == 0 {
				s = (i&(imm&31) | imm>>5&31) ^ imm>>10&31
			}
			if src := l&32 | int(s); m>>src&1 != 0 {
				out[l] = a[src]
			}
		}
	case memBpermute:
		a, b := w.at(u.a), w.at(u.b)
		for l := range w.n {
			if src := l&32 | int((a[l]+uint32(u.imm))>>2&31); m>>src&1 != 0 {
				out[l] = b[src]
			}
		}
	case memPermute:
		a, b := w.at(u.a), w.at(u.b)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros64(k)
			out[l&32|int((a[l]+uint32(u.imm))>>2&31)] = b[l]
		}
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		d[l] = out[l]
	}
}
