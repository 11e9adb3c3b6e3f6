package exec

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/mac"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// convolve executes OP_CONV and OP_DEPTHWISE.
func (e *Engine) convolve(o *state.Op) error {
	k := &o.Window
	if n := int64(k.InH+k.Top+k.Bottom) * int64(k.InW+k.Left+k.Right) * int64((o.IFM.C+15)&^15); n > 2*state.MaxElements {
		return fmt.Errorf("padded input of %d elements is too large", n)
	}
	recs := e.scaleRecords(o)
	single := o.Kind == state.Conv && e.ConvSingle
	if o.IFM.ElemSize == 1 && o.IFM.ZeroPoint >= -4096 && o.IFM.ZeroPoint <= 4096 && e.Form != FormExact {
		if o.Kind == state.Depthwise {
			return e.depthwise8(o, recs)
		}
		return e.conv8(o, recs, single)
	}
	return e.convWide(o, recs, single)
}

// scaleRecords reads the bias and scale of every output channel.
func (e *Engine) scaleRecords(o *state.Op) []ethosu.ScaleRecord {
	recs := grow(e.scratch.records, o.OFM.C)
	e.scratch.records = recs
	for i := range recs {
		s := o.Scales[i%o.Cores]
		recs[i] = ethosu.ReadScale(o.ScaleData[s.Base+i/o.Cores*ethosu.ScaleRecordSize:])
		if o.Output.Global {
			recs[i].Scale, recs[i].Shift = o.Output.Scale, o.Output.Shift
		}
	}
	return recs
}

// reach bounds the magnitude of an input without its zero point.
func reach(o *state.Op) int64 {
	lo, hi := state.TypeRange(o.IFM.ElemSize, o.IFM.Signed)
	zp := int64(o.IFM.ZeroPoint)
	return max(hi-zp, zp-lo, hi-lo)
}

// fits reports whether every sum plus bias fits 32 bits, so that the fast
// loops are exact.
func fits(o *state.Op, recs []ethosu.ScaleRecord, perChannel, maxAbs int) bool {
	sum := int64(perChannel) * int64(maxAbs) * reach(o)
	for i := range recs {
		if b := recs[i].Bias; sum+max(b, -b) > math.MaxInt32 {
			return false
		}
	}
	return true
}

