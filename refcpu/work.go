package refcpu

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// work is what the timing model knows about an operation.
type work struct {
	class        KernelClass
	precision    Precision
	macs         int64
	elementBytes float64 // ClassElementwise: bytes through the SIMD units
	constBytes   int64
	tensors      []int64 // bytes of each activation read or written
}

// elementCost is the work per byte moved of an elementwise operation, 1 for a
// copy: assumed, from the instruction counts of straightforward NEON loops.
// Requantizing multiplies run on one pipe at half rate.
var elementCost = [nn.OperationCount]struct{ float, quant float64 }{
	nn.OpAdd:           {1, 6},
	nn.OpSub:           {1, 6},
	nn.OpMul:           {1, 4},
	nn.OpAveragePool2D: {1, 2},
	nn.OpMaxPool2D:     {1, 1},
	nn.OpL2Pool2D:      {1, 1},
	nn.OpMean:          {1, 2},
	nn.OpSoftmax:       {12, 40},
	nn.OpLogSoftmax:    {12, 40},
	nn.OpLogistic:      {12, 4},
	nn.OpTanh:          {12, 4},
	nn.OpExp:           {10, 4},
	nn.OpLog:           {10, 4},
	nn.OpPow:           {24, 24},
	nn.OpQuantize:      {1, 2},
	nn.OpDequantize:    {1, 2},
}

// workOf measures an operation.
func workOf(v opspec.View, op *nn.Operation) (work, error) {
	w := work{class: ClassElementwise, macs: v.MACs(op)}
	key := v.Operands[op.Inputs[0]].Type
	switch {
	case key == nn.TensorFloat16:
		w.precision = PrecisionF16
	case key.ElementBytes() == 1:
		w.precision = PrecisionI8
	}
	switch op.Type {
	case nn.OpConv2D:
		w.class = ClassConv
	case nn.OpDepthwiseConv2D:
		w.class = ClassDepthwise
	case nn.OpFullyConnected:
		w.class = ClassDense
	}
	total := 0.
	for k, list := range [2][]uint32{op.Inputs, op.Outputs} {
		for _, i := range list {
			o := &v.Operands[i]
			if o.Type.IsScalar() || o.Lifetime == nn.NoValue {
				continue
			}
			if _, err := v.Dims(i); err != nil {
				return w, err
			}
			n := o.Bytes()
			total += float64(n)
			if k == 0 && o.IsConst() {
				w.constBytes += n
			} else {
				w.tensors = append(w.tensors, n)
			}
		}
	}
	if w.class != ClassElementwise {
		return w, nil
	}
	cost := elementCost[op.Type]
	factor := cost.float
	if w.precision == PrecisionI8 {
		factor = cost.quant
	}
	if p, err := v.Pool(op); err == nil {
		out := float64(nn.Elements(p.OutputDims())) * float64(key.ElementBytes())
		total = out * float64(p.KH) * float64(p.KW)
	}
	w.elementBytes = total * math.Max(factor, 1)
	return w, nil
}
