package exec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// special is an instruction that crosses lanes or mixes vector and scalar
// state.
type special struct {
	name string
	fn   state.Handler
	f    any
	mods bool         // source modifiers are handled
	kind state.Result // of the result; clamp and flushing need it
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
	{name: "v_nop", fn: execNop},
	{name: "v_cndmask_b32", fn: execCndmask, mods: true},
	{name: "v_add_co_u32", fn: execCarry, f: carryFn(addCarry)},
	{name: "v_sub_co_u32", fn: execCarry, f: carryFn(subCarry)},
	{name: "v_subrev_co_u32", fn: execCarry, f: carryFn(subrevCarry)},
	{name: "v_add_co_ci_u32", fn: execCarry, f: carryFn(addCarry)},
	{name: "v_sub_co_ci_u32", fn: execCarry, f: carryFn(subCarry)},
	{name: "v_subrev_co_ci_u32", fn: execCarry, f: carryFn(subrevCarry)},
	{name: "v_mad_u64_u32", fn: execMad64, f: false},
	{name: "v_mad_i64_i32", fn: execMad64, f: true},
	{name: "v_movrels_b32", fn: execMovRel, f: movRel{src: true}},
	{name: "v_movreld_b32", fn: execMovRel, f: movRel{dst: true}},
	{name: "v_movrelsd_b32", fn: execMovRel, f: movRel{src: true, dst: true}},
	{name: "v_movrelsd_2_b32", fn: execMovRel, f: movRel{src: true, dst: true, two: true}},
	{name: "v_swap_b32", fn: execMovRel, f: movRel{swap: true}},
	{name: "v_swaprel_b32", fn: execMovRel, f: movRel{src: true, dst: true, two: true, swap: true}},
	{name: "v_readfirstlane_b32", fn: execReadFirstLane},
	{name: "v_readlane_b32", fn: execReadLane},
	{name: "v_writelane_b32", fn: execWriteLane},
	{name: "v_permlane16_b32", fn: execPermlane, f: 0},
	{name: "v_permlanex16_b32", fn: execPermlane, f: 16},
	{name: "v_mbcnt_lo_u32_b32", fn: execMbcnt, f: 0},
	{name: "v_mbcnt_hi_u32_b32", fn: execMbcnt, f: 32},
	{name: "v_fma_mix_f32", fn: execFmaMix, f: 0, mods: true, kind: state.ResultF32},
	{name: "v_fma_mixlo_f16", fn: execFmaMix, f: 1, mods: true, kind: state.ResultF16},
	{name: "v_fma_mixhi_f16", fn: execFmaMix, f: 2, mods: true, kind: state.ResultF16},
	{name: "v_div_scale_f32", fn: execDivScale, f: false, mods: true, kind: state.ResultF32},
	{name: "v_div_scale_f64", fn: execDivScale, f: true, mods: true, kind: state.ResultF64},
	{name: "v_div_fmas_f32", fn: execDivFmas, f: false, mods: true, kind: state.ResultF32},
	{name: "v_div_fmas_f64", fn: execDivFmas, f: true, mods: true, kind: state.ResultF64},
}

// maskOperand is the lane mask an instruction selects by: VCC, or source 2.
func maskOperand(w *state.Wave, u *state.Op) uint64 {
	if u.CFrom == state.SourceSGPR {
		return w.Mask(u.C)
	}
	return w.Mask(state.VCC)
}

func execCndmask(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	sel := maskOperand(w, u)
	a := readRow(w, u.AFrom, u.A, 0)
	b := readRow(w, u.BFrom, u.B, 1)
	if u.Details.Inst.Neg|u.Details.Inst.Abs != 0 {
		a, b = modify(w, a, u, 0), modify(w, b, u, 1)
	}
	d := w.Row(u.Dst)
	if m == w.Full() {
		asm.Select(d, a, b, sel, w.Lanes)
		return
	}
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		if sel>>l&1 != 0 {
			d[l] = b[l]
		} else {
			d[l] = a[l]
		}
	}
}

