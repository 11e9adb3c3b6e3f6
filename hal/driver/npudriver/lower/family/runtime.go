package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Filters and biases that come at run time. The array reads its weights encoded, which
// only a compiler can do, so that the products are elementwise kernels of 32-bit results:
//
//	CONV_2D            acc[k, p] = REDUCE_SUM(patch[p, :] * filter[k, :])
//	DEPTHWISE_CONV_2D  acc[p, c] = sum over taps of image[p + tap, c] * filter[tap, c]
//
// and then the output is scale(acc + bias), elementwise as well.

// productBytes is the intended size of the products before they are summed (assumed, D-960).
const productBytes = 256 << 10

// runtimeGEMM lowers a convolution or FULLY_CONNECTED without constant filter and bias.
func runtimeGEMM(l *lower.Lowering, g *gemm) {
	taps := g.win.KH * g.win.KW
	sum := taps * g.c // products of an output
	if g.depthwise {
		sum = taps
	}
	for k := range g.quant.Mult {
		left := max(g.quant.Mult[k].Shift, 0)
		maxProducts.Refuse(int64(sum)*255*255 > maxSum>>left, "sums of %d products", sum)
	}
	maxProducts.Refuse(g.n*taps > maxMoves || g.n > maxBatch, "%d batches of %d taps", g.n, taps)
	if taps > 1 {
		try.E(checkGather(&g.win, g.n, max(g.c, g.k)))
	}
	if g.depthwise {
		runtimeDepthwise(l, g)
		return
	}
	filter := l.In(g.filter, 1, 1, g.k*sum)
	filter.Zero = int(g.quant.FilterZero)
	patches := patches(l, g, filter.Signed)
	pixels := g.n * g.win.OutH * g.win.OutW
	maxProducts.Refuse(pixels > 1<<24, "%d windows of %d elements", pixels, sum)
	acc := wideMap(l, g.n*g.win.OutH, g.win.OutW, g.k)
	products(l, patches, filter, acc, pixels, g.k, sum)
	out := l.Out(g.output, g.n*g.win.OutH, g.win.OutW, g.k)
	requantizeSums(l, g, acc, out)
}

// products are the sums of products of each of so many dense rows of bytes with each row of a filter, of n
// elements both: acc[pixel][output], dense.
func products(l *lower.Lowering, rows, filter, acc layout.Ref, pixels, outputs, n int) {
	across := min(pixels, max(productBytes/(4*n), 1), lower.MaxExtent)
	down := min(outputs, max(productBytes/(4*n*across), 1), lower.MaxExtent)
	kernels := (pixels + across - 1) / across * ((outputs + down - 1) / down)
	maxProducts.Refuse(kernels > maxMoves, "%d windows and %d outputs of %d elements", pixels, outputs, n)
	c := chain{l: l}
	room := wideMap(l, down, across, n)
	for p := 0; p < pixels; p += across {
		for k := 0; k < outputs; k += down {
			h, w := min(down, outputs-k), min(across, pixels-p)
			// Every output reads the same rows again.
			a := within(rows, p*n, h, w, n, 0, n)
			b := within(filter, k*n, h, 1, n, n, n)
			to := within(room, 0, h, w, n, 4*w*n, 4*n)
			c.op(ethosu.EltMul, a, b, to, plain)
			c.reduce(to, within(acc, 4*(p*outputs+k), h, w, 1, 4, 4*outputs))
		}
	}
}

// runtimeDepthwise adds the products of one tap after the other.
func runtimeDepthwise(l *lower.Lowering, g *gemm) {
	win := &g.win
	filter := l.In(g.filter, 1, 1, win.KH*win.KW*g.k)
	filter.Zero = int(g.quant.FilterZero)
	image, h, w := paddedImage(l, g, filter.Signed)
	c := chain{l: l}
	for n := range g.n {
		acc, term := wideMap(l, win.OutH, win.OutW, g.k), wideMap(l, win.OutH, win.OutW, g.k)
		for ky := range win.KH {
			for kx := range win.KW {
				at := ((n*h+ky*win.DilationH)*w + kx*win.DilationW) * g.k
				a := within(image, at, win.OutH, win.OutW, g.k, win.StrideH*w*g.k, win.StrideW*g.k)
				b := within(filter, (ky*win.KW+kx)*g.k, 1, 1, g.k, g.k, g.k)
				if ky+kx == 0 {
					c.op(ethosu.EltMul, a, b, acc, plain)
					continue
				}
				c.op(ethosu.EltMul, a, b, term, plain)
				c.op(ethosu.EltAdd, acc, term, acc, plain)
			}
		}
		out := l.Out(g.output, win.OutH, win.OutW, g.k)
		out.Addr += n * win.OutH * win.OutW * g.k
		requantizeSums(l, g, acc, out)
	}
}

