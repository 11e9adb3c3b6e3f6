package gpu

import (
	"encoding/binary"
	"fmt"
)

// execLDS: reads beyond the work-group's LDS give 0, writes are dropped.
func execLDS(w *wave, u *uop) {
	m := w.mask()
	if m == 0 {
		return
	}
	op := u.x.mem
	av := w.at(u.a)
	if op.two == 0 {
		w.ldsAccess(u, op, m, av, &w.m.addr, uint32(u.imm), u.b, u.dst)
		return
	}
	// The first result may overwrite the address register.
	w.m.tmp[0] = *av
	av = &w.m.tmp[0]
	words := uint32(max(op.size/4, 1)) * uint32(w.n)
	w.ldsAccess(u, op, m, av, &w.m.addr, uint32(u.imm)*uint32(op.two), u.b, u.dst)
	w.ldsAccess(u, op, m, av, &w.m.addr2, uint32(u.x.in.Offset1)*uint32(op.two), u.c, u.dst+words)
}

// ldsAccess computes the lane addresses, checks them, and moves the bytes.
func (w *wave) ldsAccess(u *uop, op *memOp, m uint64, av *row, addr *[64]uint64, off, data, dst uint32) {
	lds := w.wg.lds
	var all, high uint32
	if m == w.full() {
		for l := range w.n {
			a := av[l&63] + off
			addr[l&63] = uint64(a)
			all |= a
			high = max(high, a)
		}
	} else {
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			a := av[l] + off
			addr[l] = uint64(a)
			all |= a
			high = max(high, a)
		}
	}
	align := uint32(op.size)
	if op.size == 12 {
		align = 4
	}
	if all&(align-1) != 0 {
		for k := m; k != 0; k &= k - 1 {
			if l := firstLane(k); addr[l]&uint64(align-1) != 0 {
				w.m.fail(w, fmt.Errorf("lane %d: LDS address %#x is not aligned to %d bytes", l, addr[l], align))
				return
			}
		}
	}
	inside := uint64(high)+uint64(op.size) <= uint64(len(lds))
	switch {
	case !inside || op.atomic != nil || op.size < 4:
		w.ldsSlow(u, op, m, addr, data, dst)
	case op.store:
		w.ldsStore(lds, m, addr, data, op.size)
	default:
		w.ldsLoad(lds, m, addr, dst, op.size)
	}
}

// ldsLoad reads words that are all inside the LDS.
func (w *wave) ldsLoad(lds []byte, m uint64, addr *[64]uint64, dst uint32, size int) {
	n := uint32(w.n)
	d0 := w.at(dst)
	if m != w.full() {
		for j := uint32(0); j < uint32(size)/4; j++ {
			d := w.at(dst + j*n)
			for k := m; k != 0; k &= k - 1 {
				l := firstLane(k)
				d[l] = binary.LittleEndian.Uint32(lds[addr[l]+uint64(4*j):])
			}
		}
		return
	}
	a := addr[:n]
	switch size {
	case 4:
		for l, v := range a {
			d0[l&63] = binary.LittleEndian.Uint32(lds[v:])
		}
	case 8:
		d1 := w.at(dst + n)
		for l, v := range a {
			x := binary.LittleEndian.Uint64(lds[v:])
			d0[l&63], d1[l&63] = uint32(x), uint32(x>>32)
		}
	case 12:
		d1, d2 := w.at(dst+n), w.at(dst+2*n)
		for l, v := range a {
			p := lds[v : v+12]
			x := binary.LittleEndian.Uint64(p)
			d0[l&63], d1[l&63] = uint32(x), uint32(x>>32)
			d2[l&63] = binary.LittleEndian.Uint32(p[8:])
		}
	case 16:
		d1, d2, d3 := w.at(dst+n), w.at(dst+2*n), w.at(dst+3*n)
		for l, v := range a {
			p := lds[v : v+16]
			x, y := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
			d0[l&63], d1[l&63] = uint32(x), uint32(x>>32)
			d2[l&63], d3[l&63] = uint32(y), uint32(y>>32)
		}
	}
}

func (w *wave) ldsStore(lds []byte, m uint64, addr *[64]uint64, data uint32, size int) {
	n := uint32(w.n)
	for j := uint32(0); j < uint32(size)/4; j++ {
		d := w.at(data + j*n)
		if m == w.full() {
			for l, v := range addr[:n] {
				binary.LittleEndian.PutUint32(lds[v+uint64(4*j):], d[l&63])
			}
			continue
		}
		for k := m; k != 0; k &= k - 1 {
			l := firstLane(k)
			binary.LittleEndian.PutUint32(lds[addr[l]+uint64(4*j):], d[l])
		}
	}
}

// ldsSlow handles atomics, bytes and halves, and lanes outside, one by one.
func (w *wave) ldsSlow(u *uop, op *memOp, m uint64, addr *[64]uint64, data, dst uint32) {
	lds := w.wg.lds
	n := uint32(w.n)
	words := uint32(max(op.size/4, 1))
	for k := m; k != 0; k &= k - 1 {
		l := firstLane(k)
		a := addr[l]
		inside := a+uint64(op.size) <= uint64(len(lds))
		switch {
		case op.atomic != nil:
			if inside {
				w.atomics(u, op, 1<<l, lds[a:], a)
			} else if op.ret {
				w.at(u.dst)[l] = 0
			}
		case op.store && !inside:
		case op.store && op.size >= 4:
			for j := range words {
				binary.LittleEndian.PutUint32(lds[a+uint64(4*j):], w.at(data + j*n)[l])
			}
		case op.store:
			v := w.at(data)[l]
			if op.d16 == 2 {
				v >>= 16
			}
			lds[a] = byte(v)
			if op.size == 2 {
				lds[a+1] = byte(v >> 8)
			}
		case op.size >= 4:
			for j := range words {
				v := uint32(0)
				if inside {
					v = binary.LittleEndian.Uint32(lds[a+uint64(4*j):])
				}
				w.at(dst + j*n)[l] = v
			}
		default:
			v := uint32(0)
			if inside {
				v = uint32(lds[a])
				if op.size == 2 {
					v |= uint32(lds[a+1]) << 8
				}
			}
			d := w.at(dst)
			d[l] = op.extend(v, d[l])
		}
	}
}
