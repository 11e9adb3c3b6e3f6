package state

import (
	"encoding/binary"
	"fmt"
)

// FeatureMap is a feature map in a region: up to four tiles, two layouts.
type FeatureMap struct {
	Data                      []byte
	Region                    int
	Base                      [4]int
	Height0, Height1, Width0  int // tile limits
	StrideX, StrideY, StrideC int // strides in bytes
	NHCWB16                   bool
	ElemSize                  int
	Signed                    bool
	ZeroPoint                 int
	H, W, C                   int // extent that the operation uses
}

// colStep is the bytes between columns.
func (f *FeatureMap) colStep() int {
	if f.NHCWB16 {
		return 16 * f.ElemSize
	}
	return f.StrideX
}

// segment is a part of a row whose columns are colStep apart.
type segment struct{ x, n, addr int }

// row is the one or two segments of row y.
func (f *FeatureMap) row(y int) (segs [2]segment, n int) {
	left := min(f.W, f.Width0)
	t, ly := 0, y
	if y >= f.Height0 {
		t, ly = 2, y-f.Height0
	}
	segs[0] = segment{0, left, f.Base[t] + ly*f.StrideY}
	if left == f.W {
		return segs, 1
	}
	t, ly = 1, y
	if y >= f.Height1 {
		t, ly = 3, y-f.Height1
	}
	segs[1] = segment{left, f.W - left, f.Base[t] + ly*f.StrideY}
	return segs, 2
}

// lastChannel is the largest offset of a channel inside a pixel.
func (f *FeatureMap) lastChannel() int {
	if !f.NHCWB16 {
		return (f.C - 1) * f.ElemSize
	}
	last := (f.C-1)/16*f.StrideC + (f.C-1)%16*f.ElemSize
	if f.C > 16 {
		last = max(last, (f.C-17)/16*f.StrideC+15*f.ElemSize)
	}
	return last
}

// Check verifies that every element is in the region and aligned as the hardware requires.
func (f *FeatureMap) Check(what string) error {
	if f.H <= 0 || f.W <= 0 || f.C <= 0 {
		return fmt.Errorf("%s of %dx%dx%d elements", what, f.H, f.W, f.C)
	}
	if int64(f.H)*int64(f.W)*int64(f.C) > MaxElements {
		return fmt.Errorf("%s of %dx%dx%d elements is too large", what, f.H, f.W, f.C)
	}
	tail := f.lastChannel() + f.ElemSize
	align := f.ElemSize
	if f.NHCWB16 {
		align = 16
	}
	tile := func(t, rows, cols int) error {
		if rows <= 0 || cols <= 0 {
			return nil
		}
		if f.Base[t]%align != 0 || rows > 1 && f.StrideY%align != 0 || f.NHCWB16 && f.C > 16 && f.StrideC%align != 0 {
			return fmt.Errorf("%s tile %d at %#x, row stride %#x: not aligned to %d bytes", what, t, f.Base[t], f.StrideY, align)
		}
		end := f.Base[t] + (rows-1)*f.StrideY + (cols-1)*f.colStep() + tail
		if end > len(f.Data) {
			return fmt.Errorf("%s tile %d ends at %#x, region %d has %#x bytes", what, t, end, f.Region, len(f.Data))
		}
		return nil
	}
	left, right := min(f.W, f.Width0), f.W-min(f.W, f.Width0)
	for _, p := range [4][3]int{
		{0, min(f.H, f.Height0), left}, {1, min(f.H, f.Height1), right},
		{2, f.H - f.Height0, left}, {3, f.H - f.Height1, right},
	} {
		if err := tile(p[0], p[1], p[2]); err != nil {
			return err
		}
	}
	return nil
}

