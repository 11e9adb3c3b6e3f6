package graph

import (
	"bytes"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxDense bounds the elements of a filter that the expansion of a depthwise convolution makes: 3x3 taps of
// 170 channels (assumed, D-1396). It bounds the time that preparing takes.
const maxDense = 1 << 18

// expandDepthwiseConv makes a convolution whose filter has zeros between the channels:
//
//	y = DEPTHWISE_CONV_2D(x, f, b, multiplier m)
//	->
//	y = CONV_2D(x, F, b)   with F[k, h, w, c] = f[0, h, w, k] where k / m = c, else zero
//
// It is C times the multiplications, on arrays that have the lanes for them. Sums of integers are the
// same bit for bit. The filter must be constant.
func expandDepthwiseConv(g *Graph) (changed bool, err error) {
	return g.expand(nn.OpDepthwiseConv2D, func(r *rewriter, op *nn.Operation) bool {
		c, err := opspec.Read[opspec.Conv](g.View(), op)
		a, bound := g.View().Bind(op)
		if err != nil || bound != nil || c.NCHW || !g.Operands[c.Filter].IsConst() {
			return false
		}
		f := g.Operands[c.Filter]
		data, err := g.View().Data(c.Filter)
		if err != nil || int64(len(data)) != f.Bytes() || f.Bytes()*int64(c.C) > maxDense || f.Channel != nil && f.Channel.Dim != 3 {
			return false
		}
		size := f.Type.ElementBytes()
		dense := make([]byte, len(data)*c.C)
		if size == 1 {
			copy(dense, bytes.Repeat([]byte{byte(f.ZeroPoint)}, len(dense)))
		}
		taps := c.KH * c.KW
		for k := range c.K {
			for t := range taps {
				copy(dense[((k*taps+t)*c.C+k/c.Multiplier)*size:], data[(t*c.K+k)*size:][:size])
			}
		}
		f.Lifetime, f.Data = nn.ConstantCopy, dense
		f.Dimensions = []uint32{uint32(c.K), uint32(c.KH), uint32(c.KW), uint32(c.C)}
		if f.Channel != nil {
			f.Channel = &nn.ChannelQuant{Dim: 0, Scales: f.Channel.Scales}
		}
		conv := nn.Operation{Type: nn.OpConv2D, Outputs: op.Outputs}
		for i, x := range op.Inputs {
			switch i {
			case a.Position("filter"):
				x = g.AddOperand(f)
			case a.Position("depth_multiplier"):
				continue
			}
			conv.Inputs = append(conv.Inputs, x)
		}
		r.emit(conv)
		return true
	})
}
