package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsMath are the operations of elementwise arithmetic, comparison and activation.
var rowsMath = []Row{
	{Op: nn.OpAdd, Since: V10, Types: "F32@1.0 Q8@1.0 F16@1.2 Q8S@1.3 I32@1.3", MaxRank: 4, Forms: []Form{
		{V10, "a:T b:T activation:int32", "output:T"},
	}},
	{Op: nn.OpSub, Since: V11, Types: "F32@1.1 F16@1.2 Q8@1.2 Q8S@1.3 I32@1.3", MaxRank: 4, Forms: []Form{
		{V11, "a:T b:T activation:int32", "output:T"},
	}},
	{Op: nn.OpMul, Since: V10, Types: "F32@1.0 Q8@1.0 F16@1.2 Q8S@1.3 I32@1.3", MaxRank: 4, Forms: []Form{
		{V10, "a:T b:T activation:int32", "output:T"},
	}},
	{Op: nn.OpDiv, Since: V11, Types: "F32@1.1 F16@1.2 I32@1.3", MaxRank: 4, Forms: []Form{
		{V11, "a:T b:T activation:int32", "output:T"},
	}},
	{Op: nn.OpMaximum, Since: V12, Types: number12, Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpMinimum, Since: V12, Types: number12, Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpPow, Since: V12, Types: float12, Forms: []Form{
		{V12, "base:T exponent:T", "output:T"},
	}},
	{Op: nn.OpPrelu, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "input:T alpha:T", "output:T"},
	}},
	{Op: nn.OpEqual, Since: V12, Types: any12, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpNotEqual, Since: V12, Types: any12, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpLess, Since: V12, Types: any12, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpLessEqual, Since: V12, Types: any12, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpGreater, Since: V12, Types: any12, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpGreaterEqual, Since: V12, Types: any12, Forms: []Form{
		{V12, "a:T b:T", "output:B8"},
	}},
	{Op: nn.OpLogicalAnd, Since: V12, Types: "B8@1.2", Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpLogicalOr, Since: V12, Types: "B8@1.2", Forms: []Form{
		{V12, "a:T b:T", "output:T"},
	}},
	{Op: nn.OpLogicalNot, Since: V12, Types: "B8@1.2", Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpSelect, Since: V12, Types: number12, Key: "in1", Forms: []Form{
		{V12, "condition:B8 a:T b:T", "output:T"},
	}},
	{Op: nn.OpAbs, Since: V12, Types: "F16@1.2 F32@1.2 I32@1.3", Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpNeg, Since: V12, Types: "F16@1.2 F32@1.2 I32@1.2", Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpExp, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpLog, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpSin, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpSqrt, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpRsqrt, Since: V12, Types: "F16@1.2 F32@1.2 Q8@FL7 Q8S@FL7", Forms: []Form{
		{V12, "input:T", "output:T"},
	}},
	{Op: nn.OpFloor, Since: V10, Types: float10, MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpRelu, Since: V10, Types: floatQuant10, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpRelu1, Since: V10, Types: floatQuant10, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpRelu6, Since: V10, Types: floatQuant10, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpLogistic, Since: V10, Types: floatQuant10, Out: quant256, MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpTanh, Since: V10, Types: "F32@1.0 F16@1.2 Q8@1.2 Q8S@1.3", Out: quant128, MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:T"},
	}},
	{Op: nn.OpElu, Since: V13, Types: "F16@1.3 F32@1.3", Forms: []Form{
		{V13, "input:T alpha:S", "output:T"},
	}},
	{Op: nn.OpHardSwish, Since: V13, Types: "F16@1.3 F32@1.3 Q8@1.3 Q8S@1.3", Forms: []Form{
		{V13, "input:T", "output:T"},
	}},
	{Op: nn.OpSoftmax, Since: V10, Types: floatQuant10, Out: quant256, MaxRank: 4, Forms: []Form{
		{V10, "input:T beta:S [1.2 axis:int32]", "output:T"},
	}},
	{Op: nn.OpLogSoftmax, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T beta:S axis:int32", "output:T"},
	}},
	{Op: nn.OpQuantize, Since: V12, Types: float12, Forms: []Form{
		{V12, "input:T", "output:Q8 | 1.3 output:Q8S"},
	}},
	{Op: nn.OpDequantize, Since: V10, Types: "Q8@1.0 Q8SYM@1.2 Q8CH@1.2 Q8S@1.3", MaxRank: 4, Forms: []Form{
		{V10, "input:T", "output:F32 | 1.2 output:F16"},
	}},
	{Op: nn.OpRequantize, Since: Extension, Types: "Q8@extension Q8S@extension", Forms: []Form{
		{Extension, "input:T", "output:Q8 | output:Q8S"},
	}},
	{Op: nn.OpCast, Since: V12, Types: "F16@1.2 F32@1.2 I32@1.2 Q8@1.2 B8@1.3 Q16@1.3 Q16S@1.3 Q8S@1.3 Q8SYM@1.3", Forms: []Form{
		{V12, "input:T", "output:C"},
	}},
}