// conv8 is OP_CONV on 8-bit input.
func (e *Engine) conv8(o *state.Op, recs []ethosu.ScaleRecord, single bool) error {
	zpU := o.IFM.ZeroPoint
	if o.IFM.Signed {
		zpU += 128
	}
	per := o.Window.H * o.Window.W * o.IFM.C
	if mac.FastU8() && e.Form == NoForm && zpU >= 0 && zpU <= 255 {
		w, err := e.weights(o, formU8)
		if err != nil {
			return err
		}
		if w.u8 != nil && fits(o, recs, per, w.maxAbs) {
			e.convU8(o, recs, w, zpU, single)
			return nil
		}
	}
	w, err := e.weights(o, formI16)
	if err != nil {
		return err
	}
	if !fits(o, recs, per, w.maxAbs) {
		return e.convWide(o, recs, single)
	}
	e.convI16(o, recs, w, single)
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
func (e *Engine) window(o *state.Op, round int) window {
	k := &o.Window
	w := window{h: k.InH + k.Top + k.Bottom, w: k.InW + k.Left + k.Right}
	w.depth = (o.IFM.C + round - 1) / round * round
	e.scratch.runs = e.scratch.runs[:0]
	for y := range k.H {
		row := y * k.DilationY * w.w * w.depth
		if k.DilationX == 1 {
			e.scratch.runs = append(e.scratch.runs, int32(row))
			continue
		}
		for x := range k.W {
			e.scratch.runs = append(e.scratch.runs, int32(row+x*k.DilationX*w.depth))
		}
	}
	w.runs = e.scratch.runs
	w.quads = w.depth / 4
	if k.DilationX == 1 {
		w.quads *= k.W
	}
	return w
}

// pixels fills e.scratch.offsets with where the window of each output pixel starts.
func (e *Engine) pixels(o *state.Op, w *window, y0, rows int) []int32 {
	off := e.scratch.offsets[:0]
	for y := y0; y < y0+rows; y++ {
		for x := range o.OFM.W {
			off = append(off, int32((y*o.Window.StrideY*w.w+x*o.Window.StrideX)*w.depth))
		}
	}
	e.scratch.offsets = off
	return off
}

// chunk is the pixels whose sums are held at once: they stay in cache.
const chunk = 96

// slack is read past the last pixel by the vector loops.
const slack = 64

// convU8 runs on bytes: unsigned input times signed weights.
func (e *Engine) convU8(o *state.Op, recs []ethosu.ScaleRecord, ws *weightSet, zpU int, single bool) {
	w := e.window(o, 4)
	e.scratch.x8 = grow(e.scratch.x8, w.h*w.w*w.depth+slack)
	e.gatherU8(o, &w, byte(zpU))
	channels := o.OFM.C
	if ws.offset != 0 {
		channels++
	}
	padded := (channels + 15) &^ 15
	q := e.quantizer(o, recs, padded, single)
	for i := range recs {
		q.bias[i] = int32(recs[i].Bias - int64(zpU)*int64(ws.sums[i]))
	}
	depth := len(w.runs) * w.quads * 4
	e.eachStrip(o, &w, padded, q, ws, func(acc []int32, off []int32) {
		var pix [mac.TileU8]int32
		for o0 := 0; o0 < padded; o0 += mac.GroupU8 * mac.VectorU8 {
			vectors := min(mac.GroupU8, (padded-o0)/mac.VectorU8)
			for p := 0; p < len(off); p += mac.TileU8 {
				for i := range pix {
					pix[i] = off[min(p+i, len(off)-1)]
				}
				mac.DotU8(acc[p*padded+o0:], padded, e.scratch.x8, &pix, w.runs, w.quads, ws.u8[o0*depth:], vectors)
			}
		}
	})
}

// convI16 runs on 16-bit elements without zero point.
func (e *Engine) convI16(o *state.Op, recs []ethosu.ScaleRecord, ws *weightSet, single bool) {
	w := e.window(o, 4)
	e.scratch.x16 = grow(e.scratch.x16, w.h*w.w*w.depth+slack)
	e.gatherI16(o, &w)
	padded := (o.OFM.C + 15) &^ 15
	q := e.quantizer(o, recs, padded, single)
	for i := range recs {
		q.bias[i] = int32(recs[i].Bias)
	}
	depth := len(w.runs) * w.quads * 4
	e.eachStrip(o, &w, padded, q, ws, func(acc []int32, off []int32) {
		var pix [mac.TileI16]int32
		for o0 := 0; o0 < padded; o0 += mac.WidthI16 {
			for p := 0; p < len(off); p += mac.TileI16 {
				for i := range pix {
					pix[i] = off[min(p+i, len(off)-1)]
				}
				mac.DotI16(acc[p*padded+o0:], padded, e.scratch.x16, &pix, w.runs, w.quads, ws.i16[o0*depth:])
			}
		}
	})
}

// depthwise8 is OP_DEPTHWISE on 8-bit input.
func (e *Engine) depthwise8(o *state.Op, recs []ethosu.ScaleRecord) error {
	ws, err := e.weights(o, formDepthwise)
	if err != nil {
		return err
	}
	if !fits(o, recs, o.Window.H*o.Window.W, ws.maxAbs) {
		return e.convWide(o, recs, false)
	}
	w := e.window(o, 16)
	e.scratch.x16 = grow(e.scratch.x16, w.h*w.w*w.depth+slack)
	e.gatherI16(o, &w)
	q := e.quantizer(o, recs, w.depth, false)
	for i := range recs {
		q.bias[i] = int32(recs[i].Bias)
	}
	taps := e.scratch.runs[:0]
	for y := range o.Window.H {
		for x := range o.Window.W {
			taps = append(taps, int32((y*o.Window.DilationY*w.w+x*o.Window.DilationX)*w.depth))
		}
	}
	if len(taps)&1 == 1 {
		taps = append(taps, taps[len(taps)-1]) // its weights are zeros
	}
	e.scratch.runs = taps
	step := o.Window.StrideX * w.depth
	e.eachStrip(o, &w, w.depth, q, ws, func(acc []int32, off []int32) {
		// Pixels of one row are equally far apart.
		for p := 0; p < len(off); {
			n := 1
			for p+n < len(off) && int(off[p+n]-off[p+n-1]) == step {
				n++
			}
			for g := 0; g < w.depth; g += 16 {
				mac.Depthwise(acc[p*w.depth+g:], w.depth, e.scratch.x16[int(off[p])+g:], step, n, taps, ws.i16[g*len(taps):])
			}
			p += n
		}
	})
	return nil
}

// eachStrip walks the output in strips of whole rows and chunks of pixels:
// sums fills the accumulators of a chunk, then the output stage runs.
func (e *Engine) eachStrip(o *state.Op, w *window, padded int, q *quantizer, ws *weightSet, sums func(acc, off []int32)) {
	rows := max(1, 64/o.OFM.W)
	const tileSlack = mac.TileU8 // the last tile of a chunk may write past it
	e.scratch.acc = grow(e.scratch.acc, (chunk+tileSlack)*padded)
	e.scratch.out = grow(e.scratch.out, rows*o.OFM.W*padded*o.OFM.ElemSize)
	if o.OFM.ElemSize != 1 {
		e.scratch.outRow = grow(e.scratch.outRow, rows*o.OFM.W*o.OFM.C)
	}
	for y := 0; y < o.OFM.H; y += rows {
		n := min(rows, o.OFM.H-y)
		off := e.pixels(o, w, y, n)
		for p := 0; p < len(off); p += chunk {
			m := min(chunk, len(off)-p)
			sums(e.scratch.acc, off[p:p+m])
			q.run(e, o, p, m, ws)
		}
		for r := range n {
			if o.OFM.ElemSize == 1 {
				o.OFM.Scatter8(e.scratch.out[r*o.OFM.W*padded:], y+r, padded)
			} else {
				o.OFM.WriteRow(e.scratch.outRow[r*o.OFM.W*o.OFM.C:], y+r)
			}
		}
	}
}

// gatherU8 copies the input as unsigned bytes into e.scratch.x8 with its padding.
func (e *Engine) gatherU8(o *state.Op, w *window, zp byte) {
	k, f := &o.Window, &o.IFM
	x := e.scratch.x8
	flip := byte(0)
	if f.Signed {
		flip = 128
	}
	pitch := w.w * w.depth
	if k.Top|k.Left|k.Bottom|k.Right != 0 || k.Upscale != 0 || w.depth != f.C {
		for i := range x {
			x[i] = zp
		}
	}
	for y := range f.H {
		if k.Upscale == 0 {
			f.Gather8(x[(y+k.Top)*pitch+k.Left*w.depth:], y, w.depth, flip)
			continue
		}
		e.scratch.out = grow(e.scratch.out, f.W*w.depth)
		f.Gather8(e.scratch.out, y, w.depth, flip)
		row := x[(2*y+k.Top)*pitch+k.Left*w.depth:]
		for ix := range k.InW {
			if k.Upscale == 1 || ix&1 == 0 {
				copy(row[ix*w.depth:][:w.depth], e.scratch.out[ix/2*w.depth:])
			}
		}
		if k.Upscale == 1 && 2*y+1 < k.InH {
			copy(row[pitch:][:k.InW*w.depth], row[:k.InW*w.depth])
		}
	}
}

// gatherI16 copies the input without zero point into e.scratch.x16 with its padding.
func (e *Engine) gatherI16(o *state.Op, w *window) {
	k, f := &o.Window, &o.IFM
	x := e.scratch.x16
	pitch := w.w * w.depth
	if k.Top|k.Left|k.Bottom|k.Right != 0 || k.Upscale != 0 || w.depth != f.C {
		clear(x)
	}
	e.scratch.x8 = grow(e.scratch.x8, f.W*w.depth)
	flip, zp := byte(0), int16(f.ZeroPoint)
	if f.Signed {
		flip, zp = 128, zp+128
	}
	for y := range f.H {
		f.Gather8(e.scratch.x8, y, w.depth, flip)
		up := 1
		if k.Upscale != 0 {
			up = 2
		}
		row := x[(up*y+k.Top)*pitch+k.Left*w.depth:]
		for ix := 0; ix < k.InW; ix++ {
			if k.Upscale == 2 && ix&1 == 1 {
				continue
			}
			src := e.scratch.x8[ix/up*w.depth:][:f.C]
			d := row[ix*w.depth:][:len(src)]
			for i, v := range src {
				d[i] = int16(v) - zp
			}
		}
		if k.Upscale == 1 && 2*y+1 < k.InH {
			copy(row[pitch:][:k.InW*w.depth], row[:k.InW*w.depth])
		}
	}
}

// convWide computes any convolution with 64-bit sums.
func (e *Engine) convWide(o *state.Op, recs []ethosu.ScaleRecord, single bool) error {
	ws, err := e.weights(o, formPlain)
	if err != nil {
		return err
	}
	p := e.inputRows(o)
	k := &o.Window
	depth := o.IFM.C
	row := grow(e.scratch.outRow, o.OFM.W*o.OFM.C)
	e.scratch.outRow = row
	per := k.H * k.W
	if o.Kind == state.Conv {
		per *= depth
	}
	for oy := range o.OFM.H {
		for ox := range o.OFM.W {
			for ch := range o.OFM.C {
				sum := recs[ch].Bias
				for ky := range k.H {
					y := oy*k.StrideY - k.Top + ky*k.DilationY
					if y < 0 || y >= k.InH {
						continue
					}
					for kx := range k.W {
						x := ox*k.StrideX - k.Left + kx*k.DilationX
						if x < 0 || x >= k.InW {
							continue
						}
						in := p.rows[y][x*depth:][:depth]
						if o.Kind == state.Depthwise {
							sum += int64(in[ch]) * int64(ws.plain[ch*per+ky*k.W+kx])
							continue
						}
						wt := ws.plain[ch*per+(ky*k.W+kx)*depth:][:depth]
						for i, v := range in {
							sum += int64(v) * int64(wt[i])
						}
					}
				}
				row[ox*o.OFM.C+ch] = finish(&o.Output, convScale(sum, recs[ch], o.Output.Round, single))
			}
		}
		o.OFM.WriteRow(row, oy)
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
