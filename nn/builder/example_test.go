package builder_test

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// A quantized network in seven lines: weights, biases and scales are made.
func Example() {
	b := builder.New(builder.Config{Format: builder.Quant8})
	x := b.Image(32)
	x = b.Conv(x, builder.Conv{Out: 16, Kernel: 3, Stride: 2, Act: builder.ReLU6})
	x = b.Add(x, b.Depthwise(x, builder.Conv{Kernel: 3}), builder.ReLU)
	x = b.Dense(b.Reshape(b.GlobalPool(x), 1, 16), 10, builder.Logits)
	b.Output(b.Softmax(x), "probabilities")
	m, err := b.Model("tiny")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, op := range m.Main.Operations {
		y := m.Main.Operands[op.Outputs[0]]
		fmt.Println(op.Type, y.Dimensions, y.Type)
	}
	// Output:
	// CONV_2D [1 16 16 16] TENSOR_QUANT8_ASYMM
	// DEPTHWISE_CONV_2D [1 16 16 16] TENSOR_QUANT8_ASYMM
	// ADD [1 16 16 16] TENSOR_QUANT8_ASYMM
	// AVERAGE_POOL_2D [1 1 1 16] TENSOR_QUANT8_ASYMM
	// RESHAPE [1 16] TENSOR_QUANT8_ASYMM
	// FULLY_CONNECTED [1 10] TENSOR_QUANT8_ASYMM
	// SOFTMAX [1 10] TENSOR_QUANT8_ASYMM
}

// With given operands every operation is reachable; its shape is inferred.
func ExampleBuilder_Apply() {
	b := builder.New(builder.Config{})
	x := b.Input(b.Operand(nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2, 3}}), "x")
	weights := b.Floats([]uint32{1, 3}, 1, 2, 3)
	bias := b.Floats([]uint32{1}, 0.5)
	y := b.Apply(nn.OpFullyConnected, nn.TensorFloat32, builder.Quant{}, x, weights, bias, b.Int32(int32(nn.ActRelu)))
	b.Output(y, "y")
	fmt.Println(b.Dims(y), b.Err())
	// Output: [2 1] <nil>
}
