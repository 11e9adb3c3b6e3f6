package bench

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// IslandsName is the network that Islands builds.
const IslandsName = "islands_float"

// islands is how many convolutions Islands has.
const islands = 24

// Islands is a network on which greedy partitioning fails: 24 convolutions of
// 3.2 million multiply-accumulates each, which accelerators run, and after each
// an L2_NORMALIZATION. Where no accelerator runs that (a driver that lacks it: --force-unsupported), the device
// of the best promise per operation makes 24 islands, each with the fixed cost of an execution and two transfers.
func Islands() (*nn.Model, error) {
	b := builder.New(builder.Config{Format: builder.Float32})
	x := b.Values("input", 1, 14, 14, 128)
	unit := 1 / math.Sqrt(128) // of the elements of a vector of length 1
	for range islands {
		x = b.Conv(x, builder.Conv{Out: 128, Kernel: 1})
		x = b.Apply(nn.OpL2Normalization, b.Type(), builder.Quant{}, x)
		b.SetSpread(x, builder.Spread{Deviation: unit})
	}
	b.Output(x, "output")
	return b.Model(IslandsName)
}

// GreedyFailure is a published network that ran slower through NNAPI, which assigns each operation to the best device,
// than on four threads of the CPU.
type GreedyFailure struct {
	Network string
	Phone   string
	Ratio   float64 // time through NNAPI divided by time on the CPU
}

// GreedyFailures are derived from TensorFlow Lite's published tables of its
// hosted models.
var GreedyFailures = [...]GreedyFailure{
	{"DenseNet", "Pixel 3", 8.5}, {"ResNet v2 101", "Pixel 3", 3.0}, {"NASNet mobile", "Pixel 4", 2.9}, {"NASNet mobile", "Pixel 3", 1.8},
}
