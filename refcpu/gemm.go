package refcpu

import (
	"encoding/binary"
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu/internal/kernel"
)

// quantWeights are the packed weights of a quantized matrix product. Inputs
// are taken as unsigned and weights as signed bytes, whatever their type: a
// flipped top bit moves value and zero point by 128.
type quantWeights struct {
	k, n  int
	ldd   int // values from one row of the result to the next
	b     []int8
	rq    kernel.Requant
	wZero int32 // zero point of the signed weights
	xFlip byte
	xZero int32 // zero point of the unsigned input
	zero  int32
	lo    int32
	hi    int32
}

// packQuant packs weights w [n][k] of type wt with their bias. The zero points
// are folded into the bias:
//
//	sum (x-zx)(w-zw) = sum x*w - zw sum x - zx sum w + k zx zw
func packQuant(w []byte, wt nn.OperandType, xt nn.OperandType, bias []int32, k, n int, q *opspec.GEMMQuant) *quantWeights {
	p := &quantWeights{k: k, n: n, ldd: n, rq: kernel.NewRequant(n), zero: q.OutZero, lo: q.Lo, hi: q.Hi}
	wFlip := flipOf(wt) ^ 0x80 // unsigned weights become signed
	p.wZero = q.FilterZero
	if wFlip != 0 {
		p.wZero -= 128
	}
	p.xFlip = flipOf(xt)
	p.xZero = q.InZero
	if p.xFlip != 0 {
		p.xZero += 128
	}
	p.b = make([]int8, kernel.PackedBytes(k, n)+slack)
	kernel.PackS8(p.b, w, n, k, wFlip)
	for c := range n {
		sum := int32(0)
		for _, b := range w[c*k : c*k+k] {
			sum += int32(int8(b ^ wFlip))
		}
		p.rq.Bias[c] = bias[c] - p.xZero*sum + int32(k)*p.xZero*p.wZero
		setMultiplier(&p.rq, c, q.Multiplier(c))
	}
	return p
}

func setMultiplier(rq *kernel.Requant, c int, m fixedpoint.Multiplier) {
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
type gatherRow func(dst []byte, r int)

// product computes rows [lo, hi) of the requantized product. Without gather,
// a holds the rows, lda bytes apart.
func (p *quantWeights) product(dst, a []byte, lda int, gather gatherRow, ar *arena, lo, hi int, roundOnce bool) {
	row := (*kernel.Requant).Row
	if roundOnce && p.xFlip != 0 {
		row = (*kernel.Requant).RowOnce
	}
	quads := kernel.Quads(p.k)
	blocks := kernel.Blocks(p.n)
	var scratch []byte
	if gather != nil {
		lda = 4 * quads
	}
	step := blockRows(lda)
	if gather != nil {
		scratch = ar.bytes(step * lda)
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
				adds[r] = -p.wZero * kernel.SumBytes(left[r*lda:r*lda+p.k])
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
					o := (r0+r+i)*p.ldd + c
					row(&p.rq, dst[o:o+cols], tile[i*kernel.TileCols:(i+1)*kernel.TileCols], c, adds[r+i], p.zero, p.lo, p.hi)
				}
			}
		}
	}
}

// floatWeights are the packed weights of a float matrix product.
type floatWeights struct {
	k, n   int
	ldd    int // values from one row of the result to the next
	b      []float32
	bias   []float32
	lo, hi float32
}

func packFloat(w, bias []float32, k, n int, act nn.FusedActivation) *floatWeights {
	p := &floatWeights{k: k, n: n, ldd: n, bias: append([]float32(nil), bias...)}
	p.lo, p.hi = opspec.FloatActRange(act)
	p.b = view[float32](alignedBytes(4*kernel.PackedFloats(k, n) + slack))
	kernel.PackF32(p.b, w, n, k)
	return p
}

// product computes rows [lo, hi) of the product. Without gather, a holds the
// rows, k values apart.
func (p *floatWeights) product(dst, a []float32, gather func(dst []float32, r int), ar *arena, lo, hi int) {
	blocks := kernel.Blocks(p.n)
	step := blockRows(4 * p.k)
	var scratch []float32
	if gather != nil {
		scratch = ar.floats(step * p.k)
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
					o := (r0+r+i)*p.ldd + c
					kernel.BiasClamp(dst[o:o+cols], tile[i*kernel.TileCols:], p.bias[c:c+cols], p.lo, p.hi)
				}
			}
		}
	}
}

// floatValues reads a known float operand as float32.
func floatValues(v opspec.View, i uint32) ([]float32, error) {
	b, err := v.Data(i)
	if err != nil {
		return nil, err
	}
	if v.Operands[i].Type == nn.TensorFloat16 {
		f := make([]float32, len(b)/2)
		for k := range f {
			f[k] = opspec.Float16ToFloat32(binary.LittleEndian.Uint16(b[2*k:]))
		}
		return f, nil
	}
	f := make([]float32, len(b)/4)
	for k := range f {
		f[k] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*k:]))
	}
	return f, nil
}

// int32Values reads a known TENSOR_INT32 operand.
func int32Values(v opspec.View, i uint32) ([]int32, error) {
	b, err := v.Data(i)
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(b)/4)
	for k := range out {
		out[k] = int32(binary.LittleEndian.Uint32(b[4*k:]))
	}
	return out, nil
}
