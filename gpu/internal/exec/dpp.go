package exec

import (
	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// DPP and SDWA are plain instructions on prepared sources: DPP reads source 0 from other lanes, SDWA reads parts of the
// registers and writes the result to a part of D.

// bindPrepared fills in a vector instruction, one with a DPP or SDWA control word as
// the plain instruction on the rows that execPrepared makes.
func bindPrepared(p *state.Program, u *state.Op, dep *state.Deps) error {
	if f := u.Details.Form.Format; f < rdna2.DPP1 || f > rdna2.SDWAC {
		return bindVector(p, u, dep)
	}
	inner := *u
	if u.AFrom != state.SourceNone {
		inner.AFrom, inner.A = state.SourcePrepared, 0
	}
	if u.BFrom != state.SourceNone && u.Details.Form.Format >= rdna2.SDWA1 {
		inner.BFrom, inner.B = state.SourcePrepared, 1
	}
	if err := bindVector(p, &inner, dep); err != nil {
		return err
	}
	u.Details.Inner = &inner
	u.Unit, u.Handler = inner.Unit, execPrepared
	switch f := u.Details.Form; {
	case f.Format > rdna2.DPP2 || !quads(&u.Details.Inst) || u.Details.Inst.Neg|u.Details.Inst.Abs != 0:
	case f.Mnemonic == rdna2.M_V_MOV_B32, f.Mnemonic == rdna2.M_V_CNDMASK_B32:
		u.Handler = execQuads
	}
	if dep.VDst.N > 0 {
		dep.ReadV(dep.VDst) // lanes and parts that are not written keep D
	}
	return nil
}

// quads reports whether an instruction permutes every quad of lanes.
func quads(in *rdna2.Inst) bool { return in.DPPCtrl < 0x100 && in.Rows&in.Banks == 15 }

// execQuads is execPrepared of a move or selection that permutes quads: in a wave with all lanes active straight from
// its registers.
func execQuads(w *state.Wave, u *state.Op) {
	if w.Exec() != w.Full() {
		execPrepared(w, u)
		return
	}
	a, b, from := w.Row(u.A), w.Row(u.A), uint64(0)
	if u.BFrom != state.SourceNone {
		b, from = w.Row(u.B), w.Mask(state.VCC)
	}
	asm.Quad(w.Row(u.Dst), a, b, from, uint32(u.Details.Inst.DPPCtrl), w.Lanes)
}

func execPrepared(w *state.Wave, u *state.Op) {
	m := w.Machine
	in, inner := &u.Details.Inst, u.Details.Inner
	a := readRow(w, u.AFrom, u.A, 0)
	switch u.Details.Form.Format {
	case rdna2.DPP1, rdna2.DPP2, rdna2.DPP8_1, rdna2.DPP8_2:
		exec := w.Exec()
		mask := exec
		if f := u.Details.Form.Format; f == rdna2.DPP1 || f == rdna2.DPP2 {
			mask = dpp(w, &m.Prepared[0], a, in, exec)
		} else {
			dpp8(w, &m.Prepared[0], a, in, exec)
		}
		lo, hi := w.S[state.EXEC], w.S[state.EXEC+1]
		w.S[state.EXEC] = uint32(mask)
		if w.Lanes == 64 {
			w.S[state.EXEC+1] = uint32(mask >> 32)
		}
		inner.Handler(w, inner)
		w.S[state.EXEC], w.S[state.EXEC+1] = lo, hi
	default:
		part(&m.Prepared[0], a, in.Sel[0], in.Sext&1 != 0, w.Lanes)
		part(&m.Prepared[1], readRow(w, u.BFrom, u.B, 1), in.Sel[1], in.Sext&2 != 0, w.Lanes)
		if u.Details.Form.Format == rdna2.SDWAC {
			inner.Handler(w, inner)
			return
		}
		d := w.Row(u.Dst)
		m.Old = *d
		inner.Handler(w, inner)
		place(w, d, &m.Old, in, u.Details.Half)
	}
}

// part extracts the selected part of every lane.
func part(t, r *state.Row, sel rdna2.Sel, sext bool, n int) {
	shift, bits := uint(0), uint(32)
	switch {
	case sel < rdna2.SelWord0:
		shift, bits = 8*uint(sel), 8
	case sel < rdna2.SelDword:
		shift, bits = 16*uint(sel-rdna2.SelWord0), 16
	}
	for l := range n {
		v := r[l&63] >> shift << (32 - bits)
		if sext {
			v = uint32(int32(v) >> (32 - bits))
		} else {
			v >>= 32 - bits
		}
		t[l&63] = v
	}
}

// place puts the results in d into the selected part of the active lanes; old is the previous value of d. A half alone
// in a register has zeros above it.
func place(w *state.Wave, d, old *state.Row, in *rdna2.Inst, half bool) {
	shift, bits := uint(0), uint(32)
	switch {
	case in.DstSel < rdna2.SelWord0:
		shift, bits = 8*uint(in.DstSel), 8
	case in.DstSel < rdna2.SelDword:
		shift, bits = 16*uint(in.DstSel-rdna2.SelWord0), 16
	case half:
		bits = 16
	}
	mask := uint32(1<<bits-1) << shift
	for k := w.Exec(); k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		v := d[l] << shift & mask
		switch {
		case in.DstSel == rdna2.SelDword:
		case in.Unused == rdna2.UnusedPreserve:
			v |= old[l] &^ mask
		case in.Unused == rdna2.UnusedSext && d[l]>>(bits-1)&1 != 0:
			v |= ^uint32(0) << shift << bits
		}
		d[l] = v
	}
}

// dpp permutes a source row and returns the lanes that are written.
func dpp(w *state.Wave, t, r *state.Row, in *rdna2.Inst, exec uint64) uint64 {
	var write uint64
	ctrl := uint(in.DPPCtrl)
	if exec == w.Full() && quads(in) {
		asm.Quad(t, r, r, 0, uint32(ctrl), w.Lanes)
		return exec
	}
	for l := range w.Lanes {
		if in.Rows>>(l>>4)&1 == 0 || in.Banks>>(l>>2&3)&1 == 0 {
			continue
		}
		s, base := l&15, l&^15
		ok := true
		switch {
		case ctrl < 0x100:
			s = l&12 | int(ctrl>>(2*(l&3))&3)
		case ctrl < 0x110:
			s += int(ctrl & 15)
			ok = s < 16
		case ctrl < 0x120:
			s -= int(ctrl & 15)
			ok = s >= 0
		case ctrl < 0x130:
			s = (s - int(ctrl&15)) & 15
		case ctrl == 0x140:
			s = 15 - s
		case ctrl == 0x141:
			s = s&8 | 7 - s&7
		case ctrl >= 0x150 && ctrl < 0x160:
			s = int(ctrl & 15)
		case ctrl >= 0x160 && ctrl < 0x170:
			s ^= int(ctrl & 15)
		}
		ok = ok && (in.FI || exec>>uint(base+s&63)&1 != 0)
		switch {
		case ok:
			t[l] = r[base+s]
			write |= 1 << l
		case in.Bound:
			t[l] = 0
			write |= 1 << l
		}
	}
	return write & exec
}

// dpp8 permutes a source row within groups of eight lanes. Inactive lanes read as 0 unless FI is set.
func dpp8(w *state.Wave, t, r *state.Row, in *rdna2.Inst, exec uint64) {
	for l := range w.Lanes {
		s := l&^7 | int(in.Lanes8>>(3*(l&7))&7)
		t[l&63] = 0
		if in.FI || exec>>uint(s)&1 != 0 {
			t[l&63] = r[s&63]
		}
	}
}
