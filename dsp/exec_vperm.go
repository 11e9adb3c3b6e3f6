package dsp

// HVX permutes: pack, unpack, shuffle, deal, align, rotate, table lookup,
// splat, insert and extract.

// packSat concatenates: the low half comes from Vv, the high half from Vu.
func packSat[D, S number](d []D, u, v []S, lo, hi int64) {
	n := len(u)
	for i := range u {
		d[i] = D(clamp(int64(v[i]), lo, hi))
		d[n+i] = D(clamp(int64(u[i]), lo, hi))
	}
}

func vpackhubSat(t *thread, u *uop) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	packSat(t.ub(u.o[0])[:], a[:], b[:], 0, maxUB)
}
func vpackhbSat(t *thread, u *uop) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	packSat(t.b(u.o[0])[:], a[:], b[:], minB, maxB)
}
func vpackwhSat(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	packSat(t.h(u.o[0])[:], a[:], b[:], minH, maxH)
}
func vpackwuhSat(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	packSat(t.uh(u.o[0])[:], a[:], b[:], 0, maxUH)
}

// pick takes every second lane from a given one: of Vv, then of Vu.
func pick[T number](d, u, v []T, from int) {
	n := len(d) / 2
	for i := range n {
		d[i], d[n+i] = v[2*i+from], u[2*i+from]
	}
}

func pickB(t *thread, u *uop, from int) {
	a, b := *t.ub(u.o[1]), *t.ub(u.o[2])
	pick(t.ub(u.o[0])[:], a[:], b[:], from)
}
func pickH(t *thread, u *uop, from int) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	pick(t.uh(u.o[0])[:], a[:], b[:], from)
}
func vpackeb(t *thread, u *uop) { pickB(t, u, 0) }
func vpackob(t *thread, u *uop) { pickB(t, u, 1) }
func vpackeh(t *thread, u *uop) { pickH(t, u, 0) }
func vpackoh(t *thread, u *uop) { pickH(t, u, 1) }

// vsat narrows and interleaves: even lanes from Vv, odd lanes from Vu.
func vsathub(t *thread, u *uop) {
	a, b := *t.h(u.o[1]), *t.h(u.o[2])
	narrow(t.ub(u.o[0])[:], a[:], b[:], 0, false, 0, maxUB)
}
func vsatwh(t *thread, u *uop) {
	a, b := *t.w(u.o[1]), *t.w(u.o[2])
	narrow(t.h(u.o[0])[:], a[:], b[:], 0, false, minH, maxH)
}
func vsatuwuh(t *thread, u *uop) {
	a, b := *t.uw(u.o[1]), *t.uw(u.o[2])
	narrow(t.uh(u.o[0])[:], a[:], b[:], 0, false, 0, maxUH)
}

// weave interleaves every second lane of Vv and Vu, beginning with lane from.
func weave[T number](d, u, v []T, from int) {
	for i := 0; i < len(d); i += 2 {
		d[i], d[i+1] = v[i+from], u[i+from]
	}
}

func weaveB(t *thread, d uint16, u *uop, from int) {
	a, b := *t.ub(u.o[1]), *t.ub(u.o[2])
	weave(t.ub(d)[:], a[:], b[:], from)
}
func weaveH(t *thread, d uint16, u *uop, from int) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	weave(t.uh(d)[:], a[:], b[:], from)
}
func vshuffeb(t *thread, u *uop) { weaveB(t, u.o[0], u, 0) }
func vshuffob(t *thread, u *uop) { weaveB(t, u.o[0], u, 1) }
func vshufeh(t *thread, u *uop)  { weaveH(t, u.o[0], u, 0) }
func vshufoh(t *thread, u *uop)  { weaveH(t, u.o[0], u, 1) }

func vshufoeb(t *thread, u *uop) {
	a, b := *t.ub(u.o[1]), *t.ub(u.o[2])
	weave(t.ub(u.o[0])[:], a[:], b[:], 0)
	weave(t.ub(hi(u.o[0]))[:], a[:], b[:], 1)
}

func vshufoeh(t *thread, u *uop) {
	a, b := *t.uh(u.o[1]), *t.uh(u.o[2])
	weave(t.uh(u.o[0])[:], a[:], b[:], 0)
	weave(t.uh(hi(u.o[0]))[:], a[:], b[:], 1)
}

// vshuff of one vector interleaves its halves; vdeal is the inverse.
func shuffle[T number](d, a []T) {
	n := len(d) / 2
	for i := range n {
		d[2*i], d[2*i+1] = a[i], a[n+i]
	}
}

func deal[T number](d, a []T) {
	n := len(d) / 2
	for i := range n {
		d[i], d[n+i] = a[2*i], a[2*i+1]
	}
}

func vshuffb(t *thread, u *uop) { a := *t.ub(u.o[1]); shuffle(t.ub(u.o[0])[:], a[:]) }
func vshuffh(t *thread, u *uop) { a := *t.uh(u.o[1]); shuffle(t.uh(u.o[0])[:], a[:]) }
func vdealb(t *thread, u *uop)  { a := *t.ub(u.o[1]); deal(t.ub(u.o[0])[:], a[:]) }
func vdealh(t *thread, u *uop)  { a := *t.uh(u.o[1]); deal(t.uh(u.o[0])[:], a[:]) }

