package opspec

import (
	"fmt"
	"slices"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
	"github.com/nnsoc/nnsoc/nn/quantized"
)

// reduceRows are reductions and normalizations. L2_NORMALIZATION costs a sum of squares, a
// root and a product, LOCAL_RESPONSE_NORMALIZATION a running sum of squares and a power.
var reduceRows = []Row{
	{Op: nn.OpMean, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Args: meanArgs,
		Work: WorkRule{Float: 1, Quant: 3, Per: inputElements},
		Forms: []Form{
			{V11, "input:T axes:I32 keep_dims:int32", "output:T"},
		}},
	{Op: nn.OpReduceSum, Since: V12, Types: float12, MaxRank: 4, Args: meanArgs, Work: reduced, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceProd, Since: V12, Types: float12, MaxRank: 4, Args: meanArgs, Work: reduced, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceMax, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Args: meanArgs, Work: reduced, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceMin, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Args: meanArgs, Work: reduced, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceAll, Since: V12, Types: "B8@1.2", MaxRank: 4, Args: meanArgs, Work: reduced, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceAny, Since: V12, Types: "B8@1.2", MaxRank: 4, Args: meanArgs, Work: reduced, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpArgmax, Since: V12, Types: number12, Args: alongArgs, Work: WorkRule{Float: 2, Quant: 2, Per: inputElements}, Forms: []Form{
		{V12, "input:T axis:int32", "output:I32"},
	}},
	{Op: nn.OpArgmin, Since: V12, Types: number12, Args: alongArgs, Work: WorkRule{Float: 2, Quant: 2, Per: inputElements}, Forms: []Form{
		{V12, "input:T axis:int32", "output:I32"},
	}},
	{Op: nn.OpL2Normalization, Since: V10, Types: "F32@1.0 F16@1.2 Q8@1.2 Q8S@1.3", Out: quant128, MaxRank: 4, Args: alongArgs, Until12: ranksUntil12(4),
		Work: WorkRule{Float: 4, Quant: stepsRequant},
		Forms: []Form{
			{V10, "input:T [1.2 axis:int32=-1]", "output:T"},
		}},
	{Op: nn.OpLocalResponseNormalization, Since: V10, Types: float10, MaxRank: 4, Args: alongArgs, Until12: ranksUntil12(4),
		Work: WorkRule{Float: 4 + stepsPow},
		Forms: []Form{
			{V10, "input:T radius:int32 bias:S alpha:S beta:S [1.2 axis:int32=-1]", "output:T"},
		}},
	{Op: nn.OpInstanceNormalization, Since: V12, Types: float12, Rank: 4, Args: instanceNormArgs, Work: WorkRule{Float: 6}, Forms: []Form{
		{V12, "input:T gamma:S beta:S epsilon:S nchw:bool", "output:T"},
	}},
}

var (
	meanArgs         = Arguments[Mean]{Read: readMean, Shapes: one(func(m *Mean) []uint32 { return m.Dims })}
	alongArgs        = Arguments[Along]{Read: readAlong, Shapes: one(func(a *Along) []uint32 { return a.Dims })}
	instanceNormArgs = Arguments[InstanceNorm]{Read: readInstanceNorm, Shapes: one(func(n *InstanceNorm) []uint32 { return n.Dims })}
)

// reduced is a step for each element that goes into a result.
var reduced = WorkRule{Float: 1, Quant: 2, Per: inputElements}

// Mean is a MEAN or another reduction over some axes. Without elements to reduce, as an execution may have it, the result
// is what the reduction begins with: 0 for a sum, 1 for a product, the least number for a maximum, no number for a mean of
// reals.
type Mean struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Reduce        []bool   // per input dimension
	KeepDims      bool
	Count         int // input elements per output element
}

func readMean(a *Args) (Mean, error) {
	m := Mean{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key, Count: 1}
	var err error
	m.In = try.V(a.Dims("input"))
	if len(m.In) > 4 {
		return m, a.errorf("input", "rank %d, at most 4", len(m.In))
	}
	axes := try.V(a.Int32s("axes"))
	if a.Op.Type == nn.OpMean {
		k := try.V(a.Int32("keep_dims"))
		m.KeepDims = k > 0
	} else if m.KeepDims, err = a.Bool("keep_dims"); err != nil {
		return m, err
	}
	m.Reduce = make([]bool, len(m.In))
	for _, x := range axes {
		i, err := axis(x, len(m.In))
		if err != nil {
			return m, a.errorf("axes", "%w", err)
		}
		m.Reduce[i] = true
	}
	m.Dims = []uint32{}
	for i, d := range m.In {
		switch {
		case !m.Reduce[i]:
			m.Dims = append(m.Dims, d)
		case m.KeepDims:
			m.Dims = append(m.Dims, 1)
		}
		if m.Reduce[i] {
			m.Count *= int(d)
		}
	}
	if len(m.Dims) == 0 {
		m.Dims = append(m.Dims, 1)
	}
	if m.Count == 0 && a.Op.Type == nn.OpMean && m.Type != nn.TensorFloat32 && m.Type != nn.TensorFloat16 {
		return m, a.errorf("input", "shape %v has nothing to average, and integers have no value for it", m.In)
	}
	return m, nil
}

// Along is an operation along one axis of a tensor seen as [Outer, Depth,
// Inner]: L2_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION, ARGMAX, ARGMIN.
type Along struct {
	Input, Output       uint32 // operand indexes
	Type                nn.OperandType
	Dims                []uint32 // of the output
	Outer, Depth, Inner int
	// LOCAL_RESPONSE_NORMALIZATION
	Radius            int
	Bias, Alpha, Beta float32
}

