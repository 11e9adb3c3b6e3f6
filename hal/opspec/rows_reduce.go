package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsReduce are the operations of reduction and normalisation.
var rowsReduce = []Row{
	{Op: nn.OpMean, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V11, "input:T axes:I32 keep_dims:int32", "output:T"},
	}},
	{Op: nn.OpReduceSum, Since: V12, Types: float12, MaxRank: 4, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceProd, Since: V12, Types: float12, MaxRank: 4, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceMax, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceMin, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceAll, Since: V12, Types: "B8@1.2", MaxRank: 4, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpReduceAny, Since: V12, Types: "B8@1.2", MaxRank: 4, Forms: []Form{
		{V12, "input:T axes:I32 keep_dims:bool", "output:T"},
	}},
	{Op: nn.OpArgmax, Since: V12, Types: number12, Forms: []Form{
		{V12, "input:T axis:int32", "output:I32"},
	}},
	{Op: nn.OpArgmin, Since: V12, Types: number12, Forms: []Form{
		{V12, "input:T axis:int32", "output:I32"},
	}},
	{Op: nn.OpL2Normalization, Since: V10, Types: "F32@1.0 F16@1.2 Q8@1.2 Q8S@1.3", Out: quant128, MaxRank: 4, Forms: []Form{
		{V10, "input:T [1.2 axis:int32]", "output:T"},
	}},
	{Op: nn.OpLocalResponseNormalization, Since: V10, Types: float10, MaxRank: 4, Forms: []Form{
		{V10, "input:T radius:int32 bias:S alpha:S beta:S [1.2 axis:int32]", "output:T"},
	}},
	{Op: nn.OpInstanceNormalization, Since: V12, Types: float12, Rank: 4, Forms: []Form{
		{V12, "input:T gamma:S beta:S epsilon:S nchw:bool", "output:T"},
	}},
}
