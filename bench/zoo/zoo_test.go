package zoo_test

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// TestNames: the zoo holds exactly these networks.
func TestNames(t *testing.T) {
	var want []string
	for _, pattern := range []string{
		"mobilenet_v1_{0.25,0.5,0.75,1.0}_{128,160,192,224}_{float,quant}",
		"mobilenet_v2_{0.35,0.5,0.75,1.0,1.4}_{96,128,160,192,224}_{float,quant}",
		"mobilenet_v3_large_{float,quant}", "mobilenet_v3_small_float",
		"efficientnet_lite{0,1,2,3,4}_{float,quant}",
		"resnet_{18,34,50,101,101v2}_{float,quant}", "{resnext50_32x4d,resnext101_32x8d,wide_resnet50_2,regnet_x_3_2gf,shufflenet_v2_x0_5}_{float,quant}",
		"{inception_v3_224,midas_small,hrnet_w32_pose,posenet_mobilenet_v1,quicksrnet_small,quicksrnet_medium,quicksrnet_large,sesr_m5}_{float,quant}",
		"{resnet_12,resnet_14,regnet_x_800mf,spnasnet,bn_inception,mobilenetv2_w3d4,mobilenetv2_wd2}_float",
		"inception_{v1,v3,v4}_{float,quant}",
		"{inception_resnet_v2,vgg11,vgg16,vgg19,alexnet,mnasnet,nasnet_mobile,nasnet_large,mobilebert,asr,tts}_float",
		"{squeezenet,squeezenet_1_1,densenet121,ssd_mobilenet_v1,deeplab_v3_mnv2}_{float,quant}",
		"mlperf_tiny_{ad,ic,kws,vww}_{float,quant}",
		"{mobiledet_dsp,mobilenet_edgetpu,mobilenet_edgetpu_0.75,efficientnet_edgetpu_s,efficientnet_edgetpu_m}_quant",
	} {
		want = append(want, braces(pattern)...)
	}
	slices.Sort(want)
	require.Equal(t, want, zoo.Names())
}

// braces expands a{b,c}d to abd and acd.
func braces(pattern string) []string {
	before, rest, ok := strings.Cut(pattern, "{")
	if !ok {
		return []string{pattern}
	}
	list, after, _ := strings.Cut(rest, "}")
	var l []string
	for _, choice := range strings.Split(list, ",") {
		for _, end := range braces(after) {
			l = append(l, before+choice+end)
		}
	}
	return l
}

// TestFigures: parameters and multiply-accumulates are those published, within
// 1 % or a unit of the last digit printed: sources round or cut.
func TestFigures(t *testing.T) {
	for _, n := range zoo.Networks() {
		m, parameters, err := n.Outline()
		if err != nil {
			t.Error(err)
			continue
		}
		p, macs := parameters, opspec.MACs(m)
		require.Check(t, n.Published.Source != "", "%s: no source", n.Name)
		var elements, channels int64
		for _, op := range m.Main.Operations {
			if op.Type == nn.OpConv2D || op.Type == nn.OpDepthwiseConv2D {
				o := &m.Main.Operands[op.Outputs[0]]
				elements += o.Elements()
				channels += int64(o.Dimensions[3])
			}
		}
		if n.Published.Normalized {
			p += 3 * channels
		}
		macs += int64(n.Published.PerElement) * elements
		if !agrees(p, n.Published.Parameters) {
			t.Errorf("%s: %.4f million parameters, published %s", n.Name, float64(p)/1e6, n.Published.Parameters)
		}
		if !agrees(macs, n.Published.MACs) {
			t.Errorf("%s: %.2f million multiply-accumulates, published %s", n.Name, float64(macs)/1e6, n.Published.MACs)
		}
	}
}

// agrees compares a count with a figure in millions; "" agrees with any.
func agrees(count int64, figure string) bool {
	if figure == "" {
		return true
	}
	want, err := strconv.ParseFloat(figure, 64)
	if err != nil {
		return false
	}
	_, decimals, _ := strings.Cut(figure, ".")
	unit := math.Pow(10, -float64(len(decimals)))
	return math.Abs(float64(count)/1e6-want) <= max(0.01*want, 1.001*unit)
}

func TestAgrees(t *testing.T) {
	for _, c := range []struct {
		count  int64
		figure string
		want   bool
	}{
		{4_222_000, "4.24", true}, {4_180_000, "4.24", false}, {11_900_000, "11", true}, {12_100_000, "11", false},
		{568_740_352, "569", true}, {560_000_000, "569", false}, {1, "x", false}, {5, "", true},
	} {
		if got := agrees(c.count, c.figure); got != c.want {
			t.Errorf("%d agrees with %q: %v", c.count, c.figure, got)
		}
	}
}

// TestOutline: the outline has the shapes and the parameters of the network.
func TestOutline(t *testing.T) {
	for _, name := range []string{"mobilenet_v1_0.25_128_quant", "efficientnet_lite0_quant", "mobilenet_v3_small_float", "tts_float"} {
		n, ok := zoo.Find(name)
		if !ok {
			t.Fatal(name)
		}
		outline, parameters := require.V2(n.Outline())(t)
		m := require.V(n.Build())(t)
		require.Report(t, nnrt.Validate(m))
		if opspec.MACs(m) != opspec.MACs(outline) || m.Name != name {
			t.Errorf("%s: the outline has %d multiply-accumulates, the network %d", name, opspec.MACs(outline), opspec.MACs(m))
		}
		var constants, held int64
		for i := range m.Main.Operands {
			o := &m.Main.Operands[i]
			if d := cmp.Diff(o.Dimensions, outline.Main.Operands[i].Dimensions); d != "" {
				t.Fatalf("%s: operand %d: %s", name, i, d)
			}
			if o.Lifetime == nn.ConstantReference && o.Type != nn.TensorInt32 || strings.HasSuffix(o.Name, "/bias") {
				constants += o.Elements()
			}
			held += int64(len(outline.Main.Operands[i].Data))
		}
		if constants < parameters || constants > parameters+64 {
			t.Errorf("%s: %d weights and biases, %d parameters", name, constants, parameters)
		}
		require.Check(t, held <= 1<<16, "%s: the outline holds %d bytes", name, held)
	}
}

// TestRepeatable: two builds are the same to the byte.
func TestRepeatable(t *testing.T) {
	var built [2]*nn.Model
	for i := range built {
		m := require.V(zoo.Build("efficientnet_lite0_quant"))(t)
		built[i] = m
	}
	for i := range built[0].Main.Operands {
		x, y := built[0].Main.Operands[i], built[1].Main.Operands[i]
		require.Check(t, bytes.Equal(x.Data, y.Data), "operand %d: two builds differ", i)
		x.Data, y.Data = nil, nil
		require.Equal(t, x, y, "operand", i)
	}
}

func TestSimilar(t *testing.T) {
	for name, want := range map[string]string{
		"resnet50": "resnet_50_float", "mobilenetv2_1.0_224_quant": "mobilenet_v2_1.0_224_quant", "VGG-16": "vgg16_float",
		"mobilenet_v3": "mobilenet_v3_large_float", "mobilnet_v1_1.0_224_quant": "mobilenet_v1_1.0_224_quant",
		"": "", strings.Repeat("x", 1<<16): "",
	} {
		got := zoo.Similar(name, 3)
		if len(got) != 3 || want != "" && got[0] != want {
			t.Errorf("similar to %.40q: %v, want %s first", name, got, want)
		}
	}
	require.ErrorContains(t, require.Err(zoo.Build("resnet50")), "resnet_50_float")
}
