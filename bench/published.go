package bench

// Published is the latency of a network on a phone, as a source states it.
type Published struct {
	Engine  string // cpu, gpu, dsp or npu
	Network string // of package zoo
	Ms      float64
	// Kernels is set where the source adds up the times of kernels on the engine; otherwise the figure is the latency
	// of the application.
	Kernels bool
	Phone   string
	Source  string
	Reason  string // why ours differs, where it does by more than the tolerance
	Half    bool   // float32 computed in half precision
	Fitted  bool   // the row was used to choose a number of the preset
}

// Tolerance is the accepted difference between a latency on the same phone and ours, relative to it: the claimed error
// of predictors of such latencies for processors that many have measured, and twice that for engines with few published
// figures.
func (p *Published) Tolerance() float64 {
	if p.Engine == "cpu" || p.Engine == "gpu" {
		return 0.10
	}
	return 0.20
}

// Latencies are published latencies of phones with the engines of the preset pixel4, of a Pixel 3, whose Hexagon has half
// the vector pipes, and of the Edge TPU of the preset coral.
var Latencies = [...]Published{
	{Engine: "cpu", Network: "mobilenet_v1_1.0_224_float", Ms: 14.0, Phone: pixel4, Source: measurements + fourThreads},
	{Engine: "cpu", Network: "mobilenet_v1_1.0_224_quant", Ms: 5.0, Phone: pixel4, Source: measurements + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite0_float", Ms: 12, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite0_quant", Ms: 6.5, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite1_float", Ms: 18, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite1_quant", Ms: 9.1, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite2_float", Ms: 26, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite2_quant", Ms: 12, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite3_float", Ms: 41, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite3_quant", Ms: 18, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "cpu", Network: "efficientnet_lite4_float", Ms: 76, Phone: pixel4, Source: efficientNet + fourThreads, Reason: Larger},
	{Engine: "cpu", Network: "efficientnet_lite4_quant", Ms: 30, Phone: pixel4, Source: efficientNet + fourThreads},
	{Engine: "gpu", Network: "mobilenet_v1_1.0_224_float", Ms: 9.0, Phone: pixel4, Source: measurements, Reason: slc},
	{Engine: "gpu", Network: "efficientnet_lite0_float", Ms: 9.0, Phone: pixel4, Source: efficientNet + ", fp32", Reason: slc},
	{Engine: "gpu", Network: "efficientnet_lite1_float", Ms: 12, Phone: pixel4, Source: efficientNet + ", fp32", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite2_float", Ms: 16, Phone: pixel4, Source: efficientNet + ", fp32", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite3_float", Ms: 23, Phone: pixel4, Source: efficientNet + ", fp32", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite4_float", Ms: 36, Phone: pixel4, Source: efficientNet + ", fp32", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite0_float", Half: true, Ms: 6.0, Phone: pixel4, Source: efficientNet + ", fp16", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite1_float", Half: true, Ms: 8.0, Phone: pixel4, Source: efficientNet + ", fp16", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite2_float", Half: true, Ms: 10, Phone: pixel4, Source: efficientNet + ", fp16", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite3_float", Half: true, Ms: 14, Phone: pixel4, Source: efficientNet + ", fp16", Reason: sources},
	{Engine: "gpu", Network: "efficientnet_lite4_float", Half: true, Ms: 21, Phone: pixel4, Source: efficientNet + ", fp16", Reason: sources},
	{Engine: "gpu", Network: "mobilenet_v1_1.0_224_float", Ms: 14.46, Kernels: true, Phone: mi9, Source: nnMeter, Reason: OpenCL},
	{Engine: "gpu", Network: "mobilenet_v2_1.0_224_float", Ms: 10.36, Kernels: true, Phone: mi9, Source: nnMeter, Reason: OpenCL},
	{Engine: "gpu", Network: "squeezenet_float", Ms: 15.60, Kernels: true, Phone: mi9, Source: nnMeter, Reason: OpenCL},
	{Engine: "gpu", Network: "alexnet_float", Ms: 11.98, Kernels: true, Phone: mi9, Source: nnMeter, Reason: OtherAlexNet},
	{Engine: "gpu", Network: "resnet_18_float", Ms: 35.8, Kernels: true, Phone: mi9, Source: nnMeter, Reason: OpenCL},
	{Engine: "dsp", Network: "mobilenet_v1_1.0_224_quant", Ms: 3.2, Phone: pixel4, Source: measurements + ", NNAPI (which engine is not said)", Reason: unnamed},
	{Engine: "dsp", Network: "mobiledet_dsp_quant", Ms: 12.3, Phone: pixel4, Source: "TensorFlow object detection, tf1_detection_zoo.md, Hexagon 690"},
	{Engine: "dsp", Network: "mobilenet_v1_1.0_224_quant", Ms: 6.0, Phone: pixel3, Source: hosted, Reason: v65},
	{Engine: "dsp", Network: "mobilenet_v1_0.25_224_quant", Ms: 2.9, Phone: pixel3, Source: hosted, Reason: v65},
	{Engine: "dsp", Network: "mobilenet_v1_0.5_128_quant", Ms: 2.6, Phone: pixel3, Source: hosted, Reason: v65},
	{Engine: "dsp", Network: "inception_v3_quant", Ms: 74, Phone: pixel3, Source: hosted, Reason: v65},
	{Engine: "npu", Network: "efficientnet_lite0_quant", Ms: 3.8, Phone: pixel4, Source: efficientNet + ", Edge TPU", Fitted: true},
	{Engine: "npu", Network: "efficientnet_lite1_quant", Ms: 5.4, Phone: pixel4, Source: efficientNet + ", Edge TPU", Fitted: true},
	{Engine: "npu", Network: "efficientnet_lite2_quant", Ms: 7.9, Phone: pixel4, Source: efficientNet + ", Edge TPU", Fitted: true},
	{Engine: "npu", Network: "efficientnet_lite3_quant", Ms: 9.7, Phone: pixel4, Source: efficientNet + ", Edge TPU", Fitted: true},
	{Engine: "npu", Network: "mobilenet_edgetpu_0.75_quant", Ms: 3.1, Phone: pixel4, Source: mobileNet, Fitted: true},
	{Engine: "npu", Network: "mobilenet_edgetpu_quant", Ms: 3.6, Phone: pixel4, Source: mobileNet, Fitted: true},
	{Engine: "npu", Network: "mobilenet_v1_0.25_128_quant", Ms: 0.9, Phone: coral, Source: coralModels},
	{Engine: "npu", Network: "mobilenet_v1_1.0_224_quant", Ms: 2.4, Phone: coral, Source: coralBenchmarks},
	{Engine: "npu", Network: "mobilenet_v2_1.0_224_quant", Ms: 2.6, Phone: coral, Source: coralBenchmarks, Reason: joined},
	{Engine: "npu", Network: "squeezenet_quant", Ms: 2.1, Phone: coral, Source: coralBenchmarks, Reason: joined},
	{Engine: "npu", Network: "inception_v1_quant", Ms: 3.4, Phone: coral, Source: coralModels},
	{Engine: "npu", Network: "efficientnet_edgetpu_s_quant", Ms: 5.0, Phone: coral, Source: coralModels},
	{Engine: "npu", Network: "efficientnet_edgetpu_m_quant", Ms: 7.3, Phone: coral, Source: coralModels},
	{Engine: "npu", Network: "inception_v3_quant", Ms: 42.8, Phone: coral, Source: coralModels},
	{Engine: "npu", Network: "inception_v4_quant", Ms: 84.7, Phone: coral, Source: coralModels},
}

// The phone of the preset, others, and sources.
const (
	pixel4       = "Pixel 4"
	pixel3       = "Pixel 3"
	mi9          = "Mi 9"
	coral        = "Coral USB Accelerator"
	fourThreads  = ", 4 threads"
	efficientNet = "TensorFlow TPU models, efficientnet/lite/README.md"
	mobileNet    = "TensorFlow-Slim, mobilenet/README.md, Edge TPU"
	measurements = "TensorFlow Lite, performance measurements"
	nnMeter      = "nn-Meter, model_latency/gpu, sum of OpenCL kernel times"
	hosted       = "TensorFlow Lite hosted models, NNAPI on HVX (V65)"

	coralModels     = "coral.ai, models, latency on a desktop computer"
	coralBenchmarks = "coral.ai, Edge TPU performance benchmarks, desktop computer"
)

// Reasons that package phones has as well.
const (
	OpenCL       = "TensorFlow Lite 2.1 in float32, a sum of events with a wait after each kernel: its MobileNet takes 1.6 times as long as the whole latency published for a Pixel 4, so both cannot be met; kernels of release 2.10 on a Pixel 4 have a table of their own"
	Larger       = "the source's five networks in float run at 32 to 34 GMAC/s whatever their size, ours at 33 to 40, since what an operation costs beside its products weighs less in large ones; in 8 bits both grow alike (0.99). It is not DRAM, for which ours never waits; a clock that falls with the power of four cores in float would do it, and the source does not name its clocks"
	OtherAlexNet = "not this network: its 235 MB of weights alone take 7.8 ms at the 30.3 GB/s that such a GPU reads, which leaves 4.2 ms for 0.66 GMAC, 156 GMAC/s in convolutions where the source's ResNet-18 has 51 and its VGG16 76. Ours takes 9.3 ms for the matrices, 10.0 for the rest"
)

// Reasons.
const (
	slc     = "a load of float32 takes the address port as long as one of float16 and brings half as many texels"
	sources = "two sources of a Pixel 4's GPU disagree by about 1.3: of this one's smaller networks in float16 ours needs 1.2 times the time, of the other's thirteen 0.93 in the median (networks below); the preset follows the other, which has 777 single kernels as well and names its release. That the ratio grows with the network follows from the other's rates: at those of its single kernels (1x1 of 7x7 137 GFLOP/s, of 14x14 204, of 28x28 283, of 56x56 301, depthwise at most 58) EfficientNet-lite0 takes 5.9 ms of the 6.0 published, lite2 12.0 of 10.0 and lite4 32.5 of 21.0, three quarters of whose products are in planes of 19 and 10"
	unnamed = "the source does not name the engine; through burst objects ours takes 0.45 of it"
	joined  = "a fifth and more of ours is the fixed time of each operation, which a compiler that joins operations does not pay for each (D-1741)"
	v65     = "a Snapdragon 845's Hexagon has half the vector pipes; short networks show the fixed cost of a call, which agrees"
)

// SoC is the preset that corresponds to a figure, "" for phones.
func (p *Published) SoC() string {
	if p.Phone == coral {
		return "coral"
	}
	return ""
}

// Role is the relation of a figure to the preset pixel4: a check, one by which a number of it was chosen, or one of
// another engine, for comparison.
func (p *Published) Role() string {
	switch {
	case p.Phone == pixel3:
		return "other engine"
	case p.Fitted:
		return Fit
	}
	return Check
}

// Roles.
const (
	Check = "check" // a figure that the preset is held to
	Fit   = "fit"   // a figure by which a number of the preset was chosen: its agreement proves less
)