// within is a part of a map with other extents and byte strides.
func within(r layout.Ref, at, h, w, c, strideY, strideX int) layout.Ref {
	r.Addr += at
	r.H, r.W, r.C, r.StrideY, r.StrideX = h, w, c, strideY, strideX
	return r
}

// wideMap is a new value of 32-bit elements.
func wideMap(l *lower.Lowering, h, w, c int) layout.Ref {
	return layout.Ref{Value: l.Temporary(4 * h * w * c), FeatureMap: layout.Dense(0, h, w, c, 4, true)}
}

// narrowMap is a new value of bytes.
func narrowMap(l *lower.Lowering, h, w, c int, signed bool) layout.Ref {
	return layout.Ref{Value: l.Temporary(h * w * c), FeatureMap: layout.Dense(0, h, w, c, 1, signed)}
}

// flipped is the zero point of bytes whose sign bit has been inverted when their type
// changed from unsigned to signed, or back.
func flipped(zero int, from, to bool) int {
	switch {
	case from == to:
		return zero
	case to:
		return zero - 128
	}
	return zero + 128
}

// patches is the input of a convolution with one row for each window, [pixel][tap][channel],
// signed or not. Windows of one pixel are the input itself.
func patches(l *lower.Lowering, g *gemm, signed bool) layout.Ref {
	win := &g.win
	from := l.In(g.input, 1, 1, g.n*win.H*win.W*g.c)
	from.Zero = int(g.quant.InZero)
	taps := win.KH * win.KW
	if taps == 1 && win.StrideH == 1 && win.StrideW == 1 && win.OutH == win.H && win.OutW == win.W && win.Top|win.Left == 0 && from.Signed == signed {
		return from
	}
	to := narrowMap(l, 1, g.n*win.OutH*win.OutW, taps*g.c, signed)
	to.Zero = flipped(from.Zero, from.Signed, signed)
	gather(l, win, g.n, g.c, from, to, []byte{byte(to.Zero)})
	return to
}

// gather copies the pixels under each window: the dense images at from become rows
// [window][tap][c], where pixels outside the image are filled.
func gather(l *lower.Lowering, win *opspec.Window, n, c int, from, to layout.Ref, fill []byte) {
	taps := win.KH * win.KW
	if win.Top > 0 || win.Left > 0 || (win.OutH-1)*win.StrideH+(win.KH-1)*win.DilationH >= win.H ||
		(win.OutW-1)*win.StrideW+(win.KW-1)*win.DilationW >= win.W {
		fillMap(l, to, n*win.OutH*win.OutW*taps*c, fill)
	}
	for ky := range win.KH {
		y0, y1 := inside(ky*win.DilationH-win.Top, win.StrideH, win.H, win.OutH)
		for kx := range win.KW {
			x0, x1 := inside(kx*win.DilationW-win.Left, win.StrideW, win.W, win.OutW)
			if y0 >= y1 || x0 >= x1 {
				continue
			}
			a, b := from, to
			a.Addr += ((y0*win.StrideH+ky*win.DilationH-win.Top)*win.W + x0*win.StrideW + kx*win.DilationW - win.Left) * c
			b.Addr += ((y0*win.OutW+x0)*taps + ky*win.KW + kx) * c
			copyAxes(l, a, b, []axis{
				{c, 1, 1}, {x1 - x0, win.StrideW * c, taps * c}, {y1 - y0, win.StrideH * win.W * c, win.OutW * taps * c},
				{n, win.H * win.W * c, win.OutH * win.OutW * taps * c},
			})
		}
	}
}

// inside returns the outputs first to end-1 whose input at + i*stride is within 0 to n-1.
func inside(at, stride, n, outputs int) (first, end int) {
	if at < 0 {
		first = (-at + stride - 1) / stride
	}
	if n > at {
		end = min((n-1-at)/stride+1, outputs)
	}
	return first, end
}