func readAlong(a *Args) (Along, error) {
	r := Along{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	in := try.V(a.Dims("input"))
	if m := a.Row.MaxRank; m > 0 && len(in) > m {
		return r, a.errorf("input", "rank %d, at most %d", len(in), m)
	}
	x := try.V(a.Int32("axis"))
	at, err := axis(x, len(in))
	if err != nil {
		return r, a.errorf("axis", "%w", err)
	}
	r.Outer, r.Depth, r.Inner = splitAt(in, at)
	r.Dims = in
	switch a.Op.Type {
	case nn.OpArgmax, nn.OpArgmin:
		r.Dims = append(append([]uint32{}, in[:at]...), in[at+1:]...)
		if len(r.Dims) == 0 {
			r.Dims = []uint32{1}
		}
		if r.Depth == 0 {
			return r, a.errorf("input", "shape %v is empty along axis %d", in, at)
		}
	case nn.OpLocalResponseNormalization:
		n := try.V(a.Int32("radius"))
		if n < 0 {
			return r, a.errorf("radius", "%d is negative", n)
		}
		r.Radius = int(n)
		for _, p := range []struct {
			name string
			dst  *float32
		}{{"bias", &r.Bias}, {"alpha", &r.Alpha}, {"beta", &r.Beta}} {
			*p.dst = try.V(a.Float(p.name))
		}
	}
	return r, nil
}

// InstanceNorm is an INSTANCE_NORMALIZATION.
type InstanceNorm struct {
	Input, Output        uint32 // operand indexes
	Dims                 []uint32
	N, H, W, C           int
	NCHW                 bool
	Gamma, Beta, Epsilon float32
}

func readInstanceNorm(a *Args) (InstanceNorm, error) {
	n := InstanceNorm{Input: a.In("input"), Output: a.Op.Outputs[0]}
	n.NCHW = try.V(a.Bool("nchw"))
	n.N, n.H, n.W, n.C = try.V4(a.image("input", n.NCHW))
	n.Dims, _ = a.Dims("input")
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"gamma", &n.Gamma}, {"beta", &n.Beta}, {"epsilon", &n.Epsilon}} {
		*p.dst = try.V(a.Float(p.name))
	}
	return n, nil
}

// ranksUntil12 demands one of the ranks of input 0, as far as it is known.
func ranksUntil12(ranks ...int) func(*Args) error {
	return func(a *Args) error {
		r := len(a.View.Operands[a.Op.Inputs[0]].Dimensions)
		if r == 0 || slices.Contains(ranks, r) {
			return nil
		}
		return fmt.Errorf("%s: rank %d of the input needs HAL 1.2", a.Op.Type, r)
	}
}

// softmaxRows are the normalized exponentials.
var softmaxRows = []Row{
	{Op: nn.OpSoftmax, Since: V10, Types: floatQuant10, Out: quant256, MaxRank: 4, Args: softmaxArgs, Until12: ranksUntil12(2, 4),
		Quant: fits(readSoftmax, (*Softmax).Quant),
		Work:  WorkRule{Float: stepsSoftmax, Quant: 80},
		Forms: []Form{
			{V10, "input:T beta:S [1.2 axis:int32=-1]", "output:T"},
		}},
	{Op: nn.OpLogSoftmax, Since: V12, Types: float12, Args: softmaxArgs, Work: WorkRule{Float: stepsSoftmax, Quant: 80}, Forms: []Form{
		{V12, "input:T beta:S axis:int32", "output:T"},
	}},
}

var softmaxArgs = Arguments[Softmax]{Read: readSoftmax, Shapes: one(func(s *Softmax) []uint32 { return s.Dims })}

// Softmax is a SOFTMAX, seen as [Outer, Depth, Inner] with the softmax along
// Depth.
type Softmax struct {
	Input, Output       uint32 // operand indexes
	Type                nn.OperandType
	Dims                []uint32
	Beta                float32
	Axis                int
	Outer, Depth, Inner int
}

func readSoftmax(a *Args) (Softmax, error) {
	s := Softmax{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	s.Dims = try.V(a.Dims("input"))
	if r := a.Row.MaxRank; len(s.Dims) == 0 || r > 0 && len(s.Dims) > r {
		return s, a.errorf("input", "rank %d, 1 to %d needed", len(s.Dims), r)
	}
	s.Beta = try.V(a.Float("beta"))
	if !(s.Beta > 0) {
		return s, a.errorf("beta", "%v is not positive", s.Beta)
	}
	ax := try.V(a.Int32("axis"))
	if s.Axis, err = axis(ax, len(s.Dims)); err != nil {
		return s, a.errorf("axis", "%w", err)
	}
	s.Outer, s.Depth, s.Inner = splitAt(s.Dims, s.Axis)
	return s, nil
}

// splitAt views a shape as [outer, dims[axis], inner].
func splitAt(dims []uint32, axis int) (outer, depth, inner int) {
	return int(nn.Elements(dims[:axis])), int(dims[axis]), int(nn.Elements(dims[axis+1:]))
}

// Quant returns the arithmetic of a quantized SOFTMAX.
func (s *Softmax) Quant(v View) (quantized.Softmax, error) {
	q := quantized.Softmax{}
	scale, err := v.quantScale(s.Input)
	if err != nil {
		return q, err
	}
	if err := v.checkFixedQuant(s.Output, quant256); err != nil {
		return q, err
	}
	real := min(float64(s.Beta)*scale*(1<<26), 1<<31-1)
	if q.Mult, err = fixedpoint.GreaterThanOne("softmax: beta times scale", real); err != nil {
		return q, err
	}
	q.DiffMin = -fixedpoint.InputRadius(5, q.Mult.Shift)
	q.Lo, q.Hi = quantized.Limits(v.Operands[s.Output].Type)
	return q, nil
}
