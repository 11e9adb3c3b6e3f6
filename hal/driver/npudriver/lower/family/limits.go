package family

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
	"github.com/nnsoc/nnsoc/hal/driver/npudriver/lower"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// sumsFit: the accumulators saturate where the reference wraps.
var sumsFit = legal.Rule{Text: "sums fit 32 bits", Phase: legal.Always, Check: func(_ legal.Rule, s *legal.Subject) error { return s.View.SumsFit(s.Op) }}

// Most elements of inputs of operations that are promised before their parameters are known: a
// copy of each element, or a mean over all of them, is within the limits of one operation.
const (
	deferredMove = maxMoves
	deferredMean = 256
)

// Rules of operations that are promised before their parameters are known.
var (
	knownParameters = legal.Rule{Text: "parameters and shapes must be known when the model is prepared", Phase: legal.Deferred,
		Check: func(r legal.Rule, _ *legal.Subject) error { return r.Broken("they come with an execution") }}
	smallMove = smallInput(deferredMove)
	smallMean = smallInput(deferredMean)
)

// smallInput lets operations be promised whose input is small.
func smallInput(most int64) legal.Rule {
	r := legal.Limit("with more than %d elements parameters and shapes must be known when the model is prepared", most)
	r.Phase, r.Check = legal.Deferred, func(r legal.Rule, s *legal.Subject) error {
		x := s.In("input")
		if x == opspec.None {
			x = s.In("values")
		}
		if x == opspec.None {
			return r.Broken("there is no input")
		}
		o := &s.View.Operands[x]
		if n := o.Elements(); !o.Known() || n <= 0 || n > most {
			return r.Broken("the input has the shape %v", o.Dimensions)
		}
		return nil
	}
	return r
}

// Limits that lowerings check.
var (
	outputScale = legal.Limit("output scales are M * 2^-s with s of 0 to 63")

	maxTaps          = legal.Limit("filters reach over less than %d rows and columns and have at most %d taps", maxReach, maxKernel)
	paddingRegisters = legal.Limit("padding is at most %d before and %d behind an image", maxBefore, maxPadAfter)
	maxBatches       = legal.Limit("at most %d batches", maxBatch)
	maxMultiplied    = legal.Limit("depth multipliers above 1 are for at most %d weights per output", maxDense)
	maxPatches       = legal.Limit("windows that are gathered (stride above 3, dilation above 2) have at most %d bytes, and %d taps of all batches", maxGathered, maxMoves)
	maxProducts      = legal.Limit("filters and biases that come at run time have at most %d kernels, %d terms per output and sums below 2^31", maxMoves, lower.MaxExtent)
	maxPoolWindow    = legal.Limit("windows are at most %dx%d", maxPool, maxPool)
	maxWindows       = legal.Limit("padded averages over more than %dx%d, and pools with a stride above 3 that are not gathered, have at most %d windows", maxPadded, maxPadded, maxMoves)

	similarScales = legal.Limit("inputs differ in scale by at most 2^%d, the larger unscaled", maxShift)
	slopeScales   = legal.Limit("multipliers are at most 2^%d of inputs and 2^%d of slopes", maxInputShift, maxSlopeShift)
	maxGroups     = legal.Limit("one operand is repeated, in at most three groups of neighbouring dimensions")
	factors       = legal.Limit("the elements must divide into height, width and depth of a feature map")
	castTypes     = legal.Limit("integers and bytes are cast to each other, other types to themselves")

	gateSums      = legal.Limit("sums of gates are below 2^31")
	hiddenZero    = legal.Limit("hidden_state_zero_point is -128 to 127")
	maxNormalized = legal.Limit("layer normalization of at most %d units", maxUnits)

	lastAxis      = legal.Limit("along the last axis only")
	adjacentAxes  = legal.Limit("the axes must be neighbours")
	maxMeanWindow = legal.Limit("means are over at most %dx%d elements, %d times", maxPool, maxPool, maxBatch)
	maxSquares    = legal.Limit("at most %d squares are added", maxSquared)
	middleZero    = legal.Limit("the output's zero point is in the middle of its type")

	maxRanked         = legal.Limit("at most %d bytes or %d integers of a row are ranked, in at most %d kernels", maxRankedBytes, maxRankedIntegers, maxMoves)
	constantTree      = legal.Limit("segments and indices must be constants")
	distinctIndices   = legal.Limit("each place has one value")
	constantIndices   = legal.Limit("the indices must be constants within the input")
	constantPadding   = legal.Limit("the padding value must be a constant")
	maxRuns           = legal.Limit("at most %d evenly spaced runs", maxMoves)
	maxCopies         = legal.Limit("at most %d copies of feature maps", maxMoves)
	fractionalWeights = legal.Limit("weights are fractions of at most 1/%d", maxUnit)
	noTies            = legal.Limit("quotients must be no ties that the reference rounds by its float32")
	maxBlended        = legal.Limit("at most %d elements in %d rows are blended", lower.MaxElements, lower.MaxExtent)
)

// Registers of the command set and what follows from them.
const (
	maxReach      = 64                          // rows and columns of a dilated kernel
	maxKernel     = 4096                        // taps
	maxBefore     = 127                         // NPU_SET_IFM_PAD_TOP, _LEFT
	maxPadAfter   = 255                         // NPU_SET_IFM_PAD_BOTTOM, _RIGHT
	maxPadded     = 8                           // of an average whose divisor counts taps inside
	maxPool       = 256                         // rows and columns of a pooling window
	maxDense      = 1 << 16                     // weights of an output where others are zero
	maxShift      = 52                          // 63 of the register, 11 of the fixed point
	maxInputShift = 22                          // bytes times 2^22 fit 31 bits
	maxSlopeShift = 14                          // products of bytes times 2^14 do
	maxSquared    = math.MaxInt32 / (255 * 255) // squares of bytes below 2^31
	maxSum        = math.MaxInt32               // of products with filters that come at run time
)