// Gather8 copies the bytes of row y of an 8-bit map into dst, pitch bytes per
// pixel, and XORs them with flip.
func (f *FeatureMap) Gather8(dst []byte, y, pitch int, flip byte) {
	segs, n := f.row(y)
	step := f.colStep()
	for _, s := range segs[:n] {
		d := dst[s.x*pitch:]
		switch {
		case !f.NHCWB16 && step == f.C && pitch == f.C:
			copy(d[:s.n*f.C], f.Data[s.addr:])
		case !f.NHCWB16:
			for x := 0; x < s.n; x++ {
				copy(d[x*pitch:x*pitch+f.C], f.Data[s.addr+x*step:])
			}
		default:
			for c := 0; c < f.C; c += 16 {
				src := f.Data[s.addr+c/16*f.StrideC:]
				m := min(16, f.C-c)
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
		flipBytes(dst[:f.W*pitch], flip)
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

// Scatter8 writes row y of an 8-bit map from src, pitch bytes per pixel.
func (f *FeatureMap) Scatter8(src []byte, y, pitch int) {
	segs, n := f.row(y)
	step := f.colStep()
	for _, s := range segs[:n] {
		d := src[s.x*pitch:]
		switch {
		case !f.NHCWB16 && step == f.C && pitch == f.C:
			copy(f.Data[s.addr:s.addr+s.n*f.C], d)
		case !f.NHCWB16:
			for x := 0; x < s.n; x++ {
				copy(f.Data[s.addr+x*step:], d[x*pitch:x*pitch+f.C])
			}
		default:
			for c := 0; c < f.C; c += 16 {
				to := f.Data[s.addr+c/16*f.StrideC:]
				m := min(16, f.C-c)
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
func (f *FeatureMap) channel(c int) int {
	if f.NHCWB16 {
		return c>>4*f.StrideC + c&15*f.ElemSize
	}
	return c * f.ElemSize
}

// read is the element at a byte address.
func (f *FeatureMap) read(at int) int32 {
	switch {
	case f.ElemSize == 1 && f.Signed:
		return int32(int8(f.Data[at]))
	case f.ElemSize == 1:
		return int32(f.Data[at])
	case f.ElemSize == 2 && f.Signed:
		return int32(int16(binary.LittleEndian.Uint16(f.Data[at:])))
	case f.ElemSize == 2:
		return int32(binary.LittleEndian.Uint16(f.Data[at:]))
	}
	return int32(binary.LittleEndian.Uint32(f.Data[at:]))
}

// ReadRow reads row y without its zero point: dst[x*c+ch].
func (f *FeatureMap) ReadRow(dst []int32, y int) {
	segs, n := f.row(y)
	step, zp := f.colStep(), int32(f.ZeroPoint)
	for _, s := range segs[:n] {
		for x := 0; x < s.n; x++ {
			at := s.addr + x*step
			d := dst[(s.x+x)*f.C:][:f.C]
			if f.ElemSize == 1 && !f.NHCWB16 {
				src := f.Data[at : at+f.C]
				if f.Signed {
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

// WriteRow writes row y: src[x*c+ch].
func (f *FeatureMap) WriteRow(src []int32, y int) {
	segs, n := f.row(y)
	step := f.colStep()
	for _, s := range segs[:n] {
		for x := 0; x < s.n; x++ {
			at := s.addr + x*step
			d := src[(s.x+x)*f.C:][:f.C]
			switch f.ElemSize {
			case 1:
				for c, v := range d {
					f.Data[at+f.channel(c)] = byte(v)
				}
			case 2:
				for c, v := range d {
					binary.LittleEndian.PutUint16(f.Data[at+f.channel(c):], uint16(v))
				}
			default:
				for c, v := range d {
					binary.LittleEndian.PutUint32(f.Data[at+f.channel(c):], uint32(v))
				}
			}
		}
	}
}

// TileSpans are the ranges of bytes of the tiles that hold elements: a rolling
// buffer or a map with edge tiles leaves the bytes between its tiles alone.
func (f *FeatureMap) TileSpans() (spans [4]Span, n int) {
	tail := f.lastChannel() + f.ElemSize
	left, right := min(f.W, f.Width0), f.W-min(f.W, f.Width0)
	for t, e := range [4][2]int{
		{min(f.H, f.Height0), left}, {min(f.H, f.Height1), right}, {f.H - f.Height0, left}, {f.H - f.Height1, right},
	} {
		if rows, cols := e[0], e[1]; rows > 0 && cols > 0 {
			spans[n] = Span{f.Region, f.Base[t], f.Base[t] + (rows-1)*f.StrideY + (cols-1)*f.colStep() + tail}
			n++
		}
	}
	return spans, n
}

// Span is a range of bytes an engine works on. SHRAM is region NumRegions.
type Span struct{ Region, Lo, Hi int }

// Overlaps reports whether two ranges have a byte in common.
func (a Span) Overlaps(b Span) bool {
	return a.Region == b.Region && a.Lo < b.Hi && b.Lo < a.Hi
}
