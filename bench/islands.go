package bench

import (
	"math"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// IslandsName is the network that Islands builds.
const IslandsName = "islands_float"

// Islands has a backbone of convolutions that an accelerator wins, then islands that it loses.
const (
	backbone = 4
	islands  = 6
)

// Islands is a network on which greedy partitioning fails, as 8-bit networks do whose unusual layers stayed in float32.
// The NPU of pixel4 runs its backbone, four convolutions of 48 million multiply-accumulates, sooner than other engines.
// Then come six convolutions of 0.3 million, each before a DEQUANTIZE, an L2_NORMALIZATION and a QUANTIZE, which no NPU
// runs, and no DSP all of. The device of the best promise per operation makes a dozen parts of these, each with the
// fixed cost of an execution and transfers; one device for all is slower on the backbone. The best plan divides once.
func Islands() (*nn.Model, error) {
	const channels = 96
	b := builder.New(builder.Config{Format: builder.Quant8Signed})
	x := b.Values("input", 1, 24, 24, channels)
	for range backbone {
		x = b.Conv(x, builder.Conv{Out: channels, Kernel: 3, Act: builder.ReLU})
	}
	x = b.MaxPool(x, builder.Pool{Window: 4, Stride: 4, Valid: true})
	unit := 1 / math.Sqrt(channels) // of the elements of a vector of length 1
	for range islands {
		x = b.Conv(x, builder.Conv{Out: channels, Kernel: 1})
		x = b.Apply(nn.OpDequantize, nn.TensorFloat32, builder.Quant{}, x)
		x = b.Apply(nn.OpL2Normalization, nn.TensorFloat32, builder.Quant{}, x)
		x = b.Apply(nn.OpQuantize, b.Type(), builder.Quant{Scale: float32(6 * unit / 255)}, x)
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
