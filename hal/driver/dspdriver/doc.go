// Package dspdriver is the NNAPI driver of the Hexagon DSP: it lowers a model of
// quantized operations to V66 + HVX machine code and runs it on a dsp.Core.
//
// # Layout
//
// Passes bring images into NHWC order and padding into numbers before anything is lowered
// (lower/family/table.go lists them). Tensors live as unsigned bytes; signed tensors are stored
// with 128 added, zero points and ranges with them. A position's channels are
// padded to a pitch of 4, 8, 16, 32, 64 or a multiple of 128 bytes, so a vector
// holds whole positions or a part of one, and a scalar word four channels. Rows
// have space for the padding that a consumer needs around the image (a halo of
// zero points) and start at a multiple of the vector size.
//
// # Kernels
//
//	conv       CONV_2D, FULLY_CONNECTED, GROUPED_CONV_2D, TRANSPOSE_CONV_2D, DEPTHWISE_CONV_2D with a multiplier: weights in vectors of 32 output channels, activations as scalar words (vrmpy ub x ub)
//	zero-point correction  part of conv: the window sums that a filter zero point subtracts from every position, 32 positions at a time, before the blocks that use them
//	conv, pipelined  software-pipelined GEMM conv, where all products of a block fit in one loop body: requantization fills the slots that the products of the next block leave
//	conv, window  products by the Z window of V66: weights as signed bytes, activations of four positions in the window (vrmpyz b x ub)
//	conv, spatial    a lane is a position, for up to 32 output channels: activations in vectors of 32 positions by 4 inputs, weights as scalar words; values of up to 16 channels may have pitches of 4, 8 or 16
//	depthwise  128 channels, or several positions of fewer, per vector; up to three rows interleaved to words (vrmpy ub x b); sliding window along the row
//	depthwise 3x3  where a vector has several positions: two words of four taps and a single tap
//	window     AVERAGE_POOL_2D, MAX_POOL_2D, MEAN
//	binary     ADD, SUB, MUL
//	affine     ADD, SUB where rounding once gives the same results for all pairs of bytes
//	unary      RELU*, LOGISTIC, TANH, HARD_SWISH, RSQRT, requantization by table or clamp
//	softmax    exponentials from a table of the 256 differences, sum, reciprocal, scaling
//	copy, fill PAD, CONCATENATION, halos, every operation that selects or reorders elements, in runs of bytes
//	byte permutation  the same for short runs: butterfly networks (vdelta, vrdelta) or vlut32 gather vectors from windows of the source
//	transpose  layout changes, TRANSPOSE: tiles of vectors by vshuff
//
// # Flat values
//
// TENSOR_INT32 and TENSOR_BOOL8 values, and quantized ones for the operations
// below, are elements in row-major order without gaps. Values
// are converted between the two forms where an operation needs the other. The operations on single
// bytes (binary, affine, unary) and CONCATENATION compute either form: flat where everyone around them
// does and the estimate is less.
//
//	flat     vectors of results from vectors of operands: comparisons, logic, MAXIMUM, MINIMUM, SELECT, PRELU, CAST, words
//	reduction  a lane per row, a slice per element of the row: REDUCE_*, ARGMAX, ARGMIN, L2_NORMALIZATION, TOPK_V2
//	dot      rows times columns: BATCH_MATMUL
//	blend    RESIZE_BILINEAR
//	lookup   GATHER, EMBEDDING_LOOKUP, HASHTABLE_LOOKUP with indices that the program reads and checks
//	lstm     QUANTIZED_16BIT_LSTM, QUANTIZED_LSTM: the gates' functions in 16-bit fixed point, sums and layer normalization in words
//	rescale  the requantization of dot's results
//
// # Detection
//
// The operations on regions decide and compute in scalar single precision, step
// by step as the reference does, so that results are equal; pixels are maxima of
// vectors or table lookups.
//
//	roi        ROI_ALIGN, ROI_POOLING: threads share the regions
//	boxes      AXIS_ALIGNED_BBOX_TRANSFORM: exponentials of stored bytes come from a table
//	heatmap    HEATMAP_MAX_KEYPOINT: threads share the boxes
//	nms        BOX_WITH_NMS_LIMIT, on one thread; e^-x in 64-bit fixed point
//	proposals  GENERATE_PROPOSALS, on one thread; anchors sorted by counting
//
// The last two also write the number of results, which determines the shape.
//
// TENSOR_FLOAT32 exists at the edges of a model: QUANTIZE, DEQUANTIZE and CAST convert
// from or to it, element by element.
//
// RESIZE_BILINEAR sums in single precision as the reference does up to a size;
// above, its weights have 22 fraction bits, so that a value halfway between two may
// round the other way where the weights are not exact (D-74).
//
// # Memory
//
// Weights, biases and multipliers are copied to VTCM before the kernels that use
// them repeatedly (vector loads from L2 stall, those from VTCM do not).
// Constants are stored in the order of their use, so that kernels prefetch (l2fetch) for the
// next jobs as far ahead as L2 holds it (plan/lookahead.go). Activations are in an
// arena planned by lifetime. Steps whose tensors do not fit in L2 together run in
// bands of rows, one band through all of them before the next. Rows, blocks of
// positions and chunks of channels are spread over the hardware threads by tables
// of addresses.
//
// All arithmetic on tensor values happens in these programs; what Go computes
// when a model is prepared depends on the model alone: packed weights,
// multipliers, tables, addresses. The program packs runtime weights, which are inputs of an
// execution or computed by the model: moves lay them out, and the fold kernel subtracts the
// inputs' zero point times the weights from the biases.
//
// # Packages
//
//	graph    (hal/driver/graph) a model made canonical by the passes in lower/family/table.go
//	lower    operations to steps: lower/family has one file per family, one table from operation to function; layouts of values chosen by cost (lower/layouts.go), fills of halos after the steps that write the tensor
//	step     a lowered graph as data: what steps compute, the tensors they access, dependences between rows (compile --steps prints them), and jobs
//	launch   a record per kind of step: chosen kernels, tables of addresses, packed constants, the shares of threads
//	kernel   one package per family: what it computes, its key, its arguments, the layout of its records, its code
//	cost     cycles of jobs, from the loops of kernels: one estimator for choices, bands, prefetches and the listing
//	layout   tensors in memory, the choice among their forms (layout/assign.go), and the map of addresses
//	plan     steps to jobs: places, row bands, constants in VTCM, prefetches
//
// This package has the device (device.go), a planned graph as an executable program
// (execute.go), its form in a compilation cache (cache.go), its listings (listing.go,
// explain.go), and counters by operation (detail.go). What all engines share of these is in
// hal/driver/engine.
//
// # Stages
//
// An operation whose parameters - axes, paddings, strides, shapes - are inputs of
// the model is lowered when an execution supplies them; plans are cached by their
// values. Where the model itself computes a parameter, or a shape that is known only
// during execution, it is cut into stages that run one after the other.
//
// SupportedOperations reports for each operation that is not supported the reason.
package dspdriver
