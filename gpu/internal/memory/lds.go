package memory

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// execLDS: reads beyond the work-group's LDS return 0, writes are dropped.
func execLDS(w *state.Wave, u *state.Op) {
	m := w.Exec()
	if m == 0 {
		return
	}
	op := u.Details.Access
	av := w.Row(u.A)
	if op.Pair == 0 {
		ldsAccess(w, u, op, m, av, &w.Machine.Addr, uint32(u.Imm), u.B, u.Dst)
		return
	}
	// The first result may overwrite the address register.
	w.Machine.Temp[0] = *av
	av = &w.Machine.Temp[0]
	words := uint32(max(op.Size/4, 1)) * uint32(w.Lanes)
	ldsAccess(w, u, op, m, av, &w.Machine.Addr, uint32(u.Imm)*uint32(op.Pair), u.B, u.Dst)
	ldsAccess(w, u, op, m, av, &w.Machine.Addr2, uint32(u.Details.Inst.Offset1)*uint32(op.Pair), u.C, u.Dst+words)
}

// ldsAccess computes the lane addresses, checks them, and moves the bytes.
func ldsAccess(w *state.Wave, u *state.Op, op *state.Access, m uint64, av *state.Row, addr *[64]uint64, off, data, dst uint32) {
	lds := w.Group.LDS
	var all, high uint32
	if m == w.Full() {
		for l := range w.Lanes {
			a := av[l&63] + off
			addr[l&63] = uint64(a)
			all |= a
			high = max(high, a)
		}
	} else {
		for k := m; k != 0; k &= k - 1 {
			l := state.FirstLane(k)
			a := av[l] + off
			addr[l] = uint64(a)
			all |= a
			high = max(high, a)
		}
	}
	align := uint32(op.Size)
	if op.Size == 12 {
		align = 4
	}
	if all&(align-1) != 0 {
		for k := m; k != 0; k &= k - 1 {
			if l := state.FirstLane(k); addr[l]&uint64(align-1) != 0 {
				w.Fail(fmt.Errorf("lane %d: LDS address %#x is not aligned to %d bytes", l, addr[l], align))
				return
			}
		}
	}
	inside := uint64(high)+uint64(op.Size) <= uint64(len(lds))
	switch {
	case !inside || op.Atomic != nil || op.Size < 4:
		ldsSlow(w, u, op, m, addr, data, dst)
	case op.Store:
		ldsStore(w, lds, m, addr, data, op.Size)
	default:
		ldsLoad(w, lds, m, addr, dst, op.Size)
	}
}

// ldsLoad reads words that are all inside the LDS.
func ldsLoad(w *state.Wave, lds []byte, m uint64, addr *[64]uint64, dst uint32, size int) {
	n := uint32(w.Lanes)
	d0 := w.Row(dst)
	if m != w.Full() || size == 12 {
		for j := uint32(0); j < uint32(size)/4; j++ {
			d := w.Row(dst + j*n)
			for k := m; k != 0; k &= k - 1 {
				l := state.FirstLane(k)
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
		d1 := w.Row(dst + n)
		for l, v := range a {
			x := binary.LittleEndian.Uint64(lds[v:])
			d0[l&63], d1[l&63] = uint32(x), uint32(x>>32)
		}
	case 16:
		d1, d2, d3 := w.Row(dst+n), w.Row(dst+2*n), w.Row(dst+3*n)
		for l, v := range a {
			p := lds[v : v+16]
			x, y := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
			d0[l&63], d1[l&63] = uint32(x), uint32(x>>32)
			d2[l&63], d3[l&63] = uint32(y), uint32(y>>32)
		}
	}
}

func ldsStore(w *state.Wave, lds []byte, m uint64, addr *[64]uint64, data uint32, size int) {
	n := uint32(w.Lanes)
	for j := uint32(0); j < uint32(size)/4; j++ {
		d := w.Row(data + j*n)
		if m == w.Full() {
			for l, v := range addr[:n] {
				binary.LittleEndian.PutUint32(lds[v+uint64(4*j):], d[l&63])
			}
			continue
		}
		for k := m; k != 0; k &= k - 1 {
			l := state.FirstLane(k)
			binary.LittleEndian.PutUint32(lds[addr[l]+uint64(4*j):], d[l])
		}
	}
}

// ldsSlow handles atomics, bytes and halves, and lanes outside, one by one.
func ldsSlow(w *state.Wave, u *state.Op, op *state.Access, m uint64, addr *[64]uint64, data, dst uint32) {
	lds := w.Group.LDS
	n := uint32(w.Lanes)
	words := uint32(max(op.Size/4, 1))
	for k := m; k != 0; k &= k - 1 {
		l := state.FirstLane(k)
		a := addr[l]
		inside := a+uint64(op.Size) <= uint64(len(lds))
		switch {
		case op.Atomic != nil:
			if inside {
				atomics(w, u, op, 1<<l, lds[a:], a)
			} else if op.Returns {
				for j := range words {
					w.Row(u.Dst + j*n)[l] = 0
				}
			}
		case op.Store && !inside:
		case op.Store && op.Size >= 4:
			for j := range words {
				binary.LittleEndian.PutUint32(lds[a+uint64(4*j):], w.Row(data + j*n)[l])
			}
		case op.Store:
			v := w.Row(data)[l]
			if op.D16 == 2 {
				v >>= 16
			}
			lds[a] = byte(v)
			if op.Size == 2 {
				lds[a+1] = byte(v >> 8)
			}
		case op.Size >= 4:
			for j := range words {
				v := uint32(0)
				if inside {
					v = binary.LittleEndian.Uint32(lds[a+uint64(4*j):])
				}
				w.Row(dst + j*n)[l] = v
			}
		default:
			v := uint32(0)
			if inside {
				v = uint32(lds[a])
				if op.Size == 2 {
					v |= uint32(lds[a+1]) << 8
				}
			}
			d := w.Row(dst)
			d[l] = op.Extend(v, d[l])
		}
	}
}
