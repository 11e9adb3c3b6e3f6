package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/mac"
)

// convolve executes OP_CONV and OP_DEPTHWISE.
func (st *State) convolve(o *op) error {
	k := &o.k
	if n := int64(k.inH+k.top+k.bottom) * int64(k.inW+k.left+k.right) * int64((o.ifm.c+15)&^15); n > 2*maxElements {
		return fmt.Errorf("padded input of %d elements is too large", n)
	}
	recs := st.scaleRecords(o)
	single := o.kind == opConv && st.convSingle
	if o.ifm.esz == 1 && o.ifm.zp >= -4096 && o.ifm.zp <= 4096 && st.only != formExact {
		if o.kind == opDepthwise {
			return st.depthwise8(o, recs)
		}
		return st.conv8(o, recs, single)
	}
	return st.convWide(o, recs, single)
}

// scaleRecords reads the bias and scale of every output channel.
func (st *State) scaleRecords(o *op) []ethosu.ScaleRecord {
	recs := grow(st.scratch.records, o.ofm.c)
	st.scratch.records = recs
	for i := range recs {
		s := o.scales[i%o.cores]
		recs[i] = ethosu.ReadScale(o.scaleData[s.base+i/o.cores*ethosu.ScaleRecordSize:])
		if o.out.global {
			recs[i].Scale, recs[i].Shift = o.out.scale, o.out.shift
		}
	}
	return recs
}

// reach bounds the magnitude of an input without its zero point.
func (o *op) reach() int64 {
	lo, hi := typeRange(o.ifm.esz, o.ifm.signed)
	zp := int64(o.ifm.zp)
	return max(hi-zp, zp-lo, hi-lo)
}

// fits reports whether every sum plus bias fits 32 bits, so that the fast
// loops are exact.
func (o *op) fits(recs []ethosu.ScaleRecord, perChannel, maxAbs int) bool {
	sum := int64(perChannel) * int64(maxAbs) * o.reach()
	for i := range recs {
		if b := recs[i].Bias; sum+max(b, -b) > math.MaxInt32 {
			return false
		}
	}
	return true
}

// conv8 is OP_CONV on 8-bit input.
func (st *State) conv8(o *op, recs []ethosu.ScaleRecord, single bool) error {
	zpU := o.ifm.zp
	if o.ifm.signed {
		zpU += 128
	}
	per := o.k.h * o.k.w * o.ifm.c
	if mac.FastU8() && st.only == formFastest && zpU >= 0 && zpU <= 255 {
		w, err := st.weights(o, formU8)
		if err != nil {
			return err
		}
		if w.u8 != nil && o.fits(recs, per, w.maxAbs) {
			st.convU8(o, recs, w, zpU, single)
			return nil
		}
	}
	w, err := st.weights(o, formI16)
	if err != nil {
		return err
	}
	if !o.fits(recs, per, w.maxAbs) {
		return st.convWide(o, recs, single)
	}
	st.convI16(o, recs, w, single)
	return nil
}

// window is the dense padded input of a convolution: rows of pitch elements.
type window struct {
	h, w  int // padded extent
	depth int // elements per pixel, channels rounded up
	runs  []int32
	quads int // of 4 elements per run
}

// window lays out the padded input and the runs of a kernel in it.
func (st *State) window(o *op, round int) window {
	k := &o.k
	w := window{h: k.inH + k.top + k.bottom, w: k.inW + k.left + k.right}
	w.depth = (o.ifm.c + round - 1) / round * round
	st.scratch.runs = st.scratch.runs[:0]
	for y := range k.h {
		row := y * k.dy * w.w * w.depth
		if k.dx == 1 {
			st.scratch.runs = append(st.scratch.runs, int32(row))
			continue
		}
		for x := range k.w {
			st.scratch.runs = append(st.scratch.runs, int32(row+x*k.dx*w.depth))
		}
	}
	w.runs = st.scratch.runs
	w.quads = w.depth / 4
	if k.dx == 1 {
		w.quads *= k.w
	}
	return w
}

// pixels fills c.s.offsets with where the window of each output pixel starts.
func (st *State) pixels(o *op, w *window, y0, rows int) []int32 {
	off := st.scratch.offsets[:0]
	for y := y0; y < y0+rows; y++ {
		for x := range o.ofm.w {
			off = append(off, int32((y*o.k.sy*w.w+x*o.k.sx)*w.depth))
		}
	}
	st.scratch.offsets = off
	return off
}

// chunk is the pixels whose sums are held at once: they stay in cache.
const chunk = 96

// slack is read past the last pixel by the vector loops.
const slack = 64

