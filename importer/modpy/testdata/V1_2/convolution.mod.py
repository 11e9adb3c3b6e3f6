# A convolution in both layouts and all data types, its weights constant, given
# as inputs, and behind an operation.
layout = BoolScalar("layout", False) # NHWC
act = Int32Scalar("act", 0)

image = Input("image", "TENSOR_FLOAT32", "{1, 1, 2, 2}")
weights = Parameter("weights", "TENSOR_FLOAT32", "{2, 1, 1, 2}", [1, 0.5, -1, 2])
bias = Parameter("bias", ("TENSOR_FLOAT32", [2]), [0.5, -1])
result = Output("result", "TENSOR_FLOAT32", "{1, 1, 2, 2}")
Model().Operation("CONV_2D", image, weights, bias, 1, 1, 1, act, layout).To(result)

quant8 = DataTypeConverter().Identify({
    image: ("TENSOR_QUANT8_ASYMM", 0.5, 128),
    weights: ("TENSOR_QUANT8_ASYMM", 0.25, 100),
    bias: ("TENSOR_INT32", 0.125, 0),
    result: ("TENSOR_QUANT8_ASYMM", 0.5, 10)
})
channels = SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 0.25])
quant8_channels = DataTypeConverter(name="channels").Identify({
    image: ("TENSOR_QUANT8_ASYMM_SIGNED", 0.5, 0),
    weights: ("TENSOR_QUANT8_SYMM_PER_CHANNEL", 0, 0, channels),
    bias: ("TENSOR_INT32", 0.0, 0, SymmPerChannelQuantParams(channelDim=0, scales=[0.25, 0.125], hide=True)),
    result: ("TENSOR_QUANT8_ASYMM_SIGNED", 0.5, -10),
})

example = Example({
    image: [1, 2, 3, 4],
    result: [2.5, 2, 5.5, 4],
}, name="two_pixels")
example.AddNchw(image, weights, result, layout)
example.AddVariations("relaxed", "float16", quant8, quant8_channels)

# The same layout only, with every activation.
result2 = Output("result", "TENSOR_QUANT8_ASYMM", "{1, 1, 1, 2}, 0.5f, 4")
image2 = Input("image", "TENSOR_QUANT8_ASYMM", "{1, 1, 1, 1}, 1.f, 0").ShouldNeverBeInternal()
w2 = Parameter("weights", ("TENSOR_QUANT8_ASYMM", [2, 1, 1, 1], 0.5, 128), [130, 100])
b2 = Parameter("bias", ("TENSOR_INT32", [2], 0.5), [0, 0])
act2 = Int32Scalar("act", 0)
Model("activations").Operation("CONV_2D", image2, w2, b2, 1, 1, 1, act2).To(result2)
Example({image2: [20], result2: [44, 0]}).AddAllActivations(result2, act2).AddInput(w2, b2, includeDefault=False)
