package hvx

import (
	"github.com/nnsoc/nnsoc/dsp/internal/exec/family"
	"github.com/nnsoc/nnsoc/dsp/internal/exec/simd"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

var permRows = []family.Row{
	// Broadcast, insert, extract.
	{hexagon.V6_vinsertwr, func(t *state.Thread, u *state.Uop) { t.UW(u.Arg[0])[0] = *t.R(u.Arg[1]) }},
	{hexagon.V6_extractw, func(t *state.Thread, u *state.Uop) { *t.R(u.Arg[0]) = t.UW(u.Arg[1])[*t.R(u.Arg[2])>>2&31] }},

	// Permute.
	// vunpacko ors the lanes into the upper half of wider ones.
	{hexagon.V6_vunpackob, func(t *state.Thread, u *state.Uop) {
		a, d, e := *t.UB(u.Arg[1]), t.UH(u.Arg[0]), t.UH(state.High(u.Arg[0]))
		for i := range d {
			d[i] |= uint16(a[i]) << 8
			e[i] |= uint16(a[64+i]) << 8
		}
	}},
	{hexagon.V6_vunpackoh, func(t *state.Thread, u *state.Uop) {
		a, d, e := *t.UH(u.Arg[1]), t.UW(u.Arg[0]), t.UW(state.High(u.Arg[0]))
		for i := range d {
			d[i] |= uint32(a[i]) << 16
			e[i] |= uint32(a[32+i]) << 16
		}
	}},
	{hexagon.V6_vdealb4w, func(t *state.Thread, u *state.Uop) {
		d, a, b := t.UB(u.Arg[0]), *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		for i := range 32 {
			d[i], d[32+i] = b[4*i], b[4*i+2]
			d[64+i], d[96+i] = a[4*i], a[4*i+2]
		}
	}},
	// The forms that shuffle in place: vshuff(Vy,Vx,Rt) with Vy the high half.
	{hexagon.V6_vshuff, func(t *state.Thread, u *state.Uop) {
		high, low, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		shuffleBy(low, high, r)
	}},
	// vshuff and vdeal of a pair: a butterfly of exchanges, one per set bit of Rt.
	{hexagon.V6_vshuffvdd, func(t *state.Thread, u *state.Uop) {
		high, low, r := *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), *t.R(u.Arg[3])
		shuffleBy(&low, &high, r)
		*t.UB(u.Arg[0]), *t.UB(state.High(u.Arg[0])) = low, high
	}},
	{hexagon.V6_vdeal, func(t *state.Thread, u *state.Uop) {
		high, low, r := t.UB(u.Arg[0]), t.UB(u.Arg[1]), *t.R(u.Arg[2])
		dealBy(low, high, r)
	}},
	{hexagon.V6_vdealvdd, func(t *state.Thread, u *state.Uop) {
		high, low, r := *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), *t.R(u.Arg[3])
		dealBy(&low, &high, r)
		*t.UB(u.Arg[0]), *t.UB(state.High(u.Arg[0])) = low, high
	}},
	{hexagon.V6_valignb, func(t *state.Thread, u *state.Uop) {
		align(t.UB(u.Arg[0]), *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), int(*t.R(u.Arg[3])&127))
	}},
	{hexagon.V6_valignbi, func(t *state.Thread, u *state.Uop) {
		align(t.UB(u.Arg[0]), *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), int(u.Imm&7))
	}},
	{hexagon.V6_vlalignb, func(t *state.Thread, u *state.Uop) {
		align(t.UB(u.Arg[0]), *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), 128-int(*t.R(u.Arg[3])&127))
	}},
	{hexagon.V6_vlalignbi, func(t *state.Thread, u *state.Uop) {
		align(t.UB(u.Arg[0]), *t.UB(u.Arg[1]), *t.UB(u.Arg[2]), 128-int(u.Imm&7))
	}},
	{hexagon.V6_vror, func(t *state.Thread, u *state.Uop) {
		a := *t.UB(u.Arg[1])
		align(t.UB(u.Arg[0]), a, a, int(*t.R(u.Arg[2])&127))
	}},
	{hexagon.V6_vdelta, func(t *state.Thread, u *state.Uop) {
		a, c := *t.UB(u.Arg[1]), t.UB(u.Arg[2])
		for n := 64; n > 0; n >>= 1 {
			a = route(a, c, n)
		}
		*t.UB(u.Arg[0]) = a
	}},
	{hexagon.V6_vrdelta, func(t *state.Thread, u *state.Uop) {
		a, c := *t.UB(u.Arg[1]), t.UB(u.Arg[2])
		for n := 1; n < 128; n <<= 1 {
			a = route(a, c, n)
		}
		*t.UB(u.Arg[0]) = a
	}},
	{hexagon.V6_vlutvvb, func(t *state.Thread, u *state.Uop) {
		*t.UB(u.Arg[0]) = lut32(t.UB(u.Arg[1]), t.UB(u.Arg[2]), *t.R(u.Arg[3]), false)
	}},
	{hexagon.V6_vlutvvb_nm, func(t *state.Thread, u *state.Uop) {
		*t.UB(u.Arg[0]) = lut32(t.UB(u.Arg[1]), t.UB(u.Arg[2]), *t.R(u.Arg[3]), true)
	}},
	{hexagon.V6_vlutvvb_oracc, func(t *state.Thread, u *state.Uop) {
		orInto(t.UB(u.Arg[0]), lut32(t.UB(u.Arg[1]), t.UB(u.Arg[2]), *t.R(u.Arg[3]), false))
	}},
	{hexagon.V6_vlutvvb_oracci, func(t *state.Thread, u *state.Uop) {
		orInto(t.UB(u.Arg[0]), lut32(t.UB(u.Arg[1]), t.UB(u.Arg[2]), uint32(u.Imm), false))
	}},
	{hexagon.V6_vlutvvbi, func(t *state.Thread, u *state.Uop) {
		*t.UB(u.Arg[0]) = lut32(t.UB(u.Arg[1]), t.UB(u.Arg[2]), uint32(u.Imm), false)
	}},
	{hexagon.V6_vlutvwh, vlutvwh},
	{hexagon.V6_vlutvwh_nm, vlutvwhNm},
	{hexagon.V6_vlutvwh_oracc, vlutvwhOracc},
	{hexagon.V6_vlutvwh_oracci, func(t *state.Thread, u *state.Uop) { vlut16Into(t, u, uint32(u.Imm), false, 0xffff) }},
	{hexagon.V6_vlutvwhi, vlutvwhi},
}

