package zoo

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/nnsoc/nnsoc/nn/builder"
)

// Sources of figures.
const (
	slimV1      = "TensorFlow-Slim, mobilenet_v1.md; arXiv 1704.04861, table 6"
	slimV2      = "TensorFlow-Slim, mobilenet/README.md"
	mlperfTiny  = "MLCommons Tiny, benchmark/training"
	torchvision = "torchvision, table of pre-trained weights"
	pytorchcv   = "PyTorchCV, README.md; qed-usc/mobile-ml-benchmark (its multiply-accumulates)"
	modelZoo    = "OpenVINO Open Model Zoo (operations count twice)"
)

// row is an architecture and its formats.
type row struct {
	name    string
	formats []builder.Format // named float and quant
	build   architecture
	figures Figures
}

var (
	floatOnly   = []builder.Format{builder.Float32}
	floatQuant  = []builder.Format{builder.Float32, builder.Quant8}
	floatSigned = []builder.Format{builder.Float32, builder.Quant8Signed}
	quantOnly   = []builder.Format{builder.Quant8}
	signedOnly  = []builder.Format{builder.Quant8Signed}
)

// all is every network, sorted by name.
var all = sync.OnceValue(func() (l []*Network) {
	rows := slices.Concat(mobileNetsV1(), mobileNetsV2(), others)
	for _, r := range rows {
		for _, f := range r.formats {
			suffix := "_quant"
			if f == builder.Float32 {
				suffix = "_float"
			}
			signed := slices.Contains(r.formats, builder.Quant8Signed)
			l = append(l, &Network{Name: r.name + suffix, Published: r.figures, format: f, build: r.build, perScale: signed})
		}
	}
	slices.SortFunc(l, func(x, y *Network) int { return cmp.Compare(x.Name, y.Name) })
	return l
})

func mobileNetsV1() (l []row) {
	// The source also prints 34 for 0.25 at 192, and 104, 162, 233 and 317 for 0.75, which do not follow from its own
	// definition of the network. The paper has 325 for 0.75 at 224.
	macs := map[uint32][4]string{ // of sides 128, 160, 192, 224
		25:  {"14", "21", "", "41"},
		50:  {"49", "77", "110", "150"},
		75:  {"", "", "", "325"},
		100: {"186", "291", "418", "569"},
	}
	parameters := map[uint32]string{25: "0.47", 50: "1.34", 75: "2.59", 100: "4.24"}
	for w := range macs {
		for i, side := range []uint32{128, 160, 192, 224} {
			l = append(l, row{fmt.Sprintf("mobilenet_v1_%s_%d", widthName(w), side), floatQuant, mobileNetV1(w, side),
				Figures{Parameters: parameters[w], MACs: macs[w][i], Source: slimV1}})
		}
	}
	return l
}

func mobileNetsV2() (l []row) {
	macs := map[uint32][5]string{ // of sides 96, 128, 160, 192, 224
		35:  {"11", "20", "30", "43", "59"},
		50:  {"18", "32", "50", "71", "97"},
		75:  {"39", "69", "107", "153", "209"},
		100: {"56", "99", "154", "221", "300"},
		140: {"", "", "", "", "582"},
	}
	parameters := map[uint32]string{35: "1.66", 50: "1.95", 75: "2.61", 100: "3.47", 140: "6.06"}
	for w := range macs {
		for i, side := range []uint32{96, 128, 160, 192, 224} {
			l = append(l, row{fmt.Sprintf("mobilenet_v2_%s_%d", widthName(w), side), floatQuant, mobileNetV2(w, side),
				Figures{Parameters: parameters[w], MACs: macs[w][i], Source: slimV2}})
		}
	}
	return l
}

const (
	lite    = "TensorFlow TPU models, efficientnet/lite/README.md"
	edgeTPU = "TensorFlow TPU models, efficientnet/edgetpu/efficientnet_edgetpu_builder.py; timm, efficientnet_es and efficientnet_em"
)

