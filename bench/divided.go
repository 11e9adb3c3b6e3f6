package bench

import (
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// dividedLayer is what papers about dividing operations over engines divide: the layers of one network, in float32 as NAME_float and in 8 bits as
// NAME_quant.
type dividedLayer struct {
	name  string
	build func(*builder.Builder) builder.Tensor
}

// dividedLayers are layers of networks that muLayer (Kim et al., EuroSys 2019: VGG-16 and others) and CoDL (Jia et al., MobiSys 2022: VGG-16,
// YOLOv2 and others) measure. Weights are made up; costs do not depend on them.
var dividedLayers = []dividedLayer{
	// The last block of convolutions of VGG-16 (Simonyan and Zisserman, 2015, table 1, column D): 462 million
	// multiply-accumulates each.
	{"vgg16_conv5", func(b *builder.Builder) builder.Tensor {
		x := b.Values("input", 1, 14, 14, 512)
		for range 3 {
			x = b.Conv(x, builder.Conv{Out: 512, Kernel: 3, Pad: 1, Act: builder.ReLU})
		}
		return x
	}},
	// The second fully connected layer of VGG-16: 16.8 million weights.
	{"vgg16_fc7", func(b *builder.Builder) builder.Tensor {
		return b.Dense(b.Values("input", 1, 4096), 4096, builder.ReLU)
	}},
	// A 3x3 convolution at the end of YOLOv2 (Redmon and Farhadi, 2017) for an image of 416 x 416: 1595 million
	// multiply-accumulates.
	{"yolov2_conv19", func(b *builder.Builder) builder.Tensor {
		return b.Conv(b.Values("input", 1, 13, 13, 1024), builder.Conv{Out: 1024, Kernel: 3, Pad: 1, Act: builder.ReLU})
	}},
}

// DividedLayers are the names of the networks that DividedLayer builds.
func DividedLayers() (names []string) {
	for _, l := range dividedLayers {
		names = append(names, l.name+"_float", l.name+"_quant")
	}
	return names
}

// DividedLayer builds one of DividedLayers.
func DividedLayer(name string) (*nn.Model, error) {
	for _, l := range dividedLayers {
		format := builder.Float32
		switch kind, _ := strings.CutPrefix(name, l.name); kind {
		case "_quant":
			format = builder.Quant8
		case "_float":
		default:
			continue
		}
		b := builder.New(builder.Config{Format: format})
		b.Output(l.build(b), "output")
		return b.Model(name)
	}
	return nil, fmt.Errorf("bench: no layers %q; there are %s", name, strings.Join(DividedLayers(), ", "))
}