func vdealb4w(t *thread, u *uop) {
	d, a, b := t.ub(u.o[0]), *t.ub(u.o[1]), *t.ub(u.o[2])
	for i := range 32 {
		d[i], d[32+i] = b[4*i], b[4*i+2]
		d[64+i], d[96+i] = a[4*i], a[4*i+2]
	}
}

// exchange swaps, for one power of two n, the upper bytes of each group of 2n
// in lo with the lower bytes in high.
func exchange(lo, high *v8u, n int) {
	for k := range lo {
		if k&n == 0 {
			lo[k+n], high[k] = high[k], lo[k+n]
		}
	}
}

// vshuff and vdeal of a pair: a butterfly of exchanges, one per set bit of Rt.
func vshuffvdd(t *thread, u *uop) {
	high, low, r := *t.ub(u.o[1]), *t.ub(u.o[2]), *t.r(u.o[3])
	for n := 1; n < 128; n <<= 1 {
		if r&uint32(n) != 0 {
			exchange(&low, &high, n)
		}
	}
	*t.ub(u.o[0]), *t.ub(hi(u.o[0])) = low, high
}

func vdealvdd(t *thread, u *uop) {
	high, low, r := *t.ub(u.o[1]), *t.ub(u.o[2]), *t.r(u.o[3])
	for n := 64; n > 0; n >>= 1 {
		if r&uint32(n) != 0 {
			exchange(&low, &high, n)
		}
	}
	*t.ub(u.o[0]), *t.ub(hi(u.o[0])) = low, high
}

// The forms that shuffle in place: vshuff(Vy,Vx,Rt) with Vy the high half.
func vshuff(t *thread, u *uop) {
	high, low, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for n := 1; n < 128; n <<= 1 {
		if r&uint32(n) != 0 {
			exchange(low, high, n)
		}
	}
}

func vdeal(t *thread, u *uop) {
	high, low, r := t.ub(u.o[0]), t.ub(u.o[1]), *t.r(u.o[2])
	for n := 64; n > 0; n >>= 1 {
		if r&uint32(n) != 0 {
			exchange(low, high, n)
		}
	}
}

// align is the vector that begins at byte s of the pair Vu:Vv.
func align(d *v8u, u, v v8u, s int) {
	copy(d[:], v[s:])
	copy(d[128-s:], u[:s])
}

func valignb(t *thread, u *uop) {
	align(t.ub(u.o[0]), *t.ub(u.o[1]), *t.ub(u.o[2]), int(*t.r(u.o[3])&127))
}
func valignbi(t *thread, u *uop) {
	align(t.ub(u.o[0]), *t.ub(u.o[1]), *t.ub(u.o[2]), int(u.imm&7))
}
func vlalignb(t *thread, u *uop) {
	align(t.ub(u.o[0]), *t.ub(u.o[1]), *t.ub(u.o[2]), 128-int(*t.r(u.o[3])&127))
}
func vlalignbi(t *thread, u *uop) {
	align(t.ub(u.o[0]), *t.ub(u.o[1]), *t.ub(u.o[2]), 128-int(u.imm&7))
}

func vror(t *thread, u *uop) {
	a := *t.ub(u.o[1])
	align(t.ub(u.o[0]), a, a, int(*t.r(u.o[2])&127))
}

func vdelta(t *thread, u *uop) {
	a, c := *t.ub(u.o[1]), t.ub(u.o[2])
	for n := 64; n > 0; n >>= 1 {
		a = route(a, c, n)
	}
	*t.ub(u.o[0]) = a
}

func vrdelta(t *thread, u *uop) {
	a, c := *t.ub(u.o[1]), t.ub(u.o[2])
	for n := 1; n < 128; n <<= 1 {
		a = route(a, c, n)
	}
	*t.ub(u.o[0]) = a
}

// route is one stage of a delta network: lane k takes its partner k^n where
// the control says so.
func route(a v8u, c *v8u, n int) (d v8u) {
	for k := range d {
		if c[k]&byte(n) != 0 {
			d[k] = a[k^n]
		} else {
			d[k] = a[k]
		}
	}
	return d
}

