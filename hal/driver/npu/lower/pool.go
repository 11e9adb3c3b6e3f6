package lower

import (
	"fmt"
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/driver/npu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/npu/layout"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// pool is AVERAGE_POOL_2D and MAX_POOL_2D. Bytes are averaged as they are: the
// zero point cancels, and rounding is that of the raw sum.
func (l *Lowering) pool(op *nn.Operation) error {
	p, err := l.view.Pool(op)
	if err != nil {
		return err
	}
	o, err := l.operand(p.Output)
	if err != nil {
		return err
	}
	win := single(p.Window)
	if err := checkPool(&win, op.Type == nn.OpAveragePool2D); err != nil {
		return err
	}
	if p.N > maxBatch {
		return fmt.Errorf("%d batches; up to %d are supported", p.N, maxBatch)
	}
	lo, hi := opspec.ActRange(p.Act, p.Type, o.Scale, o.ZeroPoint)
	for n := range p.N {
		w := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolMax, Lo: int(lo), Hi: int(hi)}}
		if w.IFM, err = l.In(p.Input, win.H, win.W, p.C); err != nil {
			return err
		}
		if w.OFM, err = l.Out(p.Output, win.OutH, win.OutW, p.C); err != nil {
			return err
		}
		w.IFM.Addr += n * win.H * win.W * p.C
		w.OFM.Addr += n * win.OutH * win.OutW * p.C
		setWindow(&w, &win)
		if op.Type == nn.OpAveragePool2D {
			w.Mode, w.Round = ethosu.PoolAverage, doubleRound
			if w.Top|w.Left|w.Bottom|w.Right == 0 { // else the divisor is the taps inside
				w.Global = true
				scale, shift := ethosu.AverageScale(win.KH*win.KW, 0)
				w.Scale, w.Shift = scale, int(shift)
			}
		}
		if err := l.Add(w); err != nil {
			return err
		}
	}
	return nil
}

// checkPool tests a pooling window against what the array takes.
func checkPool(w *opspec.Window, average bool) error {
	padded := w.Top|w.Left|w.Bottom|w.Right != 0
	switch {
	case w.StrideH > 3 || w.StrideW > 3:
		return fmt.Errorf("stride %dx%d; up to 3 is supported", w.StrideH, w.StrideW)
	case average && padded && (w.KH > 8 || w.KW > 8):
		return fmt.Errorf("padded average over %dx%d; up to 8x8 is supported", w.KH, w.KW)
	case w.KH > 256 || w.KW > 256:
		return fmt.Errorf("window of %dx%d; up to 256x256 is supported", w.KH, w.KW)
	case w.Top > 127 || w.Left > 127 || w.Bottom > 255 || w.Right > 255:
		return fmt.Errorf("padding %d,%d,%d,%d exceeds the padding registers", w.Top, w.Bottom, w.Left, w.Right)
	}
	return nil
}

// mean sums over adjacent dimensions as an average pool whose window is the
// whole map and whose rounding is toward zero, as the reference divides.
func (l *Lowering) mean(op *nn.Operation) error {
	m, err := l.view.Mean(op)
	if err != nil {
		return err
	}
	if _, err := l.operand(m.Input); err != nil {
		return err
	}
	// Dimensions as outer x (h x w reduced) x inner.
	outer, inner := 1, 1
	var reduced []int
	for d, n := range m.In {
		switch {
		case m.Reduce[d] && n == 1:
		case m.Reduce[d]:
			if inner > 1 {
				return fmt.Errorf("the reduced axes are not adjacent")
			}
			reduced = append(reduced, int(n))
		case len(reduced) == 0:
			outer *= int(n)
		default:
			inner *= int(n)
		}
	}
	h, w := 1, 1
	switch len(reduced) {
	case 0:
	case 1:
		w = reduced[0]
	case 2:
		h, w = reduced[0], reduced[1]
	default:
		return fmt.Errorf("%d reduced axes; up to 2 are supported", len(reduced))
	}
	if h > 256 || w > 256 || outer > maxBatch {
		return fmt.Errorf("mean over %dx%d, %d times", h, w, outer)
	}
	scale, shift := truncatingScale(h * w)
	for n := range outer {
		k := kernel.Kernel{Shape: kernel.Shape{Kind: kernel.Pool, Mode: ethosu.PoolAverage, Global: true, Scale: scale, Shift: shift, Round: ethosu.RoundTruncate, KH: h, KW: w}}
		if k.IFM, err = l.In(m.Input, h, w, inner); err != nil {
			return err
		}
		if k.OFM, err = l.Out(m.Output, 1, 1, inner); err != nil {
			return err
		}
		k.IFM.Addr += n * h * w * inner
		k.OFM.Addr += n * inner
		k.Lo, k.Hi = layout.Limits(k.OFM.Signed)
		if err := l.Add(k); err != nil {
			return err
		}
	}
	return nil
}

// truncatingScale is a factor just above 1/n, n <= 65536: for sums of n bytes
// the product, truncated, is the quotient truncated. The excess stays below
// 255 n / 2^shift < 1/n.
func truncatingScale(n int) (scale uint32, shift int) {
	shift = 30 + bits.Len(uint(n))
	return uint32((uint64(1)<<shift + uint64(n) - 1) / uint64(n)), shift
}
