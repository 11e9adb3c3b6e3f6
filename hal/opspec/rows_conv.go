package opspec

import "github.com/nnsoc/nnsoc/hal/nn"

// rowsConv are the operations of convolution, fully connected, matrix product and pooling.
var rowsConv = []Row{
	{Op: nn.OpConv2D, Since: V10, Types: floatQuant10, Forms: []Form{
		{V10, "input:T filter:W bias:B padding:int32 stride_w:int32 stride_h:int32 activation:int32 [1.2 nchw:bool] [1.2 dilation_w:int32 dilation_h:int32]", "output:T"},
		{V10, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 activation:int32 [1.2 " +
			"nchw:bool] [1.2 dilation_w:int32 dilation_h:int32]", "output:T"},
	}},
	{Op: nn.OpDepthwiseConv2D, Since: V10, Types: floatQuant10, Forms: []Form{
		{V10, "input:T filter:W bias:B padding:int32 stride_w:int32 stride_h:int32 depth_multiplier:int32 activation:int32 [1.2 nchw:bool] [1.2 " +
			"dilation_w:int32 dilation_h:int32]", "output:T"},
		{V10, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 depth_multiplier:int32 " +
			"activation:int32 [1.2 nchw:bool] [1.2 dilation_w:int32 dilation_h:int32]", "output:T"},
	}},
	{Op: nn.OpGroupedConv2D, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "input:T filter:W bias:B padding:int32 stride_w:int32 stride_h:int32 groups:int32 activation:int32 nchw:bool", "output:T"},
		{V12, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 groups:int32 " +
			"activation:int32 nchw:bool", "output:T"},
	}},
	{Op: nn.OpTransposeConv2D, Since: V12, Types: floatQuant12, Forms: []Form{
		{V12, "input:T filter:W bias:B output_shape:I32 padding:int32 stride_w:int32 stride_h:int32 activation:int32 nchw:bool", "output:T"},
		{V12, "input:T filter:W bias:B pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 activation:int32 nchw:bool", "output:T"},
	}},
	{Op: nn.OpFullyConnected, Since: V10, Types: floatQuant10, Forms: []Form{
		{V10, "input:T weights:T bias:B activation:int32", "output:T"},
	}},
	{Op: nn.OpAveragePool2D, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Forms: []Form{
		{V10, "input:T padding:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 activation:int32 [1.2 nchw:bool]", "output:T"},
		{V10, "input:T pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 " +
			"activation:int32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpMaxPool2D, Since: V10, Types: floatQuant10, SameQuant: true, Rank: 4, Forms: []Form{
		{V10, "input:T padding:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 activation:int32 [1.2 nchw:bool]", "output:T"},
		{V10, "input:T pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 " +
			"activation:int32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpL2Pool2D, Since: V10, Types: float10, Rank: 4, Forms: []Form{
		{V10, "input:T padding:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 activation:int32 [1.2 nchw:bool]", "output:T"},
		{V10, "input:T pad_left:int32 pad_right:int32 pad_top:int32 pad_bottom:int32 stride_w:int32 stride_h:int32 filter_w:int32 filter_h:int32 " +
			"activation:int32 [1.2 nchw:bool]", "output:T"},
	}},
	{Op: nn.OpBatchMatmul, Since: FL6, Types: "F16@FL6 F32@FL6 I32@FL6 Q8S@FL6", MaxRank: 4, Forms: []Form{
		{FL6, "lhs:T rhs:T adj_x:bool adj_y:bool", "output:T"},
	}},
}