// convU8 runs on bytes: unsigned input times signed weights.
func (st *State) convU8(o *op, recs []ethosu.ScaleRecord, ws *weightSet, zpU int, single bool) {
	w := st.window(o, 4)
	st.scratch.x8 = grow(st.scratch.x8, w.h*w.w*w.depth+slack)
	st.gatherU8(o, &w, byte(zpU))
	channels := o.ofm.c
	if ws.offset != 0 {
		channels++
	}
	padded := (channels + 15) &^ 15
	q := st.quantizer(o, recs, padded, single)
	for i := range recs {
		q.bias[i] = int32(recs[i].Bias - int64(zpU)*int64(ws.sums[i]))
	}
	depth := len(w.runs) * w.quads * 4
	st.eachStrip(o, &w, padded, q, ws, func(acc []int32, off []int32) {
		var pix [mac.TileU8]int32
		for o0 := 0; o0 < padded; o0 += mac.GroupU8 * mac.VectorU8 {
			vectors := min(mac.GroupU8, (padded-o0)/mac.VectorU8)
			for p := 0; p < len(off); p += mac.TileU8 {
				for i := range pix {
					pix[i] = off[min(p+i, len(off)-1)]
				}
				mac.DotU8(acc[p*padded+o0:], padded, st.scratch.x8, &pix, w.runs, w.quads, ws.u8[o0*depth:], vectors)
			}
		}
	})
}

// convI16 runs on 16-bit elements without zero point.
func (st *State) convI16(o *op, recs []ethosu.ScaleRecord, ws *weightSet, single bool) {
	w := st.window(o, 4)
	st.scratch.x16 = grow(st.scratch.x16, w.h*w.w*w.depth+slack)
	st.gatherI16(o, &w)
	padded := (o.ofm.c + 15) &^ 15
	q := st.quantizer(o, recs, padded, single)
	for i := range recs {
		q.bias[i] = int32(recs[i].Bias)
	}
	depth := len(w.runs) * w.quads * 4
	st.eachStrip(o, &w, padded, q, ws, func(acc []int32, off []int32) {
		var pix [mac.TileI16]int32
		for o0 := 0; o0 < padded; o0 += mac.WidthI16 {
			for p := 0; p < len(off); p += mac.TileI16 {
				for i := range pix {
					pix[i] = off[min(p+i, len(off)-1)]
				}
				mac.DotI16(acc[p*padded+o0:], padded, st.scratch.x16, &pix, w.runs, w.quads, ws.i16[o0*depth:])
			}
		}
	})
}

// depthwise8 is OP_DEPTHWISE on 8-bit input.
func (st *State) depthwise8(o *op, recs []ethosu.ScaleRecord) error {
	ws, err := st.weights(o, formDepthwise)
	if err != nil {
		return err
	}
	if !o.fits(recs, o.k.h*o.k.w, ws.maxAbs) {
		return st.convWide(o, recs, false)
	}
	w := st.window(o, 16)
	st.scratch.x16 = grow(st.scratch.x16, w.h*w.w*w.depth+slack)
	st.gatherI16(o, &w)
	q := st.quantizer(o, recs, w.depth, false)
	for i := range recs {
		q.bias[i] = int32(recs[i].Bias)
	}
	taps := st.scratch.runs[:0]
	for y := range o.k.h {
		for x := range o.k.w {
			taps = append(taps, int32((y*o.k.dy*w.w+x*o.k.dx)*w.depth))
		}
	}
	if len(taps)&1 == 1 {
		taps = append(taps, taps[len(taps)-1]) // its weights are zeros
	}
	st.scratch.runs = taps
	step := o.k.sx * w.depth
	st.eachStrip(o, &w, w.depth, q, ws, func(acc []int32, off []int32) {
		// Pixels of one row are equally far apart.
		for p := 0; p < len(off); {
			n := 1
			for p+n < len(off) && int(off[p+n]-off[p+n-1]) == step {
				n++
			}
			for g := 0; g < w.depth; g += 16 {
				mac.Depthwise(acc[p*w.depth+g:], w.depth, st.scratch.x16[int(off[p])+g:], step, n, taps, ws.i16[g*len(taps):])
			}
			p += n
		}
	})
	return nil
}

// eachStrip walks the output in strips of whole rows and chunks of pixels:
// sums fills the accumulators of a chunk, then the output stage runs.
func (st *State) eachStrip(o *op, w *window, padded int, q *quantizer, ws *weightSet, sums func(acc, off []int32)) {
	rows := max(1, 64/o.ofm.w)
	const tileSlack = mac.TileU8 // the last tile of a chunk may write past it
	st.scratch.acc = grow(st.scratch.acc, (chunk+tileSlack)*padded)
	st.scratch.out = grow(st.scratch.out, rows*o.ofm.w*padded*o.ofm.esz)
	if o.ofm.esz != 1 {
		st.scratch.outRow = grow(st.scratch.outRow, rows*o.ofm.w*o.ofm.c)
	}
	for y := 0; y < o.ofm.h; y += rows {
		n := min(rows, o.ofm.h-y)
		off := st.pixels(o, w, y, n)
		for p := 0; p < len(off); p += chunk {
			m := min(chunk, len(off)-p)
			sums(st.scratch.acc, off[p:p+m])
			q.run(st, o, p, m, ws)
		}
		for r := range n {
			if o.ofm.esz == 1 {
				o.ofm.scatter8(st.scratch.out[r*o.ofm.w*padded:], y+r, padded)
			} else {
				o.ofm.writeRow(st.scratch.outRow[r*o.ofm.w*o.ofm.c:], y+r)
			}
		}
	}
}