// HVX permutes: pack, unpack, shuffle, deal, align, rotate, table lookup,
// splat, insert and extract.

// packSat concatenates: the low half is from Vv, the high half from Vu.
func packSat[D, S number](t *state.Thread, u *state.Uop) {
	v, w := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	d, a, b := lanes[D](t, u.Arg[0]), view[S](&v), view[S](&w)
	lo, hi := limits[D]()
	for i := range a {
		d[i] = D(simd.Clamp(int64(b[i]), lo, hi))
		d[len(a)+i] = D(simd.Clamp(int64(a[i]), lo, hi))
	}
}

// pick selects every second lane from a given one on: of Vv, then of Vu.
func pick[T number](from int) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		v, w := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		d, a, b := lanes[T](t, u.Arg[0]), view[T](&v), view[T](&w)
		n := len(d) / 2
		for i := range n {
			d[i], d[n+i] = b[2*i+from], a[2*i+from]
		}
	}
}

// weave interleaves every second lane of Vv and Vu, beginning with lane from.
func weave[T number](from int) state.Semantic {
	return func(t *state.Thread, u *state.Uop) {
		v, w := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
		woven(lanes[T](t, u.Arg[0]), view[T](&v), view[T](&w), from)
	}
}

// weaveBoth puts the even lanes into the low vector, the odd ones into the high vector of a pair.
func weaveBoth[T number](t *state.Thread, u *state.Uop) {
	v, w := *t.UB(u.Arg[1]), *t.UB(u.Arg[2])
	woven(lanes[T](t, u.Arg[0]), view[T](&v), view[T](&w), 0)
	woven(upper[T](t, u.Arg[0]), view[T](&v), view[T](&w), 1)
}

func woven[T number](d, u, v []T, from int) {
	for i := 0; i < len(d); i += 2 {
		d[i], d[i+1] = v[i+from], u[i+from]
	}
}

// shuffle (vshuff of one vector) interleaves its halves; deal is the inverse.
func shuffle[T number](t *state.Thread, u *state.Uop) {
	v := *t.UB(u.Arg[1])
	d, a := lanes[T](t, u.Arg[0]), view[T](&v)
	n := len(d) / 2
	for i := range n {
		d[2*i], d[2*i+1] = a[i], a[n+i]
	}
}

func deal[T number](t *state.Thread, u *state.Uop) {
	v := *t.UB(u.Arg[1])
	d, a := lanes[T](t, u.Arg[0]), view[T](&v)
	n := len(d) / 2
	for i := range n {
		d[i], d[n+i] = a[2*i], a[2*i+1]
	}
}