// vlut32: lanes whose index has the wanted top three bits read one of 64
// halfwords of the table, of which sel names the byte; the others give 0.
func lut32(idx, table *v8u, sel uint32, nomatch bool) (d v8u) {
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

func vlutvvb(t *thread, u *uop) {
	*t.ub(u.o[0]) = lut32(t.ub(u.o[1]), t.ub(u.o[2]), *t.r(u.o[3]), false)
}
func vlutvvbNm(t *thread, u *uop) {
	*t.ub(u.o[0]) = lut32(t.ub(u.o[1]), t.ub(u.o[2]), *t.r(u.o[3]), true)
}
func vlutvvbi(t *thread, u *uop) {
	*t.ub(u.o[0]) = lut32(t.ub(u.o[1]), t.ub(u.o[2]), uint32(u.imm), false)
}
func vlutvvbOracc(t *thread, u *uop) {
	orInto(t.ub(u.o[0]), lut32(t.ub(u.o[1]), t.ub(u.o[2]), *t.r(u.o[3]), false))
}
func vlutvvbOracci(t *thread, u *uop) {
	orInto(t.ub(u.o[0]), lut32(t.ub(u.o[1]), t.ub(u.o[2]), uint32(u.imm), false))
}

func orInto(d *v8u, a v8u) {
	for i := range d {
		d[i] |= a[i]
	}
}

// vlut16: byte indices of even and odd lanes read halfwords.
func lut16(idx *v8u, table *v16u, sel uint32, nomatch bool) (even, odd v16u) {
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

func vlut16Into(t *thread, u *uop, sel uint32, nomatch bool, or uint16) {
	e, o := lut16(t.ub(u.o[1]), t.uh(u.o[2]), sel, nomatch)
	d, f := t.uh(u.o[0]), t.uh(hi(u.o[0]))
	for i := range d {
		d[i] = d[i]&or | e[i]
		f[i] = f[i]&or | o[i]
	}
}
func vlutvwh(t *thread, u *uop)       { vlut16Into(t, u, *t.r(u.o[3]), false, 0) }
func vlutvwhNm(t *thread, u *uop)     { vlut16Into(t, u, *t.r(u.o[3]), true, 0) }
func vlutvwhi(t *thread, u *uop)      { vlut16Into(t, u, uint32(u.imm), false, 0) }
func vlutvwhOracc(t *thread, u *uop)  { vlut16Into(t, u, *t.r(u.o[3]), false, 0xffff) }
func vlutvwhOracci(t *thread, u *uop) { vlut16Into(t, u, uint32(u.imm), false, 0xffff) }

// Extension: vzxt and vsxt split even and odd lanes, vunpack the halves.

func split[D, S number](even, odd []D, a []S) {
	for i := range even {
		even[i], odd[i] = D(a[2*i]), D(a[2*i+1])
	}
}

func vzb(t *thread, u *uop) {
	a := *t.ub(u.o[1])
	split(t.uh(u.o[0])[:], t.uh(hi(u.o[0]))[:], a[:])
}
func vsb(t *thread, u *uop) {
	a := *t.b(u.o[1])
	split(t.h(u.o[0])[:], t.h(hi(u.o[0]))[:], a[:])
}
func vzh(t *thread, u *uop) {
	a := *t.uh(u.o[1])
	split(t.uw(u.o[0])[:], t.uw(hi(u.o[0]))[:], a[:])
}
func vsh(t *thread, u *uop) {
	a := *t.h(u.o[1])
	split(t.w(u.o[0])[:], t.w(hi(u.o[0]))[:], a[:])
}

func unpack[D, S number](low, high []D, a []S) {
	n := len(low)
	for i := range low {
		low[i], high[i] = D(a[i]), D(a[n+i])
	}
}

func vunpackub(t *thread, u *uop) {
	a := *t.ub(u.o[1])
	unpack(t.uh(u.o[0])[:], t.uh(hi(u.o[0]))[:], a[:])
}
func vunpackb(t *thread, u *uop) {
	a := *t.b(u.o[1])
	unpack(t.h(u.o[0])[:], t.h(hi(u.o[0]))[:], a[:])
}
func vunpackuh(t *thread, u *uop) {
	a := *t.uh(u.o[1])
	unpack(t.uw(u.o[0])[:], t.uw(hi(u.o[0]))[:], a[:])
}
func vunpackh(t *thread, u *uop) {
	a := *t.h(u.o[1])
	unpack(t.w(u.o[0])[:], t.w(hi(u.o[0]))[:], a[:])
}

// vunpacko ors the lanes into the upper half of wider ones.
func vunpackob(t *thread, u *uop) {
	a, d, e := *t.ub(u.o[1]), t.uh(u.o[0]), t.uh(hi(u.o[0]))
	for i := range d {
		d[i] |= uint16(a[i]) << 8
		e[i] |= uint16(a[64+i]) << 8
	}
}
func vunpackoh(t *thread, u *uop) {
	a, d, e := *t.uh(u.o[1]), t.uw(u.o[0]), t.uw(hi(u.o[0]))
	for i := range d {
		d[i] |= uint32(a[i]) << 16
		e[i] |= uint32(a[32+i]) << 16
	}
}

func lvsplatw(t *thread, u *uop) {
	d, r := t.uw(u.o[0]), *t.r(u.o[1])
	for i := range d {
		d[i] = r
	}
}

func lvsplath(t *thread, u *uop) {
	d, r := t.uh(u.o[0]), uint16(*t.r(u.o[1]))
	for i := range d {
		d[i] = r
	}
}

func lvsplatb(t *thread, u *uop) {
	d, r := t.ub(u.o[0]), uint8(*t.r(u.o[1]))
	for i := range d {
		d[i] = r
	}
}

func vinsertwr(t *thread, u *uop) { t.uw(u.o[0])[0] = *t.r(u.o[1]) }

func extractw(t *thread, u *uop) { *t.r(u.o[0]) = t.uw(u.o[1])[*t.r(u.o[2])>>2&31] }
