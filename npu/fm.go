package npu

import (
	"encoding/binary"
	"fmt"
)

// featureMap is a feature map in a region: up to four tiles, two layouts.
type featureMap struct {
	data       []byte
	region     int
	base       [4]int
	h0, h1, w0 int // tile limits
	sx, sy, sc int // strides in bytes
	b16        bool
	esz        int
	signed     bool
	zp         int
	h, w, c    int // extent that the operation uses
}

// colStep is the bytes between columns.
func (f *featureMap) colStep() int {
	if f.b16 {
		return 16 * f.esz
	}
	return f.sx
}

// segment is a part of a row whose columns are colStep apart.
type segment struct{ x, n, addr int }

// row is the one or two segments of row y.
func (f *featureMap) row(y int) (segs [2]segment, n int) {
	left := min(f.w, f.w0)
	t, ly := 0, y
	if y >= f.h0 {
		t, ly = 2, y-f.h0
	}
	segs[0] = segment{0, left, f.base[t] + ly*f.sy}
	if left == f.w {
		return segs, 1
	}
	t, ly = 1, y
	if y >= f.h1 {
		t, ly = 3, y-f.h1
	}
	segs[1] = segment{left, f.w - left, f.base[t] + ly*f.sy}
	return segs, 2
}

// lastChannel is the largest offset of a channel inside a pixel.
func (f *featureMap) lastChannel() int {
	if !f.b16 {
		return (f.c - 1) * f.esz
	}
	last := (f.c-1)/16*f.sc + (f.c-1)%16*f.esz
	if f.c > 16 {
		last = max(last, (f.c-17)/16*f.sc+15*f.esz)
	}
	return last
}

// check makes sure that every element lies in the region and is aligned as the
// hardware wants it.
func (f *featureMap) check(what string) error {
	if f.h <= 0 || f.w <= 0 || f.c <= 0 {
		return fmt.Errorf("%s of %dx%dx%d elements", what, f.h, f.w, f.c)
	}
	if int64(f.h)*int64(f.w)*int64(f.c) > maxElements {
		return fmt.Errorf("%s of %dx%dx%d elements is too large", what, f.h, f.w, f.c)
	}
	tail := f.lastChannel() + f.esz
	align := f.esz
	if f.b16 {
		align = 16
	}
	tile := func(t, rows, cols int) error {
		if rows <= 0 || cols <= 0 {
			return nil
		}
		if f.base[t]%align != 0 || rows > 1 && f.sy%align != 0 || f.b16 && f.c > 16 && f.sc%align != 0 {
			return fmt.Errorf("%s tile %d at %#x, row stride %#x: not aligned to %d bytes", what, t, f.base[t], f.sy, align)
		}
		end := f.base[t] + (rows-1)*f.sy + (cols-1)*f.colStep() + tail
		if end > len(f.data) {
			return fmt.Errorf("%s tile %d ends at %#x, region %d has %#x bytes", what, t, end, f.region, len(f.data))
		}
		return nil
	}
	left, right := min(f.w, f.w0), f.w-min(f.w, f.w0)
	for _, p := range [4][3]int{
		{0, min(f.h, f.h0), left}, {1, min(f.h, f.h1), right},
		{2, f.h - f.h0, left}, {3, f.h - f.h1, right},
	} {
		if err := tile(p[0], p[1], p[2]); err != nil {
			return err
		}
	}
	return nil
}

// gather8 copies the bytes of row y of an 8-bit map into dst, pitch bytes per
// pixel, and XORs them with flip.
func (f *featureMap) gather8(dst []byte, y, pitch int, flip byte) {
	segs, n := f.row(y)
	step := f.colStep()
	for _, s := range segs[:n] {
		d := dst[s.x*pitch:]
		switch {
		case !f.b16 && step == f.c && pitch == f.c:
			copy(d[:s.n*f.c], f.data[s.addr:])
		case !f.b16:
			for x := 0; x < s.n; x++ {
				copy(d[x*pitch:x*pitch+f.c], f.data[s.addr+x*step:])
			}
		default:
			for c := 0; c < f.c; c += 16 {
				src := f.data[s.addr+c/16*f.sc:]
				m := min(16, f.c-c)
				if m == 16 {
					for x := 0; x < s.n; x++ {
						*(*[16]byte)(d[x*pitch+c:]) = *(*[16]byte)(src[x*16:])
					}
					continue
				}
				for x := 0; x < s.n; x++ {
					copy(d[x*pitch+c:x*pitch+c+m], src[x*16:])
				}
			}
		}
	}
	if flip != 0 {
		flipBytes(dst[:f.w*pitch], flip)
	}
}

