package bench

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// MobileNetV1 is MobileNet v1 1.0 224 with synthetic weights: the operations
// and shapes of the published network (Howard et al., arXiv 1704.04861), 31
// operations, [1,224,224,3] to [1,1001]. Quantized, it is TENSOR_QUANT8_ASYMM
// throughout; otherwise TENSOR_FLOAT32 with the same weights dequantized.
//
// Weights are bell-shaped and sum to zero per output channel; scales are set
// so that the values before each RELU6 have a standard deviation of about 2.
// Activations stay alive through all layers, as in a trained network.
func MobileNetV1(quantized bool) *nn.Model { return mobileNetV1(quantized, 4) }

// MobileNetV1Quant is the quantized form.
func MobileNetV1Quant() *nn.Model { return MobileNetV1(true) }

// MobileNetV1Quarter is the quantized network with a quarter of the channels.
func MobileNetV1Quarter() *nn.Model { return mobileNetV1(true, 1) }

func mobileNetV1(quantized bool, quarters uint32) *nn.Model {
	b := network{quantized: quantized, seed: 0x2545F491}
	x := b.input(224)
	x = b.conv(x, 8*quarters, 3, 2)
	stride := map[int]uint32{1: 2, 3: 2, 5: 2, 11: 2} // of depthwise layer i
	for i, out := range []uint32{64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024} {
		x = b.depthwise(x, max(stride[i], 1))
		x = b.conv(x, out/4*quarters, 1, 1)
	}
	return b.head(x, fmt.Sprintf("mobilenet_v1_%s_224", map[uint32]string{4: "1.0", 1: "0.25"}[quarters]))
}