// gatherU8 copies the input as unsigned bytes into c.s.x8 with its padding.
func (st *State) gatherU8(o *op, w *window, zp byte) {
	k, f := &o.k, &o.ifm
	x := st.scratch.x8
	flip := byte(0)
	if f.signed {
		flip = 128
	}
	pitch := w.w * w.depth
	if k.top|k.left|k.bottom|k.right != 0 || k.upscale != 0 || w.depth != f.c {
		for i := range x {
			x[i] = zp
		}
	}
	for y := range f.h {
		if k.upscale == 0 {
			f.gather8(x[(y+k.top)*pitch+k.left*w.depth:], y, w.depth, flip)
			continue
		}
		st.scratch.out = grow(st.scratch.out, f.w*w.depth)
		f.gather8(st.scratch.out, y, w.depth, flip)
		row := x[(2*y+k.top)*pitch+k.left*w.depth:]
		for ix := range k.inW {
			if k.upscale == 1 || ix&1 == 0 {
				copy(row[ix*w.depth:][:w.depth], st.scratch.out[ix/2*w.depth:])
			}
		}
		if k.upscale == 1 && 2*y+1 < k.inH {
			copy(row[pitch:][:k.inW*w.depth], row[:k.inW*w.depth])
		}
	}
}

// gatherI16 copies the input without zero point into c.s.x16 with its padding.
func (st *State) gatherI16(o *op, w *window) {
	k, f := &o.k, &o.ifm
	x := st.scratch.x16
	pitch := w.w * w.depth
	if k.top|k.left|k.bottom|k.right != 0 || k.upscale != 0 || w.depth != f.c {
		clear(x)
	}
	st.scratch.x8 = grow(st.scratch.x8, f.w*w.depth)
	flip, zp := byte(0), int16(f.zp)
	if f.signed {
		flip, zp = 128, zp+128
	}
	for y := range f.h {
		f.gather8(st.scratch.x8, y, w.depth, flip)
		up := 1
		if k.upscale != 0 {
			up = 2
		}
		row := x[(up*y+k.top)*pitch+k.left*w.depth:]
		for ix := 0; ix < k.inW; ix++ {
			if k.upscale == 2 && ix&1 == 1 {
				continue
			}
			src := st.scratch.x8[ix/up*w.depth:][:f.c]
			d := row[ix*w.depth:][:len(src)]
			for i, v := range src {
				d[i] = int16(v) - zp
			}
		}
		if k.upscale == 1 && 2*y+1 < k.inH {
			copy(row[pitch:][:k.inW*w.depth], row[:k.inW*w.depth])
		}
	}
}

// convWide computes any convolution with 64-bit sums.
func (st *State) convWide(o *op, recs []ethosu.ScaleRecord, single bool) error {
	ws, err := st.weights(o, formPlain)
	if err != nil {
		return err
	}
	p := st.inputRows(o)
	k := &o.k
	depth := o.ifm.c
	row := grow(st.scratch.outRow, o.ofm.w*o.ofm.c)
	st.scratch.outRow = row
	per := k.h * k.w
	if o.kind == opConv {
		per *= depth
	}
	for oy := range o.ofm.h {
		for ox := range o.ofm.w {
			for ch := range o.ofm.c {
				sum := recs[ch].Bias
				for ky := range k.h {
					y := oy*k.sy - k.top + ky*k.dy
					if y < 0 || y >= k.inH {
						continue
					}
					for kx := range k.w {
						x := ox*k.sx - k.left + kx*k.dx
						if x < 0 || x >= k.inW {
							continue
						}
						in := p.rows[y][x*depth:][:depth]
						if o.kind == opDepthwise {
							sum += int64(in[ch]) * int64(ws.plain[ch*per+ky*k.w+kx])
							continue
						}
						wt := ws.plain[ch*per+(ky*k.w+kx)*depth:][:depth]
						for i, v := range in {
							sum += int64(v) * int64(wt[i])
						}
					}
				}
				row[ox*o.ofm.c+ch] = o.out.finish(convScale(sum, recs[ch], o.out.round, single))
			}
		}
		o.ofm.writeRow(row, oy)
	}
	return nil
}

// convScale rounds a sum; single is Options.ConvSingle.
func convScale(sum int64, r ethosu.ScaleRecord, round int, single bool) int64 {
	if single && round == ethosu.RoundDouble {
		round = ethosu.RoundNatural
	}
	return rescale(sum, r.Scale, r.Shift, round)
}
