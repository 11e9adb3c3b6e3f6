package family

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/npudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// pooling is AVERAGE_POOL_2D or MAX_POOL_2D. Bytes are averaged as they are: the
// zero point cancels, and rounding is that of the raw sum.
func pooling(average bool) lowering {
	return by(func(l *lower.Lowering, op *nn.Operation) { lowerPool(l, op, average) })
}

func lowerPool(l *lower.Lowering, op *nn.Operation, average bool) {
	p := try.V(opspec.Read[opspec.Pool](l.View(), op))
	o := l.Quantized(p.Output)
	win := single(p.Window)
	padded := win.Padded()
	switch {
	case sparse(&win) && checkGather(&p.Window, p.N, p.C) == nil && !(average && (padded || win.KH*win.KW > maxRow)):
		gatheredPool(l, &p, average)
		return
	case sparse(&win), average && padded && (win.KH > maxPadded || win.KW > maxPadded):
		poolEach(l, &p, average)
		return
	}
	maxPoolWindow.Refuse(win.KH > maxPool || win.KW > maxPool, "%dx%d", win.KH, win.KW)
	checkPadding(&win)
	maxBatches.Refuse(p.N > maxBatch, "%d batches", p.N)
	lo, hi := quantized.ActRange(p.Act, p.Type, o.Scale, o.ZeroPoint)
	for n := range p.N {
		w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: int(lo), Hi: int(hi)}}
		w.IFM = l.In(p.Input, win.H, win.W, p.C)
		w.OFM = l.Out(p.Output, win.OutH, win.OutW, p.C)
		w.IFM.Addr += n * win.H * win.W * p.C
		w.OFM.Addr += n * win.OutH * win.OutW * p.C
		setWindow(&w, &win)
		if average {
			w.Mode, w.Round = ethosu.PoolAverage, doubleRound
			if w.Top|w.Left|w.Bottom|w.Right == 0 { // else the divisor is the taps inside
				averages(&w, win.KH*win.KW)
			}
		}
		l.Add(w)
	}
}

// poolEach pools one window after the other, each of the pixels inside the image.
func poolEach(l *lower.Lowering, p *opspec.Pool, average bool) {
	win := &p.Window
	maxPoolWindow.Refuse(win.KH > maxPool || win.KW > maxPool, "%dx%d", win.KH, win.KW)
	n := p.N * win.OutH * win.OutW
	maxWindows.Refuse(n > maxMoves, "%d of %dx%d with stride %dx%d", n, win.KH, win.KW, win.StrideH, win.StrideW)
	from := allBytes(l, p.Input)
	out := l.Out(p.Output, 1, 1, p.C)
	o := l.Operand(p.Output)
	lo, hi := quantized.ActRange(p.Act, p.Type, o.Scale, o.ZeroPoint)
	for i := range p.N * win.OutH * win.OutW {
		y, x := i/win.OutW%win.OutH*win.StrideH-win.Top, i%win.OutW*win.StrideW-win.Left
		top, left := max(y, 0), max(x, 0)
		h, w := min(y+win.KH, win.H)-top, min(x+win.KW, win.W)-left
		at := ((i/(win.OutH*win.OutW)*win.H+top)*win.W + left) * p.C
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: int(lo), Hi: int(hi), KH: h, KW: w},
			IFM: within(from, at, h, w, p.C, win.W*p.C, p.C), OFM: within(out, i*p.C, 1, 1, p.C, p.C, p.C)}
		if average {
			averages(&k, h*w)
		}
		l.Add(k)
	}
}

// gatheredPool is a pool of any stride: the pixels under each window are copied next to each
// other, then pooled in one row, or by halves where the row is too long.
func gatheredPool(l *lower.Lowering, p *opspec.Pool, average bool) {
	win, taps := &p.Window, p.KH*p.KW
	from := allBytes(l, p.Input)
	o := l.Operand(p.Output)
	lo, hi := layout.Limits(from.Signed)
	pixels := p.N * win.OutH * win.OutW
	row := narrowMap(l, pixels, taps, p.C, from.Signed)
	gather(l, win, p.N, p.C, from, row, []byte{byte(lo)})
	out := l.Out(p.Output, pixels, 1, p.C)
	least, most := quantized.ActRange(p.Act, p.Type, o.Scale, o.ZeroPoint)
	if taps > maxRow {
		c := chain{l: l}
		greatest := c.halve(ethosu.EltMax, row)
		moveAll(l, greatest, out, pixels*p.C, nil, max(int(least), lo), min(int(most), hi))
		return
	}
	w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: int(least), Hi: int(most), KH: 1, KW: taps}, IFM: row, OFM: out}
	if average {
		averages(&w, taps)
	}
	l.Add(w)
}

// averages makes a kernel the average of so many taps.
func averages(k *kernel.Kernel, taps int) {
	scale, shift := ethosu.AverageScale(taps, 0)
	k.Mode, k.Round, k.Global, k.Scale, k.Shift = ethosu.PoolAverage, doubleRound, true, scale, int(shift)
}

// maxRow is the widest window of a pool.
const maxRow = 256

// truncatingScale is a factor just above 1/n, n <= 65536: for sums of n bytes
// the product, truncated, is the quotient truncated. The excess stays below
// 255 n / 2^shift < 1/n.
func truncatingScale(n int) (scale uint32, shift int) {
	shift = 30 + bits.Len(uint(n))
	return uint32((uint64(1)<<shift + uint64(n) - 1) / uint64(n)), shift
}
