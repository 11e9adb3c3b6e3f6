package pass

import (
	"slices"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// expandNormalizations makes squares, sums and quotients of normalizations:
//
//	L2_POOL_2D                    sqrt(AVERAGE_POOL_2D(x * x))
//	L2_NORMALIZATION              x / max(sqrt(sum of x * x along the axis), 1e-6)
//	LOCAL_RESPONSE_NORMALIZATION  x / (bias + alpha * sum of x * x within the radius) ^ beta
//	INSTANCE_NORMALIZATION        (x - mean) * gamma / sqrt(mean of (x - mean)^2 + epsilon) + beta
func expandNormalizations(g *graph.Graph) (changed bool, err error) {
	return expandAll(g, map[nn.OperationType]expansion{
		nn.OpL2Pool2D: expandL2Pool, nn.OpL2Normalization: expandL2Normalization,
		nn.OpLocalResponseNormalization: expandLocalResponse, nn.OpInstanceNormalization: expandInstanceNormalization,
	})
}

func expandL2Pool(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Pool](r.g.View(), op)
	a, bound := r.g.View().Bind(op)
	if err != nil || bound != nil || p.NCHW || !float(r.g, p.Input, p.Output) {
		return false
	}
	x := r.real(p.Input)
	pool := nn.Operation{Type: nn.OpAveragePool2D, Inputs: slices.Clone(op.Inputs), Outputs: []uint32{r.temporary(r.g.Operands[p.Output].Dimensions)}}
	pool.Inputs[0] = r.binary(nn.OpMul, x, x)
	pool.Inputs[a.Position("activation")] = r.g.AddInt32(int32(nn.ActNone))
	r.emit(pool)
	r.into(r.activated(r.unary(nn.OpSqrt, pool.Outputs[0]), p.Act), p.Output)
	return true
}

// axisOf is the axis of an operation along one.
func axisOf(p *opspec.Along) int32 {
	axis, inner := len(p.Dims)-1, 1
	for inner < p.Inner || p.Depth != int(p.Dims[axis]) {
		inner *= int(p.Dims[axis])
		axis--
	}
	return int32(axis)
}

func expandL2Normalization(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Along](r.g.View(), op)
	if err != nil || !float(r.g, p.Input, p.Output) {
		return false
	}
	x := r.real(p.Input)
	norm := r.unary(nn.OpSqrt, r.sum(r.binary(nn.OpMul, x, x), axisOf(&p)))
	r.into(r.binary(nn.OpDiv, x, r.binary(nn.OpMaximum, norm, r.number(1e-6))), p.Output)
	return true
}

func expandLocalResponse(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.Along](r.g.View(), op)
	if err != nil || !float(r.g, p.Input, p.Output) {
		return false
	}
	radius := min(p.Radius, p.Depth-1)
	if 2*radius+1 > maxPieces {
		return false
	}
	axis := int(axisOf(&p))
	x := r.real(p.Input)
	squares := r.binary(nn.OpMul, x, x)
	sum := squares
	if radius > 0 { // padded squares, shifted and added
		dims := slices.Clone(r.g.Operands[x].Dimensions)
		dims[axis] += uint32(2 * radius)
		paddings := make([]int32, 2*len(dims))
		paddings[2*axis], paddings[2*axis+1] = int32(radius), int32(radius)
		list := r.g.AddOperand(nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{uint32(len(dims)), 2}, Lifetime: nn.ConstantCopy, Data: graph.Int32Bytes(paddings...)})
		padded := r.apply(nn.OpPad, dims, squares, list)
		sum = r.slice(padded, axis, 0, p.Depth)
		for i := 1; i <= 2*radius; i++ {
			sum = r.binary(nn.OpAdd, sum, r.slice(padded, axis, i, p.Depth))
		}
	}
	scale := r.binary(nn.OpAdd, r.binary(nn.OpMul, sum, r.number(p.Alpha)), r.number(p.Bias))
	r.into(r.binary(nn.OpMul, x, r.binary(nn.OpPow, scale, r.number(-p.Beta))), p.Output)
	return true
}

func expandInstanceNormalization(r *rewriter, op *nn.Operation) bool {
	p, err := opspec.Read[opspec.InstanceNorm](r.g.View(), op)
	if err != nil || p.NCHW || !float(r.g, p.Input, p.Output) {
		return false
	}
	x := r.real(p.Input)
	d := r.binary(nn.OpSub, x, r.mean(x, 1, 2))
	variance := r.mean(r.binary(nn.OpMul, d, d), 1, 2)
	deviation := r.unary(nn.OpSqrt, r.binary(nn.OpAdd, variance, r.number(p.Epsilon)))
	scaled := r.binary(nn.OpMul, r.binary(nn.OpDiv, d, deviation), r.number(p.Gamma))
	r.into(r.binary(nn.OpAdd, scaled, r.number(p.Beta)), p.Output)
	return true
}
