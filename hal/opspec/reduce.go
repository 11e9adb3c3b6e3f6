package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// reduceRows are reductions and normalizations. L2_NORMALIZATION takes a sum of squares, a
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

// Mean is a MEAN or another reduction over some axes.
type Mean struct {
	Input, Output uint32 // operand indexes
	Type          nn.OperandType
	In, Dims      []uint32 // shapes of input and output
	Reduce        []bool   // per input dimension
	KeepDims      bool
	Count         int // input elements per output element
}

// Mean reads a MEAN or a REDUCE operation.
func (v View) Mean(op *nn.Operation) (Mean, error) { return Read[Mean](v, op) }

func readMean(a *Args) (Mean, error) {
	m := Mean{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key, Count: 1}
	var err error
	if m.In, err = a.Dims("input"); err != nil {
		return m, err
	}
	if len(m.In) > 4 {
		return m, a.errorf("input", "rank %d, at most 4", len(m.In))
	}
	axes, err := a.Int32s("axes")
	if err != nil {
		return m, err
	}
	if a.Op.Type == nn.OpMean {
		k, err := a.Int32("keep_dims")
		if err != nil {
			return m, err
		}
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
	if m.Count == 0 {
		return m, a.errorf("input", "shape %v has nothing to reduce", m.In)
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

// Along reads an operation along one axis.
func (v View) Along(op *nn.Operation) (Along, error) { return Read[Along](v, op) }

func readAlong(a *Args) (Along, error) {
	r := Along{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	in, err := a.Dims("input")
	if err != nil {
		return r, err
	}
	if m := a.Row.MaxRank; m > 0 && len(in) > m {
		return r, a.errorf("input", "rank %d, at most %d", len(in), m)
	}
	x, err := a.Int32("axis")
	if err != nil {
		return r, err
	}
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
		n, err := a.Int32("radius")
		if err != nil {
			return r, err
		}
		if n < 0 {
			return r, a.errorf("radius", "%d is negative", n)
		}
		r.Radius = int(n)
		for _, p := range []struct {
			name string
			dst  *float32
		}{{"bias", &r.Bias}, {"alpha", &r.Alpha}, {"beta", &r.Beta}} {
			if *p.dst, err = a.Float(p.name); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// InstanceNorm is an INSTANCE_NORMALIZATION.
type InstanceNorm struct {
	Input, Output        uint32 // operand indexes
	Type                 nn.OperandType
	Dims                 []uint32
	N, H, W, C           int
	NCHW                 bool
	Gamma, Beta, Epsilon float32
}

// InstanceNorm reads an INSTANCE_NORMALIZATION.
func (v View) InstanceNorm(op *nn.Operation) (InstanceNorm, error) { return Read[InstanceNorm](v, op) }

func readInstanceNorm(a *Args) (InstanceNorm, error) {
	n := InstanceNorm{Input: a.In("input"), Output: a.Op.Outputs[0], Type: a.Key}
	var err error
	if n.NCHW, err = a.Bool("nchw"); err != nil {
		return n, err
	}
	if n.N, n.H, n.W, n.C, err = a.image("input", n.NCHW); err != nil {
		return n, err
	}
	n.Dims, _ = a.Dims("input")
	for _, p := range []struct {
		name string
		dst  *float32
	}{{"gamma", &n.Gamma}, {"beta", &n.Beta}, {"epsilon", &n.Epsilon}} {
		if *p.dst, err = a.Float(p.name); err != nil {
			return n, err
		}
	}
	return n, nil
}
