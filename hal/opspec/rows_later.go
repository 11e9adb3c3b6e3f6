package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsLater are the operations of the feature levels above HAL 1.3.
var rowsLater = []Row{
	{Op: nn.OpBatchMatmul, Since: FL6, Types: "F16@FL6 F32@FL6 I32@FL6 Q8S@FL6", MaxRank: 4, Forms: []Form{
		{FL6, "lhs:T rhs:T adj_x:bool adj_y:bool", "output:T"},
	}},
	{Op: nn.OpPack, Since: FL6, Types: "F16@FL6 F32@FL6 I32@FL6 Q8@FL6 Q8S@FL6", Key: "out0", SameQuant: true, Forms: []Form{
		{FL6, "axis:int32 inputs:T...", "output:T"},
	}},
	{Op: nn.OpMirrorPad, Since: FL7, Types: "F16@FL7 F32@FL7 I32@FL7 Q8@FL7 Q8S@FL7", SameQuant: true, Forms: []Form{
		{FL7, "input:T paddings:I32 mode:int32", "output:T"},
	}},
	{Op: nn.OpReverse, Since: FL7, Types: "F16@FL7 F32@FL7 I32@FL7 Q8@FL7 Q8S@FL7", SameQuant: true, Forms: []Form{
		{FL7, "input:T axis:I32", "output:T"},
	}},
	{Op: nn.OpDensify, Since: Experimental, Types: "B8@experimental F16@experimental F32@experimental I32@experimental " +
		"Q16@experimental Q16S@experimental Q8@experimental Q8S@experimental Q8SYM@experimental", SameQuant: true, Rank: 1, Forms: []Form{
		{Experimental, "values:T traversal:I32 block_map:I32? format:I32 sizes:I32 metadata:I32...?", "output:T"},
	}},
}
