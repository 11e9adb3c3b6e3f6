package gpu

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// unit is what an instruction occupies in a cycle. A SIMD issues at most one
// instruction per unit and cycle.
type unit uint8

const (
	unitVALU  unit = iota
	unitTrans      // the vector unit's transcendental part
	unitSALU
	unitSMEM
	unitVMEM
	unitLDS
	unitBranch
	unitControl // handled by the wave's own sequencer
	numUnits
)

// srcKind is where an operand comes from.
type srcKind uint8

const (
	srcNone   srcKind = iota
	srcV              // vector register at an element offset
	srcC              // constant row of the program
	srcS              // scalar register
	srcStatus         // vccz, execz, scc
	srcP              // row prepared by execPrepared
)

type execFn func(w *wave, u *uop)

// uop is one decoded instruction, all that its execution touches.
type uop struct {
	fn         execFn
	row        rowFn
	dst        uint32 // element offset of a vector register, or scalar register
	a, b, c    uint32
	ak, bk, ck srcKind
	unit       unit
	class      Class
	sdst       uint16 // lane-mask destination
	imm        int32
	target     int32 // uop index of a branch, -1 when it is no instruction
	ctl        uint8
	x          *ext
}

// ext is the rest of an instruction, for the paths that are not hot.
type ext struct {
	in    rdna2.Inst
	form  *rdna2.Form
	sem   *sem
	lanes rowFn     // portable, for what row leaves undone
	inner *uop      // of execPrepared
	off   srcKind   // scalar offset of a buffer access: a register,
	offv  uint32    // or a constant row
	val   [4]uint64 // constants
	kind  [4]rdna2.Kind
	regs  [4]uint8
	f     any
	mem   *memOp
	err   error
	fkind fkind
}

// program is a kernel decoded for one machine. It does not change, so that runs
// share it.
type program struct {
	k      *Kernel
	uops   []uop
	deps   []deps
	offs   []int32 // byte offset of each uop, and the end
	index  []int32 // uop of each word, -1 inside an instruction
	consts []row
	end    []int32   // first uop after the stall-free vector run that starts here
	cost   []int32   // prefix sum of vector issue cycles
	touch  []touched // of the run that starts here
	latest int64     // longest latency of a vector instruction
	entry  int32
	spec   Spec // it was decoded for

	constIndex map[uint32]uint32
}

const (
	maxCode = 8 << 20
	maxRun  = 64 // instructions of one vector run
)

var errNoEnd = errors.New("ran past the last instruction; s_endpgm is missing")

// program is the kernel decoded for a machine: the form that an earlier run has
// left, or a new one. Runs that decode it at the same time make the same.
func (k *Kernel) program(spec *Spec) (*program, error) {
	if p := k.decoded.Load(); p != nil && p.spec == *spec {
		return p, nil
	}
	p, err := decodeKernel(k, spec)
	if err == nil {
		k.decoded.Store(p)
	}
	return p, err
}

