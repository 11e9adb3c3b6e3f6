// Package gemm multiplies matrices for convolutions and dense products of the reference: weights
// packed once, rows of the input gathered block by block, results requantized or clamped.
package gemm

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/nn/quantized"
	"github.com/nnsoc/nnsoc/refcpu/internal/buffer"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// QuantWeights are the packed weights of a quantized matrix product. Inputs are treated as unsigned and weights as
// signed bytes, whatever their type: a flipped top bit moves value and zero point by 128.
type QuantWeights struct {
	K, n  int
	LDD   int // values from one row of the result to the next
	b     []int8
	rq    kernel.Requant
	wZero int32 // zero point of the signed weights
	XFlip byte
	XZero int32 // zero point of the unsigned input
	zero  int32
	lo    int32
	hi    int32
}

// PackQuant packs weights w [n][k] of type wt with their bias. The zero points
// are folded into the bias:
//
//	sum (x-zx)(w-zw) = sum x*w - zw sum x - zx sum w + k zx zw
func PackQuant(w []byte, wt nn.OperandType, xt nn.OperandType, bias []int32, k, n int, q *quantized.GEMM) *QuantWeights {
	p := &QuantWeights{K: k, n: n, LDD: n, rq: kernel.NewRequant(n), zero: q.OutZero, lo: q.Lo, hi: q.Hi}
	wFlip := FlipOf(wt) ^ 0x80 // unsigned weights become signed
	p.wZero = q.FilterZero
	if wFlip != 0 {
		p.wZero -= 128
	}
	p.XFlip = FlipOf(xt)
	p.XZero = q.InZero
	if p.XFlip != 0 {
		p.XZero += 128
	}
	p.b = make([]int8, kernel.PackedBytes(k, n)+buffer.Slack)
	kernel.PackS8(p.b, w, n, k, wFlip)
	for c := range n {
		sum := int32(0)
		for _, b := range w[c*k : c*k+k] {
			sum += int32(int8(b ^ wFlip))
		}
		p.rq.Bias[c] = bias[c] - p.XZero*sum + int32(k)*p.XZero*p.wZero
		SetMultiplier(&p.rq, c, q.Multiplier(c))
	}
	return p
}

// SetMultiplier sets the multiplier of a column of the result.
func SetMultiplier(rq *kernel.Requant, c int, m fixedpoint.Multiplier) {
	switch {
	case m.Shift > 31: // shifts everything out
		rq.M[c] = 0
	case m.Shift > 0:
		rq.M[c], rq.Left[c] = m.M, int32(m.Shift)
	default:
		rq.M[c], rq.Right[c] = m.M, int32(-m.Shift)
	}
}

// rowBlock is how many rows of the product are gathered at a time: enough to
// reuse packed weights from the first cache levels.
const rowBlock = 32

// blockRows is rowBlock, less when rows are very long.
func blockRows(rowBytes int) int {
	return max(kernel.TileRows, min(rowBlock, 1<<21/max(rowBytes, 1)))
}

// gather writes row r of the left matrix, quads*4 bytes, or returns a slice
// that already holds it.
type GatherRow func(dst []byte, r int)