func execCarry(w *state.Wave, u *state.Op) {
	m := w.Exec()
	f := u.Details.Func.(carryFn)
	a := readRow(w, u.AFrom, u.A, 0)
	b := readRow(w, u.BFrom, u.B, 1)
	d := w.Row(u.Dst)
	var cin, cout uint64
	out := uint32(u.MaskDst)
	switch {
	case u.Details.Form.Defs&rdna2.ImplVCC != 0:
		cin, out = w.Mask(state.VCC), state.VCC
	case u.CFrom != state.SourceNone:
		cin = maskOperand(w, u)
	}
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		v, c := f(a[l], b[l], uint32(cin>>l)&1)
		if c && u.Details.Inst.Clamp { // above the range of a sum, below that of a difference
			v = saturatedCarry[u.Details.Form.Mnemonic]
		}
		d[l] = v
		if c {
			cout |= 1 << l
		}
	}
	w.SetMask(out, cout)
}

// saturatedCarry is the result of a sum out of range that clamps; that of a difference is 0.
var saturatedCarry = map[rdna2.Mnemonic]uint32{rdna2.M_V_ADD_CO_U32: ^uint32(0), rdna2.M_V_ADD_CO_CI_U32: ^uint32(0)}

func execMad64(w *state.Wave, u *state.Op) {
	m := w.Exec()
	signed, clamp := u.Details.Func.(bool), u.Details.Inst.Clamp
	t := &w.Machine.Wide
	for i := range 3 {
		readRow64(w, &t[i], u, i)
	}
	lo, hi := w.Row(u.Dst), w.Row(u.Dst+uint32(w.Lanes))
	var cout uint64
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
		a, b, c := t[0][l], t[1][l], t[2][l]
		if signed {
			p := int64(int32(a)) * int64(int32(b))
			r := p + int64(c)
			over := (p >= 0) == (int64(c) >= 0) && (r >= 0) != (p >= 0)
			if over {
				cout |= 1 << l
			}
			if a = uint64(r); over && clamp {
				a = 1<<63 - 1
				if p < 0 {
					a = 1 << 63
				}
			}
		} else {
			r, carry := bits.Add64(a*b, c, 0)
			if carry != 0 {
				cout |= 1 << l
			}
			if a = r; carry != 0 && clamp {
				a = ^uint64(0)
			}
		}
		lo[l], hi[l] = uint32(a), uint32(a>>32)
	}
	w.SetMask(uint32(u.MaskDst), cout)
}

func execReadFirstLane(w *state.Wave, u *state.Op) {
	l := 0
	if m := w.Exec(); m != 0 {
		l = state.FirstLane(m)
	}
	w.S[u.Dst] = readRow(w, u.AFrom, u.A, 0)[l]
}

func execReadLane(w *state.Wave, u *state.Op) {
	w.S[u.Dst] = readRow(w, u.AFrom, u.A, 0)[int(w.Scalar(u.BFrom, u.B))&(w.Lanes-1)]
}

func execWriteLane(w *state.Wave, u *state.Op) {
	w.Row(u.Dst)[int(w.Scalar(u.BFrom, u.B))&(w.Lanes-1)] = w.Scalar(u.AFrom, u.A)
}

// execPermlane: lane l of a row of 16 reads lane sel[l] of the same row, or of the row beside it. op_sel bit 0 reads
// inactive lanes, bit 1 makes them 0.
func execPermlane(w *state.Wave, u *state.Op) {
	m := w.Exec()
	cross := u.Details.Func.(int)
	a := *readRow(w, u.AFrom, u.A, 0)
	sel := uint64(w.Scalar(u.BFrom, u.B)) | uint64(w.Scalar(u.CFrom, u.C))<<32
	fi, bound := u.Details.Inst.OpSel&1 != 0, u.Details.Inst.OpSel&2 != 0
	d := w.Row(u.Dst)
	for k := m; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		s := (l &^ 15) ^ cross | int(sel>>(4*(l&15))&15)
		switch {
		case fi || m>>s&1 != 0:
			d[l] = a[s]
		case bound:
			d[l] = 0
		}
	}
}

func execMbcnt(w *state.Wave, u *state.Op) {
	m := w.Exec()
	base := u.Details.Func.(int)
	a, b := readRow(w, u.AFrom, u.A, 0), readRow(w, u.BFrom, u.B, 1)
	d := w.Row(u.Dst)
	for ; m != 0; m &= m - 1 {
		l := state.FirstLane(m)
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
