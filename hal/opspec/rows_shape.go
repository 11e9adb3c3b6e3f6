package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsShape are the operations of data movement and shape.
var rowsShape = []Row{
	{Op: nn.OpConcatenation, Since: V10, Types: floatQuant10, MaxRank: 4, Forms: []Form{
		{V10, "inputs:T... axis:int32", "output:T"},
	}},
	{Op: nn.OpSplit, Since: V12, Types: number12, SameQuant: true, Forms: []Form{
		{V12, "input:T axis:int32 count:int32", "outputs:T..."},
	}},
	{Op: nn.OpReshape, Since: V10, Types: floatQuant10 + " I32@FL6", SameQuant: true, MaxRank: 4, Forms: []Form{
		{V10, "input:T shape:I32", "output:T"},
	}},
	{Op: nn.OpSqueeze, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V11, "input:T dims:I32?", "output:T"},
	}},
	{Op: nn.OpExpandDims, Since: V12, Types: number12, SameQuant: true, Forms: []Form{
		{V12, "input:T axis:int32", "output:T"},
	}},
	{Op: nn.OpTranspose, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V11, "input:T perm:I32?", "output:T"},
	}},
	{Op: nn.OpPad, Since: V11, Types: floatQuant11, MaxRank: 4, Forms: []Form{
		{V11, "input:T paddings:I32", "output:T"},
	}},
	{Op: nn.OpPadV2, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V12, "input:T paddings:I32 pad_value:P", "output:T"},
	}},
	{Op: nn.OpSlice, Since: V12, Types: number12, SameQuant: true, Forms: []Form{
		{V12, "input:T begin:I32 size:I32", "output:T"},
	}},
	{Op: nn.OpStridedSlice, Since: V11, Types: floatQuant11, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V11, "input:T begin:I32 end:I32 strides:I32 begin_mask:int32 end_mask:int32 shrink_axis_mask:int32", "output:T"},
	}},
	{Op: nn.OpTile, Since: V12, Types: number12, SameQuant: true, Forms: []Form{
		{V12, "input:T multiples:I32", "output:T"},
	}},
	{Op: nn.OpGather, Since: V12, Types: number12, SameQuant: true, Forms: []Form{
		{V12, "input:T axis:int32 indices:I32", "output:T"},
	}},
	{Op: nn.OpFill, Since: V13, Types: "F16@1.3 F32@1.3 I32@1.3", Key: "out0", Forms: []Form{
		{V13, "dims:I32 value:E", "output:T"},
	}},
	{Op: nn.OpRank, Since: V13, Types: "F16@1.3 F32@1.3 I32@1.3 Q8@1.3 Q16S@1.3 B8@1.3 Q8CH@1.3 Q16@1.3 Q8SYM@1.3 Q8S@1.3", Forms: []Form{
		{V13, "input:T", "output:int32"},
	}},
	{Op: nn.OpDepthToSpace, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Forms: []Form{
		{V10, "input:T block_size:int32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpSpaceToDepth, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Forms: []Form{
		{V10, "input:T block_size:int32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpBatchToSpaceNd, Since: V11, Types: floatQuant11, SameQuant: true, Rank: 4, Forms: []Form{
		{V11, "input:T block_shape:I32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpSpaceToBatchNd, Since: V11, Types: floatQuant11, SameQuant: true, Rank: 4, Forms: []Form{
		{V11, "input:T block_shape:I32 paddings:I32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpChannelShuffle, Since: V12, Types: floatQuant12, SameQuant: true, MaxRank: 4, Forms: []Form{
		{V12, "input:T groups:int32 axis:int32", "output:T"},
	}},
	{Op: nn.OpResizeBilinear, Since: V10, Types: "F32@1.0 F16@1.2 Q8@1.2 Q8S@1.3", SameQuant: true, Forms: []Form{
		{V10, "input:T out_width:int32 out_height:int32 [1.2 nchw:bool] [1.3 align_corners:bool] [1.3 half_pixel_centers:bool]", "output:T"},
		{V12, "input:T width_scale:S height_scale:S [1.2 nchw:bool] [1.3 align_corners:bool] [1.3 half_pixel_centers:bool]", "output:T"},
	}},
	{Op: nn.OpResizeNearestNeighbor, Since: V12, Types: floatQuant12, SameQuant: true, Forms: []Form{
		{V12, "input:T out_width:int32 out_height:int32 nchw:bool [1.3 align_corners:bool] [1.3 half_pixel_centers:bool]", "output:T"},
		{V12, "input:T width_scale:S height_scale:S nchw:bool [1.3 align_corners:bool] [1.3 half_pixel_centers:bool]", "output:T"},
	}},
	{Op: nn.OpEmbeddingLookup, Since: V10, Types: "F32@1.0 I32@1.2 Q8@1.2 F16@1.3 Q8S@1.3", Key: "in1", Forms: []Form{
		{V10, "lookups:I32 values:T", "output:T"},
	}},
	{Op: nn.OpHashtableLookup, Since: V10, Types: "F32@1.0 I32@1.0 Q8@1.0", Key: "in2", Forms: []Form{
		{V10, "lookups:I32 keys:I32 values:T", "output:T hits:Q8"},
	}},
	{Op: nn.OpLshProjection, Since: V10, Types: float10, Forms: []Form{
		{V10, "hash:T input:ANY weight:T? type:int32", "output:I32"},
	}},
	{Op: nn.OpTopkV2, Since: V12, Types: number12, SameQuant: true, Forms: []Form{
		{V12, "input:T k:int32", "values:T indices:I32"},
	}},
	{Op: nn.OpRandomMultinomial, Since: V12, Types: float12, Forms: []Form{
		{V12, "logits:T samples:int32 seeds:I32", "output:I32"},
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
