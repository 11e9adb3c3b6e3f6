package offline_test

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/bench/inference"
	"github.com/nnsoc/nnsoc/bench/offline"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/importer/vela"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// kerasMobileNet is MobileNet v1 of an image of side pixels and a width in eighths, as Keras writes it: a PAD of one row
// and column behind each image that a window of stride 2 goes over.
func kerasMobileNet(side, eighths uint32, padded bool) (*nn.Model, error) {
	b := builder.New(builder.Config{Format: builder.Quant8Signed, Seed: 7})
	x := b.Values("image", 1, side, side, 3)
	strided := func(c builder.Conv) builder.Conv {
		if c.Stride == 2 && padded {
			x = b.Pad(x, 0, 0, 0, 1, 0, 1, 0, 0)
			c.Valid = true
		}
		return c
	}
	x = b.Conv(x, strided(builder.Conv{Out: 4 * eighths, Kernel: 3, Stride: 2, Act: builder.ReLU6}))
	for _, l := range []struct{ out, stride uint32 }{{8, 1}, {16, 2}, {16, 1}, {32, 2}, {32, 1}, {64, 2}, {64, 1}, {64, 1}, {128, 2}, {128, 1}} {
		x = b.Depthwise(x, strided(builder.Conv{Kernel: 3, Stride: l.stride, Act: builder.ReLU6}))
		x = b.Conv(x, builder.Conv{Out: l.out * eighths, Kernel: 1, Act: builder.ReLU6})
	}
	b.Output(x, "features")
	return b.Model(fmt.Sprintf("keras_mobilenet_%d", side))
}

// TestPadding: a PAD before a window of stride 2 costs no cycle, since the window pads, and the outputs are the
// reference's. Images of even sides have the padding of the scheme SAME then.
func TestPadding(t *testing.T) {
	for _, name := range []string{"ethos-u55-128", "ethos-u65-256"} {
		a := require.V(ethosu.ParseConfig(name))(t)
		c := require.V(soc.Load(name))(t)
		cycles := map[bool]int64{}
		for _, padded := range []bool{false, true} {
			m := require.V(kerasMobileNet(64, 2, padded))(t)
			n := require.V(offline.Compile(m, c, a))(t)
			require.NoError(t, compare.Err(require.V(n.Check())(t)))
			s := require.V(inference.New(require.V(vela.Read(n.File))(t), require.V(inference.NewMachine(c, hal.FastSingleAnswer))(t)))(t)
			r := require.V(s.Run(noise(m), inference.Options{TimingOnly: true}))(t)
			cycles[padded] = r.ActiveCycles
		}
		require.Same(t, cycles[false], cycles[true], name)
	}
}
