package memory

import (
	"encoding/binary"
	"unsafe"

	"github.com/nnsoc/nnsoc/gpu/internal/asm"
	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// littleEndian hosts have words as memory has them.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// loadWords and storeWords move words between registers and memory.
func loadWords(d []uint32, b []byte) {
	if b = b[:4*len(d)]; littleEndian {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d))), len(b)), b)
		return
	}
	for i := range d {
		d[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
}

func storeWords(b []byte, d []uint32) {
	if b = b[:4*len(d)]; littleEndian {
		copy(b, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(d))), len(b)))
		return
	}
	for i, v := range d {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
}

// block is execGlobal for loads and stores of whole registers by all lanes, whose bytes are contiguous from lane to
// lane. It reports whether the access is one; if not, nothing has happened.
func block(w *state.Wave, u *state.Op, op *state.Access, base uint64) bool {
	n, lo := w.Lanes, w.Row(u.A)
	size := uint32(op.Size)
	if !op.PlainDwords() || uint64(lo[0])+uint64(n*op.Size) > 1<<32 || !asm.Regular(lo, size, n) {
		return false
	}
	m := w.Machine
	first := base + uint64(lo[0])
	b := m.Bytes(first, n*op.Size, op.Store)
	if b == nil {
		return false
	}
	b = b[:n*op.Size]
	words := op.Size / 4
	switch {
	case op.Store && words == 1:
		storeWords(b, w.Row(u.B)[:n])
	case op.Store:
		for j := range words {
			for l, v := range w.Row(u.B + uint32(j*n))[:n] {
				binary.LittleEndian.PutUint32(b[4*(words*l+j):], v)
			}
		}
	case words == 1:
		loadWords(w.Row(u.Dst)[:n], b)
	case words == 4:
		asm.Deinterleave(unsafe.Slice(&w.Row(u.Dst)[0], 4*n), b, n)
	default:
		for j := range words {
			d := w.Row(u.Dst + uint32(j*n))[:n]
			for l := range d {
				d[l] = binary.LittleEndian.Uint32(b[4*(words*l+j):])
			}
		}
	}
	m.Addr[0], m.Block = first, n*op.Size
	return true
}
