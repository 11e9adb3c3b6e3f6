package zoo

import (
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
)

// midasSmall is MiDaS v2.1 small (Ranftl et al., arXiv 1907.01341): depth of each pixel, by EfficientNet-Lite3 and blocks that
// join its stages from the deepest to the first.
func midasSmall(b *builder.Builder) {
	const features = 64
	var stages []tensor // of 32, 48, 136 and 384 channels
	efficientNetLiteBody(b, b.Image(256), 1.2, 1.4, func(stage int, x tensor) {
		if stage == 1 || stage == 2 || stage == 4 || stage == 6 {
			stages = append(stages, x)
		}
	})
	var x tensor
	for i := 3; i >= 0; i-- {
		channels := uint32(features) << i
		y := b.Conv(stages[i], builder.Conv{Out: channels, Kernel: 3, Pad: 1, NoBias: true})
		if i < 3 {
			y = b.Add(x, midasUnit(b, y), builder.NoActivation)
		}
		y = midasUnit(b, y)
		d := b.Dims(y)
		x = b.Conv(b.Resize(y, 2*d[1], 2*d[2]), builder.Conv{Out: max(channels/2, features), Kernel: 1})
	}
	x = b.Conv(x, builder.Conv{Out: features / 2, Kernel: 3, Pad: 1})
	x = b.Conv(b.Resize(x, 256, 256), builder.Conv{Out: 32, Kernel: 3, Pad: 1, Act: builder.ReLU})
	b.Output(b.Conv(x, builder.Conv{Out: 1, Kernel: 1, Act: builder.ReLU}), "depth")
}

// midasUnit adds two convolutions, each behind a RELU, to their input.
func midasUnit(b *builder.Builder, x tensor) tensor {
	y := b.Conv(b.Activate(x, builder.ReLU), builder.Conv{Out: b.Channels(x), Kernel: 3, Pad: 1, Act: builder.ReLU})
	return b.Add(b.Conv(y, builder.Conv{Out: b.Channels(x), Kernel: 3, Pad: 1}), x, builder.NoActivation)
}

// hrNetPose is HRNet-W32 (Sun et al., arXiv 1902.09212) for poses on 256x192: branches of 32 channels and more, each of half the
// side of the one before, which exchange what they have after each module.
func hrNetPose(b *builder.Builder) {
	x := b.Values("input", 1, 256, 192, 3)
	for range 2 {
		x = b.Conv(x, builder.Conv{Out: 64, Kernel: 3, Stride: 2, Pad: 1, Act: builder.ReLU})
	}
	for range 4 {
		x = resNetBlock(b, x, true, 64, 1)
	}
	branches := []tensor{b.Conv(x, builder.Conv{Out: 32, Kernel: 3, Pad: 1, Act: builder.ReLU})}
	last := x
	for stage, modules := range []int{1, 4, 3} {
		branches = append(branches, b.Conv(last, builder.Conv{Out: 64 << stage, Kernel: 3, Stride: 2, Pad: 1, Act: builder.ReLU}))
		for m := range modules {
			for i := range branches {
				for range 4 {
					branches[i] = resNetBlock(b, branches[i], false, 32<<i, 1)
				}
			}
			if stage == 2 && m == modules-1 {
				branches = []tensor{hrNetFuse(b, branches, 0)}
				break
			}
			fused := make([]tensor, len(branches))
			for i := range branches {
				fused[i] = hrNetFuse(b, branches, i)
			}
			branches = fused
		}
		last = branches[len(branches)-1]
	}
	b.Output(b.Conv(branches[0], builder.Conv{Out: 17, Kernel: 1, Act: builder.Logits}), "heatmaps")
}

// hrNetFuse adds all branches in the shape of one of them: smaller ones are enlarged, larger ones stride.
func hrNetFuse(b *builder.Builder, branches []tensor, to int) tensor {
	d := b.Dims(branches[to])
	var sum tensor
	for i, x := range branches {
		switch {
		case i > to:
			x = b.Conv(x, builder.Conv{Out: d[3], Kernel: 1})
			x = b.Move(nn.OpResizeNearestNeighbor, x, b.Int32(int32(d[2])), b.Int32(int32(d[1])), b.Bool(false))
		case i < to:
			for range to - i - 1 {
				x = b.Conv(x, builder.Conv{Out: b.Channels(x), Kernel: 3, Stride: 2, Pad: 1, Act: builder.ReLU})
			}
			x = b.Conv(x, builder.Conv{Out: d[3], Kernel: 3, Stride: 2, Pad: 1})
		}
		switch act := builder.NoActivation; {
		case i == 0:
			sum = x
		default:
			if i == len(branches)-1 {
				act = builder.ReLU
			}
			sum = b.Add(sum, x, act)
		}
	}
	return sum
}

// poseNet is PoseNet on MobileNet v1 of stride 16, 513x257 (TensorFlow Lite, posenet_mobilenet_v1_100_257x353): heatmaps, offsets and
// displacements of 17 points.
func poseNet(b *builder.Builder) {
	x := mobileNetV1Body(b, b.Values("input", 1, 513, 257, 3), 100, 16, nil)
	for _, head := range []struct {
		name string
		out  uint32
	}{{"heatmaps", 17}, {"offsets", 34}, {"displacements forward", 32}, {"displacements backward", 32}} {
		b.Output(b.Conv(x, builder.Conv{Out: head.out, Kernel: 1, Act: builder.Logits}), head.name)
	}
}
