package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel/recurrent"
	"github.com/nnsoc/nnsoc/hal/driver/graph/legal"
)

// Limits of lowerings: rows of the table name those that an operation alone has.
var (
	maxSequence    = legal.Limit("sequences of at most %d steps", maxSteps)
	maxNormalized  = legal.Limit("layer normalization of at most %d units", recurrent.MaxFixedNorm)
	maxSummands    = legal.Limit("means over at most %d elements", maxMean)
	maxCompared    = legal.Limit("at most %d keys", maxKeys)
	maxRanking     = legal.Limit("at most %d comparisons", maxRanked)
	maxPlaces      = legal.Limit("at most %d elements", maxTable)
	maxSuppression = legal.Limit("at most %d boxes and %d pairs of them", maxNmsBoxes, maxNmsPairs)
	maxPairs       = legal.Limit("at most %d pairs of boxes", maxNmsPairs)
	maxDetections  = legal.Limit("at least one of each and a class beside the background")

	maxHashed    = legal.Limit("at most %d MiB hashed for each word of the output", maxHashedBytes>>20)
	channelScale = legal.Limit("each channel needs a scale")
	maxGather    = legal.Limit("at most %d elements gathered", maxGathered)
	maxImage     = legal.Limit("filters and images of this GPU have less than %d rows and columns", maxExtent)
)
