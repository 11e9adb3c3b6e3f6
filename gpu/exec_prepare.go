package gpu

import "github.com/nnsoc/nnsoc/isa/rdna2"

// DPP and SDWA are plain instructions on prepared sources: DPP takes source 0
// from other lanes, SDWA takes parts of the registers and puts the result into
// a part of D.

// prepared fills in a vector instruction, one with a DPP or SDWA control word as
// the plain instruction on the rows that execPrepared makes.
func (d *decoder) prepared(u *uop, dep *deps) error {
	if f := u.x.form.Format; f < rdna2.DPP1 || f > rdna2.SDWAC {
		return d.valu(u, dep)
	}
	inner := *u
	if u.ak != srcNone {
		inner.ak, inner.a = srcP, 0
	}
	if u.bk != srcNone {
		inner.bk, inner.b = srcP, 1
	}
	if err := d.valu(&inner, dep); err != nil {
		return err
	}
	u.x.inner = &inner
	u.unit, u.class, u.fn = inner.unit, inner.class, execPrepared
	if dep.vw.n > 0 {
		dep.readV(dep.vw) // lanes and parts that are not written keep D
	}
	return nil
}

func execPrepared(w *wave, u *uop) {
	m := w.m
	in, inner := &u.x.in, u.x.inner
	a, b := w.src(u.ak, u.a, 0), w.src(u.bk, u.b, 1)
	switch u.x.form.Format {
	case rdna2.DPP1, rdna2.DPP2, rdna2.DPP8_1, rdna2.DPP8_2:
		exec := w.mask()
		mask := exec
		if f := u.x.form.Format; f == rdna2.DPP1 || f == rdna2.DPP2 {
			mask = w.dpp(&m.pre[0], a, in, exec)
		} else {
			w.dpp8(&m.pre[0], a, in, exec)
		}
		m.pre[1] = *b
		lo, hi := w.s[sEXEC], w.s[sEXEC+1]
		w.s[sEXEC] = uint32(mask)
		if w.n == 64 {
			w.s[sEXEC+1] = uint32(mask >> 32)
		}
		inner.fn(w, inner)
		w.s[sEXEC], w.s[sEXEC+1] = lo, hi
	default:
		part(&m.pre[0], a, in.Sel[0], in.Sext&1 != 0, w.n)
		part(&m.pre[1], b, in.Sel[1], in.Sext&2 != 0, w.n)
		if u.x.form.Format == rdna2.SDWAC {
			inner.fn(w, inner)
			return
		}
		d := w.at(u.dst)
		m.old = *d
		inner.fn(w, inner)
		w.place(d, &m.old, in, u.x.sem != nil && u.x.sem.half)
	}
}

// part takes the selected part of every lane.
func part(t, r *row, sel rdna2.Sel, sext bool, n int) {
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

// place puts the results in d into the selected part of the active lanes; old is
// what d was before. A half alone in a register has zeros above it.
func (w *wave) place(d, old *row, in *rdna2.Inst, half bool) {
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
	for k := w.mask(); k != 0; k &= k - 1 {
		l := firstLane(k)
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
func (w *wave) dpp(t, r *row, in *rdna2.Inst, exec uint64) uint64 {
	var write uint64
	ctrl := uint(in.DPPCtrl)
	for l := range w.n {
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

// dpp8 permutes a source row within groups of eight lanes. Lanes that are off
// give 0 unless FI reads them all the same.
func (w *wave) dpp8(t, r *row, in *rdna2.Inst, exec uint64) {
	for l := range w.n {
		s := l&^7 | int(in.Lanes8>>(3*(l&7))&7)
		t[l&63] = 0
		if in.FI || exec>>uint(s)&1 != 0 {
			t[l&63] = r[s&63]
		}
	}
}
