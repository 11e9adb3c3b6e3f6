package depthwise

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/filter"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvxtest"
	"github.com/nnsoc/nnsoc/nn/fixedpoint"
)

// image is an unsigned image of which a vector holds one position or several, and whose rows
// begin on vectors.
type image struct {
	h, w, channels, pitch int
	data                  []byte
}

func (m *image) at(y, x, c int) int32 { return int32(m.data[(y*m.w+x)*m.pitch+c]) }

// window is how a depthwise convolution moves over an image, without padding.
type window struct{ kh, kw, stride, dilation int }

// out is the size of the result.
func (w window) out(m *image) (h, width int) {
	return (m.h-(w.kh-1)*w.dilation-1)/w.stride + 1, (m.w-(w.kw-1)*w.dilation-1)/w.stride + 1
}

// reference is the result of a convolution for one channel.
func (w window) reference(g *filter.Conv, m *image, y, x, c int) byte {
	acc := int32(binary.LittleEndian.Uint32(g.Bias[4*c:]))
	for i := range w.kh {
		for j := range w.kw {
			acc += (m.at(y*w.stride+i*w.dilation, x*w.stride+j*w.dilation, c) - g.InZero) * g.Filter.Centred(c, i, j)
		}
	}
	q := g.Rq.Mult[0]
	if len(g.Rq.Mult) > 1 {
		q = g.Rq.Mult[c]
	}
	return byte(min(max(q.Apply(acc)+g.Rq.Zero, g.Rq.Lo), g.Rq.Hi))
}

// kernels are the kernels that can compute a convolution: the general one, and those of
// the other two that its window and the registers allow.
func kernels(t *testing.T, m hvx.Machine, d Kernel) map[string]Kernel {
	direct := d.Direct3x3
	d.Direct3x3 = Taps3x3{}
	list := map[string]Kernel{"general": d}
	add := func(name string, d Kernel) {
		if _, err := hvx.Compile(d.Key(), m); err == nil {
			list[name] = d
		}
	}
	for _, form := range d.SlidingForms() {
		d.Sliding = form
		add(fmt.Sprintf("sliding %+v", form), d)
	}
	if d.Sliding = (Sliding{}); direct.Parts[0][0] > 0 {
		for _, direct.Kept = range d.ResidentCounts() {
			d.Direct3x3 = direct
			add(fmt.Sprintf("direct %d", direct.Kept), d)
		}
	}
	return list
}

// TestDepthwise computes convolutions of random images by each kernel of the family, with
// one multiplier and one per channel, by the definition and by a byte and a fraction.
func TestDepthwise(t *testing.T) {
	seen := map[string]bool{}
	for i, c := range []struct {
		window
		channels   int
		perChannel bool
		zero       int32 // zero point of the filter
		byteFactor bool
	}{
		{window{1, 1, 1, 1}, 128, false, 0, false},
		{window{3, 3, 1, 1}, 128, true, 128, false},
		{window{3, 3, 2, 1}, 96, false, 77, true},
		{window{5, 4, 1, 1}, 128, true, 131, false},
		{window{2, 3, 1, 2}, 128, false, 128, true},
		{window{3, 3, 1, 1}, 32, false, 120, true},
		{window{3, 3, 2, 1}, 32, true, 128, false},
		{window{3, 3, 1, 1}, 64, true, 128, false},
		{window{2, 2, 1, 1}, 32, false, 200, false},
	} {
		r := rand.New(rand.NewPCG(13, uint64(20+i)))
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			return b
		}
		m := &image{h: 9, w: 20, channels: c.channels, pitch: c.channels}
		if m.pitch > 64 {
			m.pitch = hvx.VectorBytes
		}
		m.data = random(m.h * m.w * m.pitch)
		g := &filter.Conv{Filter: filter.Filter{Data: random(c.kh * c.kw * c.channels), Zero: c.zero, K: c.channels, KH: c.kh, KW: c.kw, C: 1, Depthwise: true},
			InZero: int32(r.IntN(256))}
		n := 1
		if c.perChannel {
			n = c.channels
		}
		var mult []fixedpoint.Multiplier
		for range n {
			mult = append(mult, fixedpoint.QuantizeMultiplier((0.5+r.Float64())/float64(60*c.kh*c.kw)))
		}
		for range c.channels {
			g.Bias = binary.LittleEndian.AppendUint32(g.Bias, uint32(r.IntN(1<<15)-1<<14))
		}
		g.Rq = hvx.NewRequant(mult, 127, 3, 251, 0)
		if c.byteFactor {
			g.Rq.UseByteFactor(g.MaxSum())
		}
		rows, cols := c.out(m)
		rowBytes := m.w * m.pitch
		d := Kernel{KH: c.kh, KW: c.kw, RowStep: c.dilation * rowBytes, Stride: c.stride, Dilation: c.dilation, Pitch: m.pitch,
			PerVector: hvx.VectorBytes / m.pitch, Rq: g.Rq.Kind()}
		d.Outputs = hvx.CeilDiv(cols, d.PerVector)
		d.ChooseForm(g)
		for name, k := range kernels(t, hvxtest.New(t).Machine(), d) {
			seen[name[:6]] = true
			b := hvxtest.New(t)
			in, records := b.Load(m.data), b.Load(k.Pack(g, 1))
			pitch := d.Outputs * hvx.VectorBytes // of rows of the result
			out := b.Alloc(rows * pitch)
			var table []uint32
			for y := range rows {
				table = append(table, in+uint32(y*c.stride*rowBytes), out+uint32(y*pitch), records)
			}
			table = append(table, table[len(table)-3:]...) // one entry behind the last is looked at
			b.Run(k.Key(), []uint32{b.Words(table...), uint32(rows), b.Words(g.Rq.Params()...), 0, 0, 0})
			got := b.Bytes(out, rows*pitch)
			for i := range rows * cols * c.channels {
				y, x, ch := i/(cols*c.channels), i/c.channels%cols, i%c.channels
				if g, want := got[y*pitch+x*m.pitch+ch], c.reference(g, m, y, x, ch); g != want {
					t.Fatalf("%+v, %s kernel: row %d, column %d, channel %d is %d, want %d", c, name, y, x, ch, g, want)
				}
			}
		}
	}
	for _, name := range []string{"genera", "slidin", "direct"} {
		if !seen[name] {
			t.Errorf("no %s kernel ran", name)
		}
	}
}
