// Package pass makes a model's graph canonical, so that a lowering meets one form of each
// operation. A driver selects passes from the table in pass.go with NewPipeline, which
// keeps them in the order of the table:
//
//	resolve shapes        shapes.go      shapes of temporaries and outputs follow from the inputs
//	fold constants        fold.go        moves and dequantization of constants happen when the model is prepared
//	NCHW to NHWC          nchw.go        images in NCHW order pass through TRANSPOSE, operations work on NHWC
//	cancel transposes     transpose.go   TRANSPOSE pairs that undo each other are removed
//	expand grouped convolution     grouped.go        a CONV_2D of each group
//	expand transposed convolution  transposeconv.go  a CONV_2D of the image with zeros between its pixels
//	RESIZE_NEAREST_NEIGHBOR to GATHER  selection.go  GATHERs of rows and columns
//	MIRROR_PAD to GATHER  selection.go  a GATHER of each dimension that changes
//	SPLIT to SLICE        selection.go  a SLICE of each output
//	expand recurrent cells  recurrent.go  RNN, LSTM, SVDF and their sequences are products and functions, step after step
//	expand normalizations  normalize.go  L2 pool, L2, local response and instance normalization are sums of squares
//	expand bilinear resize  matmul.go    weighted sums of gathered rows and columns
//	BATCH_MATMUL to FULLY_CONNECTED  matmul.go  a FULLY_CONNECTED of each pair of matrices
//	expand functions      elementary.go  PRELU, HARD_SWISH and ELU are sums and products
//	comparisons to GREATER  elementary.go  EQUAL, GREATER and GREATER_EQUAL of six comparisons
//	PACK and PAD_V2 to CONCATENATION  elementary.go  of reshaped inputs, or of constants around the input
//	axis last             axis.go       operations along an axis work along the last one
//	join reduced axes     axis.go       reductions of axes that are not neighbours reduce one
//	explicit padding      padding.go     SAME and VALID become numbers
//	fold padding          foldpadding.go  the PAD before a quantized convolution or MAX_POOL_2D joins its padding
//	fuse activations      activation.go  RELU, RELU1 and RELU6 join the operation before them
//	remove dead operations  dead.go      operations whose results are not read are removed
//
// An expansion replaces the operations that the device does not lower itself (Graph.Leaves, which queries
// the table of package legal); those on reals compute in TENSOR_FLOAT32 (expand.go).
//
// Passes depend on no device or instruction set. Each has a readable test, a graph before and after it:
// testdata/*.txtar.
package pass