// Product computes rows [lo, hi) of the requantized product. Without gather,
// a holds the rows, lda bytes apart.
func (p *QuantWeights) Product(dst, a []byte, lda int, gather GatherRow, ar *buffer.Arena, lo, hi int, roundOnce bool) {
	row := (*kernel.Requant).Row
	if roundOnce && p.XFlip != 0 {
		row = (*kernel.Requant).RowOnce
	}
	quads := kernel.Quads(p.K)
	blocks := kernel.Blocks(p.n)
	var scratch []byte
	if gather != nil {
		lda = 4 * quads
	}
	step := blockRows(lda)
	if gather != nil {
		scratch = ar.Bytes(step * lda)
	}
	var tile [kernel.TileRows * kernel.TileCols]int32
	var adds [rowBlock]int32
	for r0 := lo; r0 < hi; r0 += step {
		rows := min(step, hi-r0)
		left := scratch
		if gather != nil {
			for r := range rows {
				gather(scratch[r*lda:r*lda+lda], r0+r)
			}
		} else {
			left = a[r0*lda:]
		}
		if p.wZero != 0 {
			for r := range rows {
				adds[r] = -p.wZero * kernel.SumBytes(left[r*lda:r*lda+p.K])
			}
		}
		for b := 0; b < blocks; b += kernel.TileCols / kernel.Block {
			nb := min(blocks-b, kernel.TileCols/kernel.Block)
			c := b * kernel.Block
			cols := min(p.n-c, kernel.TileCols)
			packed := p.b[b*quads*4*kernel.Block:]
			for r := 0; r < rows; r += kernel.TileRows {
				nr := min(rows-r, kernel.TileRows)
				kernel.DotTile(&tile, left[r*lda:], lda, packed, quads, nr, nb)
				for i := range nr {
					o := (r0+r+i)*p.LDD + c
					row(&p.rq, dst[o:o+cols], tile[i*kernel.TileCols:(i+1)*kernel.TileCols], c, adds[r+i], p.zero, p.lo, p.hi)
				}
			}
		}
	}
}

// FloatWeights are the packed weights of a float matrix product.
type FloatWeights struct {
	k, n   int
	LDD    int // values from one row of the result to the next
	b      []float32
	bias   []float32
	lo, hi float32
}

// PackFloat packs weights w [n][k] with their bias.
func PackFloat(w, bias []float32, k, n int, act nn.FusedActivation) *FloatWeights {
	p := &FloatWeights{k: k, n: n, LDD: n, bias: append([]float32(nil), bias...)}
	p.lo, p.hi = opspec.FloatActRange(act)
	p.b = buffer.Values[float32](buffer.Aligned(4*kernel.PackedFloats(k, n) + buffer.Slack))
	kernel.PackF32(p.b, w, n, k)
	return p
}

// Product computes rows [lo, hi) of the product. Without gather, a holds the
// rows, k values apart.
func (p *FloatWeights) Product(dst, a []float32, gather func(dst []float32, r int), ar *buffer.Arena, lo, hi int) {
	blocks := kernel.Blocks(p.n)
	step := blockRows(4 * p.k)
	var scratch []float32
	if gather != nil {
		scratch = ar.Floats(step * p.k)
	}
	var tile [kernel.TileRows * kernel.TileCols]float32
	for r0 := lo; r0 < hi; r0 += step {
		rows := min(step, hi-r0)
		left := scratch
		if gather != nil {
			for r := range rows {
				gather(scratch[r*p.k:r*p.k+p.k], r0+r)
			}
		} else {
			left = a[r0*p.k:]
		}
		for b := 0; b < blocks; b += kernel.TileCols / kernel.Block {
			nb := min(blocks-b, kernel.TileCols/kernel.Block)
			c := b * kernel.Block
			cols := min(p.n-c, kernel.TileCols)
			packed := p.b[b*p.k*kernel.Block:]
			for r := 0; r < rows; r += kernel.TileRows {
				nr := min(rows-r, kernel.TileRows)
				kernel.FloatTile(&tile, left[r*p.k:], p.k, packed, p.k, nr, nb)
				for i := range nr {
					o := (r0+r+i)*p.LDD + c
					kernel.BiasClamp(dst[o:o+cols], tile[i*kernel.TileCols:], p.bias[c:c+cols], p.lo, p.hi)
				}
			}
		}
	}
}

// FlipOf is the bit to flip so that an 8-bit quantized type becomes unsigned
// with its zero point 128 higher.
func FlipOf(t nn.OperandType) byte {
	if t == nn.TensorQuant8Asymm {
		return 0
	}
	return 0x80
}
