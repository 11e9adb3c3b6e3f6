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
	{"cpu", "mobilenet_v1_1.0_224_float", 14.0, false, pixel4, measurements + fourThreads, ""},
	{"cpu", "mobilenet_v1_1.0_224_quant", 5.0, false, pixel4, measurements + fourThreads, ""},
	{"cpu", "efficientnet_lite0_float", 12, false, pixel4, efficientNet + fourThreads, ""},
	{"cpu", "efficientnet_lite0_quant", 6.5, false, pixel4, efficientNet + fourThreads, ""},
	{"gpu", "mobilenet_v1_1.0_224_float", 9.0, false, pixel4, measurements, slc},
	{"gpu", "efficientnet_lite0_float", 9.0, false, pixel4, efficientNet + ", fp32", slc},
	{"gpu", "mobilenet_v1_1.0_224_float", 14.46, true, mi9, nnMeter, opencl},
	{"gpu", "mobilenet_v2_1.0_224_float", 10.36, true, mi9, nnMeter, opencl},
	{"gpu", "squeezenet_float", 15.60, true, mi9, nnMeter, opencl},
	{"gpu", "alexnet_float", 11.98, true, mi9, nnMeter, opencl},
	{"gpu", "resnet_18_float", 35.8, true, mi9, nnMeter, opencl},
	{"dsp", "mobilenet_v1_1.0_224_quant", 3.2, false, pixel4, measurements + ", NNAPI (which engine is not said)", unnamed},
	{"dsp", "mobiledet_dsp_quant", 12.3, false, pixel4, "TensorFlow object detection, tf1_detection_zoo.md, Hexagon 690", ""},
	{"dsp", "mobilenet_v1_1.0_224_quant", 6.0, false, pixel3, hosted, v65},
	{"dsp", "mobilenet_v1_0.25_224_quant", 2.9, false, pixel3, hosted, v65},
	{"dsp", "mobilenet_v1_0.5_128_quant", 2.6, false, pixel3, hosted, v65},
	{"dsp", "inception_v3_quant", 74, false, pixel3, hosted, v65},
	{"npu", "efficientnet_lite0_quant", 3.8, false, pixel4, efficientNet + ", Edge TPU", ""},
	{"npu", "efficientnet_lite1_quant", 5.4, false, pixel4, efficientNet + ", Edge TPU", ""},
	{"npu", "efficientnet_lite2_quant", 7.9, false, pixel4, efficientNet + ", Edge TPU", ""},
	{"npu", "efficientnet_lite3_quant", 9.7, false, pixel4, efficientNet + ", Edge TPU", ""},
	{"npu", "mobilenet_edgetpu_0.75_quant", 3.1, false, pixel4, mobileNet, ""},
	{"npu", "mobilenet_edgetpu_quant", 3.6, false, pixel4, mobileNet, ""},
	{"npu", "mobilenet_v1_0.25_128_quant", 0.9, false, coral, coralModels, ""},
	{"npu", "mobilenet_v1_1.0_224_quant", 2.4, false, coral, coralBenchmarks, ""},
	{"npu", "mobilenet_v2_1.0_224_quant", 2.6, false, coral, coralBenchmarks, joined},
	{"npu", "squeezenet_quant", 2.1, false, coral, coralBenchmarks, joined},
	{"npu", "inception_v1_quant", 3.4, false, coral, coralModels, ""},
	{"npu", "efficientnet_edgetpu_s_quant", 5.0, false, coral, coralModels, ""},
	{"npu", "efficientnet_edgetpu_m_quant", 7.3, false, coral, coralModels, ""},
	{"npu", "inception_v3_quant", 42.8, false, coral, coralModels, ""},
	{"npu", "inception_v4_quant", 84.7, false, coral, coralModels, ""},
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

// Reasons.
const (
	opencl  = "TensorFlow Lite 2.1 in float32, a sum of events with a wait after each kernel: its MobileNet takes 1.6 times as long as the whole latency published for a Pixel 4, so both cannot be met; kernels of release 2.10 on a Pixel 4 are below"
	slc     = "a load of float32 takes the address port as long as one of float16 and brings half as many texels"
	unnamed = "the source does not name the engine; through burst objects ours takes 0.6 of it"
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

// Role is the relation of a figure to the preset pixel4: a check, or one of another engine, for comparison.
func (p *Published) Role() string {
	if p.Phone == pixel3 {
		return "other engine"
	}
	return Check
}

// Check is the role of figures that the preset is held to.
const Check = "check"
