package gpu

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// special is an instruction that crosses lanes or mixes vector and scalar
// state.
type special struct {
	name  string
	class Class
	fn    execFn
	f     any
	mods  bool // source modifiers are handled
	clamp bool
}

var specialSem = byName(func() []special { return specialTable }, func(s *special) string { return s.name })

type carryFn func(a, b, cin uint32) (d uint32, cout bool)

func addCarry(a, b, cin uint32) (uint32, bool) {
	d, c := bits.Add32(a, b, cin)
	return d, c != 0
}

func subCarry(a, b, cin uint32) (uint32, bool) {
	d, c := bits.Sub32(a, b, cin)
	return d, c != 0
}

func subrevCarry(a, b, cin uint32) (uint32, bool) { return subCarry(b, a, cin) }

var specialTable = []special{
	{name: "v_nop", class: ClassMove, fn: execNop},
	{name: "v_cndmask_b32", class: ClassMove, fn: execCndmask, mods: true},
	{name: "v_add_co_u32", class: ClassInt, fn: execCarry, f: carryFn(addCarry)},
	{name: "v_sub_co_u32", class: ClassInt, fn: execCarry, f: carryFn(subCarry)},
	{name: "v_subrev_co_u32", class: ClassInt, fn: execCarry, f: carryFn(subrevCarry)},
	{name: "v_add_co_ci_u32", class: ClassInt, fn: execCarry, f: carryFn(addCarry)},
	{name: "v_sub_co_ci_u32", class: ClassInt, fn: execCarry, f: carryFn(subCarry)},
	{name: "v_subrev_co_ci_u32", class: ClassInt, fn: execCarry, f: carryFn(subrevCarry)},
	{name: "v_mad_u64_u32", class: ClassIntMul, fn: execMad64, f: false},
	{name: "v_mad_i64_i32", class: ClassIntMul, fn: execMad64, f: true},
	{name: "v_movrels_b32", class: ClassMove, fn: execMovRel, f: movRel{src: true}},
	{name: "v_movreld_b32", class: ClassMove, fn: execMovRel, f: movRel{dst: true}},
	{name: "v_movrelsd_b32", class: ClassMove, fn: execMovRel, f: movRel{src: true, dst: true}},
	{name: "v_movrelsd_2_b32", class: ClassMove, fn: execMovRel, f: movRel{src: true, dst: true, two: true}},
	{name: "v_swap_b32", class: ClassMove, fn: execMovRel, f: movRel{swap: true}},
	{name: "v_swaprel_b32", class: ClassMove, fn: execMovRel, f: movRel{src: true, dst: true, two: true, swap: true}},
	{name: "v_readfirstlane_b32", class: ClassMove, fn: execReadFirstLane},
	{name: "v_readlane_b32", class: ClassMove, fn: execReadLane},
	{name: "v_writelane_b32", class: ClassMove, fn: execWriteLane},
	{name: "v_permlane16_b32", class: ClassMove, fn: execPermlane, f: 0},
	{name: "v_permlanex16_b32", class: ClassMove, fn: execPermlane, f: 16},
	{name: "v_mbcnt_lo_u32_b32", class: ClassMove, fn: execMbcnt, f: 0},
	{name: "v_mbcnt_hi_u32_b32", class: ClassMove, fn: execMbcnt, f: 32},
	{name: "v_fma_mix_f32", class: ClassFMA32, fn: execFmaMix, f: 0, mods: true, clamp: true},
	{name: "v_fma_mixlo_f16", class: ClassFMA32, fn: execFmaMix, f: 1, mods: true, clamp: true},
	{name: "v_fma_mixhi_f16", class: ClassFMA32, fn: execFmaMix, f: 2, mods: true, clamp: true},
	{name: "v_div_scale_f32", class: ClassF32, fn: execDivScale, f: false, mods: true},
	{name: "v_div_scale_f64", class: ClassF64, fn: execDivScale, f: true, mods: true},
	{name: "v_div_fmas_f32", class: ClassFMA32, fn: execDivFmas, f: false, mods: true},
	{name: "v_div_fmas_f64", class: ClassF64, fn: execDivFmas, f: true, mods: true},
}

// maskOperand is the lane mask an instruction selects by: VCC, or source 2.
func (w *wave) maskOperand(u *uop) uint64 {
	if u.ck == srcS {
		return w.sMask(u.c)
	}
	if u.ck == srcC {
		return u.x.val[2]
	}
	return w.sMask(sVCC)
}

