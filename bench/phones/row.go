package phones

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/nn"
)

// Row is a published latency beside ours.
type Row struct {
	Phone       string  `json:"phone"`
	SoC         string  `json:"soc"` // preset of the phone, "" where no engine is simulated (cores of package cputimes)
	Engine      string  `json:"engine"`
	Cores       string  `json:"cores,omitempty"`   // of the CPU, where the run had some of them only
	Library     string  `json:"library,omitempty"` // of the CPU's kernels where it is not TensorFlow Lite, as key cpu.library
	Network     string  `json:"model"`
	Class       string  `json:"model_class"`
	Arithmetic  string  `json:"arithmetic"` // f32, f16 or i8: what the engine computes in
	Measure     string  `json:"measure"`    // latency, as the application sees it, or kernels, their sum on the engine
	Role        string  `json:"role"`       // fit, check or held
	PublishedMS float64 `json:"published_ms"`
	SimulatedMS float64 `json:"simulated_ms"`
	Ratio       float64 `json:"ratio"` // simulated / published
	Source      string  `json:"source"`
	Reason      string  `json:"reason,omitempty"` // why ours differs by more than the bar of the engine

	published string // date of the row, of which the latest counts
}

// Roles of rows.
const (
	Fit   = "fit"
	Check = "check"
	Held  = "held"
)

// Measures of rows.
const (
	Latency = "latency"
	Kernels = "kernels"
)

// Simulated puts the time of a preset beside the published one.
func (r *Row) Simulated(ms float64) {
	r.SimulatedMS, r.Ratio = ms, ms/r.PublishedMS
	r.Reason = r.why()
}

// Relaxed says that the engine computes a network of float32 in float16.
func (r *Row) Relaxed() bool { return r.Arithmetic == "f16" }

// sameFigure tells rows that publish the same figure of several releases.
func (r *Row) sameFigure(o *Row) bool {
	return r.Phone == o.Phone && r.Engine == o.Engine && r.Cores == o.Cores && r.Network == o.Network &&
		r.Arithmetic == o.Arithmetic && r.Measure == o.Measure && r.Source == o.Source
}

// presets are the presets of phones, by what sources call them.
var presets = map[string]string{
	"Pixel 4":     "pixel4",
	"Mi 9":        "pixel4",
	"Pixel 3":     "pixel3",
	"Pixel 3 XL":  "pixel3",
	"RB5":         "rb5",
	"RB3 Gen 2":   "rb3gen2",
	"Exynos 2200": "xclipse920",
}

// Names lists the phones that have a preset.
func Names() []string { return slices.Sorted(maps.Keys(presets)) }

// Preset is the preset of a phone, "" without one.
func Preset(phone string) string { return presets[phone] }

// aliases are the networks of the zoo that sources call otherwise, without separators.
var aliases = map[string]string{
	"mobilenetv110":    "mobilenet_v1_1.0_224",
	"mobilenetv105":    "mobilenet_v1_0.5_224",
	"mobilenetv1025":   "mobilenet_v1_0.25_224",
	"mobilenetv2075":   "mobilenetv2_w3d4",
	"mobilenetv205":    "mobilenetv2_wd2",
	"hrnetpose":        "hrnet_w32_pose",
	"midasv2":          "midas_small",
	"resnext101":       "resnext101_32x8d",
	"resnext50":        "resnext50_32x4d",
	"shufflenetv2":     "shufflenet_v2_x0_5",
	"posenetmobilenet": "posenet_mobilenet_v1",
	"sesrm5":           "sesr_m5",
	"wideresnet50":     "wide_resnet50_2",
	"regnet":           "regnet_x_3_2gf",
	"inceptionv3":      "inception_v3",
	"mobilenetv3large": "mobilenet_v3_large",
	"googlenet":        "inception_v1",
	"bninception":      "bn_inception",
	"mnasnetb1":        "mnasnet",
	"mobilenetv1":      "mobilenet_v1_1.0_224",
	"mobilenetw1":      "mobilenet_v1_1.0_224",
	"mobilenetwd2":     "mobilenet_v1_0.5_224",
	"mobilenetwd4":     "mobilenet_v1_0.25_224",
	"mobilenetv2":      "mobilenet_v2_1.0_224",
	"regnetx008":       "regnet_x_800mf",
	"squeezenetv11":    "squeezenet_1_1",
	"mobilebert":       "mobilebert",
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", " ", "")

// plain is a name without case and separators: ResNet-18 is resnet18.
func plain(name string) string { return strings.ToLower(separators.Replace(name)) }

// architectures are the networks of the zoo by plain name, without the ends of their formats.
var architectures = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, name := range zoo.Names() {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_float"), "_quant")
		m[plain(base)] = base
	}
	for alias, base := range aliases {
		m[alias] = base
	}
	return m
})

// form ends the names of networks in 8 bits and in float.
func form(quant bool) string {
	if quant {
		return "_quant"
	}
	return "_float"
}

// Runs is the network of the zoo that the engine executes: a network of 8 bits that is computed in floating point is
// that in float.
func (r *Row) Runs() string {
	if base, ok := strings.CutSuffix(r.Network, "_quant"); ok && r.Arithmetic != "i8" {
		return base + form(false)
	}
	return r.Network
}

// classes are kinds of networks, by the first operations of which a network has so many.
var classes = []struct {
	name  string
	least int
	ops   []nn.OperationType
}{
	{"grouped", 1, []nn.OperationType{nn.OpGroupedConv2D}},
	{"depthwise", 3, []nn.OperationType{nn.OpDepthwiseConv2D}},
	{"matrix products", 10, []nn.OperationType{nn.OpFullyConnected, nn.OpBatchMatmul}},
	{"recurrent", 1, []nn.OperationType{nn.OpLstm, nn.OpUnidirectionalSequenceLstm, nn.OpQuantizedLstm, nn.OpRnn}},
	{"branches", 3, []nn.OperationType{nn.OpConcatenation}},
	{"residual", 3, []nn.OperationType{nn.OpAdd}},
}

// ClassOf is the class of a network, by its structure.
func ClassOf(m *nn.Model) string {
	for _, c := range classes {
		n := 0
		for i := range m.Main.Operations {
			if slices.Contains(c.ops, m.Main.Operations[i].Type) {
				n++
			}
		}
		if n >= c.least {
			return c.name
		}
	}
	return "plain"
}