var others = []row{
	{"mobilenet_v3_large", floatSigned, mobileNetV3(v3Large, 960, 1280), Figures{Parameters: "5.48", MACs: "217", Source: torchvision + "; TensorFlow-Slim, mobilenet/README.md"}},
	{"mobilenet_v3_small", floatOnly, mobileNetV3(v3Small, 576, 1024), Figures{Parameters: "2.54", MACs: "56", Source: torchvision + "; arXiv 1905.02244, table 4"}},
	{"mobilenet_edgetpu", signedOnly, mobileNetEdgeTPU(100), Figures{Parameters: "4.0", MACs: "990", Source: slimV2}},
	{"mobilenet_edgetpu_0.75", signedOnly, mobileNetEdgeTPU(75), Figures{Parameters: "2.9", MACs: "624", Source: slimV2}},
	{"efficientnet_edgetpu_s", signedOnly, efficientNetEdgeTPU(1.0, 224), Figures{Parameters: "5.4", Source: edgeTPU}},
	{"efficientnet_edgetpu_m", signedOnly, efficientNetEdgeTPU(1.1, 240), Figures{Parameters: "6.9", Source: edgeTPU}},
	{"mnasnet", floatOnly, mnasNet, Figures{Parameters: "4.383", MACs: "314", Source: torchvision}},
	{"efficientnet_lite0", floatSigned, efficientNetLite(1.0, 1.0, 224), Figures{Parameters: "4.7", MACs: "407", Source: lite, PerElement: 3}},
	{"efficientnet_lite1", floatSigned, efficientNetLite(1.0, 1.1, 240), Figures{Parameters: "5.4", MACs: "631", Source: lite, PerElement: 3}},
	{"efficientnet_lite2", floatSigned, efficientNetLite(1.1, 1.2, 260), Figures{Parameters: "6.1", MACs: "899", Source: lite, PerElement: 3}},
	{"efficientnet_lite3", floatSigned, efficientNetLite(1.2, 1.4, 280), Figures{Parameters: "8.2", MACs: "1440", Source: lite, PerElement: 3}},
	{"efficientnet_lite4", floatSigned, efficientNetLite(1.4, 1.8, 300), Figures{Parameters: "13.0", MACs: "2640", Source: lite, PerElement: 3}},
	{"spnasnet", floatOnly, spNASNet, Figures{Parameters: "4.422", MACs: "333", Source: pytorchcv}},
	{"mobilenetv2_w3d4", floatOnly, mobileNetV2Cut(75), Figures{Parameters: "2.628", MACs: "187", Source: pytorchcv}},
	{"mobilenetv2_wd2", floatOnly, mobileNetV2Cut(50), Figures{Parameters: "1.965", MACs: "92", Source: pytorchcv}},
	{"regnet_x_800mf", floatOnly, regNetX(16, regNetStage{1, 64}, regNetStage{3, 128}, regNetStage{7, 288}, regNetStage{5, 672}), Figures{Parameters: "7.260", MACs: "800", Source: torchvision}},
	{"resnet_12", floatOnly, resNet(false, 2, 1, 1, 1), Figures{Parameters: "5.493", MACs: "1121", Source: pytorchcv}},
	{"resnet_14", floatOnly, resNet(false, 2, 2, 1, 1), Figures{Parameters: "5.788", MACs: "1353", Source: pytorchcv}},
	{"resnet_18", floatSigned, resNet(false, 2, 2, 2, 2), Figures{Parameters: "11.690", MACs: "1814", Source: torchvision}},
	{"resnet_34", floatSigned, resNet(false, 3, 4, 6, 3), Figures{Parameters: "21.798", MACs: "3664", Source: torchvision}},
	{"resnet_50", floatSigned, resNet(true, 3, 4, 6, 3), Figures{Parameters: "25.557", MACs: "4089", Source: torchvision}},
	{"resnet_101", floatSigned, resNet(true, 3, 4, 23, 3), Figures{Parameters: "44.549", MACs: "7801", Source: torchvision}},
	{"resnext50_32x4d", floatSigned, resNeXt(32, 4, 3, 4, 6, 3), Figures{Parameters: "25.029", MACs: "4230", Source: torchvision}},
	{"resnext101_32x8d", floatSigned, resNeXt(32, 8, 3, 4, 23, 3), Figures{Parameters: "88.791", MACs: "16414", Source: torchvision}},
	{"wide_resnet50_2", floatSigned, resNeXt(1, 128, 3, 4, 6, 3), Figures{Parameters: "68.883", MACs: "11398", Source: torchvision}},
	{"regnet_x_3_2gf", floatSigned, regNetX(48, regNetStage{2, 96}, regNetStage{6, 192}, regNetStage{15, 432}, regNetStage{2, 1008}), Figures{Parameters: "15.296", MACs: "3177", Source: torchvision}},
	{"shufflenet_v2_x0_5", floatSigned, shuffleNetV2, Figures{Parameters: "1.367", MACs: "40", Source: torchvision}},
	{"resnet_101v2", floatSigned, resNet101V2, Figures{Parameters: "44.54", MACs: "7830", Source: "timm, resnetv2_101"}},
	{"densenet121", floatSigned, denseNet121, Figures{Parameters: "7.979", MACs: "2834", Source: torchvision}},
	{"inception_v1", floatQuant, inceptionV1, Figures{Parameters: "6.619", MACs: "1508", Source: modelZoo}},
	{"bn_inception", floatOnly, bnInception, Figures{Parameters: "11.296", MACs: "2041", Source: pytorchcv}},
	{"inception_v3", floatQuant, inceptionV3(299), Figures{Parameters: "23.819", MACs: "5734", Source: modelZoo}},
	{"inception_v4", floatQuant, inceptionV4, Figures{Parameters: "42.648", MACs: "12292", Source: modelZoo}},
	{"inception_resnet_v2", floatOnly, inceptionResNetV2, Figures{Parameters: "55.84", MACs: "13180", Source: "timm, inception_resnet_v2"}},
	{"vgg11", floatOnly, vgg(1, 1, 2, 2, 2), Figures{Parameters: "132.863", MACs: "7609", Source: torchvision}},
	{"vgg16", floatOnly, vgg(2, 2, 3, 3, 3), Figures{Parameters: "138.358", MACs: "15470", Source: torchvision}},
	{"vgg19", floatOnly, vgg(2, 2, 4, 4, 4), Figures{Parameters: "143.667", MACs: "19632", Source: torchvision}},
	{"alexnet", floatOnly, alexNet, Figures{Parameters: "61.101", MACs: "714", Source: torchvision}},
	{"squeezenet", floatSigned, squeezeNet, Figures{Parameters: "1.248", MACs: "819", Source: torchvision + ", squeezenet1_0"}},
	{"squeezenet_1_1", floatSigned, squeezeNet11, Figures{Parameters: "1.235", MACs: "352", Source: torchvision + "; qed-usc/mobile-ml-benchmark"}},
	{"nasnet_mobile", floatOnly, nasNetA(224, 32, 44, 4), Figures{Parameters: "5.3", MACs: "564", Source: "arXiv 1707.07012, table 3"}},
	{"ssd_mobilenet_v1", floatQuant, ssdMobileNetV1, Figures{Parameters: "6.807", MACs: "1235", Source: "OpenVINO Open Model Zoo; MLPerf inference (2.47 GOPs)"}},
	{"mobiledet_dsp", quantOnly, mobileDetDSP, Figures{Parameters: "7.16", MACs: "2820", Source: "TensorFlow object detection, ssdlite_mobiledet_dsp_320x320_coco_sync_4x4.config", Normalized: true}},
	{"deeplab_v3_mnv2", floatQuant, deepLabV3, Figures{Parameters: "2.11", MACs: "2750", Source: "arXiv 1801.04381, table 7; TensorFlow DeepLab, model_zoo.md"}},
	{"inception_v3_224", floatSigned, inceptionV3(224), Figures{Parameters: "23.9", Source: "quic/ai-hub-models, README of the model"}},
	{"midas_small", floatSigned, midasSmall, Figures{Parameters: "16.6", Source: "quic/ai-hub-models, README of the model" + "; isl-org/MiDaS, midas_net_custom.py"}},
	{"hrnet_w32_pose", floatSigned, hrNetPose, Figures{Parameters: "28.5", Source: "quic/ai-hub-models, README of the model" + "; HRNet, pose_hrnet.py"}},
	{"posenet_mobilenet_v1", floatSigned, poseNet, Figures{Parameters: "3.3", Source: "quic/ai-hub-models, README of the model"}},
	{"quicksrnet_small", floatSigned, quickSRNet(32, 3), Figures{Parameters: "0.033", Source: "quic/ai-hub-models, README of the model"}},
	{"quicksrnet_medium", floatSigned, quickSRNet(32, 6), Figures{Parameters: "0.061", Source: "quic/ai-hub-models, README of the model"}},
	{"quicksrnet_large", floatSigned, quickSRNet(64, 12), Figures{Parameters: "0.436", Source: "quic/ai-hub-models, README of the model"}},
	{"sesr_m5", floatSigned, sesrM5, Figures{Parameters: "0.343", Source: "quic/ai-hub-models, README of the model"}},
	{"nasnet_large", floatOnly, nasNetA(331, 96, 168, 6), Figures{Parameters: "88.9", MACs: "23800", Source: "arXiv 1707.07012, table 2"}},
	{"mobilebert", floatOnly, mobileBERT(384), Figures{Parameters: "24.58", Source: "Hugging Face, google/mobilebert-uncased"}},
	{"mlperf_tiny_ad", floatSigned, tinyAD, Figures{Source: mlperfTiny + "/anomaly_detection"}},
	{"mlperf_tiny_ic", floatSigned, tinyIC, Figures{Source: mlperfTiny + "/image_classification"}},
	{"mlperf_tiny_kws", floatSigned, tinyKWS, Figures{Source: mlperfTiny + "/keyword_spotting"}},
	{"mlperf_tiny_vww", floatSigned, tinyVWW, Figures{Source: mlperfTiny + "/visual_wake_words"}},
	{"asr", floatOnly, asr, Figures{Source: "arXiv 1603.03185; TensorFlow Lite speech models, asr_am.svg"}},
	{"tts", floatOnly, tts, Figures{Source: "arXiv 1606.06061; TensorFlow Lite speech models, tts.svg"}},
}
