package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// Pool is an AVERAGE_POOL_2D, MAX_POOL_2D or L2_POOL_2D. Padding elements are
// left out of the average and never the maximum.
type Pool struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	N, C          int
	Window        // dilation 1; KH and KW are the pooling size
	Act           nn.FusedActivation
	NCHW          bool
}

// Pool reads a pooling operation.
func (v View) Pool(op *nn.Operation) (Pool, error) {
	a, err := v.bindAs(op, nn.OpAveragePool2D, nn.OpMaxPool2D, nn.OpL2Pool2D)
	if err != nil {
		return Pool{}, err
	}
	p := Pool{Input: a.In("input"), Output: op.Outputs[0], Type: a.Key}
	if p.NCHW, err = a.BoolOr("nchw", false); err != nil {
		return p, err
	}
	var h, w int
	if p.N, h, w, p.C, err = a.image("input", p.NCHW); err != nil {
		return p, err
	}
	if p.Window, err = a.window(h, w, 0, 0); err != nil {
		return p, err
	}
	if p.Top >= p.KH || p.Bottom >= p.KH || p.Left >= p.KW || p.Right >= p.KW {
		return p, a.errorf("filter_w", "%dx%d is not larger than each padding", p.KH, p.KW)
	}
	p.Act, err = a.activation()
	return p, err
}

// OutputDims is the shape of the result.
func (p *Pool) OutputDims() []uint32 { return imageDims(p.N, p.OutH, p.OutW, p.C, p.NCHW) }
