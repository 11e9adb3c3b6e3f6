package mac

// TileU8 is the pixels, VectorU8 the output channels of one step of DotU8.
const (
	TileU8   = 6
	VectorU8 = 16
	GroupU8  = 4 // most vectors per call
	TileI16  = 4
	WidthI16 = 16 // output channels per call of DotI16
)

// dotU8 is the portable DotU8.
func dotU8(acc []int32, stride int, a []byte, pix *[TileU8]int32, runs []int32, quads int, w []int8, vectors int) {
	width := vectors * VectorU8
	for m := range pix {
		out := acc[m*stride:][:width]
		clear(out)
		at := 0
		for _, r := range runs {
			x := a[pix[m]+r:]
			for q := 0; q < quads; q++ {
				x0, x1, x2, x3 := int32(x[4*q]), int32(x[4*q+1]), int32(x[4*q+2]), int32(x[4*q+3])
				wq := w[at:][: 4*width : 4*width]
				at += 4 * width
				for o := range out {
					v := wq[4*o:][:4:4]
					out[o] += x0*int32(v[0]) + x1*int32(v[1]) + x2*int32(v[2]) + x3*int32(v[3])
				}
			}
		}
	}
}

// dotI16 is the portable DotI16.
func dotI16(acc []int32, stride int, a []int16, pix *[TileI16]int32, runs []int32, quads int, w []int16) {
	for m := range pix {
		out := (*[WidthI16]int32)(acc[m*stride:])
		*out = [WidthI16]int32{}
		at := 0
		for _, r := range runs {
			x := a[pix[m]+r:][:4*quads]
			for k := 0; k+1 < len(x); k += 2 {
				x0, x1 := int32(x[k]), int32(x[k+1])
				v := (*[2 * WidthI16]int16)(w[at:])
				at += 2 * WidthI16
				if x0|x1 == 0 {
					continue
				}
				for o := range out {
					out[o] += x0*int32(v[2*o]) + x1*int32(v[2*o+1])
				}
			}
		}
	}
}

// depthwise is the portable Depthwise.
func depthwise(acc []int32, stride int, a []int16, step, pixels int, taps []int32, w []int16) {
	for p := range pixels {
		out := (*[16]int32)(acc[p*stride:])
		*out = [16]int32{}
		for t := 0; t < len(taps); t += 2 {
			x0 := (*[16]int16)(a[p*step+int(taps[t]):])
			x1 := (*[16]int16)(a[p*step+int(taps[t+1]):])
			v := (*[32]int16)(w[t*16:])
			for c := range out {
				i := pairIndex(c)
				out[c] += int32(x0[c])*int32(v[i]) + int32(x1[c])*int32(v[i+1])
			}
		}
	}
}

// pairIndex is the position of the weights of channel c in a group of 16 channels and two taps: the order in which
// 128-bit lanes interleave 16-bit words.
func pairIndex(c int) int {
	lane, in := c>>3, c&7
	return in>>2*16 + lane*8 + in&3*2
}

// requant is the portable Requant.
func requant(dst []byte, acc, bias []int32, add int32, scale, shift []int32, zp, lo, hi int32) {
	for i := range dst {
		v := acc[i] + bias[i] + add
		r := int32((int64(v)*int64(scale[i]) + 1<<30) >> 31)
		s := uint32(shift[i]) & 31
		m := int32(1)<<s - 1
		limit := m >> 1
		if r < 0 {
			limit++
		}
		q := r >> s
		if r&m > limit {
			q++
		}
		dst[i] = byte(min(max(q+zp, lo), hi))
	}
}