// shuffleBy is the butterfly of exchanges of vshuff, one per set bit of r.
func shuffleBy(low, high *state.VecUB, r uint32) {
	for n := 1; n < 128; n <<= 1 {
		if r&uint32(n) != 0 {
			exchange(low, high, n)
		}
	}
}

// dealBy undoes shuffleBy.
func dealBy(low, high *state.VecUB, r uint32) {
	for n := 64; n > 0; n >>= 1 {
		if r&uint32(n) != 0 {
			exchange(low, high, n)
		}
	}
}

// exchange swaps, for one power of two n, the upper bytes of each group of 2n
// in lo with the lower bytes in high.
func exchange(lo, high *state.VecUB, n int) {
	for k := range lo {
		if k&n == 0 {
			lo[k+n], high[k] = high[k], lo[k+n]
		}
	}
}

// align is the vector that begins at byte s of the pair Vu:Vv.
func align(d *state.VecUB, u, v state.VecUB, s int) {
	copy(d[:], v[s:])
	copy(d[128-s:], u[:s])
}

// route is one stage of a delta network: lane k receives its partner k^n where its control bit is set.
func route(a state.VecUB, c *state.VecUB, n int) (d state.VecUB) {
	for k := range d {
		if c[k]&byte(n) != 0 {
			d[k] = a[k^n]
		} else {
			d[k] = a[k]
		}
	}
	return d
}

// vlut32: lanes whose index has the required top three bits read one of 64 halfwords of the table, of which sel names
// the byte; the others become 0.
func lut32(idx, table *state.VecUB, sel uint32, nomatch bool) (d state.VecUB) {
	want, odd := byte(sel&7)<<5, int(sel>>1&1)
	for i, x := range idx {
		if nomatch {
			x = x&0x1f | want
		}
		if x&0xe0 == want {
			d[i] = table[2*(x&63)+byte(odd)]
		}
	}
	return d
}

func orInto(d *state.VecUB, a state.VecUB) {
	for i := range d {
		d[i] |= a[i]
	}
}

// vlut16: byte indices of even and odd lanes read halfwords.
func lut16(idx *state.VecUB, table *state.VecUH, sel uint32, nomatch bool) (even, odd state.VecUH) {
	want, part := byte(sel&15)<<4, int(sel>>1&1)
	read := func(x byte) uint16 {
		if nomatch {
			x = x&0x0f | want
		}
		if x&0xf0 != want {
			return 0
		}
		return table[2*int(x&31)+part]
	}
	for i := range even {
		even[i], odd[i] = read(idx[2*i]), read(idx[2*i+1])
	}
	return even, odd
}

func vlut16Into(t *state.Thread, u *state.Uop, sel uint32, nomatch bool, or uint16) {
	e, o := lut16(t.UB(u.Arg[1]), t.UH(u.Arg[2]), sel, nomatch)
	d, f := t.UH(u.Arg[0]), t.UH(state.High(u.Arg[0]))
	for i := range d {
		d[i] = d[i]&or | e[i]
		f[i] = f[i]&or | o[i]
	}
}
func vlutvwh(t *state.Thread, u *state.Uop)      { vlut16Into(t, u, *t.R(u.Arg[3]), false, 0) }
func vlutvwhNm(t *state.Thread, u *state.Uop)    { vlut16Into(t, u, *t.R(u.Arg[3]), true, 0) }
func vlutvwhi(t *state.Thread, u *state.Uop)     { vlut16Into(t, u, uint32(u.Imm), false, 0) }
func vlutvwhOracc(t *state.Thread, u *state.Uop) { vlut16Into(t, u, *t.R(u.Arg[3]), false, 0xffff) }

// Extension: vzxt and vsxt split even and odd lanes, vunpack the halves.

func splitLanes[D, S number](t *state.Thread, u *state.Uop) {
	v := *t.UB(u.Arg[1])
	even, odd, a := lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[S](&v)
	for i := range even {
		even[i], odd[i] = D(a[2*i]), D(a[2*i+1])
	}
}

func unpackLanes[D, S number](t *state.Thread, u *state.Uop) {
	v := *t.UB(u.Arg[1])
	low, high, a := lanes[D](t, u.Arg[0]), upper[D](t, u.Arg[0]), view[S](&v)
	for i := range low {
		low[i], high[i] = D(a[i]), D(a[len(low)+i])
	}
}

// fill repeats a scalar.
func fill[T number](t *state.Thread, u *state.Uop) {
	d, r := lanes[T](t, u.Arg[0]), T(*t.R(u.Arg[1]))
	for i := range d {
		d[i] = r
	}
}