// paddedImage is the input of a depthwise convolution with its padding, and each channel as
// often as it has outputs; h and w are its extents.
func paddedImage(l *lower.Lowering, g *gemm, signed bool) (to layout.Ref, h, w int) {
	win := &g.win
	from := l.In(g.input, 1, 1, g.n*win.H*win.W*g.c)
	from.Zero = int(g.quant.InZero)
	h = max(win.H+win.Top, (win.OutH-1)*win.StrideH+(win.KH-1)*win.DilationH+1)
	w = max(win.W+win.Left, (win.OutW-1)*win.StrideW+(win.KW-1)*win.DilationW+1)
	if h == win.H && w == win.W && g.multiplier == 1 && from.Signed == signed {
		return from, h, w
	}
	bytes := int64(g.n) * int64(h) * int64(w) * int64(g.k)
	maxPatches.Refuse(bytes > maxGathered, "%d padded images of %dx%dx%d", g.n, h, w, g.k)
	to = narrowMap(l, 1, 1, g.n*h*w*g.k, signed)
	to.Zero = flipped(from.Zero, from.Signed, signed)
	if h != win.H || w != win.W {
		fillMap(l, to, g.n*h*w*g.k, []byte{byte(to.Zero)})
	}
	m := g.multiplier
	for j := range m {
		b := to
		b.Addr += (win.Top*w+win.Left)*g.k + j
		copyAxes(l, from, b, []axis{{g.c, 1, m}, {win.W, g.c, g.k}, {win.H, win.W * g.c, w * g.k}, {g.n, win.H * win.W * g.c, h * w * g.k}})
	}
	return to, h, w
}

// requantizeSums is clamp(scale(acc + bias) + zero point), acc and out of the same extents.
func requantizeSums(l *lower.Lowering, g *gemm, acc, out layout.Ref) {
	bias := l.In(g.bias, 1, 1, g.k)
	bias.Bytes, bias.Signed = 4, true
	c := chain{l: l}
	c.op(ethosu.EltAdd, acc, bias, acc, plain)
	out.Zero = int(g.quant.OutZero)
	c.rescale(acc, out, g.quant.Mult, tweak{lo: int(g.quant.Lo), hi: int(g.quant.Hi)})
}

// rescale multiplies 32-bit elements by one multiplier or one per channel: gemmlowp's
// doubling high product, then the shift that rounds ties away from zero.
func (c *chain) rescale(acc, out layout.Ref, m []fixedpoint.Multiplier, t tweak) {
	t.scale, t.copies, t.round = 1<<30, 1, doubleRound
	if len(m) == 1 {
		t.shift = 31 - m[0].Shift
		outputScale.Refuse(t.shift < 0 || t.shift > 63, "%d * 2^%d", m[0].M, m[0].Shift-31)
		c.op(ethosu.EltMul, acc, c.constants(m[0].M), out, t)
		return
	}
	var factor, left, right []int32
	shifted := false
	for _, x := range m {
		factor = append(factor, x.M)
		left, right = append(left, int32(max(x.Shift, 0))), append(right, int32(max(-x.Shift, 0)))
		shifted = shifted || x.Shift > 0
	}
	if shifted {
		c.op(ethosu.EltShl, acc, c.constants(left...), acc, shiftLeft)
	}
	c.op(ethosu.EltMul, acc, c.constants(factor...), acc, product)
	t.scale, t.shift = 1, 0
	c.op(ethosu.EltShr, acc, c.constants(right...), out, t)
}

// constants are 32-bit elements in region 0, one per channel.
func (c *chain) constants(v ...int32) layout.Ref {
	return c.l.Constant(words(v), 1, 1, len(v), 4, true)
}

// fillMap writes n bytes at to, over and over those of pattern: copies of a row in region 0.
func fillMap(l *lower.Lowering, to layout.Ref, n int, pattern []byte) {
	row := make([]byte, min(n, fillRow))
	for i := range row {
		row[i] = pattern[i%len(pattern)]
	}
	from := l.Constant(row, 1, 1, len(row), 1, to.Signed)
	from.Zero = to.Zero
	for at := 0; at < n; {
		rows, c := min((n-at)/fillRow, lower.MaxExtent), fillRow
		if rows == 0 {
			rows, c = 1, n-at
		}
		lo, hi := layout.Limits(to.Signed)
		from.H, from.W, from.C, from.StrideY, from.StrideX = 1, rows, c, 0, 0
		move(l, from, within(to, at, 1, rows, c, rows*c, c), nil, lo, hi)
		at += rows * c
	}
}

// fillRow is the bytes of a constant row that is repeated (assumed, D-961).
const fillRow = 256