func decodeKernel(k *Kernel, spec *Spec) (*program, error) {
	fail := func(format string, args ...any) (*program, error) {
		return nil, fmt.Errorf("gpu: kernel %s: %w", k.Name, fmt.Errorf(format, args...))
	}
	switch {
	case k.WaveSize != 32 && k.WaveSize != 64:
		return fail("wave size %d, want 32 or 64", k.WaveSize)
	case k.VGPRs < 1 || k.VGPRs > 256:
		return fail("%d vector registers, want 1..256", k.VGPRs)
	case len(k.Code) == 0 || len(k.Code)%4 != 0 || len(k.Code) > maxCode:
		return fail("%d bytes of code, want a multiple of 4 up to %d", len(k.Code), maxCode)
	case k.Entry < 0 || k.Entry >= len(k.Code) || k.Entry%4 != 0:
		return fail("entry %#x outside the code", k.Entry)
	case k.LDSBytes < 0 || k.LDSBytes > spec.LDSBytes || k.LDSBytes > 64<<10:
		return fail("%d bytes of LDS, the machine has %d", k.LDSBytes, spec.LDSBytes)
	case k.ScratchBytes < 0 || k.ScratchBytes > 64<<10:
		return fail("%d bytes of scratch per lane, at most %d", k.ScratchBytes, 64<<10)
	case k.WorkItemIDs < 0 || k.WorkItemIDs > 2 || k.WorkItemIDs >= k.VGPRs:
		return fail("work-item id selector %d with %d registers", k.WorkItemIDs, k.VGPRs)
	}
	words := make([]uint32, len(k.Code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(k.Code[4*i:])
	}
	p := &program{k: k, spec: *spec, index: make([]int32, len(words)), constIndex: map[uint32]uint32{}}
	d := decoder{p: p, spec: spec, lanes: uint32(k.WaveSize)}
	for at := 0; at < len(words); {
		in, n, err := rdna2.Decode(words[at:])
		p.index[at] = int32(len(p.uops))
		for j := at + 1; j < at+n && j < len(words); j++ {
			p.index[j] = -1
		}
		if err != nil {
			// Data or padding: an error only when it is reached.
			n = 1
		}
		p.offs = append(p.offs, int32(4*at))
		u, dep := d.uop(&in, err)
		p.uops = append(p.uops, u)
		p.deps = append(p.deps, dep)
		at += n
	}
	p.offs = append(p.offs, int32(len(k.Code)))
	// A last uop catches control running off the end.
	u, dep := d.bad(errNoEnd)
	p.uops = append(p.uops, u)
	p.deps = append(p.deps, dep)
	p.offs = append(p.offs, int32(len(k.Code)))

	p.entry = p.index[k.Entry/4]
	if p.entry < 0 {
		return fail("entry %#x is inside an instruction", k.Entry)
	}
	for i := range p.uops {
		u := &p.uops[i]
		if u.unit != unitBranch || u.x == nil || u.x.form.Format != rdna2.SOPP && u.x.form.Op != rdna2.S_CALL_B64 {
			continue
		}
		t := int64(p.offs[i]) + 4 + 4*int64(int16(u.x.in.Simm16))
		u.target = p.indexOf(t)
		u.imm = int32(t)
	}
	p.schedule(spec)
	return p, nil
}

// indexOf is the uop at a byte offset, -1 when no instruction begins there.
func (p *program) indexOf(off int64) int32 {
	if off < 0 || off%4 != 0 || off/4 >= int64(len(p.index)) {
		return -1
	}
	return p.index[off/4]
}

// text is the instruction at uop i for messages.
func (p *program) text(i int32) string {
	if x := p.uops[i].x; x != nil && x.form != nil {
		return x.in.Text(p.k.WaveSize == 64)
	}
	return "no instruction"
}

type decoder struct {
	p     *program
	spec  *Spec
	lanes uint32
}

func (d *decoder) bad(err error) (uop, deps) {
	return uop{fn: execBad, unit: unitControl, class: ClassBranch, x: &ext{err: err}}, deps{}
}

// constant is the row of the program that holds v in every lane.
func (d *decoder) constant(v uint32) uint32 {
	i, ok := d.p.constIndex[v]
	if !ok {
		i = uint32(len(d.p.consts))
		var r row
		for l := range r {
			r[l] = v
		}
		d.p.consts = append(d.p.consts, r)
		d.p.constIndex[v] = i
	}
	return i
}

// inline is the value of a constant source code as an operand of kind k.
func inline(code uint16, k rdna2.Kind, regs int, literal uint32) uint64 {
	switch {
	case code == rdna2.LiteralK && k == rdna2.F64:
		return uint64(literal) << 32 // the high half of a double
	case code == rdna2.LiteralK:
		return uint64(literal)
	case regs == 2:
		v, _ := rdna2.Value64(code, k)
		return v
	}
	v, _ := rdna2.Value32(code, k)
	return uint64(v)
}

// source resolves operand slot i of in.
func (d *decoder) source(u *uop, dep *deps, in *rdna2.Inst, o rdna2.Operand) error {
	i := o.Slot()
	code := in.Src[i]
	kind, val := srcNone, uint32(0)
	regs := int(o.Regs)
	if o.Class == rdna2.ClassMask {
		regs = int(d.lanes) / 32
	}
	if regs == 0 {
		regs = 1
	}
	u.x.kind[i] = o.Kind
	u.x.regs[i] = uint8(regs)
	switch {
	case rdna2.IsVGPR(code):
		r := int(code - rdna2.VGPR0)
		if r+regs > d.p.k.VGPRs {
			return fmt.Errorf("reads v%d, the kernel has %d registers", r+regs-1, d.p.k.VGPRs)
		}
		kind, val = srcV, uint32(r)*d.lanes
		dep.readV(span{uint8(r), uint8(regs)})
	case code < 128:
		if int(code)+regs > 128 && code != sNull {
			return fmt.Errorf("reads %d scalar registers from %d on", regs, code)
		}
		kind, val = srcS, uint32(code)
		if code != sNull {
			dep.readS(span{uint8(code), uint8(regs)})
		}
	case code == rdna2.VCCZ || code == rdna2.EXECZ || code == rdna2.SCC:
		kind, val = srcStatus, uint32(code)
		s := span{sSCC, 1}
		if code == rdna2.VCCZ {
			s = span{sVCC, uint8(d.lanes / 32)}
		} else if code == rdna2.EXECZ {
			s = span{sEXEC, uint8(d.lanes / 32)}
		}
		dep.readS(s)
	case code >= rdna2.SharedBase && code <= rdna2.PrivateLimit:
		v := [...]uint64{SharedAperture, SharedAperture + 1<<32 - 1, PrivateAperture, PrivateAperture + 1<<32 - 1}[code-rdna2.SharedBase]
		u.x.val[i] = v
		kind, val = srcC, d.constant(uint32(v))
	case code == rdna2.LDSDirect || code >= 209 && code < 240 || code > rdna2.ConstInv && code < rdna2.VCCZ:
		return fmt.Errorf("source code %d is not modelled", code)
	default:
		v := inline(code, o.Kind, regs, in.Literal)
		u.x.val[i] = v
		kind = srcC
		val = d.constant(uint32(v))
	}
	switch i {
	case 0:
		u.a, u.ak = val, kind
	case 1:
		u.b, u.bk = val, kind
	case 2:
		u.c, u.ck = val, kind
	case 3:
		u.x.offv, u.x.off = val, kind
	}
	return nil
}

// implicit adds the registers of a set to reads or writes.
func (d *decoder) implicit(dep *deps, s rdna2.Implicit, write bool) {
	add := func(sp span) {
		if write {
			dep.writeS(sp)
		} else {
			dep.readS(sp)
		}
	}
	w := uint8(d.lanes / 32)
	if s&rdna2.ImplVCC != 0 {
		add(span{sVCC, w})
	}
	if s&rdna2.ImplSCC != 0 {
		add(span{sSCC, 1})
	}
	if s&rdna2.ImplM0 != 0 {
		add(span{sM0, 1})
	}
	if s&rdna2.ImplEXEC != 0 && write {
		add(span{sEXEC, w})
	}
}

func (d *decoder) uop(in *rdna2.Inst, derr error) (uop, deps) {
	if derr != nil {
		return d.bad(derr)
	}
	f := in.Form()
	u := uop{target: -1, x: &ext{in: *in, form: f}}
	var dep deps
	bad := func(format string, args ...any) (uop, deps) {
		b, bd := d.bad(fmt.Errorf(format, args...))
		b.x.form, b.x.in = f, *in
		return b, bd
	}
	for _, o := range f.Operands() {
		switch o.Role {
		case rdna2.RoleVDst, rdna2.RoleSDst:
			if o.Class == rdna2.ClassMask {
				u.sdst = in.SDst
				if in.SDst != sNull && int(in.SDst)+int(d.lanes/32) > 128 {
					return bad("writes a lane mask to scalar register %d", in.SDst)
				}
				if u.sdst == sNull {
					u.sdst = sDrop
				} else {
					dep.writeS(span{uint8(in.SDst), uint8(d.lanes / 32)})
				}
				continue
			}
			if rdna2.IsVGPR(in.Dst) {
				r := int(in.Dst - rdna2.VGPR0)
				if r+int(o.Regs) > d.p.k.VGPRs {
					return bad("writes v%d, the kernel has %d registers", r+int(o.Regs)-1, d.p.k.VGPRs)
				}
				u.dst = uint32(r) * d.lanes
				dep.vw = span{uint8(r), o.Regs}
				continue
			}
			u.dst = uint32(in.Dst)
			if in.Dst != sNull && int(in.Dst)+int(o.Regs) > 128 {
				return bad("writes %d scalar registers from %d on", o.Regs, in.Dst)
			}
			if in.Dst == sNull {
				u.dst = sDrop
			} else {
				dep.writeS(span{uint8(in.Dst), o.Regs})
			}
		default:
			if o.Slot() < 0 {
				continue
			}
			if err := d.source(&u, &dep, in, o); err != nil {
				return bad("%w", err)
			}
		}
	}
	d.implicit(&dep, f.Uses, false)
	d.implicit(&dep, f.Defs, true)
	var err error
	switch {
	case f.IsVALU():
		if err = d.prepared(&u, &dep); u.class == ClassTrans {
			u.unit = unitTrans
		}
	case f.Format >= rdna2.SOP2 && f.Format <= rdna2.SOPP:
		err = d.salu(&u, &dep)
	default:
		err = d.memory(&u, &dep)
	}
	if err != nil {
		return bad("%w", err)
	}
	return u, dep
}