// flipBytes XORs every byte with v.
func flipBytes(b []byte, v byte) {
	w := uint64(v) * 0x0101010101010101
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)^w)
		b = b[8:]
	}
	for i := range b {
		b[i] ^= v
	}
}

// scatter8 writes row y of an 8-bit map from src, pitch bytes per pixel.
func (f *featureMap) scatter8(src []byte, y, pitch int) {
	segs, n := f.row(y)
	step := f.colStep()
	for _, s := range segs[:n] {
		d := src[s.x*pitch:]
		switch {
		case !f.b16 && step == f.c && pitch == f.c:
			copy(f.data[s.addr:s.addr+s.n*f.c], d)
		case !f.b16:
			for x := 0; x < s.n; x++ {
				copy(f.data[s.addr+x*step:], d[x*pitch:x*pitch+f.c])
			}
		default:
			for c := 0; c < f.c; c += 16 {
				to := f.data[s.addr+c/16*f.sc:]
				m := min(16, f.c-c)
				if m == 16 {
					for x := 0; x < s.n; x++ {
						*(*[16]byte)(to[x*16:]) = *(*[16]byte)(d[x*pitch+c:])
					}
					continue
				}
				for x := 0; x < s.n; x++ {
					copy(to[x*16:], d[x*pitch+c:x*pitch+c+m])
				}
			}
		}
	}
}

// channel is the offset of channel c inside a pixel.
func (f *featureMap) channel(c int) int {
	if f.b16 {
		return c>>4*f.sc + c&15*f.esz
	}
	return c * f.esz
}

// read is the element at a byte address.
func (f *featureMap) read(at int) int32 {
	switch {
	case f.esz == 1 && f.signed:
		return int32(int8(f.data[at]))
	case f.esz == 1:
		return int32(f.data[at])
	case f.esz == 2 && f.signed:
		return int32(int16(binary.LittleEndian.Uint16(f.data[at:])))
	case f.esz == 2:
		return int32(binary.LittleEndian.Uint16(f.data[at:]))
	}
	return int32(binary.LittleEndian.Uint32(f.data[at:]))
}

// readRow reads row y without its zero point: dst[x*c+ch].
func (f *featureMap) readRow(dst []int32, y int) {
	segs, n := f.row(y)
	step, zp := f.colStep(), int32(f.zp)
	for _, s := range segs[:n] {
		for x := 0; x < s.n; x++ {
			at := s.addr + x*step
			d := dst[(s.x+x)*f.c:][:f.c]
			if f.esz == 1 && !f.b16 {
				src := f.data[at : at+f.c]
				if f.signed {
					for c, v := range src {
						d[c] = int32(int8(v)) - zp
					}
				} else {
					for c, v := range src {
						d[c] = int32(v) - zp
					}
				}
				continue
			}
			for c := range d {
				d[c] = f.read(at+f.channel(c)) - zp
			}
		}
	}
}

// writeRow writes row y: src[x*c+ch].
func (f *featureMap) writeRow(src []int32, y int) {
	segs, n := f.row(y)
	step := f.colStep()
	for _, s := range segs[:n] {
		for x := 0; x < s.n; x++ {
			at := s.addr + x*step
			d := src[(s.x+x)*f.c:][:f.c]
			switch f.esz {
			case 1:
				for c, v := range d {
					f.data[at+f.channel(c)] = byte(v)
				}
			case 2:
				for c, v := range d {
					binary.LittleEndian.PutUint16(f.data[at+f.channel(c):], uint16(v))
				}
			default:
				for c, v := range d {
					binary.LittleEndian.PutUint32(f.data[at+f.channel(c):], uint32(v))
				}
			}
		}
	}
}

// tileSpans are the ranges of bytes of the tiles that hold elements: a rolling
// buffer or a map with edge tiles leaves the bytes between its tiles alone.
func (f *featureMap) tileSpans() (spans [4]span, n int) {
	tail := f.lastChannel() + f.esz
	left, right := min(f.w, f.w0), f.w-min(f.w, f.w0)
	for t, e := range [4][2]int{
		{min(f.h, f.h0), left}, {min(f.h, f.h1), right}, {f.h - f.h0, left}, {f.h - f.h1, right},
	} {
		if rows, cols := e[0], e[1]; rows > 0 && cols > 0 {
			spans[n] = span{f.region, f.base[t], f.base[t] + (rows-1)*f.sy + (cols-1)*f.colStep() + tail}
			n++
		}
	}
	return spans, n
}
