package phones

import (
	"math"

	"github.com/nnsoc/nnsoc/bench"
)

// bars are how far a ratio may lie from 1 without a reason, by engine.
var bars = map[string]float64{"cpu": 0.15, "gpu": 0.30, "dsp": 0.40, "npu": 0.40}

// reason is why rows of an engine differ. An empty field is any, a bound of 0 none.
type reason struct {
	engine, phone, cores, network, library, class string
	least, most                                   float64 // ratios that it explains
	why                                           string
}

// reasons are why rows differ by more than their bar; the first that fits counts. Each cause was looked for in the
// operations of the row.
var reasons = []reason{
	{engine: "cpu", phone: "RB3 Gen 2", library: "onnxruntime", most: 0.85, why: "the board, not its cores: with the same library 20 networks take 0.91 to 2.97 times as long on it as on the vendor's Q-6690, longest those of many short operations (D-2701)"},
	{engine: "cpu", network: "shufflenet_v2_x0_5_quant", library: "onnxruntime", least: 1, why: "three quarters of ours are between its 152 operations and calls of threads, which cost what TensorFlow Lite's do (D-2701)"},
	{engine: "cpu", class: "residual", library: "onnxruntime", most: 1, why: "products of many channels are not 0.82 of the peak, as TensorFlow Lite's are: what ONNX Runtime's reach is not published (D-2701)"},
	{engine: "cpu", cores: "a55", class: "grouped", why: "TensorFlow Lite's reference loop for groups costs unlike cycles in 8 bits and in float on this core; the model has one figure (D-312)"},
	{engine: "cpu", cores: "prime+gold", network: "bn_inception_float", least: 1, why: "1.04 to 1.10 on all other cores; two unlike ones take four blocks of a product each, the prime core never five (D-2804)"},
	{engine: "cpu", phone: "Pixel 3", network: "inception_v3_float", most: 1, why: hot},
	{engine: "cpu", phone: "Pixel 3", network: "inception_v3_quant", most: 1, why: hot},
	{engine: "cpu", phone: "Pixel 3", least: 1, why: "31 operations of 11 us between them, which the preset has from release 2.10 on another such core, are 0.33 of our 2.06 ms; the source names no release"},
	{engine: "cpu", phone: "Pixel 4", network: "efficientnet_lite4_float", most: 1, why: bench.Larger},

	{engine: "gpu", network: "alexnet_float", why: bench.OtherAlexNet},
	{engine: "gpu", phone: "Mi 9", why: bench.OpenCL},
	{engine: "gpu", phone: "Pixel 3 XL", why: bench.OpenCL},

	{engine: "dsp", phone: "Pixel 3", network: "inception_v3_quant", most: 1, why: "not the core: the same phone's MobileNet v1 at two sizes agrees; its driver left operations to the CPU, which ones is not published (D-2808)"},
	{engine: "dsp", phone: "RB5", class: "plain", most: 1, why: "layers and not products: the vendor's runs take 8.8 ms with 14 layers on the Hexagon and 3 on the CPU, 12.9 with 16 and 3, 13.3 with 21: two layers cost 4 ms there, where ours computes all in 1.7 ms, 0.17 of it DEPTH_TO_SPACE"},
}

// hot is the cause of two rows.
const hot = "the source names no release: its products reach 43 % of the peak in 8 bits and 51 % in float, less than in the same source's MobileNet v1 (49 and 53 %); those of 2.10 on such cores reach 76 to 79 %, and ours of BN-Inception, of such modules, takes 0.98 and 1.04 of the measured there. An earlier release, or a phone that gets hot in 150 to 250 ms"

// Misses reports whether a row is beyond the bar of its engine.
func (r *Row) Misses() bool { return math.Abs(r.Ratio-1) > bars[r.Engine] }

// why is the reason of a row that misses; "" has none or needs none.
func (r *Row) why() string {
	if !r.Misses() {
		return ""
	}
	is := func(want, have string) bool { return want == "" || want == have }
	for i := range reasons {
		c := &reasons[i]
		if is(c.engine, r.Engine) && is(c.phone, r.Phone) && is(c.cores, r.Cores) && is(c.network, r.Network) && is(c.library, r.Library) && is(c.class, r.Class) &&
			r.Ratio >= c.least && (c.most == 0 || r.Ratio <= c.most) {
			return c.why
		}
	}
	return ""
}
