package opspec

import (
	"math/bits"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// Steps per element of the functions that many operations share, assumed from
// the instruction counts of plain NEON loops (D-310). A quantized step is one
// 8-bit lane: requantizing in 32 bits takes four instructions on four times the
// register width.
const (
	stepsDivide  = 7  // FDIV: one per 7 cycles of a pipe (LLVM's Neoverse N1 model)
	stepsExp     = 20 // range reduction and polynomial
	stepsPow     = 72 // logarithm, product, exponential
	stepsSoftmax = 48 // 12.4 cycles per value measured on a Cortex-A76, 4 step cycles per 16
	stepsRequant = 16 // offset, shift, doubling multiply, rounding shift, narrow, clamp
	stepsSigmoid = 24 // exponential and division
)

// same is the work row of copies: one step per element written.
var same = workRow{float: 1, quant: 1}

// moved is the work row of operations that change the order of elements.
var moved = workRow{float: 2, quant: 2}

var (
	compared   = workRow{float: 1, quant: stepsRequant}
	poolTaps   = units(View.Pool, func(p *Pool) []int64 { return n64(p.N, p.OutH, p.OutW, p.C, p.KH, p.KW) })
	reduced    = workRow{float: 1, quant: 2, per: inputElements}
	gatherRow  = workRow{float: 1, quant: 1, rows: true, also: lookups(View.Gather, func(g *Gather) int64 { return rowsOf(g.Dims, g.Inner) })}
	recurrent  = workRow{kernel: KernelDense, also: recurrentWork(stepsSigmoid, 8)}
	recurrent8 = workRow{kernel: KernelDense, also: recurrentWork(3*stepsRequant, 4*stepsRequant)}
)

// workRows is the work of each operation. Every operation has a row: a test
// checks that none is free and that time grows with it.
var workRows = [nn.OperationCount]workRow{
	nn.OpConv2D:          {kernel: KernelConv, also: macs(View.Conv, (*Conv).MACs)},
	nn.OpGroupedConv2D:   {kernel: KernelConv, also: macs(View.GroupedConv, (*GroupedConv).MACs)},
	nn.OpTransposeConv2D: {kernel: KernelConv, also: macs(View.TransposeConv, (*TransposeConv).MACs)},
	nn.OpDepthwiseConv2D: {kernel: KernelDepthwise, also: macs(View.Conv, (*Conv).MACs)},
	nn.OpFullyConnected:  {kernel: KernelDense, also: macs(View.FullyConnected, (*FullyConnected).MACs)},
	nn.OpBatchMatmul:     {kernel: KernelDense, also: macs(View.BatchMatmul, (*BatchMatmul).MACs)},

	nn.OpAveragePool2D: {float: 2, quant: 3, per: poolTaps},
	nn.OpMaxPool2D:     {float: 2, quant: 2, per: poolTaps},
	nn.OpL2Pool2D:      {float: 3, per: poolTaps},

	nn.OpAdd:          compared,
	nn.OpSub:          compared,
	nn.OpMul:          {float: 1, quant: 12},
	nn.OpDiv:          {float: stepsDivide},
	nn.OpMaximum:      compared,
	nn.OpMinimum:      compared,
	nn.OpPow:          {float: stepsPow},
	nn.OpPrelu:        {float: 2, quant: 20},
	nn.OpEqual:        compared,
	nn.OpNotEqual:     compared,
	nn.OpLess:         compared,
	nn.OpLessEqual:    compared,
	nn.OpGreater:      compared,
	nn.OpGreaterEqual: compared,
	nn.OpLogicalAnd:   same,
	nn.OpLogicalOr:    same,
	nn.OpLogicalNot:   same,
	nn.OpSelect:       {float: 2, quant: stepsRequant},
	nn.OpAbs:          same,
	nn.OpNeg:          same,
	nn.OpFloor:        same,
	nn.OpExp:          {float: stepsExp},
	nn.OpLog:          {float: stepsExp},
	nn.OpSin:          {float: stepsExp},
	nn.OpSqrt:         {float: stepsDivide},
	nn.OpRsqrt:        {float: stepsDivide, quant: 2 * stepsRequant},
	nn.OpRelu:         same,
	nn.OpRelu1:        same,
	nn.OpRelu6:        same,
	nn.OpLogistic:     {float: stepsSigmoid, quant: 8}, // a table of 256 entries when quantized
	nn.OpTanh:         {float: stepsSigmoid, quant: 8},
	nn.OpElu:          {float: stepsExp + 2},
	nn.OpHardSwish:    {float: 5, quant: stepsRequant},
	nn.OpSoftmax:      {float: stepsSoftmax, quant: 80},
	nn.OpLogSoftmax:   {float: stepsSoftmax, quant: 80},
	nn.OpQuantize:     {float: 4},
	nn.OpDequantize:   {quant: 8},
	nn.OpRequantize:   {quant: 8}, // a table of 256 entries
	nn.OpCast:         {float: 2, quant: 4},

	nn.OpMean:      {float: 1, quant: 3, per: inputElements},
	nn.OpReduceSum: reduced, nn.OpReduceProd: reduced, nn.OpReduceMax: reduced, nn.OpReduceMin: reduced,
	nn.OpReduceAll: reduced, nn.OpReduceAny: reduced,
	nn.OpArgmax: {float: 2, quant: 2, per: inputElements},
	nn.OpArgmin: {float: 2, quant: 2, per: inputElements},
	// Sum of squares, root, product.
	nn.OpL2Normalization: {float: 4, quant: stepsRequant},
	// A running sum of squares and a power.
	nn.OpLocalResponseNormalization: {float: 4 + stepsPow},
	nn.OpInstanceNormalization:      {float: 6},
	nn.OpTopkV2: {
		float: 1, quant: 1, // one comparison per level of a heap of K
		per:  units(View.TopK, func(t *TopK) []int64 { return n64(t.Rows, t.Depth, bits.Len(uint(t.K))) }),
		also: lookups(View.TopK, func(t *TopK) int64 { return int64(t.Rows) * int64(t.K) }),
	},

	nn.OpReshape: same, nn.OpSqueeze: same, nn.OpExpandDims: same, nn.OpConcatenation: same, nn.OpSplit: same,
	nn.OpPack: same, nn.OpPad: same, nn.OpPadV2: same, nn.OpTile: same, nn.OpFill: same, nn.OpRank: {float: 1, quant: 1, rows: true},
	nn.OpTranspose: moved, nn.OpDepthToSpace: moved, nn.OpSpaceToDepth: moved, nn.OpBatchToSpaceNd: moved,
	nn.OpSpaceToBatchNd: moved, nn.OpChannelShuffle: moved, nn.OpReverse: moved, nn.OpMirrorPad: moved,
	nn.OpSlice:        {float: 2, quant: 2, rows: true},
	nn.OpStridedSlice: {float: 2, quant: 2, rows: true},
	// Four taps with weights, two without.
	nn.OpResizeBilinear:        {float: 8, quant: stepsRequant},
	nn.OpResizeNearestNeighbor: moved,
	nn.OpDensify:               {float: 1, quant: 1, also: searched},

	nn.OpGather:          gatherRow,
	nn.OpEmbeddingLookup: gatherRow,
	nn.OpHashtableLookup: {float: 1, quant: 1, also: searched},
	// Each bit of each hash reads every item once: eight steps per byte of a hash
	// function of 64-bit words.
	nn.OpLshProjection: {float: 1, quant: 1, per: units(View.Lsh, func(l *Lsh) []int64 {
		return n64(l.Hashes, l.Bits, l.Items, 8*(l.ItemBytes+8))
	})},
	// Exponentials and their sum; a random number and a search per sample.
	nn.OpRandomMultinomial: {float: stepsExp + 2, per: inputElements, also: samples},

	nn.OpRoiAlign: {float: 8, quant: stepsRequant, per: units(View.Roi, func(r *Roi) []int64 {
		h, w := r.SampleH, r.SampleW
		if h == 0 { // adaptive: at most the map over the bins
			h = 1 + r.H/max(r.OutH, 1)
		}
		if w == 0 {
			w = 1 + r.W/max(r.OutW, 1)
		}
		return n64(r.Rois, r.OutH, r.OutW, r.C, h, w)
	})},
	nn.OpRoiPooling: {float: 1, quant: 1, per: units(View.Roi, func(r *Roi) []int64 {
		return n64(r.Rois, r.OutH, r.OutW, r.C, 1+r.H/max(r.OutH, 1), 1+r.W/max(r.OutW, 1)) // at most
	})},
	nn.OpHeatmapMaxKeypoint:       {float: 2, quant: 4, per: inputElements},
	nn.OpAxisAlignedBboxTransform: {float: stepsExp, quant: stepsExp},
	nn.OpBoxWithNmsLimit:          {float: 2, quant: 4, per: inputElements, also: suppression("scores", "max_detections")},
	nn.OpDetectionPostprocessing:  {float: stepsExp, per: inputElements, also: suppression("scores", "max_detections")},
	nn.OpGenerateProposals:        {float: stepsExp, quant: 2 * stepsExp, per: inputElements, also: suppression("scores", "post_nms_max")},

	nn.OpRnn: recurrent, nn.OpUnidirectionalSequenceRnn: recurrent, nn.OpBidirectionalSequenceRnn: recurrent,
	nn.OpLstm: recurrent, nn.OpUnidirectionalSequenceLstm: recurrent, nn.OpBidirectionalSequenceLstm: recurrent,
	nn.OpSvdf:               {kernel: KernelDense, float: 2, also: recurrentWork(2, 0)},
	nn.OpQuantized16bitLstm: recurrent8, nn.OpQuantizedLstm: recurrent8,

	// The hand-over of values; what they call is counted as it executes.
	nn.OpIf: same, nn.OpWhile: same,
}

func n64(n ...int) []int64 {
	out := make([]int64, len(n))
	for i, x := range n {
		out[i] = int64(x)
	}
	return out
}

// rowsOf is the number of rows of inner elements.
func rowsOf(dims []uint32, inner int) int64 { return nn.Elements(dims) / max(int64(inner), 1) }

// searched counts one lookup per element of the first input: a binary search of
// a HASHTABLE_LOOKUP by key, a value of a DENSIFY by index.
func searched(v View, op *nn.Operation, w *Work) error {
	n, err := v.elements(op.Inputs[0])
	if err != nil || op.Type == nn.OpDensify {
		w.Lookups = n
		return err
	}
	keys, err := v.elements(op.Inputs[1])
	w.Lookups = n * int64(bits.Len64(uint64(keys)))
	return err
}

// samples counts the random draws of RANDOM_MULTINOMIAL: ten rounds of a
// counter-based generator and a search through the classes.
func samples(v View, op *nn.Operation, w *Work) error {
	m, err := v.Multinomial(op)
	if err != nil {
		return err
	}
	draws, err := product(op, n64(m.Batches, m.Samples)...)
	if err != nil {
		return err
	}
	steps, err := product(op, draws, 40+int64(m.Classes))
	w.Steps += steps
	w.Lookups += draws
	return err
}
