package pass

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxStuffed bounds the elements of an image with zeros between its pixels.
const maxStuffed = 1 << 28

// expandTransposeConv makes a convolution of the image with zeros between its pixels and the
// filter turned by 180 degrees:
//
//	y = TRANSPOSE_CONV_2D(x, f, b, stride s)
//	->
//	u[s*i] = x[i], else 0      PAD of (N*H, W, C) to (N*H, s*W, s*C), row by row the same bytes
//	y = CONV_2D(u, REVERSE(f), b, stride 1)
//
// A constant filter is turned when the model is prepared. One with a scale per channel that
// comes at run time has no REVERSE: then image and output are turned instead.
func expandTransposeConv(g *graph.Graph) (changed bool, err error) {
	return expand(g, nn.OpTransposeConv2D, func(r *rewriter, op *nn.Operation) bool {
		c, err := opspec.Read[opspec.TransposeConv](g.View(), op)
		if err != nil || c.NCHW || !g.Operands[c.Output].Known() {
			return false
		}
		h, w := c.H*c.StrideH, c.W*c.StrideW
		if c.StrideH > maxStuffed || c.StrideW > maxStuffed || int64(c.N*h)*int64(w)*int64(c.C) > maxStuffed || c.N*c.C == 0 {
			return false
		}
		top, bottom, left, right := c.KH-1-c.Top, c.KH-c.StrideH-c.Bottom, c.KW-1-c.Left, c.KW-c.StrideW-c.Right
		if h+min(top, 0)+min(bottom, 0) < 1 || w+min(left, 0)+min(right, 0) < 1 {
			return false // the output lies beside the image
		}
		x := r.stuff(c.Input, c.N, c.H, c.W, c.C, c.StrideH, c.StrideW)
		x = r.cut(x, 1, top, bottom)
		x = r.cut(x, 2, left, right)
		filter, y := c.Filter, c.Output
		if sliceable(g, filter) {
			filter = r.reverse(r.reverse(filter, 1), 2)
		} else {
			x, y = r.reverse(r.reverse(x, 1), 2), g.AddTemporary(y, g.Operands[y].Dimensions)
			top, bottom, left, right = bottom, top, right, left
		}
		in := []uint32{x, filter, c.Bias}
		for _, n := range []int{max(left, 0), max(right, 0), max(top, 0), max(bottom, 0), 1, 1, int(c.Act)} {
			in = append(in, g.AddInt32(int32(n)))
		}
		r.emit(nn.Operation{Type: nn.OpConv2D, Inputs: in, Outputs: []uint32{y}})
		if y != c.Output {
			z := g.AddTemporary(y, g.Operands[y].Dimensions)
			r.emit(nn.Operation{Type: nn.OpReverse, Inputs: []uint32{y, g.AddInt32s(1)}, Outputs: []uint32{z}})
			r.emit(nn.Operation{Type: nn.OpReverse, Inputs: []uint32{z, g.AddInt32s(2)}, Outputs: op.Outputs})
		}
		return true
	})
}

// stuff puts sh-1 rows and sw-1 columns of zeros behind each pixel of an image.
func (r *rewriter) stuff(x uint32, n, h, w, c, sh, sw int) uint32 {
	if sh == 1 && sw == 1 {
		return x
	}
	g := r.g
	x = r.reshape(x, uint32(n*h), uint32(w), uint32(c))
	pads := g.AddInt32s(0, 0, 0, int32((sh-1)*w), 0, int32((sw-1)*c))
	o := &g.Operands[pads]
	o.Dimensions = []uint32{3, 2}
	y := g.AddTemporary(x, []uint32{uint32(n * h), uint32(sh * w), uint32(sw * c)})
	r.emit(nn.Operation{Type: nn.OpPad, Inputs: []uint32{x, pads}, Outputs: []uint32{y}})
	return r.reshape(y, uint32(n), uint32(h*sh), uint32(w*sw), uint32(c))
}

// cut shortens a dimension of x by what the padding before and after it is below 0.
func (r *rewriter) cut(x uint32, dim, before, after int) uint32 {
	first := max(-before, 0)
	return r.slice(x, dim, first, int(r.g.Operands[x].Dimensions[dim])-first-max(-after, 0))
}