func execCndmask(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	sel := w.maskOperand(u)
	a := w.src(u.ak, u.a, 0)
	b := w.src(u.bk, u.b, 1)
	if u.x.in.Neg|u.x.in.Abs != 0 {
		a, b = w.modify(a, u, 0), w.modify(b, u, 1)
	}
	d := w.at(u.dst)
	if m == w.full() {
		for l := range w.n {
			v := a[l&63]
			if sel>>uint(l)&1 != 0 {
				v = b[l&63]
			}
			d[l&63] = v
		}
		return
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		if sel>>l&1 != 0 {
			d[l] = b[l]
		} else {
			d[l] = a[l]
		}
	}
}

func execCarry(w *wave, u *uop) {
	m := w.mask()
	f := u.x.f.(carryFn)
	a := w.src(u.ak, u.a, 0)
	b := w.src(u.bk, u.b, 1)
	d := w.at(u.dst)
	var cin, cout uint64
	out := uint32(u.sdst)
	switch {
	case u.x.form.Defs&rdna2.ImplVCC != 0:
		cin, out = w.sMask(sVCC), sVCC
	case u.ck != srcNone:
		cin = w.maskOperand(u)
	}
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		v, c := f(a[l], b[l], uint32(cin>>l)&1)
		d[l] = v
		if c {
			cout |= 1 << l
		}
	}
	w.setMask(out, cout)
}

func execMad64(w *wave, u *uop) {
	m := w.mask()
	signed := u.x.f.(bool)
	t := &w.m.wide
	for i := range 3 {
		w.wideSource(&t[i], u, i)
	}
	lo, hi := w.at(u.dst), w.at(u.dst+uint32(w.n))
	var cout uint64
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		a, b, c := t[0][l], t[1][l], t[2][l]
		if signed {
			p := int64(int32(a)) * int64(int32(b))
			r := p + int64(c)
			if (p >= 0) == (int64(c) >= 0) && (r >= 0) != (p >= 0) {
				cout |= 1 << l
			}
			a = uint64(r)
		} else {
			r, carry := bits.Add64(a*b, c, 0)
			if carry != 0 {
				cout |= 1 << l
			}
			a = r
		}
		lo[l], hi[l] = uint32(a), uint32(a>>32)
	}
	w.setMask(uint32(u.sdst), cout)
}

func execReadFirstLane(w *wave, u *uop) {
	l := 0
	if m := w.mask(); m != 0 {
		l = firstLane(m)
	}
	w.s[u.dst] = w.src(u.ak, u.a, 0)[l]
}

func execReadLane(w *wave, u *uop) {
	w.s[u.dst] = w.src(u.ak, u.a, 0)[int(w.scalar(u.bk, u.b))&(w.n-1)]
}

func execWriteLane(w *wave, u *uop) {
	w.at(u.dst)[int(w.scalar(u.bk, u.b))&(w.n-1)] = w.scalar(u.ak, u.a)
}

// execPermlane: lane l of a row of 16 takes lane sel[l] of the same row, or of
// the row beside it. op_sel bit 0 reads inactive lanes, bit 1 makes them 0.
func execPermlane(w *wave, u *uop) {
	m := w.mask()
	cross := u.x.f.(int)
	a := *w.src(u.ak, u.a, 0)
	sel := uint64(w.scalar(u.bk, u.b)) | uint64(w.scalar(u.ck, u.c))<<32
	fi, bound := u.x.in.OpSel&1 != 0, u.x.in.OpSel&2 != 0
	d := w.at(u.dst)
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		s := (l &^ 15) ^ cross | int(sel>>(4*(l&15))&15)
		switch {
		case fi || m>>s&1 != 0:
			d[l] = a[s]
		case bound:
			d[l] = 0
		}
	}
}

func execMbcnt(w *wave, u *uop) {
	m := w.mask()
	base := u.x.f.(int)
	a, b := w.src(u.ak, u.a, 0), w.src(u.bk, u.b, 1)
	d := w.at(u.dst)
	for ; m != 0; m &= m - 1 {
		l := firstLane(m)
		below := fullBelow(l - base)
		d[l] = popcount(a[l]&below) + b[l]
	}
}

// fullBelow is the mask of the bits below n of 32.
func fullBelow(n int) uint32 {
	if n <= 0 {
		return 0
	}
	if n >= 32 {
		return ^uint32(0)
	}
	return 1<<n - 1
}
