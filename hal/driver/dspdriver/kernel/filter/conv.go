package filter

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// Conv are what a convolution multiplies with and how it requantizes.
type Conv struct {
	Filter Filter
	Bias   []byte // int32 per output channel
	Rq     hvx.Requant
	InZero int32 // zero point of the inputs
}

// MaxSum bounds the accumulators.
func (g *Conv) MaxSum() int64 {
	most := int64(0)
	for i := 0; i+4 <= len(g.Bias); i += 4 {
		b := int64(int32(binary.LittleEndian.Uint32(g.Bias[i:])))
		most = max(most, b, -b)
	}
	f := &g.Filter
	return most + 255*255*int64(f.KH*f.KW*f.C)
}

// PackHeader appends the biases and the per-channel vectors of the lanes.
func (g *Conv) PackHeader(out []byte, k hvx.RequantKind, lane []int) []byte {
	for _, ch := range lane {
		b := int32(0)
		if ch >= 0 {
			b = g.FoldedBias(ch)
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(b))
	}
	for v := range k.Vectors() {
		for _, ch := range lane {
			w := uint32(0)
			if ch >= 0 {
				w = g.Rq.ChannelWords(ch)[v]
			}
			out = binary.LittleEndian.AppendUint32(out, w)
		}
	}
	return out
}

// FoldedBias is the bias minus the input zero point times the filter's sum: the
// constant part when zero points are factored out of the products.
func (g *Conv) FoldedBias(ch int) int32 {
	f := &g.Filter
	sum := int32(0)
	if f.Depthwise {
		for y := range f.KH {
			for x := range f.KW {
				sum += f.Centred(ch, y, x)
			}
		}
	} else {
		for _, w := range f.Weights(ch) {
			sum += int32(w ^ f.Flip)
		}
		sum -= f.Zero * int32(f.KH*f.KW*f.C)
	}
	return int32(binary.LittleEndian.Uint32(g.Bias[4*ch:])) - g.InZero*sum - g.Rq.Centre()
}
